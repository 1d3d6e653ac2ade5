// SPDX-License-Identifier: MIT OR Apache-2.0
// N engines and their bus with a port per node, for soak.cpp, which has the memories.
module soak_tb #(
  parameter  int NumNodes   = 5,
  parameter  int StatusW    = 2,
  parameter  int QueueDepth = 2,
  parameter  bit Snoop      = 1'b0,
  parameter  bit HoldLaunch = 1'b0,
  localparam int AddrW      = 8,
  localparam int LenW       = 8,
  localparam int DataW      = 32,
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                cmd_valid_i   [NumNodes],
  output logic                cmd_ready_o   [NumNodes],
  input  logic [1:0]          cmd_op_i      [NumNodes],
  input  logic [7:0]          cmd_peer_i    [NumNodes],
  input  logic [AddrW-1:0]    cmd_addr_i    [NumNodes],
  input  logic [LenW-1:0]     cmd_len_i     [NumNodes],
  input  logic [31:0]         cmd_members_i [NumNodes],
  input  logic                abort_i       [NumNodes],
  output logic                done_o        [NumNodes],
  output logic                err_short_o   [NumNodes],
  output logic                err_long_o    [NumNodes],
  output logic                busy_o        [NumNodes],
  output logic                hold_o,
  input  logic                mem_rdy_i     [NumNodes],
  output logic                mem_req_o     [NumNodes],
  output logic                mem_we_o      [NumNodes],
  output logic [AddrW-1:0]    mem_addr_o    [NumNodes],
  output logic [DataW-1:0]    mem_wdata_o   [NumNodes],
  input  logic [DataW-1:0]    mem_rdata_i   [NumNodes]
);

  logic [NumNodes-1:0]               cmd_valid, cmd_ready, abort, done, err_short,
                                     err_long;
  logic [NumNodes-1:0][1:0]          cmd_op;
  logic [NumNodes-1:0][IdW-1:0]      cmd_peer;
  logic [NumNodes-1:0][AddrW-1:0]    cmd_addr, mem_addr;
  logic [NumNodes-1:0][LenW-1:0]     cmd_len;
  logic [NumNodes-1:0][NumNodes-1:0] cmd_members;
  logic [NumNodes-1:0][StatusW-1:0]  node_status, bus_status;
  logic [NumNodes-1:0]               mem_rdy, mem_req, mem_we;
  logic [NumNodes-1:0][DataW-1:0]    mem_wdata, mem_rdata;

  for (genvar n = 0; n < NumNodes; n++) begin : gen_port
    assign cmd_valid[n]   = cmd_valid_i[n];
    assign cmd_op[n]      = cmd_op_i[n];
    assign cmd_peer[n]    = cmd_peer_i[n][IdW-1:0];
    assign cmd_addr[n]    = cmd_addr_i[n];
    assign cmd_len[n]     = cmd_len_i[n];
    assign cmd_members[n] = cmd_members_i[n][NumNodes-1:0];
    assign abort[n]       = abort_i[n];
    assign mem_rdy[n]     = mem_rdy_i[n];
    assign mem_rdata[n]   = mem_rdata_i[n];
    assign cmd_ready_o[n] = cmd_ready[n];
    assign done_o[n]      = done[n];
    assign err_short_o[n] = err_short[n];
    assign err_long_o[n]  = err_long[n];
    assign busy_o[n]      = node_status[n] != '0;
    assign mem_req_o[n]   = mem_req[n];
    assign mem_we_o[n]    = mem_we[n];
    assign mem_addr_o[n]  = mem_addr[n];
    assign mem_wdata_o[n] = mem_wdata[n];
  end

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
    .cmd_valid_i  (cmd_valid),
    .cmd_ready_o  (cmd_ready),
    .cmd_op_i     (cmd_op),
    .cmd_peer_i   (cmd_peer),
    .cmd_addr_i   (cmd_addr),
    .cmd_len_i    (cmd_len),
    .cmd_members_i(cmd_members),
    .abort_i      (abort),
    .done_o       (done),
    .err_short_o  (err_short),
    .err_long_o   (err_long),
    .status_o     (bus_status),
    .node_status_o(node_status),
    .hold_o       (hold_o),
    .mem_rdy_i    (mem_rdy),
    .mem_req_o    (mem_req),
    .mem_we_o     (mem_we),
    .mem_addr_o   (mem_addr),
    .mem_wdata_o  (mem_wdata),
    .mem_rdata_i  (mem_rdata)
  );

endmodule
