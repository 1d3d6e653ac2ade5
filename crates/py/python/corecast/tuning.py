# SPDX-License-Identifier: MIT OR Apache-2.0
"""Decision tables: the fastest algorithm with its sizes for every rank count and size."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any

from . import _columns, _core
from ._values import path_of, read_text, word
from ._versioned import restore
from .figures import write_whole
from .tables import Record, Table, table_of

__all__ = ["DecisionTable"]

#: Most bytes of a table's file.
FILE_BYTES_MAX = 64 << 20


class DecisionTable:
    """A decision table, as ``corecast tune -o`` writes it; ``str(table)`` is its text.

    It decides in ``corecast.run(..., algorithm="auto", table=table)``, and the command reads its file.

    Args:
        text: The text of a table's file.
        name: How errors call it.

    Raises:
        TableError: for a text that is no table; it says in which line.
    """

    _inner: _core.DecisionTable

    def __init__(self, text: str, name: str = "the table") -> None:
        self._inner = _core.DecisionTable(word("text", text), word("name", name))

    @classmethod
    def _of(cls, core: _core.DecisionTable) -> DecisionTable:
        made = object.__new__(cls)
        made._inner = core
        return made

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> DecisionTable:
        """The table in a file.

        Args:
            path: What ``corecast tune -o`` or :meth:`save` has written.

        Raises:
            InputError: if the file cannot be read.
            TableError: for what is no table; it says in which line.
        """
        return cls(read_text("the table", path, FILE_BYTES_MAX), path_of("path", path))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes its file, whole or not at all; returns the path.

        Raises:
            InputError: if `path` cannot be written.
        """
        write_whole(Path(path), str(self))
        return Path(path)

    def __str__(self) -> str:
        return str(self._inner)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecisionTable) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<DecisionTable {self._inner.file}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (_core.__version__, str(self), self._inner.file))


def _restore(version: str, text: str, file: str) -> DecisionTable:
    made: DecisionTable = restore(DecisionTable, version, {})
    made._inner = _core.DecisionTable(text, file)
    return made


def cells_of(record: dict[str, Any]) -> Table[Record]:
    """The cells of a table's record, each with what the table holds for."""
    shared = {name: value for name, value in record.items() if name not in ("cells", "algorithms")}
    return table_of(({**shared, **cell} for cell in record["cells"]), _columns.CELL)


def searches_of(text: str) -> Table[Record]:
    """How the searches went."""
    return table_of(json.loads(text), _columns.SEARCH)
