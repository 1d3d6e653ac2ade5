// APB registers against a model of them: a transfer is answered in its first access clock and at no
// other time, reads return what the model holds, and the engine is shown exactly the legal commands,
// as they were written, until it takes them or the core aborts. The first error since the last clear is
// the one kept.
module mpe_apb_f #(
  localparam int NodeId = 1
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

  typedef enum logic [2:0] {Addr, Len, Members, Cmd, State, Id, Abort} reg_e;

  logic        past_q = 1'b0;
  logic        pready, pslverr, cmd_valid, abort;
  logic [31:0] prdata;
  logic [1:0]  cmd_op, cmd_peer;
  logic [5:0]  cmd_addr;
  logic [3:0]  cmd_len, cmd_members;

  mpe_apb #(.NumNodes(4), .NodeId(NodeId), .AddrW(6), .LenW(4)) u_apb (
    .clk_i(clk_i), .rst_ni(past_q), .psel_i(psel_i), .penable_i(penable_i), .pwrite_i(pwrite_i),
    .pprot_i(3'd0), .paddr_i(paddr_i), .pwdata_i(pwdata_i), .pstrb_i(pstrb_i), .pready_o(pready),
    .prdata_o(prdata), .pslverr_o(pslverr), .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready_i),
    .cmd_op_o(cmd_op), .cmd_peer_o(cmd_peer), .cmd_addr_o(cmd_addr), .cmd_len_o(cmd_len),
    .cmd_members_o(cmd_members), .abort_o(abort), .done_i(done_i), .err_short_i(err_short_i),
    .err_long_i(err_long_i), .status_i(status_i));

  // ---- the bus: a set-up clock, then access with everything unchanged until ready ----

  logic        access_q = 1'b0;   // this clock is one of access
  logic        pwrite_q;
  logic [4:0]  paddr_q;
  logic [31:0] pwdata_q;
  logic [3:0]  pstrb_q;
  always_ff @(posedge clk_i) begin
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

  logic [31:0] addr_q = '0, len_q = '0, members_q = '0, merged;
  logic [4:0]  peer_q = '0;
  logic [1:0]  op_q = '0;
  logic [2:0]  code_q = '0, refused, code;
  logic        error_q = 1'b0;
  logic        abort_q = 1'b0;     // ABORT was written a clock ago
  logic        aborted_q = 1'b0;
  logic        check_q = 1'b0;     // a command was written a clock ago
  logic        pending_q = 1'b0;   // a command is shown
  logic [17:0] shown_q;
  logic [15:0] done_q = '0;
  logic        write, locked, clear;
  reg_e        at;

  assign at     = reg_e'(paddr_i[4:2]);
  assign write  = past_q && psel_i && penable_i && pready && pwrite_i;
  assign locked = check_q || pending_q;
  for (genvar b = 0; b < 4; b++) begin : gen_byte
    logic [31:0] former;
    assign former = (at == Addr) ? addr_q : (at == Len) ? len_q : members_q;
    assign merged[8*b+:8] = pstrb_i[b] ? pwdata_i[8*b+:8] : former[8*b+:8];
  end

  // Why a command must not be shown to the engine.
  logic fits, is_group, is_passed;
  assign fits     = addr_q < 32'd64 && len_q < 32'd16;
  assign is_group = members_q < 32'd16 && $countones(members_q) >= 2 && members_q[NodeId] &&
                    members_q[peer_q];
  assign is_passed = members_q < 32'd4 && members_q != 32'(NodeId) && members_q != 32'(peer_q);
  always_comb begin
    refused = mpe_pkg::ErrNone;
    if (pending_q)                                       refused = mpe_pkg::ErrBusy;
    else if (!fits)                                      refused = mpe_pkg::ErrWide;
    else if (peer_q > 5'd3 || (op_q == 2'd3 && members_q > 32'd3)) refused = mpe_pkg::ErrPeer;
    else if (op_q != 2'd0 && peer_q == 5'(NodeId))       refused = mpe_pkg::ErrSelf;
    else if (op_q == 2'd3 && !is_passed)                 refused = mpe_pkg::ErrSelf;
    else if (op_q == 2'd0 && !is_group)                  refused = mpe_pkg::ErrMembers;
    else if (op_q == 2'd1 && members_q != 32'(peer_q))   refused = mpe_pkg::ErrMembers;
  end
  assign code = (check_q && refused != mpe_pkg::ErrNone) ? refused :
                err_short_i ? mpe_pkg::ErrShort : err_long_i ? mpe_pkg::ErrLong : mpe_pkg::ErrNone;
  assign clear = write && at == State && pstrb_i[0] && pwdata_i[4];

  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (past_q) begin
      if (write && !locked && at == Addr)    addr_q    <= merged;
      if (write && !locked && at == Len)     len_q     <= merged;
      if (write && !locked && at == Members) members_q <= merged;
      if (write && at == Cmd && pstrb_i[0])            op_q   <= pwdata_i[1:0];
      if (write && at == Cmd && pstrb_i[1] && !locked) peer_q <= pwdata_i[12:8];
      check_q   <= write && at == Cmd && pstrb_i[0];
      abort_q   <= write && at == Abort && pstrb_i[0] && pwdata_i[0];
      pending_q <= !abort_q && (pending_q ? !cmd_ready_i : (check_q && refused == mpe_pkg::ErrNone));
      aborted_q <= (abort_q && (locked || status_i != 0)) ||
                   (aborted_q && !(write && at == State && pstrb_i[0] && pwdata_i[5]));
      if (!pending_q) shown_q <= {op_q, peer_q[1:0], addr_q[5:0], len_q[3:0], members_q[3:0]};
      done_q <= done_q + 16'(done_i);
      error_q <= code != mpe_pkg::ErrNone || (error_q && !clear);
      // A write that does not clear counts as one: the block tells only that it was written.
      if (code != mpe_pkg::ErrNone && (!error_q || (write && at == State && pstrb_i[0])))
        code_q <= code;
    end
  end

  logic [31:0] want;
  always_comb begin
    unique case (at)
      Addr:    want = addr_q;
      Len:     want = len_q;
      Members: want = members_q;
      Cmd:     want = {19'd0, peer_q, 6'd0, op_q};
      State:   want = {done_q, 5'd0, code_q, 2'd0, aborted_q, error_q, 2'd0, status_i != 0, locked};
      Id:      want = {16'd0, 8'd4, 8'(NodeId)};
      Abort:   want = {31'd0, abort_q};
      default: want = '0;
    endcase
  end

  always_comb begin
    if (past_q) begin
      answered:  assert (pready == access_q);
      accepted:  assert (!pready || !pslverr);
      read_back: assert (!pready || pwrite_i || prdata == want);
      shown:     assert (cmd_valid == pending_q);
      aborts:    assert (abort == abort_q);
      as_told:   assert (!cmd_valid ||
                         {cmd_op, cmd_peer, cmd_addr, cmd_len, cmd_members} == shown_q);
      not_back:  assert (!cmd_valid || cmd_op != mpe_pkg::OpFwd ||
                         (cmd_members != 4'(NodeId) && cmd_members != 4'(cmd_peer)));
      not_self:  assert (!cmd_valid || cmd_op == mpe_pkg::OpBcast || cmd_peer != 2'(NodeId));
      group:     assert (!cmd_valid || cmd_op != mpe_pkg::OpBcast || $countones(cmd_members) >= 2);
      // What induction needs: the model's registers are those of the block.
      bus:       assert (u_apb.u_regs.is_active == access_q &&
                         (!access_q || {u_apb.u_regs.cpuif_req, u_apb.u_regs.cpuif_req_is_wr,
                          u_apb.u_regs.cpuif_addr, u_apb.u_regs.cpuif_wr_data,
                          u_apb.u_regs.cpuif_wr_biten} ==
                          {1'b1, pwrite_i, paddr_i[4:2], 2'd0, pwdata_i, {8{pstrb_i[3]}},
                           {8{pstrb_i[2]}}, {8{pstrb_i[1]}}, {8{pstrb_i[0]}}}));
      quiet:     assert (access_q || !u_apb.u_regs.cpuif_req);
      registers: assert (u_apb.from_regs.ADDR.addr.value == addr_q &&
                         u_apb.from_regs.LEN.len.value == len_q &&
                         u_apb.from_regs.MEMBERS.members.value == members_q &&
                         u_apb.from_regs.CMD.peer.value == peer_q &&
                         u_apb.from_regs.CMD.op.value == op_q);
      state:     assert (u_apb.from_regs.STATE.error.value == error_q &&
                         u_apb.from_regs.STATE.aborted.value == aborted_q &&
                         u_apb.u_regs.field_storage.STATE.code.value == code_q &&
                         u_apb.u_port.written_q == check_q && u_apb.u_port.done_q == done_q);
      locked_in: assert (!pending_q || shown_q[15:0] ==
                         {peer_q[1:0], addr_q[5:0], len_q[3:0], members_q[3:0]});
      legal:     assert (!pending_q || (fits && peer_q <= 5'd3 &&
                         (shown_q[17:16] == 2'd0 ? is_group : peer_q != 5'(NodeId)) &&
                         (shown_q[17:16] != 2'd1 || members_q == 32'(peer_q)) &&
                         (shown_q[17:16] != 2'd3 || is_passed)));
      issued: cover (cmd_valid && cmd_op == mpe_pkg::OpBcast && cmd_len == 4'd3);
      dropped: cover (aborted_q && !cmd_valid && status_i == 0);
      busy:   cover (error_q && code_q == mpe_pkg::ErrBusy && !cmd_valid);
    end
  end

endmodule
