// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory: any one word of it, watched for ever. A port reads what was written last, in the next clock,
// and what it has read stays until its next read; the engine's port never waits, a write of the core's
// only while the engine writes.
module mpe_ram_f #(
  localparam int AddrW = 3,
  localparam int DataW = 8
) (
  input logic             clk_i,
  input logic [1:0]       req_i,   // 0 the engine's, 1 the core's
  input logic [1:0]       we_i,
  input logic [AddrW-1:0] a_addr_i,
  input logic [AddrW-1:0] b_addr_i,
  input logic [DataW-1:0] a_wdata_i,
  input logic [DataW-1:0] b_wdata_i,
  input logic [AddrW-1:0] watched_i
);

  logic                  b_rdy;
  logic [1:0][DataW-1:0] rdata, rdata_q, want_q;
  mpe_ram #(.AddrW(AddrW), .DataW(DataW)) u_ram (
    .clk_i(clk_i), .a_req_i(req_i[0]), .a_we_i(we_i[0]), .a_addr_i(a_addr_i),
    .a_wdata_i(a_wdata_i), .a_rdata_o(rdata[0]), .b_req_i(req_i[1]), .b_rdy_o(b_rdy),
    .b_we_i(we_i[1]), .b_addr_i(b_addr_i), .b_wdata_i(b_wdata_i), .b_rdata_o(rdata[1]));

  logic                  past_q = 1'b0;
  logic                  known_q = 1'b0;   // the watched word was written
  (* keep *) logic [AddrW-1:0] watched_q;
  logic [DataW-1:0]      word_q;
  logic [1:0]            write, read, read_q = '0, idle_q = '0;
  assign write[0] = past_q && req_i[0] && we_i[0] && a_addr_i == watched_q;
  assign write[1] = past_q && req_i[1] && we_i[1] && b_addr_i == watched_q && b_rdy;
  // A read in the clock of the other port's write is either of the two words.
  assign read[0]  = past_q && req_i[0] && !we_i[0] && a_addr_i == watched_q && known_q && !write[1];
  assign read[1]  = past_q && req_i[1] && !we_i[1] && b_addr_i == watched_q && known_q && !write[0];

  always_ff @(posedge clk_i) begin
    past_q    <= 1'b1;
    watched_q <= past_q ? watched_q : watched_i;
    known_q   <= known_q || |write;
    if (write[0])      word_q <= a_wdata_i;
    else if (write[1]) word_q <= b_wdata_i;
    read_q  <= read;
    idle_q  <= ~(req_i & ~we_i) & {2{past_q}};
    rdata_q <= rdata;
    want_q  <= {2{word_q}};
  end

  for (genvar p = 0; p < 2; p++) begin : gen_port
    always_comb begin
      if (past_q) begin
        latest: assert (!read_q[p] || rdata[p] == want_q[p]);
        stays:  assert (!idle_q[p] || rdata[p] == rdata_q[p]);
      end
    end
  end
  always_comb begin
    waits: assert (b_rdy == !(req_i[0] && we_i[0] && we_i[1]));
    if (past_q) begin
      // What induction needs: both copies are the same.
      copies: assert (!known_q || (u_ram.a_words[watched_q] == word_q &&
                                   u_ram.b_words[watched_q] == word_q));
      both: cover (&read_q && want_q[0] == 8'd5);
    end
  end

endmodule
