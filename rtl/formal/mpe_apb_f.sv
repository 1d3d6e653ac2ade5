// SPDX-License-Identifier: MIT OR Apache-2.0
// APB registers against the model of them: a transfer is answered in its first access clock and at no
// other time, reads return what the model holds, and the engine is shown exactly the legal commands,
// as they were written, until it takes them or an abort. The first error since the last clear is the one kept.
module mpe_apb_f #(
  parameter  int NumNodes = 4,
  localparam int NodeId   = 1,
  localparam int AddrW    = 6,
  localparam int LenW     = 4,
  localparam int IdW      = mpe_pkg::id_width(NumNodes),
  localparam int CmdW     = 2 + IdW + AddrW + LenW + NumNodes
) (
  input logic        clk_i,
  input logic        psel_i,
  input logic        penable_i,
  input logic        pwrite_i,
  input logic [4:0]  paddr_i,
  input logic [31:0] pwdata_i,
  input logic [3:0]  pstrb_i,
  input logic        cmd_ready_i,
  input logic        done_i,
  input logic        err_short_i,
  input logic        err_long_i,
  input logic [1:0]  status_i
);

  logic                past_q = 1'b0;
  logic                pready, pslverr, cmd_valid, abort, irq;
  logic [31:0]         prdata;
  logic [1:0]          cmd_op;
  logic [IdW-1:0]      cmd_peer;
  logic [AddrW-1:0]    cmd_addr;
  logic [LenW-1:0]     cmd_len;
  logic [NumNodes-1:0] cmd_members;

  mpe_apb #(.NumNodes(NumNodes), .NodeId(NodeId), .AddrW(AddrW), .LenW(LenW)) u_apb (
    .clk_i(clk_i), .rst_ni(past_q), .psel_i(psel_i), .penable_i(penable_i), .pwrite_i(pwrite_i),
    .pprot_i(3'd0), .paddr_i(paddr_i), .pwdata_i(pwdata_i), .pstrb_i(pstrb_i), .pready_o(pready),
    .prdata_o(prdata), .pslverr_o(pslverr), .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready_i),
    .cmd_op_o(cmd_op), .cmd_peer_o(cmd_peer), .cmd_addr_o(cmd_addr), .cmd_len_o(cmd_len),
    .cmd_members_o(cmd_members), .abort_o(abort), .done_i(done_i), .err_short_i(err_short_i),
    .err_long_i(err_long_i), .status_i(status_i), .irq_o(irq));

  // ---- the bus: a set-up clock, then access with everything unchanged until ready ----

  logic        access_q = 1'b0;   // this clock is one of access
  logic        pwrite_q;
  logic [4:0]  paddr_q;
  logic [31:0] pwdata_q;
  logic [3:0]  pstrb_q;
  always_ff @(posedge clk_i) begin
    past_q   <= 1'b1;
    access_q <= past_q && psel_i && !(penable_i && pready);
    pwrite_q <= pwrite_i;
    paddr_q  <= paddr_i;
    pwdata_q <= pwdata_i;
    pstrb_q  <= pstrb_i;
  end
  always_comb begin
    assume (penable_i == access_q);
    assume (!access_q || (psel_i && pwrite_i == pwrite_q && paddr_i == paddr_q &&
                          pwdata_i == pwdata_q && pstrb_i == pstrb_q));
  end

  // ---- the registers ----

  logic [31:0]     want;
  logic [CmdW-1:0] shown;
  logic            pending, want_irq, legal_command;
  mpe_regs_f #(.NumNodes(NumNodes), .NodeId(NodeId), .AddrW(AddrW), .LenW(LenW)) u_model (
    .clk_i(clk_i), .past_i(past_q), .write_i(psel_i && penable_i && pready && pwrite_i),
    .address_i(paddr_i), .data_i(pwdata_i), .strobe_i(pstrb_i), .ready_i(cmd_ready_i),
    .done_i(done_i), .short_i(err_short_i), .long_i(err_long_i), .active_i(status_i != 0),
    .read_o(want), .pending_o(pending), .shown_o(shown), .irq_o(want_irq),
    .legal_o(legal_command));

  always_comb begin
    if (past_q) begin
      answered:  assert (pready == access_q);
      accepted:  assert (!pready || !pslverr);
      read_back: assert (!pready || pwrite_i || prdata == want);
      told:      assert (irq == want_irq);
      is_shown:  assert (cmd_valid == pending);
      aborts:    assert (abort == u_model.abort_q);
      as_told:   assert (!cmd_valid ||
                         {cmd_op, cmd_peer, cmd_addr, cmd_len, cmd_members} == shown);
      not_back:  assert (!cmd_valid || cmd_op != mpe_pkg::OpFwd ||
                         (cmd_members != NumNodes'(NodeId) && cmd_members != NumNodes'(cmd_peer)));
      not_self:  assert (!cmd_valid || cmd_op == mpe_pkg::OpBcast || cmd_peer != IdW'(NodeId));
      node:      assert (!cmd_valid || 32'(cmd_peer) < NumNodes);
      group:     assert (!cmd_valid || cmd_op != mpe_pkg::OpBcast || $countones(cmd_members) >= 2);
      no_wrap:   assert (!cmd_valid || 32'(cmd_addr) + 32'(cmd_len) <= 32'(1 << AddrW));
      legal:     assert (!pending || legal_command);
      // What induction needs: the model's registers are those of the block.
      bus:       assert (u_apb.u_regs.is_active == access_q &&
                         (!access_q || {u_apb.u_regs.cpuif_req, u_apb.u_regs.cpuif_req_is_wr,
                          u_apb.u_regs.cpuif_addr, u_apb.u_regs.cpuif_wr_data,
                          u_apb.u_regs.cpuif_wr_biten} ==
                          {1'b1, pwrite_i, paddr_i[4:2], 2'd0, pwdata_i, {8{pstrb_i[3]}},
                           {8{pstrb_i[2]}}, {8{pstrb_i[1]}}, {8{pstrb_i[0]}}}));
      quiet:     assert (access_q || !u_apb.u_regs.cpuif_req);
      registers: assert (u_apb.from_regs.ADDR.addr.value == u_model.addr_q &&
                         u_apb.from_regs.LEN.len.value == u_model.len_q &&
                         u_apb.from_regs.MEMBERS.members.value == u_model.members_q &&
                         u_apb.from_regs.CMD.peer.value == u_model.peer_q &&
                         u_apb.from_regs.CMD.op.value == u_model.op_q &&
                         u_apb.from_regs.IRQ_ENABLE.done.value == u_model.enable_q[0] &&
                         u_apb.from_regs.IRQ_ENABLE.error.value == u_model.enable_q[1]);
      state:     assert (u_apb.from_regs.STATE.error.value == u_model.error_q &&
                         u_apb.from_regs.STATE.aborted.value == u_model.aborted_q &&
                         u_apb.from_regs.STATE.refused.value == u_model.refused_q &&
                         u_apb.u_regs.field_storage.STATE.code.value == u_model.code_q &&
                         u_apb.from_regs.IRQ_STATE.done.value == u_model.ended_q &&
                         u_apb.u_port.written_q == u_model.check_q &&
                         u_apb.u_port.done_q == u_model.done_q &&
                         5'(u_apb.u_port.taken_q - 5'(u_model.done_q)) == u_model.held_q);
      dropped: cover (u_model.aborted_q && !cmd_valid && status_i == 0);
      issued: cover (cmd_valid && cmd_op == mpe_pkg::OpBcast && cmd_len == 4'd3);
      busy:   cover (u_model.error_q && u_model.code_q == mpe_pkg::ErrBusy && !cmd_valid && irq);
    end
  end

endmodule
