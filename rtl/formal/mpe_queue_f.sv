// SPDX-License-Identifier: MIT OR Apache-2.0
// Issue queue: a marked entry leaves exactly behind those that were before it; nothing else looks
// like it. So order is kept, nothing is lost or doubled, and the depth is never exceeded. After a clear
// the queue is empty.
module mpe_queue_f #(
  parameter int Depth = 2
) (
  input logic clk_i,
  input logic clear_i,
  input logic push_i,
  input logic pop_i,
  input logic mark_i
);

  logic       past_q = 1'b0;
  logic       push, pop, mark, ready, valid, entry;
  logic       marked_q = 1'b0;        // the marked entry was pushed
  logic       left_q = 1'b0;          // and has left
  logic [4:0] ahead_q = '0;           // entries before it
  logic [4:0] count_q = '0;

  assign push = push_i && ready && past_q;
  assign pop  = pop_i && valid && past_q;
  assign mark = mark_i && !marked_q;

  mpe_issue_queue #(.Width(1), .Depth(Depth)) u_queue (
    .clk_i(clk_i), .rst_ni(past_q), .clear_i(clear_i), .push_i(push), .entry_i(mark), .ready_o(ready),
    .valid_o(valid), .entry_o(entry), .pop_i(pop));

  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    count_q <= clear_i ? 5'd0 : count_q + 5'(push) - 5'(pop);
    if (clear_i && past_q) begin
      marked_q <= marked_q || (push && mark);
      left_q   <= marked_q || (push && mark);
    end else if (push && mark) begin
      marked_q <= 1'b1;
      ahead_q  <= count_q - 5'(pop);
    end else if (marked_q && !left_q && pop) begin
      if (ahead_q == 0) left_q <= 1'b1;
      else              ahead_q <= ahead_q - 5'd1;
    end
  end

  // What induction needs: the stages are filled from the head on, and the mark is where it should be.
  logic [Depth-1:0] filled, entries;
  assign filled  = u_queue.valid_q;
  assign entries = u_queue.entry_q;

  for (genvar i = 0; i < Depth; i++) begin : gen_stage
    always_comb begin
      if (past_q) begin
        dense: assert (filled[i] == (5'(i) < count_q));
        exact: assert (!filled[i] || entries[i] == (marked_q && !left_q && ahead_q == 5'(i)));
      end
    end
  end

  always_comb begin
    if (past_q) begin
      bounded:  assert (count_q <= 5'(Depth));
      occupied: assert (valid == (count_q != 0));
      room:     assert (ready == (count_q < 5'(Depth)));
      kept:     assert (!marked_q || left_q || ahead_q < count_q);
      only_one: assert (!left_q || marked_q);
      passed: cover (left_q && count_q == 5'(Depth));
    end else begin
      empty:    assert (count_q == 0 && !marked_q && !left_q);
    end
  end

endmodule
