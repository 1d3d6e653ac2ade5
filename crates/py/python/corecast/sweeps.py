# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps over sizes and rank counts, here or by somebody else's executor; decision tables."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from . import _columns, _core
from ._cases import Keeper, checkpoint_of, executor_of, work
from ._values import U32, flag, unfit, whole
from .errors import InputError, InputTypeError, RunError, TableError
from .figures import Figure, write_whole
from .plans import Algorithms, ChipLike, Plan, make, subject
from .progress import bar
from .schedules import Schedule
from .tables import Record, Table
from .tuning import DecisionTable, cells_of, searches_of

__all__ = ["Comparison", "Tuning", "compare", "tune"]


class Comparison(Table[Record]):
    """All runs of a sweep, case by case, the fastest of each case first.

    Rows have the fields of runs, ``makespan_mean_cycles`` (None on real cores), and ``faults``.
    """

    _shown = (
        "algorithm",
        "ranks",
        "bytes",
        "makespan_cycles",
        "makespan_ns",
        "bound_cycles",
        "delivered",
    )
    _kinds = _columns.SWEPT_RUN

    #: Algorithms that could not take part in a case: ``ranks``, ``bytes``, ``why``.
    refused: Table[Record]

    def __init__(self, rows: Sequence[Record], plan: Plan, refused: Sequence[Record] = ()) -> None:
        super().__init__(rows)
        self.refused = Table(refused, _columns.REFUSED_CASE)
        self._plan = plan

    def cases(self) -> Iterator[list[Record]]:
        """The runs of each rank count and size, the fastest first."""
        case: list[Record] = []
        for row in self:
            if case and (case[0]["ranks"], case[0]["bytes"]) != (row["ranks"], row["bytes"]):
                yield case
                case = []
            case.append(row)
        if case:
            yield case

    @property
    def winners(self) -> Table[Record]:
        """The fastest run of every case."""
        return Comparison([case[0] for case in self.cases()], self._plan)

    def figure(self, *, top: int | None = None, absolute: bool = False) -> Figure:
        """With one rank count makespan over bound against size, else who wins where.

        Args:
            top: With one rank count: at most so many lines, the fastest; 12 if not given. Algorithms
                that take the same time everywhere are one line.
            absolute: With one rank count: times themselves, not over the lower bound.

        Sizes of 0 have no place on an axis of sizes, and cases without a lower bound none over it.

        Raises:
            InputError: for either with several rank counts; if there is nothing to draw.
        """
        study = self._plan.study()
        names = [str(case[0]["algorithm"]) for case in self.cases()]
        most = None if top is None else whole("top", top, 1, U32)
        if (top is not None or flag("absolute", absolute)) and len(study.ranks) != 1:
            raise InputError(
                "top, absolute: with several rank counts who wins where is drawn, not lines",
                ["compare one rank count, or leave them out"],
            )
        if len(study.ranks) == 1:
            times = [
                {
                    "algorithm": row["algorithm"],
                    "bytes": row["bytes"],
                    "time": row["makespan_mean_cycles"] or row["makespan_median_ns"],
                    "bound_cycles": row["bound_cycles"],
                }
                for row in self
                if row["bytes"] and (absolute or row["bound_cycles"] != 0)
            ]
            if not times:
                raise InputError(
                    "no case can be drawn: each has a size of 0, or a lower bound of 0",
                    ["compare sizes above 0 over several ranks"],
                )
            return Figure(study.sweep_chart(names, json.dumps(times), most, absolute))
        width = len(study.sizes)
        rows = [names[start : start + width] for start in range(0, len(names), width)]
        return Figure(study.winner_map(rows))


def cell(plan: Plan, ranks: int, bytes: int) -> str:
    """One case of a sweep, anywhere."""
    of_cell = plan.cell(ranks, bytes)
    study = of_cell.study()
    given = of_cell.given(study, ranks, bytes)
    return study.case((ranks, bytes), given, None)


def compare(
    collective: str | Schedule,
    *,
    chip: ChipLike = "scc",
    ranks: Any = None,
    bytes: Any = None,
    algorithm: Algorithms | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **more: Any,
) -> Comparison:
    """Runs every case of a sweep: who wins at which size and rank count.

    Args:
        collective: Its name, or a schedule, which says itself what it is for.
        chip: A :class:`Chip`, or its name or path.
        ranks: One rank count, or several; what is there twice is run once.
        bytes: One size in bytes, or several; 64 if not given, or that of the schedule.
        algorithm: As of :func:`run`. Schedules and their files take no part at other rank counts.
        executor: Any :class:`concurrent.futures.Executor`; each case is one call, which is pickled
            where that is needed (then functions in `algorithm` must be importable). Results are those
            without one.
        checkpoint: A file in which cases are kept as they are found. Those that it has are not run
            again, so a sweep that was interrupted goes on. It is the file of ``corecast compare
            --keep``; results are those without one. If it cannot be written any more during the sweep, a
            warning says so, and the sweep goes on.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.
        more: The other arguments of :func:`run`, but ``data``.

    Raises:
        InputError: for what cannot be run, by its subclasses; also if the checkpoint cannot be written,
            or was made of something else.
        RunError: if a run ends without a result, or the executor fails; what was found until then is in
            the checkpoint.

    >>> import corecast
    >>> sweep = corecast.compare("bcast", chip="park2019-bus", ranks=[4, 8], bytes=[64, 256])
    >>> [row.algorithm for row in sweep.winners]
    ['ap', 'ap', 'ap', 'ap']
    """
    executor = executor_of(executor)
    if "data" in more:
        raise InputTypeError("data: a sweep draws its own", ["corecast.run takes data"])
    arguments = {"ranks": ranks, "bytes": bytes, "algorithm": algorithm, **more}
    name = subject(collective, arguments)
    if arguments["bytes"] is None:
        arguments["bytes"] = 0 if name == "barrier" else 64
    if arguments["algorithm"] is None:
        arguments["algorithm"] = "all"
    plan = make(name, chip=chip, **arguments).without_repeats()
    study = plan.study()
    if checkpoint is not None and plan.functions:
        raise InputError(
            "checkpoint: what a function does cannot be kept with its results",
            ["leave checkpoint out, or name algorithms only"],
        )
    path = checkpoint_of(checkpoint)
    kept = study.kept(path)
    cases = [(count, size) for count in study.ranks for size in study.sizes]
    missing = [case for case in cases if not kept.has(*case)]
    with bar(progress, f"compare {name}", len(cases)) as told:
        keeper = Keeper(kept, path, len(cases) - len(missing), told)
        calls = [(plan, *case) for case in missing]
        work(keeper, cell, calls, executor, of_caller=bool(plan.functions))
    rows, refused = json.loads(kept.rows()), json.loads(kept.refused())
    return Comparison([Record(row) for row in rows], plan, [Record(row) for row in refused])


class Tuning(Table[Record]):
    """What a search has found: the cells of a decision table, and the table."""

    _shown = ("ranks", "bytes", "algorithm", "part_bytes", "piece_bytes", "makespan_cycles")
    _kinds = _columns.CELL

    #: The table.
    table: DecisionTable
    #: How the search for each cell went: runs, algorithms left out, why there is no winner.
    searches: Table[Record]

    def __init__(
        self, record: str, table: DecisionTable, searches: Table[Record], plan: Plan
    ) -> None:
        super().__init__(list(cells_of(json.loads(record))))
        self.table = table
        self.searches = searches
        self._record = record
        self._plan = plan

    def figure(self) -> Figure:
        """Who wins where."""
        study = self._plan.study()
        return Figure(study.winner_map(study.table_winners(self.table._inner)))


class _KeptTable:
    """The cells of a table that were found, how the searches went, and the table's file."""

    def __init__(self, core: _core.DecisionTable) -> None:
        self.core = core
        self.searches: list[dict[str, Any]] = []

    def add(self, case: str) -> None:
        try:
            made = json.loads(case)
            table = _core.DecisionTable(made["table"], "a cell")
            searches = list(made["searches"])
        except (ValueError, LookupError, TypeError, TableError):
            raise TypeError("no cell") from None
        try:
            self.core = self.core.merged(table)
        except TableError as error:
            # By somebody else's corecast, or on another computer, whose cores were measured.
            raise RunError(f"executor: {error.message}", error.help) from None
        self.searches += searches

    def save(self, path: str) -> None:
        write_whole(Path(path), str(self.core))


def tuned_cell(plan: Plan, ranks: int, bytes: int) -> str:
    """The search for one cell of a table, anywhere."""
    study = plan.cell(ranks, bytes).study()
    table, searches = study.tune(study.empty_table(), None, None)
    return json.dumps({"table": str(table), "searches": json.loads(searches)})


def _place(cell: dict[str, Any]) -> tuple[int, int]:
    """Where a cell is in a table."""
    return cell["ranks"], cell["bytes"]


def tune(
    collective: str,
    *,
    chip: ChipLike = "scc",
    ranks: Any = None,
    bytes: Any = None,
    algorithm: Algorithms = "all",
    table: DecisionTable | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **more: Any,
) -> Tuning:
    """Finds the fastest algorithm with its sizes for every rank count and size, as a decision table.

    Args:
        collective: Its name.
        chip: A :class:`Chip`, or its name or path.
        ranks: Rank counts; powers of two up to 64 and all cores if not given (of ``"host"`` and
            ``"threads"`` at most twice as many as this computer has cores).
        bytes: Sizes in bytes; 4 to 4096 in steps of four times if not given (from 8 on for elements of 8
            bytes; of ``"host"`` and ``"threads"`` 8 to 2 MiB in steps of eight times).
        algorithm: Names of those that compete.
        table: Its cells are kept, and only missing ones searched.
        executor: Any :class:`concurrent.futures.Executor`; each cell is one call. Without one all cores of
            this computer search.
        checkpoint: A table's file in which cells are kept as they are found, the file of ``corecast tune
            -o``. Those that it has are not searched again, so a search that was interrupted goes on.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.
        more: ``machine``, ``root``, ``dtype``, ``fidelity``, ``status_bits``, ``arity``,
            ``flow_control``, ``limit_events``, ``limit_ns``, as in :func:`run`.

    Raises:
        InputError: for what cannot be searched, by its subclasses; ``TableError`` for a table of another
            chip or machine.
        RunError: if the executor fails; what was found until then is in the checkpoint.

    >>> import corecast
    >>> tuned = corecast.tune("bcast", chip="park2019-bus", ranks=[4], bytes=[64])
    >>> run = corecast.run("bcast", chip="park2019-bus", ranks=4, bytes=64, algorithm="auto",
    ...                    table=tuned.table)[0]
    >>> run.algorithm == tuned[0].algorithm
    True
    """
    allowed = {
        "machine",
        "root",
        "dtype",
        "fidelity",
        "status_bits",
        "arity",
        "flow_control",
        "limit_events",
        "limit_ns",
    }
    for name in more:
        if name not in allowed:
            raise InputTypeError(f"{name}: a table says nothing about it", [f"leave `{name}` out"])
    if isinstance(algorithm, str) and algorithm == "auto":
        raise InputError('algorithm: "auto" is what a table is made for', ['use "all", or names'])
    barrier = collective == "barrier"
    if barrier and bytes is not None:
        raise InputError("bytes: a barrier has no size", ["leave `bytes` out"])
    plan = make(collective, chip=chip, bytes=0 if barrier else 64, algorithm=algorithm, **more)
    if plan.functions or plan.entrants:
        raise InputError(
            "algorithm: a table names algorithms of corecast",
            ["corecast.compare takes functions and schedules"],
        )
    usual = _core.tuned_cells(
        plan.chip._inner, collective, plan.arguments["dtype"], plan.arguments["machine"]
    )
    ranks = usual[0] if ranks is None else ranks
    bytes = usual[1] if bytes is None else bytes
    plan = make(collective, chip=plan.chip, ranks=ranks, bytes=bytes, algorithm=algorithm, **more)
    plan = plan.without_repeats()
    study = plan.study()
    executor, path = executor_of(executor), checkpoint_of(checkpoint)
    kept = study.empty_table()
    if table is not None:
        if not isinstance(table, DecisionTable):
            raise unfit(InputTypeError, "table", table, "is no DecisionTable", [])
        kept = kept.merged(table._inner)
    if path is not None and os.path.exists(path):
        kept = kept.merged(DecisionTable.read(path)._inner)
    found = _KeptTable(kept)
    cells = sorted({(count, size) for count in study.ranks for size in study.sizes})
    known = json.loads(study.table_record(kept))["cells"]
    missing = set(cells) - {(cell["ranks"], cell["bytes"]) for cell in known}
    parts = len(cells) * (len(study.algorithms) if executor is None else 1)
    with bar(progress, f"tune {collective}", parts) as told:
        if executor is not None:
            keeper = Keeper(found, path, len(cells) - len(missing), told)
            calls = [(plan, *cell) for cell in sorted(missing)]
            work(keeper, tuned_cell, calls, executor)
        else:
            if path is not None:
                found.save(path)  # says now, not after the search, that the file cannot be written
            found.core, searches = study.tune(kept, path, told)
            found.searches = json.loads(searches)
    core, searches = found.core, json.dumps(sorted(found.searches, key=_place))
    record = study.table_record(core)
    return Tuning(record, DecisionTable._of(core), searches_of(searches), plan)
