// SPDX-License-Identifier: MIT OR Apache-2.0
// Issue queue: a shift register of commands, its head the command that is being handshaked.
//
// ready_o does not depend on pop_i, so that no path runs from a partner's ready message to the
// core. With Depth = 1 a command is therefore accepted one clock after its predecessor has left.
module mpe_issue_queue #(
  parameter int Width = 8,
  parameter int Depth = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,  // forgets all entries and the one that is pushed
  input  logic             push_i,   // only while ready_o
  input  logic [Width-1:0] entry_i,
  output logic             ready_o,
  output logic             valid_o,
  output logic [Width-1:0] entry_o,
  input  logic             pop_i     // only while valid_o
);

  logic [Depth:0]              valid;    // index Depth: nothing above the last stage
  logic [Depth-1:0]            valid_q, push_here;
  logic [Depth-1:0][Width-1:0] entry_q;

  assign valid   = {1'b0, valid_q};
  assign ready_o = !valid_q[Depth-1];
  assign valid_o = valid_q[0];
  assign entry_o = entry_q[0];

  for (genvar i = 0; i < Depth; i++) begin : gen_stage
    // Where the push lands: the first stage that is empty after the pop.
    if (i == 0) begin : gen_head
      assign push_here[i] = push_i && (pop_i ? !valid[1] : !valid[0]);
    end else begin : gen_tail
      assign push_here[i] = push_i &&
          (pop_i ? (valid[i] && !valid[i+1]) : (valid[i-1] && !valid[i]));
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q[i] <= 1'b0;
      else         valid_q[i] <= !clear_i && (push_here[i] || (pop_i ? valid[i+1] : valid[i]));
    end
    if (i == Depth - 1) begin : gen_load_push
      // The content of an empty stage does not matter: it loads whenever it is empty, or when the
      // entry above moves down.
      always_ff @(posedge clk_i) if (pop_i || !valid[i]) entry_q[i] <= entry_i;
    end else begin : gen_load
      always_ff @(posedge clk_i) begin
        if (push_here[i]) entry_q[i] <= entry_i;
        else if (pop_i)   entry_q[i] <= entry_q[i+1];
      end
    end
  end

endmodule
