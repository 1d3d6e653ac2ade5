#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Draws the timing diagrams of this folder: every .json here as an .svg beside it.

--check compares instead of writing, and looks for the picture in README.md.
"""

import argparse
import sys
from pathlib import Path

import wavedrom

DOCS = Path(__file__).resolve().parent


def draw(source):
    """SVG text on white, because sites show transparent pictures on any background."""
    picture = wavedrom.render(source.read_text())
    picture.elements.insert(0, picture.rect((0, 0), ("100%", "100%"), fill="white"))
    return picture.tostring() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    readme = (DOCS.parent / "README.md").read_text()
    wrong = []
    for source in sorted(DOCS.glob("*.json")):
        picture = source.with_suffix(".svg")
        if not given.check:
            picture.write_text(draw(source))
        elif not picture.exists() or picture.read_text() != draw(source):
            wrong.append(f"docs/{picture.name} is not what docs/{source.name} says: `make docs`")
        if f"(docs/{picture.name})" not in readme:
            wrong.append(f"README.md does not show docs/{picture.name}")
    print(*wrong or ["the diagrams are current"], sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
