// SPDX-License-Identifier: MIT OR Apache-2.0
// Order unit as snooper: picks my neighbours out of the emitter's sequence.
//
// The name before mine is my successor, the one after mine my predecessor. done_o is high in the
// clock in which all outputs are valid.
module mpe_order_snoop #(
  parameter  int NumNodes = 4,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           start_i,
  input  logic           valid_i,
  input  logic           last_i,
  input  logic [IdW-1:0] node_i,
  input  logic [IdW-1:0] leaves_before_i,
  input  logic [IdW-1:0] self_i,
  output logic           done_o,
  output logic           has_pred_o,
  output logic [IdW-1:0] pred_o,
  output logic           has_succ_o,
  output logic [IdW-1:0] succ_o,
  output logic [IdW-1:0] leaves_before_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_order_snoop: NumNodes = %0d, accepted are 2 to %0d", NumNodes,
           mpe_pkg::NumNodesMax);
  end

  typedef enum logic [1:0] {Idle, Before, Mine} state_e;
  state_e         state_q, state_d;
  logic           seen_q;
  logic [IdW-1:0] succ_q, leaves_before_q;
  logic           is_mine, is_root;

  assign is_mine = valid_i && state_q == Before && node_i == self_i;
  assign is_root = is_mine && last_i;
  assign done_o  = is_root || (valid_i && state_q == Mine);

  always_comb begin
    state_d = state_q;
    if (start_i)                  state_d = Before;
    else if (done_o)              state_d = Idle;
    else if (is_mine)             state_d = Mine;
    else if (valid_i && last_i)   state_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      seen_q <= 1'b0;
    end else if (valid_i && state_q == Before) begin
      if (is_mine) begin
        leaves_before_q <= leaves_before_i;
      end else begin
        seen_q <= 1'b1;
        succ_q <= node_i;
      end
    end
  end

  // A leaf's predecessor is being named in the clock in which the leaf is done.
  assign has_pred_o      = !is_root;
  assign pred_o          = node_i;
  assign has_succ_o      = seen_q;
  assign succ_o          = succ_q;
  assign leaves_before_o = leaves_before_q;

endmodule
