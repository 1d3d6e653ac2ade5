// Order unit as snooper: picks my neighbours out of the emitter's sequence.
//
// done_o is high in the clock after which pred_o and succ_o are complete: with the name that
// follows mine, or with mine if it is the last. They stay until the next start_i.
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
  input  logic [IdW-1:0] self_i,
  output logic           done_o,
  output logic           has_pred_o,
  output logic [IdW-1:0] pred_o,
  output logic           has_succ_o,
  output logic [IdW-1:0] succ_o,
  output logic [IdW-1:0] leaves_before_o
);

  typedef enum logic [1:0] {Idle, Before, Mine, Done} state_e;
  state_e         state_q, state_d;
  logic           seen_q, has_succ_q;
  logic [IdW-1:0] prev_q, succ_q, count_q;
  logic           is_mine;

  assign is_mine = node_i == self_i;

  // Between Mine and Done the last name seen is mine, so prev_q is not touched any more.
  always_comb begin
    state_d = state_q;
    if (start_i) state_d = Before;
    else if (valid_i) begin
      if (state_q == Before && is_mine)   state_d = last_i ? Done : Mine;
      else if (state_q == Before && last_i) state_d = Idle;
      else if (state_q == Mine)           state_d = Done;
    end
  end

  assign done_o = state_q != Done && state_d == Done;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      seen_q     <= 1'b0;
      has_succ_q <= 1'b0;
      count_q    <= '0;
    end else if (valid_i) begin
      if (state_q == Before && !is_mine) begin
        seen_q  <= 1'b1;
        prev_q  <= node_i;
        if (seen_q) count_q <= count_q + IdW'(1);
      end
      if (state_q == Mine) begin
        succ_q     <= node_i;
        has_succ_q <= 1'b1;
      end
    end
  end

  assign has_pred_o      = seen_q;
  assign pred_o          = prev_q;
  assign has_succ_o      = has_succ_q || (state_q == Mine && valid_i);
  assign succ_o          = (state_q == Mine) ? node_i : succ_q;
  assign leaves_before_o = count_q;

endmodule
