// Status register and launch of broadcasts.
//
// A broadcast is launched when every member of its root's mask shows a broadcast with that root.
// Launches of disjoint groups do not wait for each other, and no arbiter is needed: a node shows
// one root at a time, so groups that are complete at the same time are disjoint.
module mpe_status_bus #(
  parameter  int NumNodes = 4,
  parameter  int StatusW  = 2,
  parameter  bit Snoop    = 1'b0,  // names the members one by one after a launch
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [NumNodes-1:0][StatusW-1:0]  status_i,
  input  logic [NumNodes-1:0]               bcast_req_i,
  input  logic [NumNodes-1:0]               bcast_root_i,  // shows itself as root
  input  logic [NumNodes-1:0][IdW-1:0]      root_i,
  input  logic [NumNodes-1:0][NumNodes-1:0] members_i,
  output logic [NumNodes-1:0]               launch_o,
  output logic [NumNodes-1:0][StatusW-1:0]  status_o,      // of the clock before
  output logic                              ord_valid_o,
  output logic                              ord_last_o,
  output logic [IdW-1:0]                    ord_node_o,
  output logic [IdW-1:0]                    ord_before_o
);

  logic [NumNodes-1:0][StatusW-1:0] status_q;
  logic [NumNodes-1:0]              launch_q, launch, complete, chosen;
  logic [NumNodes-1:0][NumNodes-1:0] shows;  // [root][node]

  for (genvar r = 0; r < NumNodes; r++) begin : gen_root
    for (genvar n = 0; n < NumNodes; n++) begin : gen_shows
      if (n == r) begin : gen_self
        assign shows[r][n] = bcast_req_i[r] && bcast_root_i[r];
      end else begin : gen_other
        assign shows[r][n] = bcast_req_i[n] && (root_i[n] == IdW'(r));
      end
    end
    // launch_q: the broadcast on the command port was launched a clock ago and is being taken.
    assign complete[r] = &(shows[r] | ~members_i[r]) && shows[r][r] && !launch_q[r];
  end

  if (Snoop) begin : gen_emitter
    // One emitter serves one group at a time.
    logic [NumNodes-1:0] root;
    logic [IdW-1:0]      root_id;
    assign root   = launch_q & bcast_root_i;
    assign chosen = (|launch_q || ord_valid_o) ? '0 : complete & (~complete + NumNodes'(1));
    always_comb begin
      root_id = '0;
      for (int r = 0; r < NumNodes; r++) if (root[r]) root_id |= IdW'(r);
    end
    mpe_order_emit #(
      .NumNodes(NumNodes),
      .StatusW (StatusW)
    ) u_emit (
      .clk_i    (clk_i),
      .rst_ni   (rst_ni),
      .start_i  (|launch_q),
      .status_i (status_q),
      .members_i(launch_q),
      .root_i   (root_id),
      .ready_i  (1'b1),
      .valid_o  (ord_valid_o),
      .last_o   (ord_last_o),
      .node_o   (ord_node_o),
      .leaves_before_o(ord_before_o)
    );
  end else begin : gen_no_emitter
    assign chosen      = complete;
    assign ord_valid_o = 1'b0;
    assign ord_last_o  = 1'b0;
    assign ord_node_o  = '0;
    assign ord_before_o = '0;
  end

  always_comb begin
    launch = '0;
    for (int r = 0; r < NumNodes; r++) begin
      launch |= shows[r] & members_i[r] & {NumNodes{chosen[r]}};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) launch_q <= '0;
    else         launch_q <= launch;
  end
  always_ff @(posedge clk_i) status_q <= status_i;

  assign launch_o = launch_q;
  assign status_o = status_q;

endmodule
