#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every source says its licence in one of its first lines; --write puts it there."""

import argparse
import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
LICENCE = "SPDX-License-Identifier: MIT OR Apache-2.0"
SLASHES = {".sv", ".c", ".h", ".rdl", ".vlt"}
HASHES = {".py", ".sby", ".sh", ".yml", ".core", ".rules"}


def line_of(path):
    """The licence as a comment of a file, or None if it is no source."""
    if path.suffix in SLASHES:
        return f"// {LICENCE}"
    return f"# {LICENCE}" if path.suffix in HASHES or path.name == "Makefile" else None


def licensed(text, line):
    """With the licence in front; what must be the first line of a file stays it."""
    lines = text.splitlines(keepends=True)
    place = int(bool(lines) and lines[0].startswith(("#!", "CAPI=")))
    return "".join([*lines[:place], f"{line}\n", *lines[place:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    # With what is not committed yet.
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=RTL, check=True, capture_output=True, text=True).stdout
    paths = [RTL / name for name in sorted(set(listed.split("\0")) - {""})]
    sources = [(path, line_of(path)) for path in paths if path.is_file() and line_of(path)]
    bare = [(path, line) for path, line in sources
            if line not in path.read_text().splitlines()[:3]]
    if given.write:
        for path, line in bare:
            path.write_text(licensed(path.read_text(), line))
        print(f"{len(bare)} of {len(sources)} sources were without a licence")
        return
    for path, _ in bare:
        print(f"{path.relative_to(RTL)} has no {LICENCE}: lint/spdx.py --write")
    print(f"{len(sources) - len(bare)} of {len(sources)} sources say their licence")
    sys.exit(1 if bare or not sources else 0)


if __name__ == "__main__":
    main()
