# SPDX-License-Identifier: MIT OR Apache-2.0
"""Docstrings as Markdown: doctests as blocks of code, and names in roles as code."""

import re
from typing import Any

import griffe


def markdown(text: str) -> str:
    """The same text with what Markdown writes in another way."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")
    found: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        start = block.find(">>> ")
        if start < 0:
            found.append(block)
            continue
        before, code = block[:start].rstrip(), re.sub(r"\s*# doctest: \S+", "", block[start:])
        found += [before] if before else []
        found.append(f"```pycon\n{code}\n```")
    return "\n\n".join(found)


def rewrite(obj: griffe.Object) -> None:
    """Does it to one that is read."""
    if obj.docstring is not None:
        obj.docstring.value = markdown(obj.docstring.value)


class Docstrings(griffe.Extension):
    """Rewrites all that are read."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        rewrite(pkg)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if not obj.is_module:
            rewrite(obj)
