# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures: SVG, PDF or PNG with what they depend on at their foot."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core
from ._versioned import Versioned
from .errors import InputError

__all__ = ["Figure"]

#: How names of figures' files end.
FORMS = ("svg", "pdf", "png")


class Figure(Versioned):
    """A picture as SVG. Notebooks show it; :meth:`save` writes it as SVG, PDF or PNG.

    PDF and PNG have the letters of DejaVu Sans, which is part of the package, whatever fonts this
    computer has; SVG leaves the font to whoever shows it.

    >>> import corecast
    >>> figure = corecast.run("bcast", chip="park2019-bus", algorithm="ap")[0].timeline()
    >>> figure.svg.startswith("<svg"), "corecast" in figure.svg
    (True, True)
    >>> figure.pdf()[:5], figure.png()[1:4]
    (b'%PDF-', b'PNG')
    """

    #: The text of the picture.
    svg: str

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def pdf(self) -> bytes:
        """It as PDF, a point for a pixel; its text can be selected."""
        return _core.picture(self.svg, "pdf")

    def png(self) -> bytes:
        """It as PNG, two dots for a pixel."""
        return _core.picture(self.svg, "png")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_png_(self) -> bytes:
        return self.png()

    def _repr_html_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure, {len(self.svg)} characters of SVG>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file, whole or not at all; returns its path.

        Raises:
            InputError: if it ends in neither ``.svg``, ``.pdf`` nor ``.png``, or cannot be written.
        """
        target = Path(path)
        form = target.suffix[1:].lower()
        if form not in FORMS:
            raise InputError(
                f"`{target}` ends in neither .svg, .pdf nor .png", ["figures are one of these"]
            )
        write_whole(target, self.svg.encode() if form == "svg" else _core.picture(self.svg, form))
        return target


def made(folder: str | os.PathLike[str]) -> Path:
    """A folder that is there, or is made with those above it."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder `{target}`: {error.strerror or error}",
            ["give a folder that exists, or that can be made"],
        ) from None
    return target


def write_whole(target: Path, content: str | bytes) -> None:
    """Writes a file in one go: a reader sees the old one or the new one. As the command does, through
    links and with the mode that a file has; what is read-only or no file is refused.
    """
    _core.write_file(target, content.encode() if isinstance(content, str) else content)
