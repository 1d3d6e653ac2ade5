// SPDX-License-Identifier: MIT OR Apache-2.0
// Registers of an engine on APB4: the register block that PeakRDL writes from mpe.rdl, and the
// port to the engine.
module mpe_apb #(
  parameter  int NumNodes = 4,
  parameter  int NodeId   = 0,
  parameter  int StatusW  = 2,
  parameter  int AddrW    = 12,
  parameter  int LenW     = 10,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                psel_i,
  input  logic                penable_i,
  input  logic                pwrite_i,
  input  logic [2:0]          pprot_i,
  input  logic [4:0]          paddr_i,
  input  logic [31:0]         pwdata_i,
  input  logic [3:0]          pstrb_i,
  output logic                pready_o,
  output logic [31:0]         prdata_o,
  output logic                pslverr_o,
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic [1:0]          cmd_op_o,
  output logic [IdW-1:0]      cmd_peer_o,
  output logic [AddrW-1:0]    cmd_addr_o,
  output logic [LenW-1:0]     cmd_len_o,
  output logic [NumNodes-1:0] cmd_members_o,
  output logic                abort_o,
  input  logic                done_i,
  input  logic                err_short_i,
  input  logic                err_long_i,
  input  logic [StatusW-1:0]  status_i,     // the engine's own
  output logic                irq_o         // high as long as an enabled reason is
);

  if (StatusW < 1 || StatusW > mpe_pkg::StatusWMax) begin : gen_bad_status
    $error("mpe_apb: StatusW = %0d, accepted are 1 to %0d", StatusW, mpe_pkg::StatusWMax);
  end

  mpe_regs_apb_pkg::mpe_regs__in_t  to_regs;
  mpe_regs_apb_pkg::mpe_regs__out_t from_regs;
  logic                          pending, err, refused, drops, touched, clears;
  logic [2:0]                    err_code;
  logic [15:0]                   done_count;

  always_comb begin
    to_regs.ADDR.addr.swwel       = pending;
    to_regs.LEN.len.swwel         = pending;
    to_regs.MEMBERS.members.swwel = pending;
    to_regs.CMD.op.swwel          = pending;
    to_regs.CMD.peer.swwel        = pending;
    to_regs.STATE.pending.next    = pending;
    to_regs.STATE.active.next     = status_i != '0;
    to_regs.STATE.error.hwset     = err;
    to_regs.STATE.code.next       = err_code;
    to_regs.STATE.code.we         = err && (!from_regs.STATE.error.value ||
                                            (from_regs.STATE.error.swmod && clears));
    to_regs.STATE.aborted.hwset   = drops;
    to_regs.STATE.refused.hwset   = refused;
    to_regs.STATE.done.next       = done_count;
    to_regs.ID.node.next          = 8'(NodeId);
    to_regs.ID.nodes.next         = 8'(NumNodes);
    to_regs.IRQ_STATE.done.hwset  = done_i;
    to_regs.IRQ_STATE.error.next  = from_regs.STATE.error.value;
  end

  // What is written to STATE.error: the block tells only that something is.
  assign clears  = pwdata_i[4];
  assign abort_o = from_regs.STATE.abort.value;
  assign touched = from_regs.ADDR.addr.swmod || from_regs.LEN.len.swmod ||
                   from_regs.MEMBERS.members.swmod || from_regs.CMD.op.swmod ||
                   from_regs.CMD.peer.swmod;
  assign irq_o   = (from_regs.IRQ_ENABLE.done.value && from_regs.IRQ_STATE.done.value) ||
                   (from_regs.IRQ_ENABLE.error.value && from_regs.STATE.error.value);

  mpe_regs_apb u_regs (
    .clk   (clk_i),
    .arst_n(rst_ni),
    .s_apb_psel(psel_i),
    .s_apb_penable(penable_i),
    .s_apb_pwrite(pwrite_i),
    .s_apb_pprot(pprot_i),
    .s_apb_paddr(paddr_i),
    .s_apb_pwdata(pwdata_i),
    .s_apb_pstrb(pstrb_i),
    .s_apb_pready(pready_o),
    .s_apb_prdata(prdata_o),
    .s_apb_pslverr(pslverr_o),
    .hwif_in (to_regs),
    .hwif_out(from_regs)
  );

  mpe_port #(
    .NumNodes(NumNodes),
    .NodeId  (NodeId),
    .AddrW   (AddrW),
    .LenW    (LenW)
  ) u_port (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .write_i      (from_regs.CMD.op.swmod),
    .touch_i      (touched),
    .op_i         (from_regs.CMD.op.value),
    .peer_i       (from_regs.CMD.peer.value),
    .addr_i       (from_regs.ADDR.addr.value),
    .len_i        (from_regs.LEN.len.value),
    .members_i    (from_regs.MEMBERS.members.value),
    .abort_i      (abort_o),
    .pending_o    (pending),
    .drops_o      (drops),
    .refused_o    (refused),
    .err_o        (err),
    .err_code_o   (err_code),
    .done_count_o (done_count),
    .cmd_valid_o  (cmd_valid_o),
    .cmd_ready_i  (cmd_ready_i),
    .cmd_op_o     (cmd_op_o),
    .cmd_peer_o   (cmd_peer_o),
    .cmd_addr_o   (cmd_addr_o),
    .cmd_len_o    (cmd_len_o),
    .cmd_members_o(cmd_members_o),
    .done_i       (done_i),
    .err_short_i  (err_short_i),
    .err_long_i   (err_long_i)
  );

endmodule
