// A port of the crossbar that passes the messages of one node on as packets of an AXI-Stream.
//
// One message is one packet. A word leaves when the next one or the message's end is there, because
// only then is it known whether it is the last; an empty message leaves no packet. While tready_i is
// low and both words of buffer are full, the bus is held.
module mpe_axis_tx #(
  parameter  int NumNodes = 4,
  parameter  int DataW    = 32,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [IdW-1:0]   peer_i,      // whose messages; to change only while busy_o is low
  output logic             busy_o,
  output logic [IdW-1:0]   rx_peer_o,
  input  logic             rx_req_i,
  output logic             rx_rdy_o,
  output logic [IdW-1:0]   rx_src_o,
  input  logic             rx_valid_i,
  input  logic             rx_end_i,
  input  logic [DataW-1:0] rx_data_i,
  output logic             hold_o,
  input  logic             hold_i,
  output logic             tvalid_o,
  input  logic             tready_i,
  output logic             tlast_o,
  output logic [DataW-1:0] tdata_o
);

  logic             busy_q, full_q, ended_q, tvalid_q, tlast_q;
  logic [DataW-1:0] word_q, tdata_q;
  logic             word, ends, out_free, pass;

  assign rx_peer_o = peer_i;
  assign rx_src_o  = peer_i;
  assign rx_rdy_o  = rx_req_i && !busy_q && !ended_q;
  assign busy_o    = busy_q || full_q || tvalid_q;
  assign word      = busy_q && rx_valid_i;
  assign ends      = busy_q && rx_end_i;
  assign out_free  = !tvalid_q || tready_i;
  assign hold_o    = word && full_q && !out_free;
  // What waits moves on behind the next word, or once the message has ended.
  assign pass      = full_q && out_free && ((word && !hold_i) || ended_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      full_q   <= 1'b0;
      ended_q  <= 1'b0;
      tvalid_q <= 1'b0;
    end else begin
      if (!hold_i) busy_q <= busy_q ? !rx_end_i : rx_rdy_o;
      full_q   <= (word && !hold_i) || (full_q && !pass);
      ended_q  <= (ends && !hold_i && full_q) || (ended_q && !pass);
      tvalid_q <= pass || (tvalid_q && !tready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (word && !hold_i) word_q <= rx_data_i;
    if (pass) begin
      tdata_q <= word_q;
      tlast_q <= ended_q;
    end
  end

  assign tvalid_o = tvalid_q;
  assign tlast_o  = tlast_q;
  assign tdata_o  = tdata_q;

endmodule
