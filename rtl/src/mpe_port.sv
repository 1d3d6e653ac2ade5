// SPDX-License-Identifier: MIT OR Apache-2.0
// Between the command registers of a bus wrapper and the engine's command port.
//
// A legal command waits here until the engine takes it; an illegal one is reported and forgotten.
// The first error since the last clear is the one that is kept, by the register block. An abort has
// dropped a command if one waits or the engine holds more than end in that clock.
module mpe_port #(
  parameter  int NumNodes = 4,
  parameter  int NodeId   = 0,
  parameter  int AddrW    = 12,
  parameter  int LenW     = 10,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // registers; they do not change while pending_o
  input  logic                write_i,     // CMD.op is being written: it is there a clock later
  input  logic                touch_i,     // any of them is being written
  input  logic [1:0]          op_i,
  input  logic [4:0]          peer_i,
  input  logic [31:0]         addr_i,
  input  logic [31:0]         len_i,
  input  logic [31:0]         members_i,
  input  logic                abort_i,     // forgets the command that waits, and the engine all
  output logic                pending_o,
  output logic                drops_o,     // and there is one that does not end in this clock
  output logic                refused_o,   // a command or a register of one was written in vain
  output logic                err_o,
  output logic [2:0]          err_code_o,
  output logic [15:0]         done_count_o,
  // engine
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic [1:0]          cmd_op_o,
  output logic [IdW-1:0]      cmd_peer_o,
  output logic [AddrW-1:0]    cmd_addr_o,
  output logic [LenW-1:0]     cmd_len_o,
  output logic [NumNodes-1:0] cmd_members_o,
  input  logic                done_i,
  input  logic                err_short_i,
  input  logic                err_long_i
);

  logic        written_q, pending_q, illegal, busy;
  logic [2:0]  code;
  logic [15:0] done_q, done_d;
  // Low bits of the commands that the engine has taken: behind those that have ended, it holds none.
  localparam int TakenW = $clog2(mpe_pkg::QueueDepthMax + 1);
  logic [TakenW-1:0] taken_q;

  mpe_check #(
    .NumNodes(NumNodes),
    .NodeId  (NodeId),
    .AddrW   (AddrW),
    .LenW    (LenW)
  ) u_check (
    .op_i     (op_i),
    .peer_i   (peer_i),
    .addr_i   (addr_i),
    .len_i    (len_i),
    .members_i(members_i),
    .code_o   (code)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= 1'b0;
      pending_q <= 1'b0;
      done_q    <= '0;
      taken_q   <= '0;
    end else begin
      written_q <= write_i && !pending_o;
      pending_q <= !abort_i && (pending_q ? !cmd_ready_i :
                                (written_q && code == mpe_pkg::ErrNone));
      done_q    <= done_d;
      taken_q   <= abort_i ? TakenW'(done_d) : taken_q + TakenW'(pending_q && cmd_ready_i);
    end
  end
  assign done_d  = done_q + 16'(done_i);
  assign drops_o = abort_i && (pending_o || taken_q != TakenW'(done_d));

  assign illegal   = written_q && code != mpe_pkg::ErrNone;
  assign busy      = touch_i && pending_o;
  assign refused_o = illegal || busy;

  always_comb begin
    err_code_o = mpe_pkg::ErrNone;
    if (illegal)          err_code_o = code;
    else if (busy)        err_code_o = mpe_pkg::ErrBusy;
    else if (err_short_i) err_code_o = mpe_pkg::ErrShort;
    else if (err_long_i)  err_code_o = mpe_pkg::ErrLong;
  end

  assign err_o         = err_code_o != mpe_pkg::ErrNone;
  assign pending_o     = pending_q || written_q;
  assign done_count_o  = done_q;
  assign cmd_valid_o   = pending_q;
  assign cmd_op_o      = op_i;
  assign cmd_peer_o    = IdW'(peer_i);
  assign cmd_addr_o    = AddrW'(addr_i);
  assign cmd_len_o     = LenW'(len_i);
  assign cmd_members_o = NumNodes'(members_i);

endmodule
