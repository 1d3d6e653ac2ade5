// SPDX-License-Identifier: MIT OR Apache-2.0
// A port of the crossbar that passes the messages of one node on as packets of an AXI-Stream.
//
// One message is one packet. A stream may pause for any time, and the bus must not: what a message has
// is collected, a message is taken only when the one before it has left the buffer, and words behind
// the first Depth are dropped and told, as a receiver's are that are behind its length. So the bus is
// never held, whatever the stream waits for, be it another port of the same bus. A word leaves when
// the next one or the message's end is there, because only then is it known whether it is the last; an
// empty message leaves no packet. A sender that aborts sends neither, so its abort ends the message.
module mpe_axis_tx #(
  parameter  int NumNodes = 4,
  parameter  int DataW    = 32,
  parameter  int Depth    = 1024,  // words of the longest message
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [IdW-1:0]   peer_i,      // whose messages; to change only while busy_o is low
  output logic             busy_o,      // also in the clock of the ready
  input  logic             abort_i,     // that node's: nothing more comes of its message
  output logic             err_long_o,  // a word behind the first Depth of its message was dropped
  output logic [IdW-1:0]   rx_peer_o,
  input  logic             rx_req_i,
  output logic             rx_rdy_o,
  output logic [IdW-1:0]   rx_src_o,
  input  logic             rx_valid_i,
  input  logic             rx_end_i,
  input  logic [DataW-1:0] rx_data_i,
  input  logic             hold_i,
  output logic             tvalid_o,
  input  logic             tready_i,
  output logic             tlast_o,
  output logic [DataW-1:0] tdata_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_axis_tx: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (!mpe_pkg::is_word_width(DataW)) begin : gen_bad_data
    $error("mpe_axis_tx: DataW = %0d, accepted are 8, 16, 32, 64 and 128", DataW);
  end
  if (Depth < 2 || Depth > 65536) begin : gen_bad_depth
    $error("mpe_axis_tx: Depth = %0d, accepted are 2 to 65536", Depth);
  end

  localparam int CountW = $clog2(Depth + 1);
  localparam int PlaceW = $clog2(Depth);

  // A word is never read in the clock in which it is written: it leaves behind the next one.
  (* no_rw_check *) logic [DataW-1:0] words [Depth];
  logic [CountW-1:0] count_q, sent_q, next;  // words of the message that came, that have left
  logic              busy_q, ended_q, tvalid_q, tlast_q;
  logic [DataW-1:0]  tdata_q;
  logic              word, full, store, ends, is_last, pass;

  assign rx_peer_o  = peer_i;
  assign rx_src_o   = peer_i;
  assign rx_rdy_o   = rx_req_i && !busy_q && !ended_q;
  assign busy_o     = busy_q || ended_q || tvalid_q || rx_rdy_o;
  assign word       = busy_q && rx_valid_i && !hold_i;
  assign full       = count_q == CountW'(Depth);
  assign store      = word && !full;
  assign err_long_o = word && full;
  assign ends       = abort_i || (rx_end_i && !hold_i);

  assign next    = sent_q + CountW'(1);
  assign is_last = next == count_q;
  assign pass    = sent_q != count_q && (!is_last || ended_q) && (!tvalid_q || tready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      ended_q  <= 1'b0;
      tvalid_q <= 1'b0;
      count_q  <= '0;
      sent_q   <= '0;
    end else begin
      if (abort_i)      busy_q <= 1'b0;  // also what was granted in this clock
      else if (!hold_i) busy_q <= busy_q ? !rx_end_i : rx_rdy_o;
      tvalid_q <= pass || (tvalid_q && !tready_i);
      if (pass && is_last) begin
        ended_q <= 1'b0;
        count_q <= '0;
        sent_q  <= '0;
      end else begin
        if (busy_q && ends) ended_q <= store || count_q != '0;
        if (store) count_q <= count_q + CountW'(1);
        if (pass)  sent_q <= next;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (store) words[PlaceW'(count_q)] <= rx_data_i;
    if (pass)  tdata_q <= words[PlaceW'(sent_q)];
  end
  always_ff @(posedge clk_i) if (pass) tlast_q <= is_last;

  assign tvalid_o = tvalid_q;
  assign tlast_o  = tlast_q;
  assign tdata_o  = tdata_q;

endmodule
