#!/usr/bin/env python3
"""Writes vectors/simulator.json: command programs and finish times of the Rust simulator.

    cargo build -p corecast && python3 rtl/tb/from_simulator.py target/debug/corecast

The chip is park2019-bus. Its `notify` (how long a core takes to learn that a command is done) is
the core's and not the engine's; the vectors carry it, and the test bench waits for it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

CHIP = "park2019-bus"
ALGORITHMS = ("apoc", "apoc-1bit", "linear", "chain", "binary", "binomial", "mst", "distance-mst")
RANKS = (2, 3, 4, 5, 8, 16)
BYTES = (4, 8, 12, 64, 252)
STEP = re.compile(r"r\d+ (send|recv|fwd) (\d+)(?:>(\d+))? \[([0-9, .]+)\]")


def corecast(program, *arguments):
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)


def case(program, algorithm, ranks, size, root):
    arguments = ["bcast", "--chip", CHIP, "--algorithm", algorithm, "--ranks", str(ranks),
                 "--bytes", str(size), "--root", str(root)]
    run = corecast(program, "run", *arguments)
    shown = corecast(program, "show", "schedule",
                     *[a for a in arguments if a not in ("--chip", CHIP)])
    if run is None or shown is None:
        return None
    lines = shown["schedule"].splitlines()
    steps = []
    for line in lines[1:]:
        found = STEP.findall(line)
        if any(chunks != "0" for *_, chunks in found):
            return None     # more than one message per pair: not a program of whole messages
        steps.append([(kind, int(peer)) for kind, peer, _, _ in found])
    return {"algorithm": algorithm, "ranks": ranks, "bytes": size, "root": root,
            "is_atomic": "launch atomic" in lines[0], "steps": steps,
            "finish_cycles": [round(ns / run[0]["makespan_ns"] * run[0]["makespan_cycles"])
                              for ns in run[0]["finish_ns"]]}


def main():
    program = sys.argv[1]
    chip = corecast(program, "show", "chip", CHIP)
    notify = next(int(entry["value"]) for entry in chip["parameters"]
                  if entry["key"] == "endpoint.notify")
    cases = [case(program, algorithm, ranks, size, root) for algorithm in ALGORITHMS
             for ranks in RANKS for size in BYTES for root in (0, ranks - 1)]
    found = [one for one in cases if one]
    out = Path(__file__).resolve().parent / "vectors" / "simulator.json"
    out.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(one) for one in found)
    out.write_text(f'{{"chip": "{CHIP}", "notify_cycles": {notify}, "word_bytes": 4, "cases": [\n'
                   f"{lines}\n]}}\n")
    print(f"{len(found)} of {len(cases)} cases")


if __name__ == "__main__":
    main()
