// SPDX-License-Identifier: MIT OR Apache-2.0
// A node's data memory: port of the engine and port of the core, one clock of read latency.
//
// The engine's port is always served: what it writes is there, and what it reads is on a_rdata_o, in
// the next clock; read data stay until that port's next read. The core's port is the same, but that a
// write waits (b_rdy_o is low, and the core keeps showing it) in a clock in which the engine writes.
// The word that one port reads in the clock in which the other one writes it is the old or the new one.
//
// Block RAM has one port to write in some FPGAs (iCE40), and true dual ports in others (ECP5) only at
// half the width. So there are two copies, written together, and each port reads its own.
module mpe_ram #(
  parameter int AddrW = 12,
  parameter int DataW = 32
) (
  input  logic             clk_i,
  input  logic             a_req_i,
  input  logic             a_we_i,
  input  logic [AddrW-1:0] a_addr_i,
  input  logic [DataW-1:0] a_wdata_i,
  output logic [DataW-1:0] a_rdata_o,
  input  logic             b_req_i,
  output logic             b_rdy_o,
  input  logic             b_we_i,
  input  logic [AddrW-1:0] b_addr_i,
  input  logic [DataW-1:0] b_wdata_i,
  output logic [DataW-1:0] b_rdata_o
);

  // Tools refuse arrays that are larger, and nobody has such a memory on a chip.
  localparam int AddrWMax = 26;
  if (AddrW < 1 || AddrW > AddrWMax) begin : gen_bad_addr
    $error("mpe_ram: AddrW = %0d, accepted are 1 to %0d", AddrW, AddrWMax);
  end
  if (!mpe_pkg::is_word_width(DataW)) begin : gen_bad_data
    $error("mpe_ram: DataW = %0d, accepted are 8, 16, 32, 64 and 128", DataW);
  end

  (* no_rw_check *) logic [DataW-1:0] a_words [1 << AddrW];
  (* no_rw_check *) logic [DataW-1:0] b_words [1 << AddrW];

  logic             a_writes, writes;
  logic [AddrW-1:0] addr;
  logic [DataW-1:0] data;

  assign a_writes = a_req_i && a_we_i;
  assign b_rdy_o  = !(a_writes && b_we_i);
  assign writes   = a_writes || (b_req_i && b_we_i);
  assign addr     = a_writes ? a_addr_i : b_addr_i;
  assign data     = a_writes ? a_wdata_i : b_wdata_i;

  always_ff @(posedge clk_i) begin
    if (writes) a_words[addr] <= data;
    if (a_req_i && !a_we_i) a_rdata_o <= a_words[a_addr_i];
  end
  always_ff @(posedge clk_i) begin
    if (writes) b_words[addr] <= data;
    if (b_req_i && !b_we_i) b_rdata_o <= b_words[b_addr_i];
  end

endmodule
