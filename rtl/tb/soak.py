#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds and runs soak.cpp: random programs on Verilator for several numbers of nodes and launches."""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from run import RTL, sources, verilator_environment

# Programs per set in CI: a set takes longer to compile than to run. All others are the night's.
CI = [
    ({"NumNodes": 3, "HoldLaunch": 1}, 3000),
    ({"NumNodes": 5, "Snoop": 1, "StatusW": 1}, 4000),
]


def nightly():
    """Every number of nodes, every launch, two depths of the queue."""
    for nodes in range(2, 17):
        for number, launch in enumerate(({}, {"HoldLaunch": 1}, {"Snoop": 1})):
            depth = 2 if (nodes + number) % 2 else 4
            bits = 1 + (nodes + number) % 3
            yield {"NumNodes": nodes, "QueueDepth": depth, "StatusW": bits, **launch}, 320_000 // nodes


def build(params):
    """The bench for these parameters; builds it if its sources have changed."""
    label = "-".join(f"{key}{value}" for key, value in params.items())
    folder = RTL / "build" / "soak" / label
    folder.mkdir(parents=True, exist_ok=True)
    # Large systems take longer to compile than to run.
    optimise = "-O1" if params["NumNodes"] > 8 else "-O2"
    command = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "-Wall", "-Wno-fatal",
               "--top-module", "soak_tb", "--Mdir", str(folder), "-o", "soak",
               "-CFLAGS", f"{optimise} -std=c++17 -Wall -Wextra -DSOAK_NODES={params['NumNodes']}",
               *[f"-G{key}={value}" for key, value in params.items()],
               str(RTL / "lint" / "verilator.vlt"), *[str(path) for path in sources()],
               str(RTL / "tb" / "soak_tb.sv"), str(RTL / "tb" / "soak.cpp")]
    if params["NumNodes"] > 8:
        command += ["--output-split", "5000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{label} does not build:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return folder / "soak"


def soak(params, programs, seed, first):
    """Builds and runs one set; returns its label, its output and whether it holds."""
    label = " ".join(f"{key}={value}" for key, value in params.items())
    done = subprocess.run([build(params), str(programs), str(seed), str(first)],
                          capture_output=True, text=True, check=False)
    return label, done.stdout + done.stderr, done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--night", action="store_true", help="N = 2 to 16, an hour on two cores")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--programs", type=int, help="of each set, instead of its own number")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("params", nargs="*", metavar="NAME=VALUE", help="one set instead of all")
    given = parser.parse_args()
    verilator_environment()
    os.environ["MAKEFLAGS"] += " OPT_FAST= OPT_SLOW= OPT_GLOBAL=-O1"
    sets = list(nightly() if given.night else CI)
    if given.params:
        one = dict(pair.split("=") for pair in given.params)
        sets = [({name: int(value) for name, value in one.items()}, 1000)]
    failed = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        runs = [pool.submit(soak, params, given.programs or programs, given.seed, given.first)
                for params, programs in sets]
        for run in runs:
            label, output, holds = run.result()
            failed += not holds
            print(f"{'ok' if holds else 'FAILED':6} {label}: {output.strip()}", flush=True)
    count = sum(given.programs or programs for _, programs in sets)
    print(f"{count} random programs on {len(sets)} parameter sets, {failed} sets fail")
    sys.exit(1 if failed or not sets else 0)


if __name__ == "__main__":
    main()
