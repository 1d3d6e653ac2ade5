# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arguments: their types and ranges, said in one way."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable
from typing import Any

from . import _core
from .errors import InputError, InputTypeError, UnknownNameError

U32 = 2**32 - 1
U64 = 2**64 - 1


def unfit(
    kind: type[InputError],
    name: str,
    value: Any,
    why: str,
    help: list[str],
    accepted: str | None = None,
) -> InputError:
    """The error for an argument with a value that it cannot have.

    Args:
        kind: Its class.
        name: The argument.
        value: What it was given; in the fields as it is if it is a plain value, else as it is shown.
        why: What the message says about the value.
        help: What would be right.
        accepted: The values that would be, in words, if they can be said so.
    """
    is_plain = value is None or type(value) in (bool, int, float, str)
    fields = {"name": name, "value": value if is_plain else shown(value)}
    if accepted is not None:
        fields["accepted"] = accepted
    return kind(f"{name}: {shown(value)} {why}", help, fields)


def _out_of_range(name: str, value: Any, low: float, high: float) -> InputError:
    accepted = f"{low} to {high}"
    return unfit(InputError, name, value, "is out of range", [f"accepted: {accepted}"], accepted)


def _no_number(name: str, value: Any, what: str, low: float, high: float) -> InputError:
    accepted, why = f"{low} to {high}", f"is no {what}"
    return unfit(InputTypeError, name, value, why, [f"give a number from {accepted}"], accepted)


def whole(name: str, value: Any, low: int = 0, high: int = U64) -> int:
    """A whole number from `low` to `high`; NumPy's integers are some, booleans and floats are not."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise _no_number(name, value, "whole number", low, high) from None
    if not low <= number <= high:
        raise _out_of_range(name, number, low, high)
    return number


def optional_whole(name: str, value: Any, low: int = 0, high: int = U64) -> int | None:
    """The same, or ``None``."""
    return None if value is None else whole(name, value, low, high)


def number(name: str, value: Any, low: float, high: float) -> float:
    """A finite number from `low` to `high`."""
    try:
        if isinstance(value, (bool, str)):
            raise TypeError
        found = float(value)
    except OverflowError:
        raise _out_of_range(name, value, low, high) from None
    except (TypeError, ValueError):
        raise _no_number(name, value, "number", low, high) from None
    if math.isnan(found) or not low <= found <= high:
        raise _out_of_range(name, found, low, high)
    return found


def wholes(name: str, value: Any, low: int = 0, high: int = U64, most: int = 100_000) -> list[int]:
    """One whole number, or several."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return [whole(name, value, low, high)]
    found: list[int] = []
    for entry in value:
        if len(found) == most:
            raise InputError(f"{name}: more than {most} values", ["use fewer"])
        found.append(whole(name, entry, low, high))
    if not found:
        raise InputError(f"{name}: an empty list", ["give at least one value"])
    return found


def word(name: str, value: Any, known: Iterable[str] | None = None) -> str:
    """A text; with `known`, one of these."""
    if not isinstance(value, str):
        raise unfit(InputTypeError, name, value, "is no text", [f"give {name} as a str"])
    try:
        value.encode()
    except UnicodeEncodeError:
        raise unfit(InputError, name, value, "is no text that UTF-8 can say", []) from None
    if known is not None:
        choices = list(known)
        if value not in choices:
            raise unknown(name, value, choices)
    return value


def path_of(name: str, value: Any, help: str = "name a file") -> str:
    """A path, as text that files can be called by from Rust as well."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise unfit(InputTypeError, name, value, "is no path", [help])
    text = word(name, os.fspath(value))
    if "\0" in text:
        raise unfit(InputError, name, text, "contains a NUL", [help])
    return text


def unknown(kind: str, name: str, known: list[str]) -> UnknownNameError:
    """The error for a name that nothing has."""
    nearest = _core.nearest(name, known)
    help = [f"did you mean `{nearest}`?"] if nearest else []
    plural = "choices" if kind.endswith("s") else f"{kind}s"
    fields = {"kind": kind, "name": name, "nearest": nearest, "known": known}
    message = f"there is no {kind} called `{shown_text(name)}`"
    return UnknownNameError(message, [*help, f"{plural}: {', '.join(known)}"], fields)


def unknown_argument(name: str, known: list[str]) -> InputTypeError:
    """The error for an argument that nothing has."""
    nearest = _core.nearest(name, known)
    help = [f"did you mean `{nearest}`?"] if nearest else []
    fields = {"name": name, "nearest": nearest, "known": known}
    message = f"there is no argument `{shown_text(name)}`"
    return InputTypeError(message, [*help, f"arguments: {', '.join(known)}"], fields)


def flag(name: str, value: Any) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise unfit(InputTypeError, name, value, "is neither True nor False", [])
    return value


def read_text(what: str, path: str | os.PathLike[str], most: int) -> str:
    """A text file of at most so many bytes."""
    return _decoded(what, path, read_bytes(what, path, most))


def read_bytes(what: str, path: str | os.PathLike[str], most: int) -> bytes:
    """A file of at most so many bytes."""
    path_of(what, path)
    try:
        with open(path, "rb") as file:
            found = file.read(most + 1)
    except OSError as error:
        raise InputError(
            f"{what} `{os.fspath(path)}` cannot be read: {error.strerror or error}",
            ["give the path of a file that exists and can be read"],
            {"file": os.fspath(path)},
        ) from None
    if len(found) > most:
        raise InputError(
            f"{what} `{os.fspath(path)}` is larger than {most} bytes", [], {"file": os.fspath(path)}
        )
    return found


def _decoded(what: str, path: str | os.PathLike[str], found: bytes) -> str:
    try:
        return found.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"{what} `{os.fspath(path)}` is no text (UTF-8)", [], {"file": os.fspath(path)}
        ) from None


def shown_text(text: str, most: int = 60) -> str:
    """A text as a message can show it."""
    clean = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: most + 1])
    return clean[:most] + ("..." if len(text) > most else "")


def shown(value: Any) -> str:
    """A value as a message can show it."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whatever a foreign repr raises, the message must come
        text = f"a {type(value).__name__}"
    return shown_text(text)
