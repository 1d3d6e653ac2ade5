# SPDX-License-Identifier: MIT OR Apache-2.0
"""Decision tables: the fastest algorithm with its sizes for every rank count and size."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _columns, _core
from ._values import path_of, read_text, unfit, word
from ._versioned import Versioned, restore
from .chips import chip_of
from .errors import Error, InputTypeError
from .figures import write_whole
from .tables import Record, Table, table_of

if TYPE_CHECKING:
    from .plans import ChipLike

__all__ = ["DecisionTable", "Rules", "rules"]

#: Most bytes of a table's file.
FILE_BYTES_MAX = 64 << 20

#: How errors call a table that nobody has named.
UNNAMED = "the table"


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

    def __init__(self, text: str, name: str = UNNAMED) -> None:
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


#: What decides which algorithms collectives take: one table, several, or the path of a file or folder.
Tables = DecisionTable | Sequence[DecisionTable] | str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class Rules(Versioned):
    """Decision tables as who reads them wants them; ``str(rules)`` is the file's text.

    For an MPI library they are a file of rules by which it chooses among its own algorithms, for the
    runtimes of MSCCL a folder of schedules.
    """

    #: The file; empty of a folder.
    text: str
    #: What the tables say and the files do not, a line each.
    notes: tuple[str, ...]
    #: Who reads them, ``"openmpi"``, ``"mpich"`` or ``"msccl"``.
    library: str
    #: The files of a folder: ``name``, ``collective``, ``ranks``, ``algorithm``, and for which sizes they
    #: are taken, ``min_bytes`` to ``max_bytes`` (None without an end).
    files: Table[Record]
    #: What is in each of them.
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return self.text or repr(self.files)

    def __repr__(self) -> str:
        what = f"{len(self.files)} files" if self.texts else f"{len(self.text.splitlines())} lines"
        return f"<Rules for {self.library}: {what}, {len(self.notes)} notes>"

    def _repr_html_(self) -> str:
        shown = self.files._repr_html_() if self.texts else f"<pre>{html.escape(self.text)}</pre>"
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return shown + (f"<ul>{notes}</ul>" if notes else "")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file, or makes the folder, which must be new or empty; whole or not at all.

        Returns:
            The path.

        Raises:
            InputError: if `path` cannot be written or made.
        """
        if self.texts:
            files = zip((file["name"] for file in self.files), self.texts)
            _core.write_folder(Path(path), list(files))
        else:
            write_whole(Path(path), self.text)
        return Path(path)

    def usage(self, path: str | os.PathLike[str]) -> str:
        """How the library is told of the file or folder at `path`, as it is typed before a program."""
        return _core.rules_usage(self.library, path_of("path", path))


def rules(table: Tables, library: str, *, chip: ChipLike | None = None) -> Rules:
    """Decision tables as the rules of another library, as ``corecast rules`` writes them.

    An MPI library has some of corecast's algorithms under names of its own; where it lacks that of a cell
    the nearest cell whose algorithm it has decides, and a note says so (docs/rules.md). For the runtimes of
    MSCCL the schedules of all cells are made again.

    Args:
        table: A table, several of different collectives, or the path of a file or of a folder of them.
        library: ``"openmpi"``, ``"mpich"``, or ``"msccl"``.
        chip: With ``"msccl"``: the :class:`Chip` that the tables are for, or its name or path; the
            built-in one of their name if not given.

    Raises:
        InputError: for what is no table and no path, or a chip where none is needed.
        UnknownNameError: for a library that there is not.
        TableError: for what is no table, for tables of another chip, and where the library can take none
            of their algorithms.

    >>> import corecast
    >>> tuned = corecast.tune("allgather", chip="park2019-bus", ranks=4, bytes=64, algorithm="ring")
    >>> rules = corecast.rules(tuned.table, "openmpi")
    >>> rules.usage("rules.conf")  # doctest: +ELLIPSIS
    'mpirun --mca coll_tuned_use_dynamic_rules 1 ... coll_tuned_dynamic_rules_filename rules.conf'
    >>> corecast.rules(tuned.table, "msccl").files[0].name
    'allgather-4n-0-up-ring.xml'
    """
    word("library", library, _core.rule_readers())
    of_chip = None if chip is None else chip_of(chip)._inner
    with tables_path(table) as tables:
        if tables.path is None:
            raise unfit(InputTypeError, "table", table, "is no DecisionTable", [_GIVE_TABLES])
        made = _core.rules(tables.path, library, of_chip)
    files = table_of(json.loads(made.files), _columns.LISTED_FILE)
    notes = tuple(tables.named(note) for note in made.notes)
    return Rules(made.text or "", notes, library, files, tuple(made.texts))


_GIVE_TABLES = "give tables of corecast.tune, or the path of a file or folder"


@dataclass(frozen=True)
class TablesPath:
    """Where Rust finds tables."""

    #: The path of a file or folder; ``None`` for the chip's own.
    path: str | None
    #: What tables are called that lie there for a moment only.
    names: tuple[tuple[str, str], ...] = ()

    def named(self, text: str) -> str:
        """A text in which tables are called what our caller knows them by."""
        for file, name in self.names:
            text = text.replace(file, name)
        return text


@contextmanager
def tables_path(table: Any) -> Iterator[TablesPath]:
    """Where Rust finds the tables, while it needs them: one, several, or a path already."""
    if table is None:
        yield TablesPath(None)
    elif isinstance(table, (str, os.PathLike)):
        yield TablesPath(path_of("table", table))
    else:
        tables = [table] if isinstance(table, DecisionTable) else table
        is_list = isinstance(tables, Sequence) and tables
        if not is_list or not all(isinstance(one, DecisionTable) for one in tables):
            raise unfit(
                InputTypeError,
                "table",
                table,
                "is no DecisionTable",
                [_GIVE_TABLES],
            )
        with tempfile.TemporaryDirectory(prefix="corecast-") as folder:
            names = []
            for index, one in enumerate(tables):
                file, name = Path(folder) / f"{index}.toml", one._inner.file
                one.save(file)
                is_unclear = len(tables) > 1 and name == UNNAMED
                names.append((str(file), f"table[{index}]" if is_unclear else name))
            found = TablesPath(folder, tuple(names))
            try:
                yield found
            except Error as error:
                error.message = found.named(error.message)
                error.help = [found.named(line) for line in error.help]
                for field, value in error.fields.items():
                    if isinstance(value, str):
                        error.fields[field] = found.named(value)
                raise
