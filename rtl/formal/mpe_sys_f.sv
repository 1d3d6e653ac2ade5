// SPDX-License-Identifier: MIT OR Apache-2.0
// N engines and their bus run an arbitrary program of K messages that could run one by one.
//
// A message is a broadcast, a Send with its Recv, or both with a Fwd between them. Every node issues
// its commands in the program's order, at arbitrary times; memories are ready at
// arbitrary times. A word is the number of its node and the low bits of its address, so a word that
// is written tells where it came from.
module mpe_sys_f #(
  parameter  int NumNodes   = 3,
  parameter  int Messages   = 2,
  parameter  int LenMax     = 2,
  parameter  int QueueDepth = 2,
  parameter  bit IsPrompt   = 1'b0,  // no gaps and no stalls: for bounds on time
  parameter  int Bound      = 40,
  parameter  bit HoldLaunch = 1'b0,
  parameter  bit Snoop      = 1'b0,
  localparam int StatusW    = 1,
  localparam int LenW       = 2,
  localparam int AddrW      = 3,
  localparam int IdW        = mpe_pkg::id_width(NumNodes),
  localparam int DataW      = 8,
  localparam int PosW       = 3
) (
  input logic                clk_i,
  input logic [NumNodes-1:0] show_i,
  input logic [NumNodes-1:0] mem_rdy_i,
  // The program: taken in the first clock, then kept.
  input logic [Messages-1:0]               is_bcast_i,
  input logic [Messages-1:0]               is_chain_i,   // passes through via_i
  input logic [Messages-1:0][IdW-1:0]      source_i,
  input logic [Messages-1:0][IdW-1:0]      target_i,
  input logic [Messages-1:0][IdW-1:0]      via_i,
  input logic [Messages-1:0][NumNodes-1:0] members_i,
  input logic [Messages-1:0][LenW-1:0]     len_i
);

  logic       past_q = 1'b0;
  logic [7:0] clocks_q = '0;
  (* keep *) logic [Messages-1:0]               is_bcast_q, is_chain_q;
  (* keep *) logic [Messages-1:0][IdW-1:0]      source_q, target_q, via_q;
  (* keep *) logic [Messages-1:0][NumNodes-1:0] members_q;
  (* keep *) logic [Messages-1:0][LenW-1:0]     len_q;

  always_ff @(posedge clk_i) begin
    past_q     <= 1'b1;
    clocks_q   <= (clocks_q == 8'hff) ? clocks_q : clocks_q + 8'd1;
    is_bcast_q <= past_q ? is_bcast_q : is_bcast_i;
    is_chain_q <= past_q ? is_chain_q : is_chain_i;
    source_q   <= past_q ? source_q : source_i;
    target_q   <= past_q ? target_q : target_i;
    via_q      <= past_q ? via_q : via_i;
    members_q  <= past_q ? members_q : members_i;
    len_q      <= past_q ? len_q : len_i;
  end

  logic [Messages-1:0][NumNodes-1:0] takes_part;
  for (genvar m = 0; m < Messages; m++) begin : gen_legal
    assign takes_part[m] = is_bcast_q[m] ? members_q[m] :
        ((NumNodes'(1) << source_q[m]) | (NumNodes'(1) << target_q[m]) |
         (is_chain_q[m] ? NumNodes'(1) << via_q[m] : '0));
    always_comb begin
      if (past_q) begin
        assume (32'(source_q[m]) < NumNodes && 32'(target_q[m]) < NumNodes);
        assume (source_q[m] != target_q[m] && 32'(len_q[m]) <= LenMax);
        assume (members_q[m][source_q[m]] && members_q[m][target_q[m]]);
        assume (!is_chain_q[m] || (!is_bcast_q[m] && 32'(via_q[m]) < NumNodes &&
                                   via_q[m] != source_q[m] && via_q[m] != target_q[m]));
      end
    end
  end

  logic [NumNodes-1:0]                   cmd_valid, cmd_ready, done, err_short, err_long;
  logic [NumNodes-1:0][1:0]              cmd_op;
  logic [NumNodes-1:0][IdW-1:0]          cmd_peer;
  logic [NumNodes-1:0][LenW-1:0]         cmd_len;
  logic [NumNodes-1:0][NumNodes-1:0]     cmd_members;
  logic [NumNodes-1:0][StatusW-1:0]      status;
  logic                                  hold;
  logic [NumNodes-1:0]                   mem_req, mem_we;
  logic [NumNodes-1:0][AddrW-1:0]        mem_addr;
  logic [NumNodes-1:0][DataW-1:0]        mem_wdata, mem_rdata_q;
  logic [NumNodes-1:0][PosW-1:0]         issued_q, ended_q;  // next message to issue, to end
  logic [NumNodes-1:0]                   shown_q;

  mpe_core_sys #(
    .NumNodes(NumNodes), .StatusW(StatusW), .AddrW(AddrW), .LenW(LenW), .DataW(DataW),
    .QueueDepth(QueueDepth), .HoldLaunch(HoldLaunch), .Snoop(Snoop)
  ) u_sys (
    .clk_i(clk_i), .rst_ni(past_q), .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready),
    .cmd_op_i(cmd_op), .cmd_peer_i(cmd_peer), .cmd_addr_i('0), .cmd_len_i(cmd_len),
    .cmd_members_i(cmd_members), .abort_i('0), .done_o(done), .err_short_o(err_short), .err_long_o(err_long),
    .status_o(status), .node_status_o(), .hold_o(hold),
    .mem_rdy_i(IsPrompt ? '1 : mem_rdy_i), .mem_req_o(mem_req), .mem_we_o(mem_we),
    .mem_addr_o(mem_addr), .mem_wdata_o(mem_wdata), .mem_rdata_i(mem_rdata_q));

  // First message from `from` on in which a node takes part.
  function automatic logic [PosW-1:0] next_of(int node, logic [PosW-1:0] from);
    next_of = PosW'(Messages);
    for (int m = Messages - 1; m >= 0; m--)
      if (takes_part[m][node] && PosW'(m) >= from) next_of = PosW'(m);
  endfunction

  logic [NumNodes-1:0][PosW-1:0] at, ends;
  logic [NumNodes-1:0][IdW-1:0]  next;
  logic [NumNodes-1:0]           all_done;
  for (genvar n = 0; n < NumNodes; n++) begin : gen_core
    assign at[n]   = next_of(n, issued_q[n]);
    assign ends[n] = next_of(n, ended_q[n]);
    assign all_done[n] = ends[n] == PosW'(Messages);
    // A core may come late, but does not take back what it shows.
    assign cmd_valid[n] = past_q && at[n] != PosW'(Messages) &&
                          (show_i[n] || shown_q[n] || IsPrompt);
    assign cmd_op[n]   = is_bcast_q[at[n]] ? mpe_pkg::OpBcast :
                         (source_q[at[n]] == IdW'(n)) ? mpe_pkg::OpSend :
                         (target_q[at[n]] == IdW'(n)) ? mpe_pkg::OpRecv : mpe_pkg::OpFwd;
    assign next[n]     = (is_chain_q[at[n]] && source_q[at[n]] == IdW'(n)) ? via_q[at[n]]
                                                                           : target_q[at[n]];
    assign cmd_peer[n] = is_bcast_q[at[n]]          ? source_q[at[n]] :
                         source_q[at[n]] == IdW'(n) ? next[n] :
                         (is_chain_q[at[n]] && target_q[at[n]] == IdW'(n)) ? via_q[at[n]]
                                                                           : source_q[at[n]];
    assign cmd_len[n]     = len_q[at[n]];
    assign cmd_members[n] = is_bcast_q[at[n]] ? members_q[at[n]] : NumNodes'(next[n]);
    always_ff @(posedge clk_i) begin
      if (!past_q) begin
        issued_q[n] <= '0;
        ended_q[n]  <= '0;
        shown_q[n]  <= 1'b0;
      end else begin
        if (cmd_valid[n] && cmd_ready[n]) issued_q[n] <= at[n] + PosW'(1);
        if (done[n]) ended_q[n] <= ends[n] + PosW'(1);
        shown_q[n] <= cmd_valid[n] && !cmd_ready[n];
      end
      if (mem_req[n] && !mem_we[n]) mem_rdata_q[n] <= {5'(n), 3'(mem_addr[n])};
    end
  end

  // What the stream stages are doing, from inside.
  logic [NumNodes-1:0]          s_valid, s_rx, word;
  logic [NumNodes-1:0][IdW-1:0] s_src, s_dst;
  for (genvar n = 0; n < NumNodes; n++) begin : gen_peek
    assign s_valid[n] = u_sys.gen_node[n].u_mpe.u_link.s_valid_q;
    assign s_rx[n]    = u_sys.gen_node[n].u_mpe.u_link.s_rx_q;
    assign word[n]    = u_sys.gen_node[n].u_mpe.u_link.word_q;
    assign s_src[n]   = u_sys.gen_node[n].u_mpe.u_link.s_src_q;
    assign s_dst[n]   = u_sys.gen_node[n].u_mpe.u_link.s_dst_q;
  end

  for (genvar n = 0; n < NumNodes; n++) begin : gen_check
    always_comb begin
      if (past_q) begin
        // Words sent = words taken, and no message starts on the ready of another one.
        no_short:  assert (!err_short[n]);
        no_long:   assert (!err_long[n]);
        taken:     assert (!word[n] || (s_valid[s_dst[n]] && s_rx[s_dst[n]] &&
                                        s_src[s_dst[n]] == IdW'(n)));
        free_idle: assert ((u_sys.gen_node[n].u_mpe.u_link.status_o == '0) ==
                           (!s_valid[n] && !u_sys.gen_node[n].u_mpe.u_link.head_valid_i));
        not_extra: assert (!done[n] || !all_done[n]);
        expected:  assert (!(mem_req[n] && mem_we[n]) || !all_done[n]);
        in_buffer: assert (!(mem_req[n] && mem_we[n]) ||
                           32'(mem_addr[n]) < 32'(len_q[ends[n]]));
        right:     assert (!(mem_req[n] && mem_we[n]) ||
                           mem_wdata[n] == {5'(source_q[ends[n]]), 3'(mem_addr[n])});
      end
    end
    for (genvar r = n + 1; r < NumNodes; r++) begin : gen_pair
      always_comb begin
        if (past_q) begin
          one_sender: assert (!(word[n] && word[r]) || s_dst[n] != s_dst[r]);
        end
      end
    end
  end

  // A launch is not early: what a member was still streaming is through when the words could come.
  if (HoldLaunch && IsPrompt) begin : gen_hold
    logic [NumNodes-1:0]           busy_q;
    logic [NumNodes-1:0][PosW-1:0] left_q;
    for (genvar n = 0; n < NumNodes; n++) begin : gen_member
      logic            launch, busy;
      logic [PosW-1:0] hops, left;
      assign launch = u_sys.gen_node[n].u_mpe.launch_i;
      always_comb begin
        hops = PosW'(source_q[at[n]] != IdW'(n));
        for (int j = 0; j < NumNodes; j++) begin
          if (members_q[at[n]][j] && source_q[at[n]] != IdW'(j) && source_q[at[n]] != IdW'(n) &&
              (status[j] < status[n] || (status[j] == status[n] && j < n))) hops += PosW'(1);
        end
        // In the clock of launch_i, the one behind the launch.
        busy = launch ? ends[n] != at[n] : busy_q[n];
        left = launch ? hops : left_q[n];
        if (past_q) begin
          not_early: assert (!busy || left != '0);
          held:      cover (launch && busy);
        end
      end
      always_ff @(posedge clk_i) begin
        busy_q[n] <= past_q && busy && !done[n];
        left_q[n] <= left - PosW'(1);
      end
    end
  end

  always_comb begin
    if (past_q) begin
      if (IsPrompt) begin
        in_time: assert (clocks_q < 8'(Bound) || &all_done);
      end
      finished: cover (&all_done && len_q[0] != 0 && is_bcast_q[0]);
      passed:   cover (&all_done && len_q[0] != 0 && is_chain_q[0]);
      overlap:  cover (|(s_valid & word) && |cmd_valid && &is_bcast_q);
    end
  end

endmodule
