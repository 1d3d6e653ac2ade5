// SPDX-License-Identifier: MIT OR Apache-2.0
// Model of the registers behind either bus: what a write does, what a read returns, and which
// commands the engine is shown. The proofs of both wrappers compare with it; they say when an access
// reaches the register block.
module mpe_regs_f #(
  parameter  int NumNodes = 4,
  parameter  int NodeId   = 1,
  parameter  int AddrW    = 6,
  parameter  int LenW     = 4,
  localparam int IdW      = mpe_pkg::id_width(NumNodes),
  localparam int CmdW     = 2 + IdW + AddrW + LenW + NumNodes
) (
  input  logic            clk_i,
  input  logic            past_i,
  input  logic            write_i,   // an access of this clock
  input  logic [4:0]      address_i,
  input  logic [31:0]     data_i,
  input  logic [3:0]      strobe_i,
  input  logic            ready_i,
  input  logic            done_i,
  input  logic            short_i,
  input  logic            long_i,
  input  logic            active_i,
  output logic [31:0]     read_o,    // of address_i
  output logic            pending_o, // a command is shown: this one
  output logic [CmdW-1:0] shown_o,
  output logic            irq_o,
  output logic            legal_o    // what is shown may be
);

  typedef enum logic [2:0] {Addr, Len, Members, Cmd, State, Id, Enable, Irq} reg_e;

  logic [31:0]     addr_q = '0, len_q = '0, members_q = '0, merged;
  logic [4:0]      peer_q = '0;
  logic [1:0]      op_q = '0;
  logic [2:0]      code_q = '0, refused, code;
  logic            error_q = 1'b0;
  logic            ended_q = 1'b0;        // a command has ended since the clear
  logic [1:0]      enable_q = '0;
  logic            abort_q = 1'b0;        // an abort was written a clock ago
  logic            aborted_q = 1'b0;
  logic            refused_q = 1'b0;      // something was written in vain
  logic            check_q = 1'b0;        // a command was written a clock ago
  logic            pending_q = 1'b0;
  logic [4:0]      held_q = '0;           // commands that the engine holds
  logic [CmdW-1:0] shown_q;
  logic [15:0]     done_q = '0;
  logic            write, locked, clear, touched;
  reg_e            at;

  assign at     = reg_e'(address_i[4:2]);
  assign write  = past_i && write_i;
  assign locked = check_q || pending_q;
  for (genvar b = 0; b < 4; b++) begin : gen_byte
    logic [31:0] former;
    assign former = (at == Addr) ? addr_q : (at == Len) ? len_q : members_q;
    assign merged[8*b+:8] = strobe_i[b] ? data_i[8*b+:8] : former[8*b+:8];
  end

  // Why a command must not be shown to the engine.
  logic fits, is_group, is_passed;
  assign fits      = len_q < 32'(1 << LenW) && 33'(addr_q) + 33'(len_q) <= 33'(1 << AddrW) &&
                     addr_q < 32'(1 << AddrW);
  assign is_group  = 64'(members_q) < 64'(1) << NumNodes && $countones(members_q) >= 2 &&
                     members_q[NodeId] && members_q[peer_q];
  assign is_passed = members_q < 32'(NumNodes) && members_q != 32'(NodeId) &&
                     members_q != 32'(peer_q);
  always_comb begin
    refused = mpe_pkg::ErrNone;
    if (!fits)                                           refused = mpe_pkg::ErrWide;
    else if (32'(peer_q) >= NumNodes || (op_q == 2'd3 && members_q >= 32'(NumNodes)))
      refused = mpe_pkg::ErrPeer;
    else if (op_q != 2'd0 && peer_q == 5'(NodeId))       refused = mpe_pkg::ErrSelf;
    else if (op_q == 2'd3 && !is_passed)                 refused = mpe_pkg::ErrSelf;
    else if (op_q == 2'd0 && !is_group)                  refused = mpe_pkg::ErrMembers;
    else if (op_q == 2'd1 && members_q != 32'(peer_q))   refused = mpe_pkg::ErrMembers;
  end
  // A register of a command that waits is not written, and software learns of it.
  assign touched = write && locked && (at == Cmd ? |strobe_i[1:0] :
                                       |strobe_i && (at == Addr || at == Len || at == Members));
  assign code = (check_q && refused != mpe_pkg::ErrNone) ? refused :
                touched ? mpe_pkg::ErrBusy :
                short_i ? mpe_pkg::ErrShort : long_i ? mpe_pkg::ErrLong : mpe_pkg::ErrNone;
  assign clear = write && at == State && strobe_i[0] && data_i[4];

  always_ff @(posedge clk_i) begin
    if (past_i) begin
      if (write && !locked && at == Addr)    addr_q    <= merged;
      if (write && !locked && at == Len)     len_q     <= merged;
      if (write && !locked && at == Members) members_q <= merged;
      if (write && at == Cmd && strobe_i[0] && !locked) op_q   <= data_i[1:0];
      if (write && at == Cmd && strobe_i[1] && !locked) peer_q <= data_i[12:8];
      if (write && at == Enable && strobe_i[0])         enable_q <= data_i[1:0];
      check_q   <= write && at == Cmd && strobe_i[0] && !locked;
      // A write of other bytes right behind an abort lets it last: so the block makes a pulse.
      abort_q   <= write && at == State && (strobe_i[0] ? data_i[6] : abort_q);
      held_q    <= abort_q ? '0 : held_q + 5'(pending_q && ready_i) - 5'(done_i);
      aborted_q <= (abort_q && (locked || held_q != 5'(done_i))) ||
                   (aborted_q && !(write && at == State && strobe_i[0] && data_i[5]));
      refused_q <= (check_q && refused != mpe_pkg::ErrNone) || touched ||
                   (refused_q && !(write && at == State && strobe_i[0] && data_i[7]));
      pending_q <= !abort_q && (pending_q ? !ready_i :
                                            (check_q && refused == mpe_pkg::ErrNone));
      if (!pending_q) shown_q <= {op_q, IdW'(peer_q), AddrW'(addr_q), LenW'(len_q),
                                  NumNodes'(members_q)};
      done_q  <= done_q + 16'(done_i);
      ended_q <= done_i || (ended_q && !(write && at == Irq && strobe_i[0] && data_i[0]));
      error_q <= code != mpe_pkg::ErrNone || (error_q && !clear);
      if (code != mpe_pkg::ErrNone && (!error_q || clear)) code_q <= code;
    end
  end

  always_comb begin
    unique case (at)
      Addr:    read_o = addr_q;
      Len:     read_o = len_q;
      Members: read_o = members_q;
      Cmd:     read_o = {19'd0, peer_q, 6'd0, op_q};
      State:   read_o = {done_q, 5'd0, code_q, refused_q, 1'b0, aborted_q, error_q, 2'd0, active_i,
                         locked};
      Id:      read_o = {16'd0, 8'(NumNodes), 8'(NodeId)};
      Enable:  read_o = {30'd0, enable_q};
      Irq:     read_o = {30'd0, error_q, ended_q};
      default: read_o = '0;
    endcase
  end

  assign pending_o = pending_q;
  assign shown_o   = shown_q;
  assign irq_o     = (enable_q[0] && ended_q) || (enable_q[1] && error_q);
  assign legal_o   = fits && 32'(peer_q) < NumNodes &&
                     (shown_q[CmdW-1-:2] == 2'd0 ? is_group : peer_q != 5'(NodeId)) &&
                     (shown_q[CmdW-1-:2] != 2'd1 || members_q == 32'(peer_q)) &&
                     (shown_q[CmdW-1-:2] != 2'd3 || is_passed) &&
                     shown_q[CmdW-3:0] == {IdW'(peer_q), AddrW'(addr_q), LenW'(len_q),
                                           NumNodes'(members_q)};

endmodule
