"""Pictures: SVG with what they depend on at their foot."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ._versioned import Versioned
from .errors import InputError

__all__ = ["Figure"]


class Figure(Versioned):
    """A picture as SVG. Notebooks show it; :meth:`save` writes it.

    >>> import corecast
    >>> figure = corecast.run("bcast", chip="park2019-bus", algorithm="ap")[0].timeline()
    >>> figure.svg.startswith("<svg"), "corecast" in figure.svg
    (True, True)
    """

    #: The text of the picture.
    svg: str

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure, {len(self.svg)} characters of SVG>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file, whole or not at all; returns its path.

        Raises:
            InputError: if it does not end in ``.svg``, or cannot be written.
        """
        target = Path(path)
        if target.suffix != ".svg":
            raise InputError(f"`{target}` does not end in .svg", ["figures are SVG"])
        write_whole(target, self.svg)
        return target


def write_whole(target: Path, text: str) -> None:
    """Writes a text file in one go: a reader sees the old one or the new one."""
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".corecast-")
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except OSError as error:
        os.unlink(name)
        raise _unwritable(target, error) from None


def _unwritable(target: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot write `{target}`: {error.strerror or error}",
        ["give the path of a file in a folder that exists and can be written"],
    )
