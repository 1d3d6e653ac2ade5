#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""mpe.core and Bender.yml name every file of src/ and gen/, each behind what it uses.

--tools also runs FuseSoC's targets on a copy of what git tracks.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

RTL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(RTL / "tb"))

from run import sources, summary, verilator_environment  # noqa: E402


def core_files():
    """Files of mpe.core's default target, and the test benches of its other file sets.

    Waivers are for linters, and in no file that others use.
    """
    core = yaml.safe_load((RTL / "mpe.core").read_text())
    files = [[file if isinstance(file, str) else next(iter(file)) for file in entry["files"]]
             for entry in core["filesets"].values()]
    names = dict(zip(core["filesets"], files))
    names["waivers"] = []
    default = core["targets"]["default"]["filesets"]
    return ([file for name in default for file in names[name]],
            [file for name in names if name not in default for file in names[name]])


def bender_files():
    """The same of Bender.yml: entries without a target, and with one."""
    always, for_target = [], []
    for entry in yaml.safe_load((RTL / "Bender.yml").read_text())["sources"]:
        if isinstance(entry, str):
            always.append(entry)
        else:
            for_target += entry["files"]
    return always, for_target


def used_by(path, modules):
    """The modules that a file instantiates and the packages that it names."""
    text = re.sub(r"//[^\n]*", "", (RTL / path).read_text())
    named = set(re.findall(r"\b(\w+)::", text)) | \
        set(re.findall(r"^\s*(\w+)\s+(?:#\(|u_\w+\s*\()", text, re.M))
    return (named & modules) - {Path(path).stem}


def problems(manifest, listed, others):
    expected = {str(path.relative_to(RTL)) for path in sources()}
    modules = {Path(path).stem for path in expected}
    for path in sorted(expected - set(listed)):
        yield f"{manifest} does not name {path}"
    for path in sorted(set(listed) - expected):
        yield f"{manifest} names {path}, which is not in src/ or gen/"
    for path in others:
        if not (RTL / path).exists():
            yield f"{manifest} names {path}, which does not exist"
    seen = set()
    for path in listed:
        if path in seen:
            yield f"{manifest} names {path} two times"
        seen.add(path)
        if path in expected:
            for module in sorted(used_by(path, modules) - {Path(file).stem for file in seen}):
                yield f"{manifest} names {path} before {module}, which it uses"


def fusesoc(target, folder, environment):
    """Runs a target in a clean checkout; returns what went wrong or None."""
    work = folder / f"work-{target}"
    done = subprocess.run(
        ["fusesoc", "--cores-root", str(folder), "run", "--work-root", str(work), "--target", target,
         "corecast:mpe:mpe"], cwd=folder, env=environment, text=True, capture_output=True,
        check=False)
    if done.returncode != 0:
        return f"fusesoc {target}:\n{done.stdout}{done.stderr}"
    if target == "sim":
        failed, text = summary(work / "results.xml")
        # The target's number of nodes is one that every test is for.
        if failed or "skipped" in text:
            return f"fusesoc sim: {text}\n{done.stdout}{done.stderr}"
        print(f"fusesoc sim: {text}", flush=True)
    else:
        print(f"fusesoc {target}: no complaint", flush=True)
    return None


def run_tools():
    """FuseSoC finds Verilator and cocotb as a user's would: on the path and in the environment."""
    def said(*command):
        return subprocess.run(command, check=True, text=True, capture_output=True).stdout

    verilator_environment()
    # edalize does not name cocotb's libraries to cocotb 2.1.
    library, entry = (said("cocotb-config", option).strip()
                      for option in ("--libpython", "--pygpi-entry-point"))
    environment = {**os.environ, "GPI_USERS": f"{library};{entry}"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in said("git", "-C", str(RTL), "ls-files", "-z", ".").split("\0")[:-1]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes((RTL / path).read_bytes())
        return [problem for target in ("lint", "sim")
                if (problem := fusesoc(target, folder, environment))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="store_true")
    given = parser.parse_args()
    found = [*problems("mpe.core", *core_files()), *problems("Bender.yml", *bender_files())]
    if given.tools:
        found += run_tools()
    print(*found or ["mpe.core and Bender.yml name every source, in order"], sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
