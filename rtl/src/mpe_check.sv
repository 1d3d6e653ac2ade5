// SPDX-License-Identifier: MIT OR Apache-2.0
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
  input  logic [31:0] members_i,  // or target of a Send or Fwd
  output logic [2:0]  code_o    // mpe_pkg::err_e
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_check: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (NodeId < 0 || NodeId >= NumNodes) begin : gen_bad_node_id
    $error("mpe_check: NodeId = %0d, accepted are 0 to NumNodes - 1 = %0d", NodeId, NumNodes - 1);
  end
  if (AddrW < 1 || AddrW > 32) begin : gen_bad_addr
    $error("mpe_check: AddrW = %0d, accepted are 1 to 32", AddrW);
  end
  if (LenW < 1 || LenW > AddrW) begin : gen_bad_len
    $error("mpe_check: LenW = %0d, accepted are 1 to AddrW = %0d", LenW, AddrW);
  end

  logic        is_bcast, is_send, is_fwd, is_wide, is_node, is_self, is_back, is_complete;
  logic [31:0] self_bit, root_bit, beyond;
  logic [AddrW:0] behind;

  assign is_bcast = op_i == mpe_pkg::OpBcast;
  // The word behind the last one may be the first behind the memory, but none beyond it.
  assign behind   = (AddrW+1)'(addr_i[AddrW-1:0]) + (AddrW+1)'(len_i[LenW-1:0]);
  assign is_wide  = |(64'(addr_i) >> AddrW) || |(64'(len_i) >> LenW) ||
                    (behind[AddrW] && behind[AddrW-1:0] != '0);
  assign is_send  = op_i == mpe_pkg::OpSend;
  assign is_fwd   = op_i == mpe_pkg::OpFwd;
  assign is_node  = 32'(peer_i) < 32'(NumNodes) && (!is_fwd || members_i < 32'(NumNodes));
  assign is_self  = !is_bcast && 32'(peer_i) == 32'(NodeId);
  // A Fwd to itself waits for itself, one back to its source for the end of the source's Send.
  assign is_back  = is_fwd && (members_i == 32'(NodeId) || members_i == 32'(peer_i));
  assign self_bit = 32'd1 << NodeId;
  assign root_bit = 32'd1 << peer_i;
  assign beyond   = 32'(64'hffff_ffff << NumNodes);
  // Root and this node are members, nobody else than nodes is, and two are there.
  assign is_complete = (members_i & self_bit) != 0 && (members_i & root_bit) != 0 &&
                       (members_i & beyond) == 0 && (members_i & (members_i - 32'd1)) != 0;

  always_comb begin
    code_o = mpe_pkg::ErrNone;
    if (is_wide)                                       code_o = mpe_pkg::ErrWide;
    else if (!is_node)                                 code_o = mpe_pkg::ErrPeer;
    else if (is_self || is_back)                       code_o = mpe_pkg::ErrSelf;
    else if (is_bcast && !is_complete)                 code_o = mpe_pkg::ErrMembers;
    else if (is_send && members_i != 32'(peer_i))      code_o = mpe_pkg::ErrMembers;
  end

endmodule
