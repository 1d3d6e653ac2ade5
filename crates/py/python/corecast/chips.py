# SPDX-License-Identifier: MIT OR Apache-2.0
"""Chips: built in, from a file, or from a text; with changes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from . import _columns, _core
from ._values import path_of, unfit, word
from ._versioned import restore
from .errors import InputError, InputTypeError
from .tables import Record, Table, table_of

__all__ = ["Chip"]


class Chip:
    """A chip: a built-in one by its name, one from a TOML file by its path, or from a TOML text.

    Its file is read once: copies and pickles have the text that was read then, whatever the file says by
    now.

    Numbers and words of its file are changed by ``set``, or by keyword with two underscores in the
    place of a dot. A changed number is marked as assumed.

    Args:
        name: Such as ``"scc"``, or a path that contains ``/`` or ends in ``.toml``. With `text`, how
            errors call it.
        text: A chip file's text.
        set: Changes by key, such as ``{"network.vcs": 4}``.
        changes: The same as keywords, such as ``network__vcs=4``.

    Raises:
        UnknownNameError: for a chip that there is not.
        ChipError: for what is wrong in the file, or for a key that it does not have.

    >>> import corecast
    >>> chip = corecast.Chip("tilepro64", network__buffer=8)
    >>> chip.name, chip.cores_max, chip.changes
    ('tilepro64', 64, ['network.buffer=8'])
    >>> [p.kind for p in chip.parameters if p.key == "network.buffer"]
    ['assumed']
    """

    def __init__(
        self,
        name: str | os.PathLike[str] = "scc",
        *,
        text: str | None = None,
        set: Mapping[str, object] | None = None,
        **changes: object,
    ) -> None:
        asked = path_of("chip", name) if isinstance(name, os.PathLike) else word("chip", name)
        if text is not None:
            word("text", text)
        self._inner = _core.Chip(asked, _changes(set, changes), text)

    @classmethod
    def from_toml(cls, text: str, name: str = "text") -> Chip:
        """The chip that a TOML text describes.

        Args:
            text: What would stand in its file.
            name: How errors call it.

        Raises:
            ChipError: for what is wrong in the text, with its line.
        """
        return cls(name, text=text)

    def changed(self, set: Mapping[str, object] | None = None, **changes: object) -> Chip:
        """The same chip with further changes, by key in `set` or as keywords.

        Raises:
            ChipError: for a key that it does not have, or a value that cannot be there.

        >>> import corecast
        >>> corecast.Chip("scc").changed(endpoint__library="ircce").changes
        ['endpoint.library=ircce']
        """
        made = object.__new__(Chip)
        made._inner = self._inner.changed(_changes(set, changes))
        return made

    @property
    def record(self) -> Record:
        """Everything about it as one record: what ``corecast show chip --json`` prints."""
        return Record(json.loads(self._inner.record()))

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.record["name"])

    @property
    def cores_max(self) -> int:
        """Its cores, and so the most ranks."""
        return int(self.record["cores_max"])

    @property
    def fingerprint(self) -> str:
        """What tells it from others of its name, as changed: 16 hexadecimal digits."""
        return str(self.record["fingerprint"])

    @property
    def changes(self) -> list[str]:
        """Changes, as ``KEY=VALUE``."""
        return self._inner.changes

    @property
    def notes(self) -> list[str]:
        """What is not wrong and may surprise."""
        return list(self.record["notes"])

    @property
    def parameters(self) -> Table[Record]:
        """Every number with its unit, its kind (published, fitted, ...) and its source."""
        return table_of(self.record["parameters"], _columns.PARAMETER)

    @property
    def words(self) -> Table[Record]:
        """Every value that is no number."""
        return table_of(self.record["words"], _columns.WORD)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chip) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        changes = "".join(f", {change}" for change in self.changes)
        return f"<Chip {self.name}: {self.cores_max} cores, {self.fingerprint}{changes}>"

    def _repr_html_(self) -> str:
        return self.parameters._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        changes = [tuple(change.split("=", 1)) for change in self.changes]
        state = {"asked": self._inner.asked, "changes": changes, "text": self._inner.text}
        return (_restore, (_core.__version__, state))


def _restore(version: str, state: dict[str, Any]) -> Chip:
    made: Chip = restore(Chip, version, {})
    made._inner = _core.Chip(state["asked"], state["changes"], state["text"])
    return made


def _changes(
    by_key: Mapping[str, object] | None, keywords: Mapping[str, object]
) -> list[tuple[str, str]]:
    if by_key is not None and not isinstance(by_key, Mapping):
        raise unfit(InputTypeError, "set", by_key, "is no mapping", ['such as {"network.vcs": 4}'])
    named = {key.replace("__", "."): value for key, value in keywords.items()}
    for key in named.keys() & (by_key or {}).keys():
        raise InputError(
            f"{key}: it is given twice, in `set` and as a keyword", ["leave one of them out"]
        )
    both = {**(by_key or {}), **named}
    return [(word("key", key), text_of(key, value)) for key, value in both.items()]


def text_of(key: str, value: object) -> str:
    """The value of a key as the chip file would have it."""
    if isinstance(value, bool):
        raise InputTypeError(f"{key}: {value} is neither a number nor a text", [])
    is_number = isinstance(value, (int, float)) or any(
        hasattr(value, name) for name in ("__index__", "__float__")
    )
    if not is_number and not isinstance(value, str):
        raise unfit(
            InputTypeError,
            key,
            value,
            "is neither a number nor a text",
            ["give what the chip file could have there"],
        )
    try:
        return word(key, str(value))
    except ValueError:  # more digits than Python writes
        raise InputError(f"{key}: the number is out of range", []) from None


def chip_of(value: Chip | str | os.PathLike[str]) -> Chip:
    """A chip, by itself or by its name or path."""
    if isinstance(value, Chip):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Chip(value)
    raise unfit(
        InputTypeError,
        "chip",
        value,
        "is no chip",
        ['give a name such as "scc", a path, or a corecast.Chip'],
    )
