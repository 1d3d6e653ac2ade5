#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Longest path by OpenSTA: typical corner of the OSU 0.18 um cells, no wires, nets of more than
12 cells buffered."""

import re
import shutil
import subprocess
import sys

from synth import BUILD, RTL, libraries, synthesize

UNITS = [("mpe", {"NumNodes": 4, "NodeId": 2}), ("mpe_bus", {"NumNodes": 4}),
         ("mpe_core_sys", {"NumNodes": 4}), ("mpe_core_sys", {"NumNodes": 4, "HoldLaunch": 1}),
         ("mpe_core_sys", {"NumNodes": 8}), ("mpe_core_sys", {"NumNodes": 8, "HoldLaunch": 1}),
         ("sb_unit", {"NumNodes": 16})]
PERIOD_NS = 10


def main():
    if not shutil.which("sta") or len(libraries()) < 2:
        print("opensta or qflow-tech-osu018 is not installed: no timing")
        return
    library = libraries()[1]
    for unit, params in UNITS:
        name = " ".join([unit, *(f"{k}={v}" for k, v in params.items())])
        result = synthesize(unit, params, library, ["buffered"])
        tcl = BUILD / "sta.tcl"
        # Inputs are there at the clock edge: paths through several units are in mpe_core_sys.
        tcl.write_text(
            f"read_liberty {library.path}\nread_verilog {RTL / result['netlist']}\n"
            f"link_design {unit}\ncreate_clock -name clk -period {PERIOD_NS} [get_ports clk_i]\nset_false_path -from [get_ports rst_ni]\n"
            "set_input_delay 0 -clock clk [all_inputs -no_clocks]\nset_output_delay 0 -clock clk [all_outputs]\n"
            "report_checks -path_delay max -format full\nreport_worst_slack\n"
            "set_power_activity -global -activity 0.1\nreport_power\n")
        done = subprocess.run(["sta", "-no_splash", "-exit", str(tcl)], capture_output=True,
                              text=True, check=False)
        (BUILD / f"{name.replace(' ', '_')}.sta").write_text(done.stdout + done.stderr)
        slack = re.search(r"worst slack\s+(-?[0-9.]+)", done.stdout)
        total = re.search(r"^Total\s+(.*)$", done.stdout, re.M)
        if not slack:
            sys.exit(f"{name}: OpenSTA says\n{done.stdout}{done.stderr}")
        power = f", {float(total.group(1).split()[3]) * 1e3:.2f} mW at 100 MHz and activity 0.1" \
            if total else ""
        print(f"{name:36} {PERIOD_NS - float(slack.group(1)):.2f} ns{power}", flush=True)


if __name__ == "__main__":
    main()
