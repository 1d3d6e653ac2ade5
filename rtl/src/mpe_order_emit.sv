// Order unit as emitter: names the members of a broadcast in order, one per clock.
//
// One emitter on the bus and a snooper per node replace a neighbour finder per node: smaller in
// sum for many nodes, N clocks later for the last one. With Snapshot = 1 the status is copied at
// start_i; otherwise status_i must not change until last_o was taken.
module mpe_order_emit #(
  parameter  int NumNodes = 4,
  parameter  int StatusW  = 2,
  parameter  bit Snapshot = 1'b1,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,    // ignored while valid_o is high
  input  logic [NumNodes-1:0][StatusW-1:0] status_i,
  input  logic [NumNodes-1:0]              members_i,  // with the root
  input  logic [IdW-1:0]                   root_i,
  input  logic                             ready_i,
  output logic                             valid_o,
  output logic                             last_o,
  output logic [IdW-1:0]                   node_o
);

  logic [NumNodes-1:0]              pending_q, pending_d, cand, chosen;
  logic                             first_q, load;
  logic [IdW-1:0]                   root_q;
  logic [NumNodes-1:0][StatusW-1:0] status;

  assign valid_o = |pending_q;
  assign load    = start_i && !valid_o;

  if (Snapshot) begin : gen_snapshot
    logic [NumNodes-1:0][StatusW-1:0] status_q;
    always_ff @(posedge clk_i) if (load) status_q <= status_i;
    assign status = status_q;
  end else begin : gen_live
    assign status = status_i;
  end

  // The root leads whatever its class; nobody is left out, so it needs no slot of its own later.
  always_comb begin
    cand = pending_q;
    for (int b = StatusW - 1; b >= 0; b--) begin
      logic [NumNodes-1:0] low;
      for (int j = 0; j < NumNodes; j++) low[j] = cand[j] && !status[j][b];
      if (|low) cand = low;
    end
    chosen = cand & (~cand + NumNodes'(1));
    if (first_q) chosen = NumNodes'(1) << root_q;
    node_o = '0;
    for (int j = 0; j < NumNodes; j++) if (chosen[j]) node_o |= IdW'(j);
  end

  assign pending_d = pending_q & ~chosen;
  assign last_o    = valid_o && (pending_d == '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                pending_q <= '0;
    else if (load)              pending_q <= members_i;
    else if (valid_o && ready_i) pending_q <= pending_d;
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      first_q <= 1'b1;
      root_q  <= root_i;
    end else if (ready_i) begin
      first_q <= 1'b0;
    end
  end

endmodule
