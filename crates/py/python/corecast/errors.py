# SPDX-License-Identifier: MIT OR Apache-2.0
"""What can go wrong, as exceptions with fields.

The first line of an exception's text says what was wrong, the others what would be right:

>>> import corecast
>>> try:
...     corecast.run("bcst")
... except corecast.UnknownNameError as error:
...     print(error)
...     error.nearest
there is no collective called `bcst`
  did you mean `bcast`?
  collectives: bcast, scatter, gather, allgather, reduce, allreduce, reduce_scatter, alltoall, alltoallv, barrier
'bcast'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "CheckError",
    "ChipError",
    "DeadlockError",
    "Error",
    "FlowError",
    "InputError",
    "InputTypeError",
    "LimitError",
    "MachineError",
    "ProgramError",
    "ProgramFileError",
    "RequestError",
    "RunError",
    "ScheduleError",
    "TableError",
    "TrafficError",
    "UnknownNameError",
    "UnservedError",
    "VersionError",
]


class Error(Exception):
    """Whatever corecast refuses or cannot do.

    ``message`` says what was wrong, ``help`` is a list of what would be right, and ``fields`` is a
    dict of everything else that is known; its entries are attributes, too.
    """

    message: str
    help: list[str]
    fields: dict[str, Any]

    def __init__(
        self,
        message: str,
        help: Sequence[str] = (),
        fields: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.help = list(help)
        self.fields = dict(fields or {})

    def __str__(self) -> str:
        return "\n  ".join([self.message, *self.help])

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")

    def __reduce__(self) -> tuple[Callable[..., Error], tuple[Any, ...]]:
        return (type(self), (self.message, self.help, self.fields))


class InputError(Error, ValueError):
    """Something that was asked for cannot be.

    Of an argument ``name``, ``value`` (or how it is shown, if it is no plain value), and ``accepted`` if
    that can be said; of a file that cannot be read ``file``."""


class InputTypeError(InputError, TypeError):
    """An argument has a type that it cannot have, or there is no such argument: then ``name``,
    ``nearest`` (or ``None``), ``known``."""


class UnknownNameError(InputError):
    """A name that nothing has: ``kind``, ``name``, ``nearest`` (or ``None``), ``known``."""


class ChipError(InputError):
    """A chip file, or a change to a chip, is wrong: ``file``, ``line``, ``key``, ``value``, ``accepted``, as far
    as they are known."""


class RequestError(InputError):
    """Ranks, sizes or surroundings that cannot be."""


class UnservedError(RequestError):
    """No algorithm can serve the request; ``help`` has a reason for each, ``refused`` their names."""


class ScheduleError(InputError):
    """A schedule is not correct, or cannot be built as asked."""


class MachineError(InputError):
    """The machine, or the chip's kind, lacks what was asked for: ``machine`` or ``chip``."""


class TableError(InputError):
    """A decision table cannot be read, or does not hold for what was asked: ``file``, ``line``, ``key``,
    ``value``, ``accepted``, as far as they are known."""


class TrafficError(InputError):
    """Traffic that cannot be put on this mesh: of a load ``key``, ``value``, ``accepted``; of a trace
    ``file``, and ``line`` or ``byte``."""


class FlowError(InputError):
    """A dataflow program that cannot be run: ``file``, ``line``, ``key``, ``value``, ``accepted``, as far
    as they are known."""


class ProgramFileError(InputError):
    """A program's file cannot be read: ``file``, and ``line`` if it is in one."""


class VersionError(InputError):
    """An object that was pickled by another version of corecast."""


class RunError(Error, RuntimeError):
    """A run ended without a result: ``algorithm``, and ``blocked``, who waited for whom."""


class LimitError(RunError):
    """A run did not end within its limits."""


class DeadlockError(RunError):
    """No rank can go on; ``blocked`` begins with a cycle of ranks that wait for each other.

    Of a program ``stuck`` is what its ranks were waiting for, one text each.
    """


class ProgramError(RunError):
    """An MPI program failed: ``code`` as of ``corecast mpirun``, and what it has printed until then,
    ``stdout`` and ``stderr``."""


class CheckError(Error, AssertionError):
    """A result is not what it has to be."""
