// SPDX-License-Identifier: MIT OR Apache-2.0
// N engines, their bus and a memory per node; the host port stands for the cores' side of them.
module mpe_sys #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  int AddrW      = 12,
  parameter  int LenW       = 10,
  parameter  int DataW      = 32,
  parameter  int QueueDepth = 2,
  parameter  bit Snoop      = 1'b0,
  parameter  bit HoldLaunch = 1'b0,
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [NumNodes-1:0]               cmd_valid_i,
  output logic [NumNodes-1:0]               cmd_ready_o,
  input  logic [NumNodes-1:0][1:0]          cmd_op_i,
  input  logic [NumNodes-1:0][IdW-1:0]      cmd_peer_i,
  input  logic [NumNodes-1:0][AddrW-1:0]    cmd_addr_i,
  input  logic [NumNodes-1:0][LenW-1:0]     cmd_len_i,
  input  logic [NumNodes-1:0][NumNodes-1:0] cmd_members_i,
  input  logic [NumNodes-1:0]               abort_i,
  output logic [NumNodes-1:0]               done_o,
  output logic [NumNodes-1:0]               err_short_o,
  output logic [NumNodes-1:0]               err_long_o,
  output logic [NumNodes-1:0][StatusW-1:0]  status_o,       // what the bus orders by
  output logic [NumNodes-1:0][StatusW-1:0]  node_status_o,  // what the engines have now
  output logic                              hold_o,
  input  logic [NumNodes-1:0]               mem_stall_i,  // the core uses the engine's port
  input  logic                              host_req_i,
  output logic                              host_rdy_o,
  input  logic                              host_we_i,
  input  logic [IdW-1:0]                    host_node_i,
  input  logic [AddrW-1:0]                  host_addr_i,
  input  logic [DataW-1:0]                  host_wdata_i,
  output logic [DataW-1:0]                  host_rdata_o
);

  logic [NumNodes-1:0]            mem_req, mem_we;
  logic [NumNodes-1:0][AddrW-1:0] mem_addr;
  logic [NumNodes-1:0][DataW-1:0] mem_wdata, mem_rdata, host_rdata;
  logic [NumNodes-1:0]            host_rdy;

  mpe_core_sys #(
    .NumNodes  (NumNodes),
    .StatusW   (StatusW),
    .AddrW     (AddrW),
    .LenW      (LenW),
    .DataW     (DataW),
    .QueueDepth(QueueDepth),
    .Snoop     (Snoop),
    .HoldLaunch(HoldLaunch)
  ) u_core (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .cmd_valid_i  (cmd_valid_i),
    .cmd_ready_o  (cmd_ready_o),
    .cmd_op_i     (cmd_op_i),
    .cmd_peer_i   (cmd_peer_i),
    .cmd_addr_i   (cmd_addr_i),
    .cmd_len_i    (cmd_len_i),
    .cmd_members_i(cmd_members_i),
    .abort_i      (abort_i),
    .done_o       (done_o),
    .err_short_o  (err_short_o),
    .err_long_o   (err_long_o),
    .status_o     (status_o),
    .node_status_o(node_status_o),
    .hold_o       (hold_o),
    .mem_rdy_i    (~mem_stall_i),
    .mem_req_o    (mem_req),
    .mem_we_o     (mem_we),
    .mem_addr_o   (mem_addr),
    .mem_wdata_o  (mem_wdata),
    .mem_rdata_i  (mem_rdata)
  );

  for (genvar n = 0; n < NumNodes; n++) begin : gen_memory
    mpe_ram #(
      .AddrW(AddrW),
      .DataW(DataW)
    ) u_ram (
      .clk_i    (clk_i),
      .a_req_i  (mem_req[n]),
      .a_we_i   (mem_we[n]),
      .a_addr_i (mem_addr[n]),
      .a_wdata_i(mem_wdata[n]),
      .a_rdata_o(mem_rdata[n]),
      .b_req_i  (host_req_i && host_node_i == IdW'(n)),
      .b_rdy_o  (host_rdy[n]),
      .b_we_i   (host_we_i),
      .b_addr_i (host_addr_i),
      .b_wdata_i(host_wdata_i),
      .b_rdata_o(host_rdata[n])
    );
  end

  logic [IdW-1:0] host_node_q;
  always_ff @(posedge clk_i) host_node_q <= host_node_i;
  assign host_rdata_o = host_rdata[host_node_q];
  assign host_rdy_o   = host_rdy[host_node_i];

endmodule
