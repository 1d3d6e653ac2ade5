// Tells whether a command may be given to the engine; those that may not would make it wait for ever.
module mpe_check #(
  parameter int NumNodes = 4,
  parameter int NodeId   = 0,
  parameter int AddrW    = 12,
  parameter int LenW     = 10
) (
  input  logic [1:0]  op_i,
  input  logic [4:0]  peer_i,
  input  logic [31:0] addr_i,
  input  logic [31:0] len_i,
  input  logic [31:0] members_i,
  output logic [2:0]  code_o    // mpe_pkg::err_e
);

  logic        is_bcast, is_wide, is_other, is_complete;
  logic [31:0] self_bit, root_bit, beyond;

  assign is_bcast = op_i == mpe_pkg::OpBcast;
  assign is_wide  = |(64'(addr_i) >> AddrW) || |(64'(len_i) >> LenW);
  assign is_other = 32'(peer_i) != 32'(NodeId);
  assign self_bit = 32'd1 << NodeId;
  assign root_bit = 32'd1 << peer_i;
  assign beyond   = 32'(64'hffff_ffff << NumNodes);
  // Root and this node are members, nobody else than nodes is, and two are there.
  assign is_complete = (members_i & self_bit) != 0 && (members_i & root_bit) != 0 &&
                       (members_i & beyond) == 0 && (members_i & (members_i - 32'd1)) != 0;

  always_comb begin
    code_o = mpe_pkg::ErrNone;
    if (op_i == mpe_pkg::OpFwd || is_wide)  code_o = mpe_pkg::ErrOp;
    else if (32'(peer_i) >= 32'(NumNodes))  code_o = mpe_pkg::ErrPeer;
    else if (!is_bcast && !is_other)        code_o = mpe_pkg::ErrSelf;
    else if (is_bcast && !is_complete)      code_o = mpe_pkg::ErrMembers;
  end

endmodule
