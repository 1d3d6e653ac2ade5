// SPDX-License-Identifier: MIT OR Apache-2.0
// AXI4-Lite registers against the model of them: every address and its data are one access of the
// register block, as they were given, and every access is one response, which stays until it is taken;
// reads return what the model holds, and the engine is shown exactly the legal commands until it takes
// them.
module mpe_axil_f #(
  parameter  int NumNodes = 4,
  localparam int NodeId   = 1,
  localparam int AddrW    = 6,
  localparam int LenW     = 4,
  localparam int IdW      = mpe_pkg::id_width(NumNodes),
  localparam int CmdW     = 2 + IdW + AddrW + LenW + NumNodes
) (
  input logic        clk_i,
  input logic        awvalid_i,
  input logic        wvalid_i,
  input logic        arvalid_i,
  input logic        bready_i,
  input logic        rready_i,
  input logic        cmd_ready_i,
  input logic        done_i,
  input logic        err_short_i,
  input logic        err_long_i,
  input logic [1:0]  status_i,
  input logic [4:0]  awaddr_i,
  input logic [4:0]  araddr_i,
  input logic [31:0] wdata_i,
  input logic [3:0]  wstrb_i
);

  logic                past_q = 1'b0;
  logic                awready, wready, bvalid, arready, rvalid, cmd_valid, abort, irq;
  logic [1:0]          bresp, rresp, cmd_op;
  logic [IdW-1:0]      cmd_peer;
  logic [31:0]         rdata;
  logic [NumNodes-1:0] cmd_members;
  logic [AddrW-1:0]    cmd_addr;
  logic [LenW-1:0]     cmd_len;

  mpe_axil #(.NumNodes(NumNodes), .NodeId(NodeId), .AddrW(AddrW), .LenW(LenW)) u_axil (
    .clk_i(clk_i), .rst_ni(past_q), .awvalid_i(awvalid_i && past_q), .awready_o(awready),
    .awaddr_i(awaddr_i), .awprot_i(3'd0), .wvalid_i(wvalid_i && past_q), .wready_o(wready),
    .wdata_i(wdata_i), .wstrb_i(wstrb_i), .bvalid_o(bvalid), .bready_i(bready_i), .bresp_o(bresp),
    .arvalid_i(arvalid_i && past_q), .arready_o(arready), .araddr_i(araddr_i), .arprot_i(3'd0),
    .rvalid_o(rvalid), .rready_i(rready_i), .rdata_o(rdata), .rresp_o(rresp),
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready_i), .cmd_op_o(cmd_op), .cmd_peer_o(cmd_peer),
    .cmd_addr_o(cmd_addr), .cmd_len_o(cmd_len), .cmd_members_o(cmd_members), .abort_o(abort), .done_i(done_i),
    .err_short_i(err_short_i), .err_long_i(err_long_i), .status_i(status_i), .irq_o(irq));

  // ---- requests that wait, one of a kind, and responses that wait, at most two ----

  logic        aw_q = 1'b0, w_q = 1'b0, ar_q = 1'b0, access, is_write, served;
  logic [4:0]  awaddr_q, araddr_q, address;
  logic [31:0] wdata_q, want;
  logic [3:0]  wstrb_q;
  logic [1:0]       count_q = '0;
  logic [1:0]       write_q;       // which of the responses, the oldest first, are of writes
  logic [1:0][31:0] read_q;        // and what the others return
  logic             taken;

  // When the register block takes one of them is its business; that it does, and what, is not.
  assign access   = u_axil.u_regs.cpuif_req;
  assign is_write = u_axil.u_regs.cpuif_req_is_wr;
  assign address  = is_write ? awaddr_q : araddr_q;
  assign served   = (ar_q || (aw_q && w_q)) && count_q < 2'd2;
  assign taken    = (bvalid && bready_i) || (rvalid && rready_i);

  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (past_q) begin
      aw_q <= (awvalid_i && awready) || (aw_q && !(access && is_write));
      w_q  <= (wvalid_i && wready) || (w_q && !(access && is_write));
      ar_q <= (arvalid_i && arready) || (ar_q && !(access && !is_write));
      if (awvalid_i && awready) awaddr_q <= awaddr_i;
      if (wvalid_i && wready)   {wdata_q, wstrb_q} <= {wdata_i, wstrb_i};
      if (arvalid_i && arready) araddr_q <= araddr_i;
      count_q <= count_q + 2'(access) - 2'(taken);
      if (taken) begin
        write_q[0] <= write_q[1];
        read_q[0]  <= read_q[1];
      end
      if (access) begin
        write_q[1'(count_q - 2'(taken))] <= is_write;
        read_q[1'(count_q - 2'(taken))]  <= want;
      end
    end
  end

  // ---- the registers ----

  logic [CmdW-1:0] shown;
  logic            pending, want_irq, legal_command;
  mpe_regs_f #(.NumNodes(NumNodes), .NodeId(NodeId), .AddrW(AddrW), .LenW(LenW)) u_model (
    .clk_i(clk_i), .past_i(past_q), .write_i(access && is_write), .address_i(address),
    .data_i(wdata_q), .strobe_i(wstrb_q), .ready_i(cmd_ready_i), .done_i(done_i),
    .short_i(err_short_i), .long_i(err_long_i), .active_i(status_i != 0), .read_o(want),
    .pending_o(pending), .shown_o(shown), .irq_o(want_irq), .legal_o(legal_command));

  logic       newest;   // place of the newest response in the block's buffer
  logic [1:0] behind;
  assign behind = u_axil.u_regs.axil_resp_wptr - u_axil.u_regs.axil_resp_rptr;
  assign newest = !u_axil.u_regs.axil_resp_rptr[0];

  always_comb begin
    if (past_q) begin
      asked:      assert (!access || (is_write ? aw_q && w_q : ar_q));
      served_now: assert (access == served);
      room:       assert ((!aw_q || !awready || (access && is_write)) &&
                          (!w_q || !wready || (access && is_write)) &&
                          (!ar_q || !arready || (access && !is_write)));
      answers:    assert ((bvalid || rvalid) == (count_q != 0) && !(bvalid && rvalid));
      kind:       assert (count_q == 0 || bvalid == write_q[0]);
      read_back:  assert (!rvalid || rdata == read_q[0]);
      accepted:   assert ((!bvalid || bresp == 0) && (!rvalid || rresp == 0));
      told:       assert (irq == want_irq);
      is_shown:   assert (cmd_valid == pending);
      aborts:     assert (abort == u_model.abort_q);
      as_told:    assert (!cmd_valid ||
                          {cmd_op, cmd_peer, cmd_addr, cmd_len, cmd_members} == shown);
      not_back:   assert (!cmd_valid || cmd_op != mpe_pkg::OpFwd ||
                          (cmd_members != NumNodes'(NodeId) &&
                           cmd_members != NumNodes'(cmd_peer)));
      not_self:   assert (!cmd_valid || cmd_op == mpe_pkg::OpBcast || cmd_peer != IdW'(NodeId));
      node:       assert (!cmd_valid || 32'(cmd_peer) < NumNodes);
      legal:      assert (!pending || legal_command);
      // What induction needs: what waits is in the block's registers.
      requests:   assert (u_axil.u_regs.axil_awvalid == aw_q &&
                          u_axil.u_regs.axil_wvalid == w_q && u_axil.u_regs.axil_arvalid == ar_q &&
                          (!aw_q || u_axil.u_regs.axil_awaddr == awaddr_q) &&
                          (!ar_q || u_axil.u_regs.axil_araddr == araddr_q) &&
                          (!w_q || ({u_axil.u_regs.axil_wdata, u_axil.u_regs.axil_wstrb} ==
                                    {wdata_q, wstrb_q} && u_axil.clears_q == wdata_q[4])));
      responses:  assert (count_q <= 2'd2 && u_axil.u_regs.axil_n_in_flight == count_q &&
                          behind == count_q);
      second:     assert (count_q != 2'd2 ||
                          (u_axil.u_regs.axil_resp_buffer_is_wr[newest] == write_q[1] &&
                           (write_q[1] || u_axil.u_regs.axil_resp_buffer_rdata[newest] ==
                                          read_q[1])));
      no_errors:  assert (!u_axil.u_regs.axil_resp_buffer_err[0] &&
                          !u_axil.u_regs.axil_resp_buffer_err[1]);
      registers:  assert (u_axil.from_regs.ADDR.addr.value == u_model.addr_q &&
                          u_axil.from_regs.LEN.len.value == u_model.len_q &&
                          u_axil.from_regs.MEMBERS.members.value == u_model.members_q &&
                          u_axil.from_regs.CMD.peer.value == u_model.peer_q &&
                          u_axil.from_regs.CMD.op.value == u_model.op_q &&
                          u_axil.from_regs.IRQ_ENABLE.done.value == u_model.enable_q[0] &&
                          u_axil.from_regs.IRQ_ENABLE.error.value == u_model.enable_q[1]);
      state:      assert (u_axil.from_regs.STATE.error.value == u_model.error_q &&
                          u_axil.from_regs.STATE.aborted.value == u_model.aborted_q &&
                          u_axil.from_regs.STATE.refused.value == u_model.refused_q &&
                          u_axil.u_regs.field_storage.STATE.code.value == u_model.code_q &&
                          u_axil.from_regs.IRQ_STATE.done.value == u_model.ended_q &&
                          u_axil.u_port.written_q == u_model.check_q &&
                          u_axil.u_port.done_q == u_model.done_q &&
                          5'(u_axil.u_port.taken_q - 5'(u_model.done_q)) == u_model.held_q);
      dropped: cover (u_model.aborted_q && !cmd_valid && status_i == 0);
      issued: cover (cmd_valid && cmd_op == mpe_pkg::OpBcast && cmd_len == 4'd3);
      passed: cover (cmd_valid && cmd_op == mpe_pkg::OpFwd && irq);
    end
  end

endmodule
