"""Sweeps over sizes and rank counts, here or by somebody else's executor; decision tables."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from . import _core
from ._values import shown
from .errors import InputError, InputTypeError
from .figures import Figure
from .plans import Algorithms, ChipLike, Plan, make
from .progress import bar
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

    def __init__(self, rows: Sequence[Record], plan: Plan) -> None:
        super().__init__(rows)
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
        return Table([case[0] for case in self.cases()])

    def figure(self) -> Figure:
        """With one rank count makespan over bound against size, else who wins where."""
        study = self._plan.study()
        names = [str(case[0]["algorithm"]) for case in self.cases()]
        if len(study.ranks) == 1:
            times = [
                {
                    "algorithm": row["algorithm"],
                    "bytes": row["bytes"],
                    "time": row["makespan_mean_cycles"] or row["makespan_median_ns"],
                    "bound_cycles": row["bound_cycles"],
                }
                for row in self
            ]
            return Figure(study.sweep_chart(names, json.dumps(times)))
        width = len(study.sizes)
        rows = [names[start : start + width] for start in range(0, len(names), width)]
        return Figure(study.winner_map(rows))


def cell(plan: Plan, ranks: int, bytes: int) -> list[dict[str, Any]]:
    """The runs of one case of a sweep, anywhere."""
    return _cell(plan, ranks, bytes, None)


def _cell(plan: Plan, ranks: int, bytes: int, told: Any) -> list[dict[str, Any]]:
    of_cell = plan.cell(ranks, bytes)
    study = of_cell.study()
    given = of_cell.given(study, ranks, bytes)
    runs: list[dict[str, Any]] = json.loads(study.case((ranks, bytes), given, told))
    return runs


def compare(
    collective: str,
    *,
    chip: ChipLike = "scc",
    ranks: Any = None,
    bytes: Any = 64,
    algorithm: Algorithms = "all",
    executor: Executor | None = None,
    progress: bool | None = None,
    **more: Any,
) -> Comparison:
    """Runs every case of a sweep: who wins at which size and rank count.

    Args:
        ranks: One rank count, or several.
        bytes: One size, or several.
        executor: Any :class:`concurrent.futures.Executor`; each case is one call, which is pickled
            where that is needed (then functions in `algorithm` must be importable). Results are those
            without one.
        more: As in :func:`run`.

    >>> import corecast
    >>> sweep = corecast.compare("bcast", chip="park2019-bus", ranks=[4, 8], bytes=[64, 256])
    >>> [row.algorithm for row in sweep.winners]
    ['ap', 'ap', 'ap', 'ap']
    """
    if executor is not None and not (hasattr(executor, "submit")):
        raise InputTypeError(
            f"executor: {shown(executor)} has no method `submit`",
            ["give a concurrent.futures.Executor, such as ProcessPoolExecutor()"],
        )
    if "data" in more:
        raise InputTypeError("data: a sweep draws its own", ["corecast.run takes data"])
    if collective == "barrier" and bytes == 64:
        bytes = 0
    plan = make(collective, chip=chip, ranks=ranks, bytes=bytes, algorithm=algorithm, **more)
    study = plan.study()
    cases = [(count, size) for count in study.ranks for size in study.sizes]
    found: list[dict[str, Any]] = []
    with bar(progress, f"compare {collective}", len(cases)) as told:
        for number, runs in enumerate(_worked(plan, cases, executor)):
            found += runs
            if told is not None:
                told(number + 1, 0, 0)
    return Comparison([Record(row) for row in found], plan)


def _worked(
    plan: Plan, cases: list[tuple[int, int]], executor: Executor | None
) -> Iterator[list[dict[str, Any]]]:
    """The runs of the cases in order."""
    if executor is None:
        for ranks, bytes in cases:
            yield _cell(plan, ranks, bytes, None)
        return
    futures: list[Future[list[dict[str, Any]]]] = []
    try:
        futures += [executor.submit(cell, plan, ranks, bytes) for ranks, bytes in cases]
        for future in futures:
            yield future.result()
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if "pickle" not in str(error) or not plan.functions:
            raise
        raise InputError(
            "algorithm: a function cannot be sent to the executor's processes",
            ["define it in a module that they can import", str(error)],
        ) from error
    finally:
        for future in futures:
            future.cancel()


class Tuning(Table[Record]):
    """What a search has found: the cells of a decision table, and the table."""

    _shown = ("ranks", "bytes", "algorithm", "part_bytes", "piece_bytes", "makespan_cycles")

    #: The table.
    table: DecisionTable
    #: How the search for each cell went: runs, algorithms left out, why there is no winner.
    searches: Table[Record]

    def __init__(
        self, rows: Sequence[Record], table: DecisionTable, searches: Table[Record], plan: Plan
    ) -> None:
        super().__init__(rows)
        self.table = table
        self.searches = searches
        self._plan = plan

    def figure(self) -> Figure:
        """Who wins where."""
        study = self._plan.study()
        return Figure(study.winner_map(study.table_winners(self.table._inner)))


def tune(
    collective: str,
    *,
    chip: ChipLike = "scc",
    ranks: Any = None,
    bytes: Any = None,
    algorithm: Algorithms = "all",
    table: DecisionTable | None = None,
    progress: bool | None = None,
    **more: Any,
) -> Tuning:
    """Finds the fastest algorithm with its sizes for every rank count and size, as a decision table.

    Args:
        ranks: Rank counts; powers of two up to 64 and all cores if not given.
        bytes: Sizes; 4 to 4096 in steps of four times if not given (from 8 on for elements of 8 bytes).
        algorithm: Names of those that compete.
        table: Its cells are kept, and only missing ones searched.
        more: ``root``, ``dtype``, ``fidelity``, ``status_bits``, ``arity``, ``flow_control``,
            ``limit_events``, ``limit_ns``, as in :func:`run`.

    >>> import corecast
    >>> tuned = corecast.tune("bcast", chip="park2019-bus", ranks=[4], bytes=[64])
    >>> run = corecast.run("bcast", chip="park2019-bus", ranks=4, bytes=64, algorithm="auto",
    ...                    table=tuned.table)[0]
    >>> run.algorithm == tuned[0].algorithm
    True
    """
    allowed = {
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
    if algorithm == "auto":
        raise InputError('algorithm: "auto" is what a table is made for', ['use "all", or names'])
    barrier = collective == "barrier"
    if barrier and bytes is not None:
        raise InputError("bytes: a barrier has no size", ["leave `bytes` out"])
    plan = make(collective, chip=chip, bytes=0 if barrier else 64, algorithm=algorithm, **more)
    if plan.functions:
        raise InputError(
            "algorithm: a table names algorithms of corecast", ["corecast.compare takes functions"]
        )
    if ranks is None:
        ranks = _core.tuned_ranks(plan.chip.cores_max)
    if bytes is None:
        first = 8 if plan.arguments["dtype"] in ("i64", "f64") else 4
        bytes = 0 if barrier else [first * 4**step for step in range(6)]
    plan = make(collective, chip=plan.chip, ranks=ranks, bytes=bytes, algorithm=algorithm, **more)
    study = plan.study()
    kept = study.empty_table()
    if table is not None:
        if not isinstance(table, DecisionTable):
            raise InputTypeError(f"table: {shown(table)} is no DecisionTable", [])
        kept = kept.merged(table._inner)
    parts = len(set(study.ranks)) * len(set(study.sizes)) * len(study.algorithms)
    with bar(progress, f"tune {collective}", parts) as told:
        core, searches = study.tune(kept, told)
    rows = cells_of(json.loads(study.table_record(core)))
    return Tuning(list(rows), DecisionTable._of(core), searches_of(searches), plan)
