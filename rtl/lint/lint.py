#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lints tops with Verilator (-Wall) and elaborates them strictly with slang, for several N."""

import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(RTL / "tb"))

import pyslang  # noqa: E402
from run import sources, verilator_environment  # noqa: E402


# Linted with these, too.
OTHERS = {"mpe_sys": ["-GHoldLaunch=1", "-GSnoop=1"]}


def slang(top, options):
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    files = " ".join(str(path) for path in sources())
    line = f"slang --top {top} {' '.join(options)} -Wno-unused {files}"
    return driver.parseCommandLine(line) and driver.processOptions() and \
        driver.parseAllSources() and driver.runFullCompilation()


def main():
    verilator_environment()
    failed = []
    for top in sys.argv[1:]:
        sets = [[f"-GNumNodes={nodes}"] for nodes in (2, 4, 5, 32)]
        sets += [["-GNumNodes=5", other] for other in OTHERS.get(top, [])]
        for options in sets:
            # By the names that they have here: waivers hold for those, too.
            command = ["verilator", "--lint-only", "-Wall", "--top-module", top, *options,
                       "lint/verilator.vlt",
                       *[str(path.relative_to(RTL)) for path in sources()]]
            done = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                failed.append(f"verilator {top} {options}")
                print(done.stderr)
            if not slang(top, options):
                failed.append(f"slang {top} {options}")
    print("lint failed: " + ", ".join(failed) if failed else "lint: clean")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
