// SPDX-License-Identifier: MIT OR Apache-2.0
// A small system of all wrappers: node 0 has its engine on APB, node 1 on AXI4-Lite, node 2 passes
// the messages of node 0 on to an AXI-Stream, node 3 sends an AXI-Stream's packets to node 1.
module wrap_tb #(
  parameter int AddrW = 8,
  parameter int LenW  = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        aresetn,
  input  logic        apb_psel,
  input  logic        apb_penable,
  input  logic        apb_pwrite,
  input  logic [2:0]  apb_pprot,
  input  logic [4:0]  apb_paddr,
  input  logic [31:0] apb_pwdata,
  input  logic [3:0]  apb_pstrb,
  output logic        apb_pready,
  output logic [31:0] apb_prdata,
  output logic        apb_pslverr,
  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [4:0]  s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [4:0]  s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic        m_axis_tlast,
  output logic [31:0] m_axis_tdata,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic        s_axis_tlast,
  input  logic [31:0] s_axis_tdata,
  input  logic        loop_i,        // m_axis is s_axis
  output logic        stream_long_o,
  output logic        apb_irq,
  output logic        axil_irq,
  input  logic        host_req_i,
  input  logic        host_we_i,
  input  logic        host_node_i,
  input  logic [AddrW-1:0] host_addr_i,
  input  logic [31:0] host_wdata_i,
  output logic [31:0] host_rdata_o
);

  logic unused_reset;
  assign unused_reset = aresetn;  // looked at by the bench's masters only

  logic [3:0]            bcast_req, bcast_root, launch, tx_req, tx_rdy, tx_valid, tx_end;
  logic [3:0]            rx_req, rx_rdy, rx_valid, rx_end, holds;
  logic [3:0][1:0]       status, snapshot, tx_dst, tx_to, rx_peer, rx_src;
  logic [3:0][31:0]      tx_data_n, rx_data;
  logic                  hold, host_node_q, ord_valid, ord_last;
  logic [1:0]            ord_node, ord_before;
  logic [1:0]            cmd_valid, cmd_ready, abort, done, err_short, err_long, mem_req, mem_we;
  logic [3:0][1:0]       cmd_op, cmd_peer;
  logic [1:0][AddrW-1:0] cmd_addr, mem_addr;
  logic [1:0][LenW-1:0]  cmd_len;
  logic [3:0][3:0]       cmd_members;
  logic [1:0][31:0]      mem_wdata, mem_rdata, host_rdata;

  always_ff @(posedge clk_i) host_node_q <= host_node_i;
  assign host_rdata_o = host_rdata[host_node_q];

  mpe_apb #(.NumNodes(4), .NodeId(0), .AddrW(AddrW), .LenW(LenW)) u_apb (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .psel_i(apb_psel),
    .penable_i(apb_penable),
    .pwrite_i(apb_pwrite),
    .pprot_i(apb_pprot),
    .paddr_i(apb_paddr),
    .pwdata_i(apb_pwdata),
    .pstrb_i(apb_pstrb),
    .pready_o(apb_pready),
    .prdata_o(apb_prdata),
    .pslverr_o(apb_pslverr),
    .cmd_valid_o(cmd_valid[0]), .cmd_ready_i(cmd_ready[0]), .cmd_op_o(cmd_op[0]),
    .cmd_peer_o(cmd_peer[0]), .cmd_addr_o(cmd_addr[0]), .cmd_len_o(cmd_len[0]),
    .cmd_members_o(cmd_members[0]), .abort_o(abort[0]), .done_i(done[0]),
    .err_short_i(err_short[0]),
    .err_long_i(err_long[0]), .status_i(status[0]), .irq_o(apb_irq));

  mpe #(.NumNodes(4), .NodeId(0), .AddrW(AddrW), .LenW(LenW)) u_mpe_0 (
    .clk_i(clk_i), .rst_ni(rst_ni), .cmd_valid_i(cmd_valid[0]), .cmd_ready_o(cmd_ready[0]),
    .cmd_op_i(cmd_op[0]), .cmd_peer_i(cmd_peer[0]), .cmd_addr_i(cmd_addr[0]),
    .cmd_len_i(cmd_len[0]), .cmd_members_i(cmd_members[0]), .abort_i(abort[0]),
    .done_o(done[0]),
    .err_short_o(err_short[0]), .err_long_o(err_long[0]), .status_o(status[0]),
    .bcast_req_o(bcast_req[0]), .bcast_root_o(bcast_root[0]), .in_time_o(),
    .launch_i(launch[0]),
    .status_i(snapshot), .ord_valid_i(ord_valid), .ord_last_i(ord_last),
    .ord_node_i(ord_node), .ord_before_i(ord_before),
    .tx_req_o(tx_req[0]), .tx_dst_o(tx_dst[0]), .tx_rdy_i(tx_rdy[0]),
    .tx_to_o(tx_to[0]), .tx_valid_o(tx_valid[0]), .tx_end_o(tx_end[0]), .tx_data_no(tx_data_n[0]),
    .rx_peer_o(rx_peer[0]), .rx_req_i(rx_req[0]), .rx_rdy_o(rx_rdy[0]), .rx_src_o(rx_src[0]),
    .rx_valid_i(rx_valid[0]), .rx_end_i(rx_end[0]), .rx_data_i(rx_data[0]), .hold_o(holds[0]),
    .hold_i(hold), .mem_rdy_i(1'b1), .mem_req_o(mem_req[0]), .mem_we_o(mem_we[0]),
    .mem_addr_o(mem_addr[0]), .mem_wdata_o(mem_wdata[0]), .mem_rdata_i(mem_rdata[0]));

  mpe_ram #(.AddrW(AddrW)) u_ram_0 (
    .clk_i(clk_i), .a_req_i(mem_req[0]), .a_we_i(mem_we[0]), .a_addr_i(mem_addr[0]),
    .a_wdata_i(mem_wdata[0]), .a_rdata_o(mem_rdata[0]),
    .b_req_i(host_req_i && host_node_i == 1'd0), .b_rdy_o(), .b_we_i(host_we_i),
    .b_addr_i(host_addr_i),
    .b_wdata_i(host_wdata_i), .b_rdata_o(host_rdata[0]));

  mpe_axil #(.NumNodes(4), .NodeId(1), .AddrW(AddrW), .LenW(LenW)) u_axil (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .awvalid_i(s_axil_awvalid),
    .awready_o(s_axil_awready),
    .awaddr_i(s_axil_awaddr),
    .awprot_i(s_axil_awprot),
    .wvalid_i(s_axil_wvalid),
    .wready_o(s_axil_wready),
    .wdata_i(s_axil_wdata),
    .wstrb_i(s_axil_wstrb),
    .bvalid_o(s_axil_bvalid),
    .bready_i(s_axil_bready),
    .bresp_o(s_axil_bresp),
    .arvalid_i(s_axil_arvalid),
    .arready_o(s_axil_arready),
    .araddr_i(s_axil_araddr),
    .arprot_i(s_axil_arprot),
    .rvalid_o(s_axil_rvalid),
    .rready_i(s_axil_rready),
    .rdata_o(s_axil_rdata),
    .rresp_o(s_axil_rresp),
    .cmd_valid_o(cmd_valid[1]), .cmd_ready_i(cmd_ready[1]), .cmd_op_o(cmd_op[1]),
    .cmd_peer_o(cmd_peer[1]), .cmd_addr_o(cmd_addr[1]), .cmd_len_o(cmd_len[1]),
    .cmd_members_o(cmd_members[1]), .abort_o(abort[1]), .done_i(done[1]),
    .err_short_i(err_short[1]),
    .err_long_i(err_long[1]), .status_i(status[1]), .irq_o(axil_irq));

  mpe #(.NumNodes(4), .NodeId(1), .AddrW(AddrW), .LenW(LenW)) u_mpe_1 (
    .clk_i(clk_i), .rst_ni(rst_ni), .cmd_valid_i(cmd_valid[1]), .cmd_ready_o(cmd_ready[1]),
    .cmd_op_i(cmd_op[1]), .cmd_peer_i(cmd_peer[1]), .cmd_addr_i(cmd_addr[1]),
    .cmd_len_i(cmd_len[1]), .cmd_members_i(cmd_members[1]), .abort_i(abort[1]),
    .done_o(done[1]),
    .err_short_o(err_short[1]), .err_long_o(err_long[1]), .status_o(status[1]),
    .bcast_req_o(bcast_req[1]), .bcast_root_o(bcast_root[1]), .in_time_o(),
    .launch_i(launch[1]),
    .status_i(snapshot), .ord_valid_i(ord_valid), .ord_last_i(ord_last),
    .ord_node_i(ord_node), .ord_before_i(ord_before),
    .tx_req_o(tx_req[1]), .tx_dst_o(tx_dst[1]), .tx_rdy_i(tx_rdy[1]),
    .tx_to_o(tx_to[1]), .tx_valid_o(tx_valid[1]), .tx_end_o(tx_end[1]), .tx_data_no(tx_data_n[1]),
    .rx_peer_o(rx_peer[1]), .rx_req_i(rx_req[1]), .rx_rdy_o(rx_rdy[1]), .rx_src_o(rx_src[1]),
    .rx_valid_i(rx_valid[1]), .rx_end_i(rx_end[1]), .rx_data_i(rx_data[1]), .hold_o(holds[1]),
    .hold_i(hold), .mem_rdy_i(1'b1), .mem_req_o(mem_req[1]), .mem_we_o(mem_we[1]),
    .mem_addr_o(mem_addr[1]), .mem_wdata_o(mem_wdata[1]), .mem_rdata_i(mem_rdata[1]));

  mpe_ram #(.AddrW(AddrW)) u_ram_1 (
    .clk_i(clk_i), .a_req_i(mem_req[1]), .a_we_i(mem_we[1]), .a_addr_i(mem_addr[1]),
    .a_wdata_i(mem_wdata[1]), .a_rdata_o(mem_rdata[1]),
    .b_req_i(host_req_i && host_node_i == 1'd1), .b_rdy_o(), .b_we_i(host_we_i),
    .b_addr_i(host_addr_i),
    .b_wdata_i(host_wdata_i), .b_rdata_o(host_rdata[1]));

  // Streams are no members of broadcasts, and no engine orders by their status.
  assign bcast_req[3:2]  = '0;
  assign bcast_root[3:2] = '0;
  assign status[3:2]     = '0;
  assign cmd_op[3:2]     = '0;
  assign cmd_peer[3:2]   = '0;
  assign cmd_members[3:2] = '0;
  assign tx_req[2]   = 1'b0;
  assign tx_dst[2]   = '0;
  assign tx_to[2]    = '0;
  assign tx_valid[2] = 1'b0;
  assign tx_end[2]   = 1'b0;
  assign tx_data_n[2] = '0;
  assign rx_peer[3]  = '0;
  assign rx_src[3]   = '0;
  assign rx_rdy[3]   = 1'b0;
  assign holds[3:2]  = '0;   // a stream never holds the bus
  logic [1:0]  busy;
  logic        out_valid, in_ready;

  assign m_axis_tvalid = out_valid && !loop_i;
  assign s_axis_tready = in_ready && !loop_i;

  mpe_axis_tx #(.NumNodes(4), .Depth(64)) u_out (
    .clk_i(clk_i), .rst_ni(rst_ni), .peer_i(2'd0), .busy_o(busy[0]), .abort_i(abort[0]),
    .err_long_o(stream_long_o), .rx_peer_o(rx_peer[2]),
    .rx_req_i(rx_req[2]), .rx_rdy_o(rx_rdy[2]), .rx_src_o(rx_src[2]), .rx_valid_i(rx_valid[2]),
    .rx_end_i(rx_end[2]), .rx_data_i(rx_data[2]), .hold_i(hold), .tvalid_o(out_valid),
    .tready_i(loop_i ? in_ready : m_axis_tready), .tlast_o(m_axis_tlast), .tdata_o(m_axis_tdata));

  mpe_axis_rx #(.NumNodes(4), .Depth(8)) u_in (
    .clk_i(clk_i), .rst_ni(rst_ni), .peer_i(2'd1), .busy_o(busy[1]),
    .tvalid_i(loop_i ? out_valid : s_axis_tvalid), .tready_o(in_ready),
    .tlast_i(loop_i ? m_axis_tlast : s_axis_tlast), .tdata_i(loop_i ? m_axis_tdata : s_axis_tdata),
    .tx_req_o(tx_req[3]),
    .tx_dst_o(tx_dst[3]), .tx_rdy_i(tx_rdy[3]), .tx_to_o(tx_to[3]), .tx_valid_o(tx_valid[3]),
    .tx_end_o(tx_end[3]), .tx_data_no(tx_data_n[3]), .hold_i(hold));

  mpe_bus #(.NumNodes(4)) u_bus (
    .clk_i(clk_i), .rst_ni(rst_ni), .status_i(status), .bcast_req_i(bcast_req),
    .bcast_root_i(bcast_root), .root_i(cmd_peer), .members_i(cmd_members), .in_time_i('1),
    .launch_o(launch),
    .status_o(snapshot), .ord_valid_o(ord_valid), .ord_last_o(ord_last), .ord_node_o(ord_node),
    .ord_before_o(ord_before),
    .tx_req_i(tx_req), .tx_dst_i(tx_dst), .tx_rdy_o(tx_rdy), .tx_to_i(tx_to),
    .tx_valid_i(tx_valid), .tx_end_i(tx_end), .tx_data_ni(tx_data_n), .rx_peer_i(rx_peer),
    .rx_req_o(rx_req), .rx_rdy_i(rx_rdy), .rx_src_i(rx_src), .rx_valid_o(rx_valid),
    .rx_end_o(rx_end), .rx_data_o(rx_data), .hold_i(holds), .hold_o(hold));

endmodule
