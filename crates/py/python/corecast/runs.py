# SPDX-License-Identifier: MIT OR Apache-2.0
"""Running, proving and explaining collectives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _columns, _core, plans
from .data import array_of, described, outputs_of
from .errors import CheckError, InputError, InputTypeError
from .figures import Figure
from .plans import Algorithms, ChipLike
from .progress import bar
from .schedules import Request, Schedule
from .tables import Record, Table, table_of

if TYPE_CHECKING:
    import numpy

__all__ = [
    "Certificate",
    "Explanation",
    "Explanations",
    "Run",
    "Runs",
    "explain",
    "request",
    "run",
    "schedule",
    "verify",
]


class Certificate(Record):
    """What is proven about a schedule on a chip: fields as of ``corecast verify --json``.

    ``correct``, ``deadlock_free``, ``contention_free``, ``slots_needed``, ``rounds``,
    ``bound_rounds``, ``max_buffer_bytes``, ``worst_case_cycles``, ``violations``, ...
    """

    _shown = (
        "collective",
        "algorithm",
        "ranks",
        "bytes",
        "correct",
        "deadlock_free",
        "contention_free",
        "rounds",
        "bound_rounds",
        "violations",
    )

    @property
    def correct(self) -> bool:
        """Whether every rank ends with what the collective promises."""
        return bool(self["correct"])

    @property
    def violations(self) -> list[str]:
        """What speaks against the schedule."""
        return list(self["violations"])


class Run(Record):
    """One algorithm's run: fields as of ``corecast run --json``, and what it has shown.

    ``algorithm``, ``makespan_cycles`` (of the chip's reference clock), ``makespan_ns``,
    ``bound_cycles``, ``delivered``, ``finish_ns`` (one entry per rank), ``causes`` (nanoseconds of all
    ranks per cause), ...

    A run keeps messages, spans and outputs in memory; its pickle keeps its fields only.
    """

    _shown = (
        "collective",
        "algorithm",
        "chip",
        "ranks",
        "bytes",
        "makespan_cycles",
        "makespan_ns",
        "delivered",
    )
    _inner: _core.Run | None
    _like: numpy.ndarray[Any, Any] | None

    def __init__(self, core: _core.Run, like: numpy.ndarray[Any, Any] | None = None) -> None:
        super().__init__(json.loads(core.record()))
        self._inner = core
        self._like = like

    def _state(self) -> dict[str, Any]:
        return {"_fields": self._fields, "_inner": None, "_like": None}

    @property
    def _held(self) -> _core.Run:
        if self._inner is None:
            raise InputError("a run that was pickled keeps its fields only", ["run it again"])
        return self._inner

    @property
    def algorithm(self) -> str:
        """Its algorithm."""
        return str(self["algorithm"])

    @property
    def delivered(self) -> bool:
        """Whether every rank received the right data."""
        return bool(self["delivered"])

    @property
    def makespan_ns(self) -> float:
        """First rank's start to last rank's finish, in nanoseconds."""
        return float(self["makespan_ns"])

    @property
    def certificate(self) -> Certificate:
        """What is proven about its schedule."""
        return Certificate(json.loads(self._held.certificate()))

    @property
    def faults(self) -> list[str]:
        """What the run should have shown and did not; empty if all is well."""
        return self._held.faults()

    def check(self) -> Run:
        """This run, if its schedule is correct and its data were right.

        Raises:
            CheckError: if not.
        """
        if self.faults:
            raise CheckError(self.faults[0], self.faults[1:])
        return self

    @property
    def outputs(self) -> list[Any]:
        """What every rank ends with, as NumPy arrays; ``None`` where it is promised nothing.

        Shapes are those of :mod:`corecast.data`. Without ``data`` they have one axis of the elements
        of a reduction, else of bytes.

        >>> import corecast, numpy
        >>> data = numpy.arange(12, dtype="int32").reshape(4, 3)
        >>> corecast.run("allreduce", data=data, algorithm="ring")[0].outputs[2]
        array([18, 22, 26], dtype=int32)
        """
        array_of(b"")  # says so if NumPy is missing
        return outputs_of(self, self._held.outputs(), self._like)

    @property
    def messages(self) -> Table[Record]:
        """Every message in order of completion: ranks, bytes, times in nanoseconds."""
        return table_of(json.loads(self._held.messages()), _columns.MESSAGE)

    @property
    def spans(self) -> Table[Record]:
        """What every rank spent its time on; the spans of a rank are adjacent."""
        return table_of(json.loads(self._held.spans()), _columns.SPAN)

    @property
    def links(self) -> Table[Record]:
        """Flits over every link of a mesh that carried something; empty on other chips."""
        return table_of(json.loads(self._held.links()), _columns.LINK)

    def timeline(self) -> Figure:
        """What every rank did when."""
        return Figure(self._held.timeline())

    def heat_map(self) -> Figure:
        """What every link of the mesh carried.

        Raises:
            InputError: on a chip without a mesh.
        """
        svg = self._held.heat_map()
        if svg is None:
            raise InputError(
                f"{self['chip']} has no mesh", ['use a chip with a mesh, such as chip="tilepro64"']
            )
        return Figure(svg)

    def trace(self) -> str:
        """The run as JSON for Chrome's or Perfetto's viewer."""
        return self._held.trace()


class Runs(Table[Run]):
    """Runs of one case or several, the fastest of each first."""

    _shown = (
        "algorithm",
        "ranks",
        "bytes",
        "makespan_cycles",
        "makespan_ns",
        "bound_cycles",
        "delivered",
    )
    _kinds = _columns.RUN

    #: Algorithms that could not take part, and why.
    refused: Table[Record]

    def __init__(self, rows: Sequence[Run], refused: Sequence[Record] = ()) -> None:
        super().__init__(rows)
        self.refused = Table(refused, _columns.REFUSED)

    @property
    def fastest(self) -> Run:
        """The first."""
        return self[0]

    def check(self) -> Runs:
        """These runs, if all are as they have to be; see :meth:`Run.check`."""
        for run in self:
            run.check()
        return self


class Explanation(Record):
    """A run with what explains its time: fields as of ``corecast explain --json``.

    ``advice`` says what to do; :attr:`critical_path` what made it as long as it was.
    """

    _shown = ("collective", "algorithm", "ranks", "bytes", "makespan_cycles", "advice")

    #: The run.
    run: Run

    def __init__(self, run: Run, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.run = run

    @property
    def advice(self) -> str:
        """What to do, in one sentence."""
        return str(self["advice"])

    @property
    def critical_path(self) -> Table[Record]:
        """From time zero to the makespan: ranks, causes, and cycles from and to."""
        return table_of(self["critical_path"], _columns.SEGMENT)

    @property
    def link_waits(self) -> Table[Record]:
        """Waits for links of a mesh, the longest first."""
        return table_of(self["link_waits"], _columns.LINK_WAIT)

    @property
    def rank_causes(self) -> Table[Record]:
        """Cycles per cause of every rank, and their sum; nanoseconds of a wall clock."""
        rows = ({"rank": rank, **row} for rank, row in enumerate(self["rank_causes"]))
        is_in_cycles = self["makespan_cycles"] is not None
        return table_of(rows, _columns.RANK_CAUSES if is_in_cycles else _columns.RANK_CAUSES_NS)

    def timeline(self) -> Figure:
        """What every rank did when."""
        return self.run.timeline()


class Explanations(Table[Explanation]):
    """Explanations, one per size and algorithm; each has tables of its own."""

    _shown = Explanation._shown
    _kinds = _columns.EXPLANATION

    #: Algorithms that could not take part, and why.
    refused: Table[Record]

    def __init__(self, rows: Sequence[Explanation], refused: Sequence[Record] = ()) -> None:
        super().__init__(rows)
        self.refused = Table(refused, _columns.REFUSED)


def _made(what: str | Schedule, arguments: dict[str, Any]) -> tuple[plans.Plan, Any]:
    """The plan of some arguments, and the array that its data are."""
    collective = plans.subject(what, arguments)
    data = arguments.pop("data", None)
    if arguments.get("algorithm") is None:
        arguments["algorithm"] = "all"
    if data is None:
        if arguments.get("bytes") is None:
            arguments["bytes"] = 0 if collective == "barrier" else 64
        return plans.make(collective, **arguments), None
    made, content = described(collective, data, arguments)
    return plans.make(collective, **made, input=content), array_of(data)


def run(
    collective: str | Schedule,
    *,
    chip: ChipLike = "scc",
    machine: str = "sim",
    ranks: int | None = None,
    bytes: Any = None,
    algorithm: Algorithms | None = None,
    data: Any = None,
    progress: bool | None = None,
    **more: Any,
) -> Runs:
    """Runs a collective by one, several or all algorithms; the fastest first.

    Args:
        collective: Such as ``"bcast"``; ``corecast.list_collectives()`` has all. Or a schedule, which
            says itself what it is for, but for `bytes`: with others its chunks are larger or smaller.
        chip: A :class:`Chip`, or its name or path.
        machine: ``"sim"``, the chip in virtual time; ``"mpi"``, the same as MPI programs have it; ``"host"``,
            this computer's cores; ``"threads"``.
        ranks: Number of ranks; if not given that of the first schedule in `algorithm`, else 8, or all
            cores if there are fewer.
        bytes: Size of a block (of bcast, reduce, allreduce: of the whole), or several; 64 if not given, or
            that of the schedule.
        algorithm: A name, ``"all"`` (if not given), ``"auto"`` for the fastest, a :class:`Schedule` or the
            path of its file (with a ``.`` or ``/`` in it), a function that makes a schedule of a request,
            or a list of these. Beside a schedule in the place of the collective nobody if not given.
        data: The data, as an array; see :mod:`corecast.data` for its shapes.
        progress: Whether a progress bar is shown; ``None`` leaves it to where the output goes.
        more: ``root``, ``dtype``, ``op`` (``"sum"``, ``"prod"``, ``"min"``, ``"max"``),
            ``part_bytes``, ``piece_bytes``, ``status_bits``, ``arity``, ``flow_control``, ``fidelity``,
            ``ongoing``, ``skew``, ``background``, ``cold``, ``seed``, ``repeat``, ``limit_events``,
            ``limit_ns``, ``table``; docs/python.md says what each is.

    Raises:
        InputError: for what cannot be run, by its subclasses.
        RunError: if a run ends without a result.

    >>> import corecast
    >>> runs = corecast.run("bcast", chip="park2019-bus", ranks=4)
    >>> runs[0].algorithm, runs[0].delivered
    ('ap', True)
    """
    arguments = {
        "chip": chip,
        "machine": machine,
        "ranks": ranks,
        "bytes": bytes,
        "algorithm": algorithm,
        "data": data,
        **more,
    }
    plan, like = _made(collective, arguments)
    study = plan.study()
    count = one_rank_count(study)
    found: list[Run] = []
    refused: list[Record] = []
    parts = len(study.sizes) * max(1, study.contestants + len(plan.functions))
    with bar(progress, plan.arguments["collective"], parts) as told:
        for size, tell in _each(study.sizes, told):
            given = plan.given(study, count, size)
            ranked, left_out = study.rank((count, size), given, tell)
            found += [Run(core, like) for core in ranked]
            refused += _left_out(size, left_out)
    return Runs(found, refused)


def _left_out(size: int, text: str) -> list[Record]:
    """Who could not take part with a size."""
    return [Record({"bytes": size, **row}) for row in json.loads(text)]


def _once(verb: str, arguments: dict[str, Any]) -> None:
    """Refuses repetitions where everything is done once."""
    if arguments.get("repeat") is not None:
        raise InputTypeError(f"repeat: {verb} looks at one run", ["leave `repeat` out"])


def _each(sizes: Sequence[int], told: Any) -> Any:
    """Every size with what is to be told while it is worked on: parts of all sizes are counted."""
    before = 0
    for size in sizes:
        done = 0

        def tell(now: int, delivered: int, messages: int, start: int = before) -> None:
            nonlocal done
            done = now
            told(start + now, delivered, messages)

        yield size, None if told is None else tell
        before += done


def one_rank_count(study: _core.Study) -> int:
    """The only rank count of a verb that takes one."""
    if len(study.ranks) != 1:
        raise InputError("ranks: this takes one rank count", ["corecast.compare takes a list"])
    return study.ranks[0]


def explain(
    collective: str | Schedule,
    *,
    algorithm: Algorithms | None = None,
    progress: bool | None = None,
    **more: Any,
) -> Explanations:
    """Where the time of runs went, what made them as long as they were, and what to do about it.

    Args:
        collective: A collective's name, or a schedule.
        algorithm: As of :func:`run`; the fastest one is explained if none is named.
        progress: Whether a progress bar is shown; ``None`` leaves it to where the output goes.
        more: The other arguments of :func:`run` but ``repeat``.

    Raises:
        InputError: for what cannot be run, by its subclasses.
        RunError: if a run ends without a result.

    >>> import corecast
    >>> explained = corecast.explain("bcast", chip="park2019-bus", ranks=4, algorithm="linear")[0]
    >>> explained.advice.startswith('Use algorithm="')
    True
    >>> explained.critical_path[0]["from_cycles"]
    0
    """
    if algorithm is None and not isinstance(collective, Schedule):
        algorithm = "auto"
    _once("explain", more)
    plan, like = _made(collective, {"algorithm": algorithm, **more})
    study = plan.study()
    count = one_rank_count(study)
    found: list[Explanation] = []
    refused: list[Record] = []
    with bar(progress, f"explain {plan.arguments['collective']}", 1) as told:
        for size in study.sizes:
            given = plan.given(study, count, size)
            explained, left_out = study.explain((count, size), given, told)
            found += [Explanation(Run(core, like), json.loads(text)) for core, text in explained]
            refused += _left_out(size, left_out)
    return Explanations(found, refused)


@overload
def verify(
    what: Schedule, *, chip: ChipLike = "scc", progress: bool | None = None
) -> Certificate: ...


@overload
def verify(
    what: str, *, chip: ChipLike = "scc", progress: bool | None = None, **more: Any
) -> Certificates: ...


def verify(
    what: str | Schedule,
    *,
    chip: ChipLike = "scc",
    progress: bool | None = None,
    **more: Any,
) -> Certificate | Certificates:
    """Proves what holds for schedules on a chip's routes, without running them.

    Args:
        what: A schedule: the answer is its :class:`Certificate`. Or a collective, with the arguments
            of :func:`run`: a table of certificates, one per algorithm.
        chip: On whose routes; a :class:`Chip`, or its name or path.
        progress: Whether a progress bar is shown; ``None`` leaves it to where the output goes.
        more: With a collective: ``ranks``, ``bytes``, ``algorithm`` and the rest, as of :func:`run`, but
            ``repeat``.

    Raises:
        InputError: for what cannot be proved, by its subclasses; ``UnservedError`` if no algorithm can
            serve the request. A schedule that is not correct is
            no error: its certificate says so.

    >>> import corecast
    >>> certificates = corecast.verify("alltoall", chip="tilepro64", ranks=16)
    >>> [c.algorithm for c in certificates if c["contention_free"]]
    ['contention-free', 'hop-rounds']
    """
    if isinstance(what, Schedule):
        if more:
            name = next(iter(more))
            raise InputTypeError(f"{name}: a schedule says that itself", [f"leave `{name}` out"])
        plan = plans.make(
            what.collective,
            chip=chip,
            ranks=what.ranks,
            bytes=what.bytes,
            root=what.root,
            algorithm="all",
        )
        with bar(progress, "verify", 1) as told:
            return Certificate(json.loads(plan.study().certify(what._inner, what.bytes, told)))
    _once("verify", more)
    plan, _ = _made(what, {"chip": chip, **more})
    study = plan.study()
    count = one_rank_count(study)
    found: list[Certificate] = []
    refused: list[Record] = []
    parts = len(study.sizes) * max(1, study.contestants)
    with bar(progress, f"verify {what}", parts) as told:
        for size, tell in _each(study.sizes, told):
            if study.contestants:
                proven, left_out = study.prove((count, size), bool(plan.functions), tell)
                found += [Certificate(row) for row in json.loads(proven)]
                refused += _left_out(size, left_out)
            for schedule in plan.given(study, count, size):
                found.append(Certificate(json.loads(study.certify(schedule, size, tell))))
    return Certificates(found, refused)


class Certificates(Table[Certificate]):
    """Certificates, one per schedule."""

    _shown = Certificate._shown[1:]
    _kinds = _columns.CERTIFICATE

    #: Algorithms that could not take part, and why.
    refused: Table[Record]

    def __init__(self, rows: Sequence[Certificate], refused: Sequence[Record] = ()) -> None:
        super().__init__(rows)
        self.refused = Table(refused, _columns.REFUSED)


def request(collective: str, **more: Any) -> Request:
    """The request as an algorithm would hear it on a chip.

    Args:
        collective: Its name.
        more: The other arguments of :func:`run`, such as ``chip``, ``ranks``, ``bytes`` and ``root``.

    Raises:
        InputError: for a request that cannot be, by its subclasses.

    >>> import corecast
    >>> corecast.request("scatter", ranks=4, bytes=16, root=1)
    Request("scatter", ranks=4, bytes=16, root=1)
    """
    plan, _ = _made(collective, more)
    study = plan.study()
    return Request._of(study.request(one_rank_count(study), _one_size(study)))


def schedule(collective: str, algorithm: Any, **more: Any) -> Schedule:
    """The schedule of an algorithm.

    Args:
        collective: Its name.
        algorithm: The algorithm's name, or a function that makes a schedule of a :class:`Request`.
        more: The other arguments of :func:`run`, such as ``chip``, ``ranks``, ``bytes`` and ``root``.

    Raises:
        InputError: for what cannot be, by its subclasses; ``UnservedError`` if the algorithm cannot
            serve the request.

    >>> import corecast
    >>> corecast.schedule("bcast", "binomial", ranks=8).rounds
    3
    """
    plan, _ = _made(collective, {**more, "algorithm": algorithm})
    study = plan.study()
    count, size = one_rank_count(study), _one_size(study)
    if plan.functions:
        if len(plan.functions) + study.contestants > 1:
            raise InputError("a schedule is of one algorithm", ["give one name or function"])
        return plans.schedule_of(plan.functions[0], Request._of(study.request(count, size)))
    return Schedule._of(study.schedule(count, size))


def _one_size(study: _core.Study) -> int:
    if len(study.sizes) != 1:
        raise InputError("bytes: this takes one size", ["give one number"])
    return study.sizes[0]
