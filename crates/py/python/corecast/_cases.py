# SPDX-License-Identifier: MIT OR Apache-2.0
"""The cases of a sweep: worked on here or by somebody else's executor, and kept in a file."""

from __future__ import annotations

import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import suppress
from typing import Any, NoReturn, Protocol

from ._values import path_of, shown, shown_text, unfit
from .errors import Error, InputError, InputTypeError, RunError

#: How long cases are kept in memory only, in seconds: a file is written whole.
SAVED_EVERY = 1.0


class Kept(Protocol):
    """Cases that were found, and their file."""

    def add(self, case: str) -> None: ...
    def save(self, path: str) -> None: ...


def executor_of(value: Any) -> Executor | None:
    """An executor, or ``None`` if this process works itself."""
    if value is not None and not callable(getattr(value, "submit", None)):
        raise unfit(
            InputTypeError,
            "executor",
            value,
            "has no method `submit`",
            ["give a concurrent.futures.Executor, such as ProcessPoolExecutor()"],
        )
    executor: Executor | None = value
    return executor


def checkpoint_of(value: str | os.PathLike[str] | None) -> str | None:
    """The path of the file in which cases are kept, if there is one."""
    return None if value is None else path_of("checkpoint", value)


class Keeper:
    """Takes cases, and writes them into the file if there is one.

    Args:
        done: How many cases there are already.
        told: Is told how many there are, if not ``None``.
    """

    def __init__(self, kept: Kept, path: str | None, done: int, told: Any) -> None:
        self._kept, self._path, self._done, self._told = kept, path, done, told
        self._has_warned = False
        self._write()  # says now, not after the sweep, that the file cannot be written

    def keep(self, case: Any) -> None:
        """Adds a case, to be written with the next."""
        try:
            self._kept.add(case)
        except (InputError, TypeError):
            raise _Strange(f"a call came back with {shown(case)}, which is no case") from None

    def say(self) -> None:
        """Says that there is one more; writes the file now and then."""
        self._done += 1
        if self._told is not None:
            self._told(self._done, 0, 0)
        if time.monotonic() - self._saved >= SAVED_EVERY:
            self.save()

    def save(self) -> None:
        """Writes the file; what is found is not lost if it cannot be written any more."""
        try:
            self._write()
        except InputError as error:
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(f"checkpoint: {error.message}; the sweep goes on", stacklevel=4)

    def _write(self) -> None:
        self._saved = time.monotonic()
        if self._path is not None:
            self._kept.save(self._path)


def work(
    keeper: Keeper,
    function: Callable[..., str],
    calls: Iterable[tuple[Any, ...]],
    executor: Executor | None,
    of_caller: bool = False,
) -> None:
    """Calls the function for every case. What is found is in the file also if not all come to their end.

    Args:
        of_caller: Whether it calls functions of our caller's, whose exceptions come as they are.

    Raises:
        RunError: if the executor has failed: is shut down, or has lost who worked on a case.
        InputError: if what it is to work on cannot be pickled.
    """
    if executor is None:
        try:
            for call in calls:
                keeper.keep(function(*call))
                keeper.say()
        finally:
            keeper.save()
        return
    futures: list[Future[str]] = []
    taken: set[Future[str]] = set()
    try:
        for call in calls:
            try:
                futures.append(_future(executor.submit(function, *call)))
            except Exception as error:
                _refuse(error, of_caller, is_executors=True)
        for future in as_completed(futures):
            try:
                keeper.keep(future.result())
            # Who worked on it may also have been told to exit.
            except (Exception, SystemExit) as error:
                is_executors = isinstance(error, (BrokenExecutor, CancelledError, _Strange))
                _refuse(error, of_caller, is_executors or not of_caller)
            taken.add(future)
            keeper.say()
    finally:
        for future in futures:
            is_done = not future.cancel() and future.done() and future not in taken
            # One that has failed may come before others that were done at the same time.
            if is_done and not future.cancelled() and future.exception() is None:
                with suppress(_Strange):
                    keeper.keep(future.result())
        keeper.save()


class _Strange(TypeError):
    """An executor does not do what executors do."""


def _future(value: Any) -> Future[str]:
    if not isinstance(value, Future):
        raise _Strange(f"`submit` gave {shown(value)}, which is no concurrent.futures.Future")
    return value


def _refuse(error: BaseException, of_caller: bool, is_executors: bool) -> NoReturn:
    """Raises what is to be said about an exception of an executor or of one of its futures."""
    if isinstance(error, Error):
        raise error
    is_type = isinstance(error, (AttributeError, TypeError)) and "pickle" in str(error)
    if of_caller and (is_type or isinstance(error, pickle.PicklingError)):
        raise InputError(
            "algorithm: a function cannot be sent to the executor's processes",
            ["define it in a module that they can import", str(error)],
        ) from error
    if not is_executors:
        raise error
    kind = "" if isinstance(error, _Strange) else f"{type(error).__name__}: "
    raise RunError(
        f"executor: it has failed: {kind}{shown_text(str(error), 200)}",
        ["make another one; with `checkpoint`, cases that were found are not run again"],
    ) from error
