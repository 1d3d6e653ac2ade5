# SPDX-License-Identifier: MIT OR Apache-2.0
"""Results to look at: one page with timeline, mesh, schedule and certificate, in a notebook or a file."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._values import path_of, read_text, unfit, whole
from ._versioned import Versioned
from .errors import InputError, InputTypeError
from .figures import write_whole
from .programs import ProgramRun
from .runs import Explanation, Explanations, Run, Runs
from .schedules import Schedule
from .sweeps import Comparison, Tuning

if TYPE_CHECKING:
    import anywidget

__all__ = ["View", "view"]

#: Most bytes of a file that is shown.
FILE_BYTES_MAX = 64 << 20

#: How high a page is in a notebook, in pixels.
HEIGHT = 640

#: What a widget does in a browser.
_ESM = Path(__file__).with_name("widget.js")


class View(Versioned):
    """Results as a page, as ``corecast view`` makes it. Notebooks show it, and it stays in them when
    they are saved: it needs no server and no other file. :meth:`save` writes it.

    >>> import corecast
    >>> shown = corecast.view(corecast.explain("bcast", chip="park2019-bus", ranks=4)[0])
    >>> shown.titles
    ['bcast by ap: 64 bytes, 4 ranks on park2019-bus']
    >>> shown.page.startswith("<!doctype html>")
    True
    """

    #: What is shown, as JSON: the file that ``--view FILE.json`` writes.
    documents: str
    #: How high the page is in a notebook, in pixels.
    height: int

    def __init__(self, documents: str, height: int = HEIGHT) -> None:
        self.documents = documents
        self.height = height

    @property
    def titles(self) -> list[str]:
        """What is shown, in one line each."""
        return _core.titles(self.documents)

    @property
    def page(self) -> str:
        """The page, as HTML.

        Raises:
            InputError: if it would be larger than 128 MiB.
        """
        return _core.page(self.documents)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page (``.html``) or its documents (``.json``), whole or not at all.

        Raises:
            InputError: if the path ends in neither, or cannot be written.
        """
        target = Path(path)
        if target.suffix not in (".html", ".json"):
            raise InputError(
                f"`{target}` ends in neither .html nor .json",
                [".html is the page, .json what it shows, which `corecast view` reads"],
            )
        write_whole(target, self.page if target.suffix == ".html" else self.documents)
        return target

    def widget(self) -> anywidget.AnyWidget:
        """The page as a widget whose ``address`` says what is looked at, and changes it.

        ``address`` is what stands behind ``#`` in the address of a saved page: the document, the tab,
        the window of time, the selected rank and so on. Widgets need a running notebook.

        Raises:
            InputError: if anywidget is not installed.
        """
        try:
            import anywidget
            import traitlets
        except ImportError:
            raise InputError(
                "a widget needs anywidget, which is not installed",
                ["pip install anywidget", "a view itself is shown without it"],
            ) from None

        class Widget(anywidget.AnyWidget):
            _esm = _ESM
            page = traitlets.Unicode().tag(sync=True)
            height = traitlets.Int(HEIGHT, min=100).tag(sync=True)
            address = traitlets.Unicode().tag(sync=True)

        return Widget(page=self.page, height=self.height)

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        style = f"width: 100%; height: {self.height}px; border: 1px solid #8884"
        return f'<iframe title="corecast" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        return f"<View of {len(self.titles)}: {'; '.join(self.titles)}>"


def view(*what: Any, height: int = HEIGHT) -> View:
    """Results as a page with timelines, the mesh over time, schedules step by step, certificates, and
    maps of who wins where. Two runs can be put side by side.

    Args:
        what: Runs, explanations, lists of them, comparisons, tunings, schedules; and paths of files:
            what ``corecast view`` knows (``.json``: documents, records, tables, traces), and schedules
            in any format.
        height: How high it is in a notebook, in pixels.

    Raises:
        InputError: for what cannot be shown, with its place in a file.

    >>> import corecast
    >>> runs = corecast.run("bcast", chip="park2019-bus", ranks=4)
    >>> corecast.view(runs).titles[0]
    'bcast by ap: 64 bytes, 4 ranks on park2019-bus'
    """
    if not what:
        raise InputError("view: nothing to show", ["give runs, sweeps, schedules or files"])
    texts = [text for one in what for text in _texts(one)]
    return View(_core.documents(texts), whole("height", height, 100, 10_000))


def _texts(what: Any) -> Iterator[tuple[str, str]]:
    """What is shown of it, as JSON with a name."""
    if isinstance(what, Run):
        yield what.algorithm, what._held.view(None)
    elif isinstance(what, Explanation):
        yield what.run.algorithm, what.run._held.view(what.advice)
    elif isinstance(what, ProgramRun):
        yield "the program", what.trace()
    elif isinstance(what, Comparison):
        yield "the comparison", json.dumps(what.to_dict())
    elif isinstance(what, Tuning):
        yield "the table", what._record
    elif isinstance(what, Schedule):
        yield what.algorithm, what._inner.view()
    elif isinstance(what, Runs | Explanations | Sequence) and not isinstance(what, str | bytes):
        for one in what:
            yield from _texts(one)
        if isinstance(what, Runs) and len(what) > 1:
            yield "the runs", json.dumps(what.to_dict())
    elif isinstance(what, str | os.PathLike):
        yield _of_file(path_of("view", what))
    else:
        raise unfit(
            InputTypeError,
            "view",
            what,
            "cannot be shown",
            ["give runs, explanations, comparisons, tunings, schedules, or paths of files"],
        )


def _of_file(path: str) -> tuple[str, str]:
    if path.endswith(".json"):
        return path, read_text("the file", path, FILE_BYTES_MAX)
    return path, Schedule.read(path)._inner.view()
