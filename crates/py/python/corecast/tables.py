# SPDX-License-Identifier: MIT OR Apache-2.0
"""Records and tables: what results are made of."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _core
from ._columns import Columns
from ._versioned import Versioned
from .errors import InputError

if TYPE_CHECKING:
    import pandas

__all__ = ["Record", "Table"]

#: Rows that a notebook and a ``repr`` show.
SHOWN = 40
#: Characters of a value that a notebook shows, which breaks lines.
HTML_CHARS = 400

#: What pandas calls the types of columns; the others are objects there.
PANDAS_TYPES = {
    "int": "int64",
    "int?": "Int64",
    "uint": "uint64",
    "uint?": "UInt64",
    "float": "float64",
    "bool": "bool",
    "bool?": "boolean",
}

R = TypeVar("R", bound="Record", covariant=True)


class Record(Versioned, Mapping[str, Any]):
    """A result with named fields, as attributes and as a mapping. Units are in the names.

    >>> import corecast
    >>> record = corecast.Record({"makespan_ns": 12.5, "delivered": True})
    >>> record.makespan_ns, record["delivered"], "chip" in record
    (12.5, True, False)
    """

    #: Fields that a ``repr`` shows, if not all.
    _shown: tuple[str, ...] = ()

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        near = _core.nearest(name, list(fields))
        help = f"; did you mean {near!r}?" if near else ""
        raise AttributeError(f"{type(self).__name__} has no field {name!r}{help}")

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """All fields as a dict of plain Python values."""
        copy: dict[str, Any] = json.loads(json.dumps(self._fields))
        return copy

    def __repr__(self) -> str:
        names = [name for name in self._shown or self._fields if name in self._fields]
        parts = (f"{name}={_short(self._fields[name])}" for name in names)
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = ((name, _short(value, HTML_CHARS)) for name, value in self._fields.items())
        body = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in rows
        )
        return f"<table>{body}</table>"


class Table(Versioned, Generic[R]):
    """Rows of results: records in order, which pandas, polars and DuckDB take as columns.

    Columns are the fields of the records; a field that is a mapping becomes columns called
    ``field.entry``, and one that is a list of mappings is left out (it has a table of its own).
    Tables that corecast returns have all their columns with their types whatever is in the rows, also
    if there are none; of other records both are what the rows have.

    >>> import corecast
    >>> chips = corecast.list_chips()
    >>> chips.columns
    ['name', 'cores_max', 'summary', 'source']
    >>> chips.to_pandas().shape[0] == len(chips)
    True
    """

    #: Columns that a ``repr`` shows first, if not all.
    _shown: tuple[str, ...] = ()

    #: The columns with their types, if they do not follow from the rows.
    _kinds: Columns | None = None

    def __init__(self, rows: Iterable[R], columns: Columns | None = None) -> None:
        self._rows = list(rows)
        if columns is not None:
            self._kinds = columns

    @overload
    def __getitem__(self, index: int) -> R: ...

    @overload
    def __getitem__(self, index: slice) -> Table[R]: ...

    def __getitem__(self, index: int | slice) -> R | Table[R]:
        # What else a table has (pictures, who was refused) is of all its rows.
        if isinstance(index, slice):
            return Table(self._rows[index], self._kinds)
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.to_columns())

    def to_dict(self) -> list[dict[str, Any]]:
        """The rows as dicts of plain Python values."""
        return [row.to_dict() for row in self._rows]

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns as lists of plain Python values, ``None`` where a row lacks the field."""
        flat = [_flat(row._fields) for row in self._rows]
        names = dict.fromkeys(self._kinds or ())
        if self._kinds is None:
            for row in flat:
                names.update(dict.fromkeys(row))
        return {name: [row.get(name) for row in flat] for name in names}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame; needs pandas."""
        try:
            import pandas
        except ImportError:
            raise InputError("pandas is not installed", ["pip install pandas"]) from None
        columns = self.to_columns()
        if self._kinds is None:
            return pandas.DataFrame(columns)
        types = {name: PANDAS_TYPES.get(kind, "object") for name, kind in self._kinds.items()}
        series = {
            name: pandas.Series(values, dtype=types[name]) for name, values in columns.items()
        }
        return pandas.DataFrame(series)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream: ``polars.DataFrame(table)``, ``pyarrow.table(table)``.

        As the interface allows, a requested schema is not followed.
        """
        kinds = self._kinds or {}
        columns = [
            (name, kinds.get(name, "").rstrip("?"), values)
            for name, values in self.to_columns().items()
        ]
        return _core.arrow_stream(json.dumps(columns))

    def _shown_columns(self) -> dict[str, list[Any]]:
        columns = self.to_columns()
        if not self._shown:
            return columns
        return {name: columns[name] for name in self._shown if name in columns}

    def _cells(self, most: int = 48) -> tuple[list[str], list[list[str]]]:
        columns = self._shown_columns()
        cells = [
            [_short(value, most, False) for value in list(values)[:SHOWN]]
            for values in columns.values()
        ]
        return list(columns), [list(row) for row in zip(*cells)]

    def __repr__(self) -> str:
        names, rows = self._cells()
        if not rows:
            return f"{type(self).__name__} without rows"
        widths = [max(map(len, column)) for column in zip(names, *rows)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in [names, *rows]
        ]
        more = len(self) - len(rows)
        return "\n".join(lines + ([f"... and {more} more rows"] if more else []))

    def _repr_html_(self) -> str:
        names, rows = self._cells(HTML_CHARS)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        more = len(self) - len(rows)
        note = f"<p>... and {more} more rows</p>" if more else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def table_of(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Table[Record]:
    """A table of these columns."""
    return Table([Record(row) for row in rows], columns)


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as columns."""
    if not any(type(value) in (dict, list) for value in fields.values()):
        return fields
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            flat.update((f"{name}.{key}", entry) for key, entry in value.items())
        elif not (isinstance(value, list) and any(isinstance(entry, dict) for entry in value)):
            flat[name] = value
    return flat


def _short(value: Any, most: int = 60, quoted: bool = True) -> str:
    """A value in one line."""
    text = repr(value) if quoted or not isinstance(value, str) else value
    text = "-" if value is None and not quoted else text
    return text if len(text) <= most else text[: most - 3] + "..."
