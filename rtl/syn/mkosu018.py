#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Corrects the areas of the OSU 0.18 um liberty of Debian's qflow-tech-osu018 by its LEF.

The liberty gives OAI21 less area than NAND2, NAND3 more than its layout has, and LATCH none.
"""

import re
import sys
from pathlib import Path

TECH = Path("/usr/share/qflow/tech/osu018")


def main():
    if not TECH.exists():
        print("qflow-tech-osu018 is not installed: areas in our own library only")
        return
    lef = (TECH / "osu018_stdcells.lef").read_text()
    sizes = {name: float(width) * float(height) for name, width, height in
             re.findall(r"MACRO (\w+)\s.*?SIZE\s+([0-9.]+)\s+BY\s+([0-9.]+)", lef, re.S)}
    nand2 = sizes["NAND2X1"]
    lines, cell = [], None
    for line in (TECH / "osu018_stdcells.lib").read_text().splitlines():
        found = re.match(r"\s*cell\s*\(\s*\"?(\w+)", line)
        if found:
            cell = found.group(1)
        if cell in sizes and re.match(r"\s*area\s*:", line):
            line = re.sub(r"area\s*:\s*[0-9.]+", f"area : {sizes[cell] / nand2 * 24:.4g}", line)
        lines.append(line)
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
