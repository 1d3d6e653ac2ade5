#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What proofs, mutants and areas have shown for the sources as they are.

Those of `make ci` that take minutes and read nothing but the files below say the same until one of
these changes. held.json has what they said, and for which sources.

held.py STEP              prints when STEP was run and what it said; fails if it must run
held.py --record STEP ... writes held.json: all of STEP have just held, their logs lie in build/ci
"""

import argparse
import datetime
import hashlib
import json
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent
RECORD = RTL / "held.json"
# Tools are named with their versions in requirements.txt.
READ = ("src/*.sv", "gen/*.sv", "formal/*", "syn/*", "budgets.json", "requirements.txt")


def sources(root=RTL):
    """SHA-256 of all that the steps read, names included."""
    whole = hashlib.sha256()
    for path in sorted(path for pattern in READ for path in root.glob(pattern) if path.is_file()):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(root)} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()


def still_holds(step, record, root=RTL):
    """What STEP said, if nothing that it reads has changed since, else None."""
    return record["said"].get(step) if record["sources"] == sources(root) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="+", metavar="STEP")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    if given.record:
        said = {step: (RTL / "build" / "ci" / f"{step}.log").read_text().split("\n")[-2] for step in given.steps}
        record = {"sources": sources(), "date": str(datetime.date.today()), "said": said}
        RECORD.write_text(json.dumps(record, indent=2) + "\n")
        return
    record = json.loads(RECORD.read_text())
    said = still_holds(given.steps[0], record)
    if said is None:
        sys.exit(1)
    print(f"{said} ({record['date']}; nothing it reads has changed)")


if __name__ == "__main__":
    main()
