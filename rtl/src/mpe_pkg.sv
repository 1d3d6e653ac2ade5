// SPDX-License-Identifier: MIT OR Apache-2.0
// Command codes, error codes and small functions of the message passing engine.
//
// Module boundaries use plain vectors and not the types below, so that netlists and Verilog users
// see the same ports.
package mpe_pkg;

  // Bit 0: transmits. Bit 1: receives. A broadcast becomes one of the others when it is ordered.
  // The target of Send and Fwd is in the low bits of the members, so that the number of the next
  // node always comes from there or from the order; a Send gives it as its peer, too.
  typedef enum logic [1:0] {
    OpBcast = 2'b00,
    OpSend  = 2'b01,
    OpRecv  = 2'b10,
    OpFwd   = 2'b11   // receive and pass on, word by word
  } op_e;

  // Why a command is refused before it reaches the engine (mpe_check), or how a message went wrong.
  typedef enum logic [2:0] {
    ErrNone    = 3'd0,
    ErrWide    = 3'd1,  // address or length is wider than the engine's, or the message's end is
    ErrPeer    = 3'd2,  // peer, root or target is not a node of the system
    ErrSelf    = 3'd3,  // a node cannot send to or receive from itself, or pass back
    ErrMembers = 3'd4,  // mask lacks the root or this node, or has fewer than two
                        // members; target of a Send is not its peer
    ErrBusy    = 3'd5,  // command, or a register of it, written while one was still waiting
    ErrShort   = 3'd6,  // message ended before the length of the receiving command
    ErrLong    = 3'd7   // message went on beyond the length of the receiving command
  } err_e;

  localparam int NumNodesMax = 32;
  localparam int StatusWMax = 3;
  localparam int QueueDepthMax = 16;

  // Bytes of a transfer from which on a finer status register would not tell more (Park 2019,
  // 3.2.4: the two-bit register ends at 1024 bytes).
  localparam int ReferenceBytes = 1024;

  function automatic int id_width(int num_nodes);
    return num_nodes < 2 ? 1 : $clog2(num_nodes);
  endfunction

  function automatic bit is_word_width(int data_w);
    return data_w == 8 || data_w == 16 || data_w == 32 || data_w == 64 || data_w == 128;
  endfunction

endpackage
