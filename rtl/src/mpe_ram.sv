// A node's data memory: port of the engine and port of the core, one clock of read latency.
//
// Behavioural, for simulation and FPGA. Read data stay until the next read, as the engine wants it.
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
  input  logic             b_we_i,
  input  logic [AddrW-1:0] b_addr_i,
  input  logic [DataW-1:0] b_wdata_i,
  output logic [DataW-1:0] b_rdata_o
);

  logic [DataW-1:0] words [1 << AddrW];

  always_ff @(posedge clk_i) begin
    if (a_req_i && a_we_i) words[a_addr_i] <= a_wdata_i;
    if (b_req_i && b_we_i) words[b_addr_i] <= b_wdata_i;
    if (a_req_i && !a_we_i) a_rdata_o <= words[a_addr_i];
    if (b_req_i && !b_we_i) b_rdata_o <= words[b_addr_i];
  end

endmodule
