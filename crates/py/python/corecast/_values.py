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


def whole(name: str, value: Any, low: int = 0, high: int = U64) -> int:
    """A whole number from `low` to `high`; NumPy's integers are some, booleans and floats are not."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InputTypeError(
            f"{name}: {shown(value)} is no whole number", [f"give a number from {low} to {high}"]
        ) from None
    if not low <= number <= high:
        raise InputError(f"{name}: {shown(number)} is out of range", [f"accepted: {low} to {high}"])
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
        raise InputError(
            f"{name}: {shown(value)} is out of range", [f"accepted: {low} to {high}"]
        ) from None
    except (TypeError, ValueError):
        raise InputTypeError(
            f"{name}: {shown(value)} is no number", [f"give a number from {low} to {high}"]
        ) from None
    if math.isnan(found) or not low <= found <= high:
        raise InputError(f"{name}: {shown(found)} is out of range", [f"accepted: {low} to {high}"])
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
        raise InputTypeError(f"{name}: {shown(value)} is no text", [f"give {name} as a str"])
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}: {shown(value)} is no text that UTF-8 can say", []) from None
    if known is not None:
        choices = list(known)
        if value not in choices:
            raise unknown(name, value, choices)
    return value


def path_of(name: str, value: Any, help: str = "name a file") -> str:
    """A path, as text that files can be called by from Rust as well."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise InputTypeError(f"{name}: {shown(value)} is no path", [help])
    text = word(name, os.fspath(value))
    if "\0" in text:
        raise InputError(f"{name}: {shown(text)} contains a NUL", [help])
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
        raise InputTypeError(f"{name}: {shown(value)} is neither True nor False", [])
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
        ) from None
    if len(found) > most:
        raise InputError(f"{what} `{os.fspath(path)}` is larger than {most} bytes", [])
    return found


def _decoded(what: str, path: str | os.PathLike[str], found: bytes) -> str:
    try:
        return found.decode()
    except UnicodeDecodeError:
        raise InputError(f"{what} `{os.fspath(path)}` is no text (UTF-8)", []) from None


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
