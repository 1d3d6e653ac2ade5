# SPDX-License-Identifier: MIT OR Apache-2.0
"""What to run, as a value: every argument of the verbs, checked, and nothing that ties it to this
process, so that cells of a sweep can be worked on elsewhere."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import _core
from ._values import (
    U32,
    U64,
    flag,
    number,
    optional_whole,
    path_of,
    shown,
    unfit,
    unknown,
    unknown_argument,
    whole,
    wholes,
    word,
)
from ._versioned import Versioned
from .chips import Chip, chip_of
from .errors import InputError, InputTypeError, ScheduleError
from .schedules import Request, Schedule, ScheduleBuilder
from .tuning import DecisionTable

#: An algorithm as a function: of a request it makes a schedule, or a builder that has all steps.
Algorithm = Callable[[Request], Schedule | ScheduleBuilder]
#: Who can take part: a name, the path of a schedule file, a schedule, or a function.
Contestant = str | os.PathLike[str] | Schedule | Algorithm
#: What ``algorithm`` can be: one of these, ``"all"``, ``"auto"``, or a list.
Algorithms = Contestant | Sequence[Contestant]
#: A chip, or its name or path.
ChipLike = Chip | str | os.PathLike[str]

#: Most values of a list.
REPEAT_MAX = 1_000_000


@dataclass(frozen=True)
class Plan(Versioned):
    """What to run; made by the verbs."""

    chip: Chip
    arguments: dict[str, Any]
    functions: tuple[Algorithm, ...] = ()
    entrants: tuple[_core.Entrant, ...] = ()
    input: bytes | None = None
    table: DecisionTable | None = None

    def study(self) -> _core.Study:
        """The study of it."""
        study = _core.Study(self.chip._inner, json.dumps(self.arguments), self.input, self.entrants)
        return study if self.table is None else study.advised(self.table._inner)

    def cell(self, ranks: int, bytes: int) -> Plan:
        """The same for one rank count and size."""
        return replace(self, arguments={**self.arguments, "ranks": [ranks], "bytes": [bytes]})

    def without_repeats(self) -> Plan:
        """The same with every rank count and size once: a map has one cell for each."""
        once = {name: list(dict.fromkeys(self.arguments[name])) for name in ("ranks", "bytes")}
        return replace(self, arguments={**self.arguments, **once})

    def given(self, study: _core.Study, ranks: int, bytes: int) -> list[_core.Schedule]:
        """The schedules of the functions for one rank count and size."""
        if not self.functions:
            return []
        request = Request._of(study.request(ranks, bytes))
        return [schedule_of(function, request)._inner for function in self.functions]

    def __reduce__(self) -> Any:
        return Versioned.__reduce__(self)


def schedule_of(function: Algorithm, request: Request) -> Schedule:
    """What a function makes of a request, checked to be an answer to it."""
    made = function(request)
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(made, ScheduleBuilder):
        made = made.finish()
    if not isinstance(made, Schedule):
        raise ScheduleError(
            f"{name} returned {shown(made)}, which is no schedule",
            ["return builder.finish() of a corecast.ScheduleBuilder(request, ...)"],
        )
    made._inner.check_answers(request._inner)
    return made


def make(
    collective: str,
    *,
    chip: ChipLike = "scc",
    machine: str = "sim",
    ranks: Any = None,
    bytes: Any = 64,
    algorithm: Algorithms = "all",
    root: int = 0,
    dtype: Any = None,
    op: str = "sum",
    part_bytes: int | None = None,
    piece_bytes: int | None = None,
    status_bits: int | None = None,
    arity: int | None = None,
    flow_control: str = "auto",
    fidelity: str | None = None,
    ongoing: Iterable[Sequence[int]] = (),
    skew: Any = None,
    background: Any = None,
    cold: bool = False,
    seed: int = 0,
    repeat: int | None = None,
    limit_events: int | None = None,
    limit_ns: int | None = None,
    table: DecisionTable | None = None,
    input: bytes | None = None,
    **unknown_ones: Any,
) -> Plan:
    """The plan that these arguments make."""
    for name in unknown_ones:
        raise unknown_argument(name, ARGUMENTS)
    names, functions, entrants = _algorithms(algorithm)
    if ranks is None and entrants:
        ranks = [entrants[0].ranks]
    if table is not None and not isinstance(table, DecisionTable):
        raise unfit(InputTypeError, "table", table, "is no DecisionTable", ["see corecast.tune"])
    arguments = {
        "collective": word("collective", collective, _core.names("collective")),
        "machine": word("machine", machine, _core.names("machine")),
        "fidelity": None
        if fidelity is None
        else word("fidelity", fidelity, _core.names("fidelity")),
        "ranks": [] if ranks is None else wholes("ranks", ranks, 1, U32),
        "bytes": wholes("bytes", bytes),
        "root": whole("root", root, 0, U32),
        "algorithms": names,
        "dtype": dtype_name(dtype),
        "op": word("op", op, _core.names("op")),
        "part_bytes": optional_whole("part_bytes", part_bytes, 1),
        "piece_bytes": optional_whole("piece_bytes", piece_bytes, 1),
        "status_bits": optional_whole("status_bits", status_bits, 1, U32),
        "arity": optional_whole("arity", arity, 0, U32),
        "flow_control": word("flow_control", flow_control, _core.names("flow_control")),
        "ongoing": _ongoing(ongoing),
        "skew": skew_of(skew),
        "background": background_of(background),
        "cold": flag("cold", cold),
        "seed": whole("seed", seed, 0, U64),
        "repeat": None if repeat is None else whole("repeat", repeat, 1, REPEAT_MAX),
        "limit_events": optional_whole("limit_events", limit_events),
        "limit_ns": optional_whole("limit_ns", limit_ns),
    }
    return Plan(chip_of(chip), arguments, functions, entrants, input, table)


#: What the verbs that run collectives can be told; ``data`` is read before a plan is made.
ARGUMENTS = [
    *(name for name in inspect.signature(make).parameters if name not in ("input", "unknown_ones")),
    "data",
    "progress",
]


def dtype_name(dtype: Any) -> str:
    """corecast's name of an element type: its own, or NumPy's."""
    if dtype is None:
        return "u8"
    known = _core.names("dtype")
    if isinstance(dtype, str) and dtype in known:
        return dtype
    numpy_names = {
        "uint8": "u8",
        "int32": "i32",
        "int64": "i64",
        "float32": "f32",
        "float64": "f64",
    }
    name = str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype)
    if name in numpy_names:
        return numpy_names[name]
    raise unknown("dtype", name, [*known, *numpy_names])


def subject(what: str | Schedule, arguments: dict[str, Any]) -> str:
    """The collective that is asked for; of a schedule also the arguments that it says itself, among
    them who takes part: it, and whoever is named beside it."""
    if not isinstance(what, Schedule):
        return what
    asked = arguments.get("algorithm")
    others = [] if asked is None else listed(asked)
    for name in ("ranks", "root", "table", *(() if others else ("part_bytes",))):
        if arguments.get(name) is not None:
            raise InputTypeError(f"{name}: a schedule says that itself", [f"leave `{name}` out"])
        arguments.pop(name, None)
    arguments["algorithm"] = [what, *others]
    arguments["ranks"], arguments["root"] = what.ranks, what.root
    if arguments.get("data") is None and arguments.get("bytes") is None:
        arguments["bytes"] = what.bytes
    return what.collective


def listed(value: Any) -> list[Any]:
    """Those who take part, as a list."""
    if callable(value) or isinstance(value, (str, os.PathLike, Schedule)):
        return [value]
    if not isinstance(value, Sequence) or not value:
        help = [
            'give a name, "all", "auto", a schedule or the path of its file, a function, or a list '
            "of these"
        ]
        raise unfit(InputTypeError, "algorithm", value, "names no algorithm", help)
    return list(value)


def is_path(name: str) -> bool:
    """Whether a text names a schedule file where an algorithm could stand, as the command has it."""
    return "." in name or "/" in name


def _algorithms(
    value: Any,
) -> tuple[str | list[str], tuple[Algorithm, ...], tuple[_core.Entrant, ...]]:
    """Names, functions and schedules."""
    if isinstance(value, str) and value in ("all", "auto"):
        return value, (), ()
    names, functions, entrants = [], [], []
    for entry in listed(value):
        if isinstance(entry, Schedule):
            entrants.append(_core.Entrant.made(entry._inner))
        elif isinstance(entry, os.PathLike) or (isinstance(entry, str) and is_path(entry)):
            entrants.append(_core.Entrant.load(path_of("algorithm", entry)))
        elif callable(entry):
            functions.append(entry)
        else:
            names.append(word("algorithm", entry))
    for group in ("all", "auto"):
        if group in names:
            if group == "all" and names == ["all"]:
                return "all", tuple(functions), tuple(entrants)
            raise InputError(
                f'algorithm: "{group}" in a list',
                ['"all" can be the only name beside functions and schedules'],
            )
    return names, tuple(functions), tuple(entrants)


def _ongoing(value: Any) -> list[tuple[int, int | None, int]]:
    help = ["entries are (rank, bytes) or (rank, other rank, bytes), such as [(1, 32)]"]
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise unfit(InputTypeError, "ongoing", value, "is no list of transfers", help)
    found = []
    for entry in value:
        if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) not in (2, 3):
            raise unfit(InputTypeError, "ongoing", entry, "is no transfer", help)
        start = whole("ongoing", entry[0], 0, U32)
        end = whole("ongoing", entry[1], 0, U32) if len(entry) == 3 else None
        found.append((start, end, whole("ongoing", entry[-1])))
    return found


def skew_of(value: Any) -> list[dict[str, Any]]:
    """Who comes late."""
    help = [
        'give ("uniform", cycles), ("random", cycles), {rank: cycles}, or one number per rank',
    ]
    if value is None:
        return []
    # Also of a Series of pandas, which is no Mapping, but has an index, which says the ranks.
    if callable(getattr(value, "items", None)):
        return [
            {"kind": "one", "rank": whole("skew", rank, 0, U32), "cycles": whole("skew", cycles)}
            for rank, cycles in value.items()
        ]
    if isinstance(value, Sequence) and len(value) == 2 and isinstance(value[0], str):
        kind = word("skew", value[0], ["uniform", "random"])
        return [{"kind": kind, "cycles": whole("skew", value[1])}]
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise unfit(InputTypeError, "skew", value, "says not who is late", help)
    return [{"kind": "each", "cycles": wholes("skew", value, most=1 << 20)}]


def background_of(value: Any) -> tuple[float, int] | None:
    """Other traffic: its rate, and flits per packet."""
    if value is None:
        return None
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return number("background", value[0], 0, 1), whole("background", value[1], 1, 4096)
    return number("background", value, 0, 1), 4
