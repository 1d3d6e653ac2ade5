# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every published number of the papers beside ours."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from . import _columns, _core
from ._values import word
from .figures import FORMS, Figure, made
from .progress import Told, bar_of_lengths
from .tables import Record, Table, table_of

__all__ = ["Reproduction", "reproduce"]


class Reproduction(Table[Record]):
    """Rows: ``paper``, ``item``, ``conditions``, ``quantity``, ``unit``, ``published`` (``None`` where
    it is withheld or not printed), ``ours``, ``error_percent``, ``fitted``.
    """

    _shown = (
        "paper",
        "item",
        "conditions",
        "quantity",
        "unit",
        "published",
        "ours",
        "error_percent",
    )
    _kinds = _columns.REPRODUCED

    #: Names of the papers.
    papers: list[str]

    def __init__(self, rows: list[Record], papers: list[str]) -> None:
        super().__init__(rows)
        self.papers = papers

    @property
    def open(self) -> dict[str, str]:
        """Per paper what is not reproduced or not explained, and why."""
        return {name: _core.Paper(name).open for name in self.papers}

    def winners(self, progress: bool | None = None) -> Table[Record]:
        """Which algorithm is the fastest where, on the papers' chips; takes a while.

        Args:
            progress: Whether a bar is shown; ``None`` leaves it to where the output goes.
        """
        with _told(progress, "winners", self.papers) as papers:
            found = [json.loads(paper.winners(told)) for paper, told in papers]
        return table_of((row for rows in found for row in rows), _columns.WINNER)

    def figures(self, progress: bool | None = None) -> dict[str, Figure]:
        """The papers' figures from our runs, by name, such as ``park2019-figure18``; takes a while.

        Args:
            progress: Whether a bar is shown; ``None`` leaves it to where the output goes.
        """
        with _told(progress, "figures", self.papers) as papers:
            found = [paper.figures(told) for paper, told in papers]
        return {name: Figure(svg) for figures in found for name, svg in figures}

    def save_figures(
        self, folder: str | os.PathLike[str], form: str = "svg", progress: bool | None = None
    ) -> list[Path]:
        """Writes :meth:`figures` into a folder, which is made if it is not there; returns their paths.

        Args:
            folder: Where to; files of the same names are replaced.
            form: What they are: ``"svg"``, ``"pdf"`` or ``"png"``.
            progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

        Raises:
            UnknownNameError: if there is no such form.
            InputError: if the folder cannot be made or written to.
        """
        ending = word("form", form, FORMS)
        target = made(folder)
        figures = self.figures(progress).items()
        return [figure.save(target / f"{name}.{ending}") for name, figure in figures]


def reproduce(paper: str | None = None, *, progress: bool | None = None) -> Reproduction:
    """Runs the experiments of one paper, or of all; takes a while.

    Args:
        paper: Its name, as :func:`list_papers` has it; all if not given.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

    Raises:
        UnknownNameError: for a paper that there is not.

    >>> import corecast
    >>> rows = corecast.reproduce("park2019")
    >>> [row.ours for row in rows if row.unit == "ns" and row.published][:2]  # doctest: +ELLIPSIS
    [...]
    """
    names = _core.names("paper") if paper is None else [word("paper", paper, _core.names("paper"))]
    found: list[Record] = []
    with _told(progress, "rows", names) as papers:
        for of, told in papers:
            found += [Record(row) for row in json.loads(of.rows(told))]
    return Reproduction(found, names)


@contextmanager
def _told(
    progress: bool | None, what: str, names: list[str]
) -> Iterator[list[tuple[_core.Paper, Told | None]]]:
    """Papers with what each has to tell while its rows, winners or figures are worked on."""
    papers = [_core.Paper(name) for name in names]
    shown = "reproduce" if what == "rows" else what
    with bar_of_lengths(progress, shown, [partial(of.done, what) for of in papers]) as tell:
        yield list(zip(papers, tell))
