// AXI4-Lite registers: no response without a request, a response stays until it is taken, a command
// that the engine is shown stays until it is taken or the core aborts, and only legal ones are shown.
module mpe_axil_f (
  input logic        clk_i,
  input logic        awvalid_i,
  input logic        wvalid_i,
  input logic        arvalid_i,
  input logic        bready_i,
  input logic        rready_i,
  input logic        cmd_ready_i,
  input logic        done_i,
  input logic        err_i,
  input logic [4:0]  awaddr_i,
  input logic [4:0]  araddr_i,
  input logic [31:0] wdata_i
);

  logic        past_q = 1'b0;
  logic        awready, wready, bvalid, arready, rvalid, cmd_valid, abort;
  logic [1:0]  bresp, rresp, cmd_op, cmd_peer;
  logic [31:0] rdata;
  logic [3:0]  cmd_members;
  logic [5:0]  cmd_addr;
  logic [3:0]  cmd_len;

  mpe_axil #(.NumNodes(4), .NodeId(1), .AddrW(6), .LenW(4)) u_axil (
    .clk_i(clk_i), .rst_ni(past_q), .awvalid_i(awvalid_i), .awready_o(awready),
    .awaddr_i(awaddr_i), .awprot_i(3'd0), .wvalid_i(wvalid_i), .wready_o(wready),
    .wdata_i(wdata_i), .wstrb_i(4'hf), .bvalid_o(bvalid), .bready_i(bready_i), .bresp_o(bresp),
    .arvalid_i(arvalid_i), .arready_o(arready), .araddr_i(araddr_i), .arprot_i(3'd0),
    .rvalid_o(rvalid), .rready_i(rready_i), .rdata_o(rdata), .rresp_o(rresp),
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready_i), .cmd_op_o(cmd_op), .cmd_peer_o(cmd_peer),
    .cmd_addr_o(cmd_addr), .cmd_len_o(cmd_len), .cmd_members_o(cmd_members), .abort_o(abort), .done_i(done_i),
    .err_short_i(err_i), .err_long_i(1'b0), .status_i(2'd0));

  logic [4:0]  aw_q = '0, w_q = '0, b_q = '0, ar_q = '0, r_q = '0;
  logic        held_b_q = 1'b0, held_r_q = 1'b0, held_cmd_q = 1'b0;
  logic [1:0]  bresp_q;
  logic [31:0] rdata_q;
  logic [17:0] cmd, cmd_q;
  assign cmd = {cmd_op, cmd_peer, cmd_addr, cmd_len, cmd_members};

  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (past_q) begin
      aw_q <= aw_q + 5'(awvalid_i && awready);
      w_q  <= w_q + 5'(wvalid_i && wready);
      b_q  <= b_q + 5'(bvalid && bready_i);
      ar_q <= ar_q + 5'(arvalid_i && arready);
      r_q  <= r_q + 5'(rvalid && rready_i);
    end
    held_b_q   <= past_q && bvalid && !bready_i;
    held_r_q   <= past_q && rvalid && !rready_i;
    held_cmd_q <= past_q && cmd_valid && !cmd_ready_i && !abort;
    bresp_q    <= bresp;
    rdata_q    <= rdata;
    cmd_q      <= cmd;
  end

  always_comb begin
    if (past_q) begin
      write_asked:  assert (!bvalid || (aw_q > b_q && w_q > b_q));
      read_asked:   assert (!rvalid || ar_q > r_q);
      write_stays:  assert (!held_b_q || (bvalid && bresp == bresp_q));
      read_stays:   assert (!held_r_q || (rvalid && rdata == rdata_q));
      command_stays: assert (!held_cmd_q || (cmd_valid && cmd == cmd_q));
      not_back:     assert (!cmd_valid || cmd_op != mpe_pkg::OpFwd ||
                            (cmd_members[1:0] != 2'd1 && cmd_members[1:0] != cmd_peer));
      one_target:   assert (!cmd_valid || cmd_op != mpe_pkg::OpSend ||
                            cmd_members[1:0] == cmd_peer);
      not_itself:   assert (!cmd_valid || cmd_op == mpe_pkg::OpBcast || cmd_peer != 2'd1);
      members_legal: assert (!cmd_valid || cmd_op != mpe_pkg::OpBcast ||
                             (cmd_members[1] && cmd_members[cmd_peer] &&
                              (cmd_members & (cmd_members - 4'd1)) != 0));
      issued: cover (cmd_valid && cmd_op == mpe_pkg::OpBcast && cmd_len == 4'd3);
      passed: cover (cmd_valid && cmd_op == mpe_pkg::OpFwd);
    end
  end

endmodule
