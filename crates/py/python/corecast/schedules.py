# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests, schedules, and making schedules step by step.

An algorithm is a function of a :class:`Request`. This broadcast sends to one rank after the other:

>>> import corecast
>>> def one_by_one(request):
...     builder = corecast.ScheduleBuilder(request, "one-by-one")
...     others = [rank for rank in range(request.ranks) if rank != request.root]
...     for round, rank in enumerate(others):
...         builder.message(round, request.root, rank, [0])
...     return builder.finish()
>>> corecast.verify("bcast", algorithm=one_by_one, ranks=4)[0].correct
True
>>> print(one_by_one(corecast.request("bcast", ranks=3, bytes=8)))
bcast one-by-one: ranks 3, root 0, bytes 8, rounds 2, messages 2
P0  r0 send 1 [0]  r1 send 2 [0]
P1  r0 recv 0 [0]
P2                 r1 recv 0 [0]
"""

from __future__ import annotations

import html
import json
import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import _columns, _core
from ._values import U32, flag, optional_whole, path_of, whole, wholes, word
from .errors import InputError, InputTypeError
from .tables import Record, Table, table_of

__all__ = ["Request", "Schedule", "ScheduleBuilder"]


#: Most messages of a schedule whose text a notebook shows.
MESSAGES_SHOWN = 1000

#: A step as :meth:`ScheduleBuilder.wait` names it: rank, stream, and number in there.
Step = tuple[int, int, int]


class Request:
    """What is asked of an algorithm; :func:`corecast.request` makes one."""

    _inner: _core.Request

    def __init__(self) -> None:
        raise InputTypeError("a Request is made by corecast.request", [])

    @classmethod
    def _of(cls, core: _core.Request) -> Request:
        made = object.__new__(cls)
        made._inner = core
        return made

    @property
    def collective(self) -> str:
        """The collective's name, such as ``"bcast"``."""
        return self._inner.collective

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._inner.ranks

    @property
    def root(self) -> int:
        """The rank that sends or receives all; 0 where there is none."""
        return self._inner.root

    @property
    def bytes(self) -> int:
        """Size of a block (of bcast, reduce and allreduce: of the whole) in bytes."""
        return self._inner.bytes

    @property
    def element_bytes(self) -> int:
        """Size of an element in bytes; chunks are cut on its borders."""
        return self._inner.element_bytes

    @property
    def part_bytes(self) -> int | None:
        """Size of parts asked for, in bytes."""
        return self._inner.part_bytes

    @property
    def piece_bytes(self) -> int | None:
        """Size of forwarded pieces asked for, in bytes."""
        return self._inner.piece_bytes

    @property
    def arity(self) -> int:
        """Most children in trees."""
        return self._inner.arity

    @property
    def busy_bytes(self) -> list[int]:
        """Bytes that every rank is busy with at the start, one entry per rank."""
        return self._inner.busy_bytes

    @property
    def grid(self) -> tuple[int, int, int] | None:
        """Width, height and ranks per router of the mesh, or ``None`` on other chips."""
        return self._inner.grid

    def position(self, rank: int) -> tuple[int, int] | None:
        """Where a rank sits, x to the east and y to the north; ``None`` where there is no mesh.

        Raises:
            InputError: for a `rank` that there is not.
        """
        return self._inner.position(whole("rank", rank, 0, U32))

    def __repr__(self) -> str:
        return repr(self._inner)

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and self._inner == other._inner

    def __hash__(self) -> int:
        return hash((self.collective, self.ranks, self.root, self.bytes))

    def __copy__(self) -> Request:
        """Itself: a request does not change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Request:
        return self

    def __reduce__(self) -> NoReturn:
        raise InputError("requests are not pickled", ["pickle the arguments of corecast.request"])


def _format(name: str | None) -> str | None:
    return None if name is None else word("format", name, _core.names("format"))


class Schedule:
    """The steps of all ranks; a value that is verified, run, drawn and edited.

    ``str(schedule)`` is its text. :func:`corecast.schedule` gives that of an algorithm,
    :class:`ScheduleBuilder` makes one, :meth:`read` takes one from a file.
    """

    _inner: _core.Schedule
    #: Of one from a file: what the file says and the schedule does not, or the other way round.
    notes: list[str]

    def __init__(self) -> None:
        raise InputTypeError(
            "a Schedule is made by corecast.schedule or a corecast.ScheduleBuilder, or read",
            ["corecast.Schedule.read(path)"],
        )

    @classmethod
    def _of(cls, core: _core.Schedule, notes: Sequence[str] = ()) -> Schedule:
        made = object.__new__(cls)
        made._inner = core
        made.notes = list(notes)
        return made

    @classmethod
    def read(cls, path: str | os.PathLike[str], format: str | None = None) -> Schedule:
        """The schedule in a file, of one of the formats of :func:`corecast.list_formats`.

        Args:
            path: The file; of a format with a file per rank any of them.
            format: The format's name; the one that the contents show if not given.

        Raises:
            InputError: if the file cannot be read.
            ScheduleError: for what is no schedule; ``file`` and ``line`` are its fields.
        """
        return cls._of(*_core.Schedule.read(path_of("path", path), _format(format)))

    @staticmethod
    def repair(path: str | os.PathLike[str], to: str | os.PathLike[str]) -> list[str]:
        """Writes a schedule's file with what can be repaired in it; returns what that is, a line each.

        Those are attributes and marks that readers of its format insist on, and waits without which streams
        race. Where nothing is to be repaired nothing is written, and the list is empty.

        Args:
            path: The file.
            to: The file that is written, whole or not at all.

        Raises:
            InputError: if a file cannot be read or written.
            ScheduleError: for what is no schedule, and where more is wrong than can be repaired without
                knowing what was meant.
        """
        return _core.Schedule.repair(path_of("path", path), Path(path_of("to", to)))

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> list[Path]:
        """Writes it into a file, or one per rank, each whole or not at all; returns their paths.

        What the format cannot say and can leave out is told by a warning.

        Args:
            path: The file; ``NAME.RANK.ENDING`` of a format with a file per rank.
            format: One of :func:`corecast.list_formats`; that of the path's ending if not given.

        Raises:
            ScheduleError: if the format cannot say what the schedule does.
            InputError: if nothing says the format, or the file cannot be written.

        >>> import corecast, tempfile, pathlib
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> schedule = corecast.schedule("allreduce", "ring", ranks=4)
        >>> [path.name for path in schedule.save(folder / "ring.sched")]
        ['ring.sched']
        >>> corecast.Schedule.read(folder / "ring.sched") == schedule
        True
        """
        paths, notes = self._inner.save(path_of("path", path), _format(format))
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return [Path(path) for path in paths]

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self._inner.algorithm

    @property
    def collective(self) -> str:
        """Name of the collective."""
        return self._inner.collective

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._inner.ranks

    @property
    def root(self) -> int:
        """The rank that sends or receives all; 0 where there is none."""
        return self._inner.root

    @property
    def bytes(self) -> int:
        """Size of a block in bytes."""
        return self._inner.bytes

    @property
    def rounds(self) -> int:
        """Number of rounds: one more than the highest label."""
        return self._inner.rounds

    @property
    def messages(self) -> int:
        """Messages of all ranks."""
        return self._inner.messages

    @property
    def parts(self) -> int:
        """Chunks per block."""
        return self._inner.parts

    @property
    def chunk_bytes(self) -> list[int]:
        """Size of every chunk in bytes, then of every added place."""
        return self._inner.chunk_bytes

    def steps(self, rank: int) -> Table[Record]:
        """The steps of a rank in program order.

        Raises:
            InputError: for a `rank` that there is not.

        >>> import corecast
        >>> schedule = corecast.schedule("bcast", "binomial", ranks=4)
        >>> [(step.kind, step["to"], step.sends) for step in schedule.steps(0)]
        [('send', 1, [0]), ('send', 2, [0])]
        """
        rows = json.loads(self._inner.steps(whole("rank", rank, 0, U32)))
        return table_of(rows, _columns.STEP)

    def edit(self, name: str | None = None) -> ScheduleBuilder:
        """A builder with these steps, to be changed; this schedule stays as it is.

        Args:
            name: What the changed algorithm is called; this one's name and ``-edited`` if not given.

        >>> import corecast
        >>> builder = corecast.schedule("bcast", "linear", ranks=4).edit()
        >>> builder.remove(3, 0)
        >>> changed = builder.finish()
        >>> changed.algorithm, corecast.verify(changed).correct
        ('linear-edited', False)
        """
        made = object.__new__(ScheduleBuilder)
        asked = f"{self.algorithm}-edited" if name is None else word("name", name)
        made._inner = self._inner.edit(asked)
        return made

    def __str__(self) -> str:
        return str(self._inner)

    def __repr__(self) -> str:
        return repr(self._inner)

    def _repr_html_(self) -> str:
        text = str(self) if self.messages <= MESSAGES_SHOWN else repr(self)
        return f"<pre>{html.escape(text)}</pre>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self._inner == other._inner

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Schedule:
        """Itself: a schedule does not change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Schedule:
        return self

    def __reduce__(self) -> NoReturn:
        raise InputError(
            "schedules are not pickled", ["pickle the function that makes it of a request"]
        )


class ScheduleBuilder:
    """Collects the steps of all ranks. Ranks, chunks and rounds are counted from 0.

    A chunk is a unit of data that steps name. The data is a list of blocks (one of a broadcast or a
    reduction, one per rank of a scatter, gather, allgather or reduce_scatter, ``ranks * ranks`` of an
    alltoall, sender by sender); chunk ``block * parts + part`` is part of a block. Places beside them
    (:meth:`add_place`) are named by the numbers that follow.

    Steps of a rank are carried out in the order in which they are added. Rounds are labels: they never
    fall along the steps of a rank, and what arrives in one is sent on in a later one.

    What steps have in common is called the same everywhere: ``round`` is the label, ``rank`` whose step
    it is, ``start`` from whom it receives, ``to`` to whom it sends, ``chunks`` (``sends`` and
    ``receives`` where it does both; ``source`` and ``target`` where nothing is moved) the units of data
    in their order in the message, ``combine`` whether what arrives is reduced into what is held,
    ``stream`` one of those that :meth:`add_stream` has made. Every method raises ``ScheduleError`` for a
    rank, chunk, stream or step that there is not; whether the schedule is right, :func:`verify` says.

    Args:
        request: What the schedule answers; see :func:`corecast.request`.
        name: The algorithm's name, 1 to 64 characters.
        parts: Chunks per block, as even as elements allow.
        part_bytes: Or: bytes per chunk, the last one of a block smaller.

    Raises:
        ScheduleError: for chunks that cannot be cut so.
    """

    _inner: _core.ScheduleBuilder

    def __init__(
        self,
        request: Request,
        name: str,
        *,
        parts: int = 1,
        part_bytes: int | None = None,
    ) -> None:
        if not isinstance(request, Request):
            raise InputTypeError(
                "request: a builder is for a corecast.Request", ["see corecast.request"]
            )
        self._inner = _core.ScheduleBuilder(
            request._inner,
            word("name", name),
            whole("parts", parts, 1, U32),
            optional_whole("part_bytes", part_bytes, 1),
        )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._inner.ranks

    @property
    def chunks(self) -> int:
        """Number of chunks of all blocks."""
        return self._inner.chunks

    @property
    def parts(self) -> int:
        """Chunks per block."""
        return self._inner.parts

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return self._inner.blocks

    def block(self, block: int) -> list[int]:
        """The chunks of a block."""
        return self._inner.block(whole("block", block, 0, U32))

    def add_place(self, bytes: int) -> int:
        """A place of this size at every rank, beside the chunks; returns its number."""
        return self._inner.add_place(whole("bytes", bytes))

    def add_result(self, chunk: int) -> int:
        """A place in which `chunk` must lie at the end instead of its own; returns its number."""
        return self._inner.add_result(whole("chunk", chunk, 0, U32))

    def set_result(self, chunk: int, place: int) -> None:
        """Lets `chunk` lie at the end where chunk `place`, of its size, began: an exchange in place."""
        self._inner.set_result(whole("chunk", chunk, 0, U32), whole("place", place, 0, U32))

    def message(
        self, round: int, start: int, end: int, chunks: Sequence[int], *, combine: bool = False
    ) -> tuple[Step, Step]:
        """A message from `start` to `end`: the send and the receive, in the first streams of both.

        With `combine` the receiver reduces it into what it holds: ``held = held op arrived``.
        """
        return self._inner.message(
            _round(round),
            _rank("start", start),
            _rank("end", end),
            _chunks(chunks),
            flag("combine", combine),
        )

    def send(
        self, round: int, rank: int, to: int, chunks: Sequence[int], *, stream: int = 0
    ) -> Step:
        """A send by `rank`; the receive is to be added at `to`."""
        return self._inner.send(
            _round(round), _rank("rank", rank), _rank("to", to), _chunks(chunks), _stream(stream)
        )

    def recv(
        self,
        round: int,
        rank: int,
        start: int,
        chunks: Sequence[int],
        *,
        combine: bool = False,
        stream: int = 0,
    ) -> Step:
        """A receive by `rank` from `start`."""
        return self._inner.recv(
            _round(round),
            _rank("rank", rank),
            _rank("start", start),
            _chunks(chunks),
            flag("combine", combine),
            _stream(stream),
        )

    def exchange(
        self,
        round: int,
        rank: int,
        to: int,
        sends: Sequence[int],
        start: int,
        receives: Sequence[int],
        *,
        combine: bool = False,
        stream: int = 0,
    ) -> Step:
        """A send and a receive of `rank` that proceed together; the values sent are those before."""
        return self._inner.exchange(
            _round(round),
            _rank("rank", rank),
            _rank("to", to),
            _chunks(sends),
            _rank("start", start),
            _chunks(receives),
            flag("combine", combine),
            _stream(stream),
        )

    def forward(
        self,
        round: int,
        rank: int,
        start: int,
        to: int,
        chunks: Sequence[int],
        *,
        combine: bool = False,
        stream: int = 0,
    ) -> Step:
        """`rank` receives from `start` and sends on to `to` while the message still arrives.

        `round` is that of the receive; the send belongs to the next one (Park 2019, 3.1).
        """
        return self._inner.forward(
            _round(round),
            _rank("rank", rank),
            _rank("start", start),
            _rank("to", to),
            _chunks(chunks),
            flag("combine", combine),
            _stream(stream),
        )

    def copy(
        self,
        round: int,
        rank: int,
        source: Sequence[int],
        target: Sequence[int],
        *,
        stream: int = 0,
    ) -> Step:
        """Every place of `target` becomes the place of `source` beside it."""
        return self._local(round, rank, source, target, False, stream)

    def combine(
        self,
        round: int,
        rank: int,
        source: Sequence[int],
        target: Sequence[int],
        *,
        stream: int = 0,
    ) -> Step:
        """``target = target op source``, place by place."""
        return self._local(round, rank, source, target, True, stream)

    def _local(
        self, round: Any, rank: Any, source: Any, target: Any, combine: bool, stream: Any
    ) -> Step:
        return self._inner.local(
            _round(round),
            _rank("rank", rank),
            _chunks(source),
            _chunks(target),
            combine,
            _stream(stream),
        )

    def multicast(
        self, round: int, root: int, edges: Iterable[tuple[int, int]], chunks: Sequence[int]
    ) -> None:
        """One message from `root` along fixed routes, which all receivers take at the same time.

        `edges` are pairs of ranks, the one before and the one behind it on the message's way; every
        receiver is behind one other. Chips without such routes send to one after the other.

        >>> import corecast
        >>> request = corecast.request("bcast", chip="tilepro64", ranks=4, bytes=64)
        >>> builder = corecast.ScheduleBuilder(request, "fork")
        >>> builder.multicast(0, 0, [(0, 1), (1, 2), (1, 3)], [0])
        >>> corecast.verify(builder.finish(), chip="tilepro64").correct
        True
        """
        pairs = []
        for edge in edges:
            if not isinstance(edge, Sequence) or isinstance(edge, str) or len(edge) != 2:
                raise InputTypeError("edges: no pair of ranks", ["such as [(0, 1), (1, 2)]"])
            pairs.append((_rank("edges", edge[0]), _rank("edges", edge[1])))
        self._inner.multicast(_round(round), _rank("root", root), pairs, _chunks(chunks))

    def add_stream(self, rank: int, channel: int = 0) -> int:
        """One more stream of `rank`, whose steps proceed beside those of its others; its number.

        Messages between two ranks are matched in order per channel, which is a property of the stream
        at either end: of the streams of a rank one at most sends to a given rank over a channel.
        """
        return self._inner.add_stream(_rank("rank", rank), whole("channel", channel, 0, U32))

    def wait(self, step: Step, on: Step) -> None:
        """Lets `step` begin only when `on`, of the same rank, is done; both as they were returned."""
        self._inner.wait(_step("step", step), _step("on", on))

    def step_count(self, rank: int) -> int:
        """Number of steps of a rank so far."""
        return self._inner.step_count(_rank("rank", rank))

    def remove(self, rank: int, step: int) -> None:
        """Removes a step of a rank, counted from 0."""
        self._inner.remove(_rank("rank", rank), whole("step", step, 0, U32))

    def reorder(self, rank: int, step: int, before: int) -> None:
        """Takes a step of a rank out and puts it in at position `before`."""
        self._inner.reorder(
            _rank("rank", rank), whole("step", step, 0, U32), whole("before", before, 0, U32)
        )

    def set_piece_bytes(self, bytes: int | None) -> None:
        """Size of the pieces that :meth:`forward` passes on; ``None`` is the machine's smallest."""
        self._inner.set_piece_bytes(optional_whole("bytes", bytes, 1))

    def set_slots(self, slots: int) -> None:
        """Messages (`slots`) that every connection is to hold before its receiver takes one."""
        self._inner.set_slots(whole("slots", slots, 0, U32))

    def set_shared_buffers(self) -> None:
        """Messages go through buffers that others can read, on chips that have such."""
        self._inner.set_shared_buffers()

    def __repr__(self) -> str:
        return f"<ScheduleBuilder: {self.ranks} ranks, {self.chunks} chunks>"

    def _repr_html_(self) -> str:
        return self.finish()._repr_html_()

    def finish(self) -> Schedule:
        """The schedule of the steps so far. Whether it is right, :func:`corecast.verify` says."""
        return Schedule._of(self._inner.finish())


def _round(round: Any) -> int:
    return whole("round", round, 0, U32)


def _stream(stream: Any) -> int:
    return whole("stream", stream, 0, U32)


def _step(name: str, step: Any) -> Step:
    if not isinstance(step, tuple) or len(step) != 3:
        raise InputTypeError(
            f"{name}: no step", ["a step is what send, recv and the others return"]
        )
    return (
        whole(name, step[0], 0, U32),
        whole(name, step[1], 0, U32),
        whole(name, step[2], 0, U32),
    )


def _rank(name: str, rank: Any) -> int:
    return whole(name, rank, 0, U32)


def _chunks(chunks: Any) -> list[int]:
    if isinstance(chunks, Sequence) and not isinstance(chunks, str) and not len(chunks):
        return []
    return wholes("chunks", chunks, 0, U32, most=1 << 24)
