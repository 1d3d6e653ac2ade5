// SPDX-License-Identifier: MIT OR Apache-2.0
// Engines behind their registers, for the C driver: even nodes on APB, odd ones on AXI4-Lite. Each
// node has its own bus, as if every core had one; a port holds one bit or field per node.
module driver_tb #(
  parameter  int NumNodes = 4,
  parameter  int AddrW    = 8,
  parameter  int LenW     = 8,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // both buses: address and data of the access; APB takes them from here, too
  input  logic [NumNodes-1:0][4:0]  addr_i,
  input  logic [NumNodes-1:0][31:0] wdata_i,
  output logic [NumNodes-1:0][31:0] rdata_o,
  output logic [NumNodes-1:0]       error_o,
  input  logic [NumNodes-1:0]       psel_i,
  input  logic [NumNodes-1:0]       penable_i,
  input  logic [NumNodes-1:0]       pwrite_i,
  output logic [NumNodes-1:0]       pready_o,
  input  logic [NumNodes-1:0]       awvalid_i,
  output logic [NumNodes-1:0]       awready_o,
  input  logic [NumNodes-1:0]       wvalid_i,
  output logic [NumNodes-1:0]       wready_o,
  output logic [NumNodes-1:0]       bvalid_o,
  input  logic [NumNodes-1:0]       bready_i,
  input  logic [NumNodes-1:0]       arvalid_i,
  output logic [NumNodes-1:0]       arready_o,
  output logic [NumNodes-1:0]       rvalid_o,
  input  logic [NumNodes-1:0]       rready_i,
  input  logic                      host_req_i,
  input  logic                      host_we_i,
  input  logic [IdW-1:0]            host_node_i,
  input  logic [AddrW-1:0]          host_addr_i,
  input  logic [31:0]               host_wdata_i,
  output logic [31:0]               host_rdata_o,
  output logic [NumNodes-1:0]       irq_o
);

  logic [NumNodes-1:0]               cmd_valid, cmd_ready, abort, done, err_short, err_long;
  logic [NumNodes-1:0][1:0]          cmd_op;
  logic [NumNodes-1:0][IdW-1:0]      cmd_peer;
  logic [NumNodes-1:0][AddrW-1:0]    cmd_addr;
  logic [NumNodes-1:0][LenW-1:0]     cmd_len;
  logic [NumNodes-1:0][NumNodes-1:0] cmd_members;
  // The engines' own status: the bus's is a clock behind, and a command that has just left the port
  // would be neither pending nor active for that clock.
  logic [NumNodes-1:0][1:0]          status;
  logic [NumNodes-1:0][1:0]          unused_status;
  logic                              unused_hold;

  for (genvar n = 0; n < NumNodes; n++) begin : gen_node
    if (n % 2 == 0) begin : gen_apb
      assign {awready_o[n], wready_o[n], bvalid_o[n], arready_o[n], rvalid_o[n]} = '0;
      mpe_apb #(.NumNodes(NumNodes), .NodeId(n), .AddrW(AddrW), .LenW(LenW)) u_regs (
        .clk_i(clk_i), .rst_ni(rst_ni), .psel_i(psel_i[n]), .penable_i(penable_i[n]),
        .pwrite_i(pwrite_i[n]), .pprot_i('0), .paddr_i(addr_i[n]), .pwdata_i(wdata_i[n]),
        .pstrb_i('1), .pready_o(pready_o[n]), .prdata_o(rdata_o[n]), .pslverr_o(error_o[n]),
        .cmd_valid_o(cmd_valid[n]), .cmd_ready_i(cmd_ready[n]), .cmd_op_o(cmd_op[n]),
        .cmd_peer_o(cmd_peer[n]), .cmd_addr_o(cmd_addr[n]), .cmd_len_o(cmd_len[n]),
        .cmd_members_o(cmd_members[n]), .abort_o(abort[n]), .done_i(done[n]),
        .err_short_i(err_short[n]),
        .err_long_i(err_long[n]), .status_i(status[n]),
        .irq_o(irq_o[n]));
    end else begin : gen_axil
      logic [1:0] bresp, rresp;
      assign pready_o[n] = 1'b0;
      assign error_o[n]  = (bvalid_o[n] && bresp != '0) || (rvalid_o[n] && rresp != '0);
      mpe_axil #(.NumNodes(NumNodes), .NodeId(n), .AddrW(AddrW), .LenW(LenW)) u_regs (
        .clk_i(clk_i), .rst_ni(rst_ni), .awvalid_i(awvalid_i[n]), .awready_o(awready_o[n]),
        .awaddr_i(addr_i[n]), .awprot_i('0), .wvalid_i(wvalid_i[n]), .wready_o(wready_o[n]),
        .wdata_i(wdata_i[n]), .wstrb_i('1), .bvalid_o(bvalid_o[n]), .bready_i(bready_i[n]),
        .bresp_o(bresp), .arvalid_i(arvalid_i[n]), .arready_o(arready_o[n]), .araddr_i(addr_i[n]),
        .arprot_i('0), .rvalid_o(rvalid_o[n]), .rready_i(rready_i[n]), .rdata_o(rdata_o[n]),
        .rresp_o(rresp),
        .cmd_valid_o(cmd_valid[n]), .cmd_ready_i(cmd_ready[n]), .cmd_op_o(cmd_op[n]),
        .cmd_peer_o(cmd_peer[n]), .cmd_addr_o(cmd_addr[n]), .cmd_len_o(cmd_len[n]),
        .cmd_members_o(cmd_members[n]), .abort_o(abort[n]), .done_i(done[n]),
        .err_short_i(err_short[n]),
        .err_long_i(err_long[n]), .status_i(status[n]),
        .irq_o(irq_o[n]));
    end
  end

  mpe_sys #(
    .NumNodes(NumNodes),
    .AddrW   (AddrW),
    .LenW    (LenW)
  ) u_sys (
    .clk_i(clk_i), .rst_ni(rst_ni), .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready),
    .cmd_op_i(cmd_op), .cmd_peer_i(cmd_peer), .cmd_addr_i(cmd_addr), .cmd_len_i(cmd_len),
    .cmd_members_i(cmd_members), .abort_i(abort), .done_o(done),
    .err_short_o(err_short), .err_long_o(err_long),
    .status_o(unused_status), .node_status_o(status), .hold_o(unused_hold), .mem_stall_i('0),
    .host_req_i(host_req_i), .host_rdy_o(), .host_we_i(host_we_i), .host_node_i(host_node_i),
    .host_addr_i(host_addr_i), .host_wdata_i(host_wdata_i), .host_rdata_o(host_rdata_o));

endmodule
