# SPDX-License-Identifier: MIT OR Apache-2.0
"""Collective communication on many-core chips: schedules that are verified, run and explained.

>>> import corecast
>>> runs = corecast.run("bcast", chip="tilepro64", ranks=16, bytes=1024)
>>> runs[0].delivered
True
>>> corecast.explain("bcast", chip="tilepro64", ranks=16)[0].advice  # doctest: +ELLIPSIS
'...'

docs/python.md has a reference by example.
"""

from __future__ import annotations

import json as _json

from . import _columns, _core
from .chips import Chip
from .errors import (
    CheckError,
    ChipError,
    DeadlockError,
    Error,
    FlowError,
    InputError,
    InputTypeError,
    LimitError,
    MachineError,
    ProgramError,
    ProgramFileError,
    RequestError,
    RunError,
    ScheduleError,
    TableError,
    TrafficError,
    UnknownNameError,
    UnservedError,
    VersionError,
)
from .figures import Figure
from .flows import FlowRun, FlowRuns, flow
from .measures import Pingpong, Traffic, pingpong, traffic
from .papers import Reproduction, reproduce
from .programs import ProgramRun, Variation, convert_program, mpirun, replay, vary
from .runs import (
    Certificate,
    Certificates,
    Explanation,
    Explanations,
    Run,
    Runs,
    explain,
    request,
    run,
    schedule,
    verify,
)
from .schedules import Request, Schedule, ScheduleBuilder
from .sweeps import Comparison, Tuning, compare, tune
from .tables import Record, Table
from .tables import table_of as _table
from .tuning import DecisionTable, Rules, rules
from .views import View, view

__version__: str = _core.__version__


def list_chips() -> Table[Record]:
    """The built-in chips: ``name``, ``cores_max``, ``summary``, ``source``."""
    return _table(_json.loads(_core.list_chips()), _columns.CHIP)


def list_algorithms(collective: str | None = None) -> Table[Record]:
    """The algorithms, of one collective or of all, with what they do and where they are from.

    Raises:
        UnknownNameError: for a collective that there is not.

    >>> [row.name for row in list_algorithms("gather")]
    ['linear', 'binomial']
    """
    from ._values import word

    if collective is not None:
        word("collective", collective, _core.names("collective"))
    rows = _json.loads(_core.list_algorithms())
    wanted = (row for row in rows if collective in (None, row["collective"]))
    return _table(wanted, _columns.ALGORITHM)


def list_collectives() -> list[str]:
    """Names of the collectives."""
    return _core.names("collective")


def list_machines() -> Table[Record]:
    """The machines: ``name``, ``summary``."""
    return _table(_json.loads(_core.list_machines()), _columns.MACHINE)


def list_formats() -> Table[Record]:
    """The formats of files.

    ``name``, ``of`` (schedules, programs or traffic), ``extension``, ``summary``, ``source``.
    """
    return _table(_json.loads(_core.list_formats()), _columns.FORMAT)


def list_keys() -> Table[Record]:
    """The keys of chip files: ``key``, ``of``, ``unit``, ``accepted``, ``default``, ``means``.

    >>> next(row.unit for row in list_keys() if row.key == "network.vcs")
    'channels'
    """
    return _table(_json.loads(_core.list_keys()), _columns.KEY)


def list_papers() -> Table[Record]:
    """The papers whose numbers are reproduced: ``name``, ``chip``, ``citation``."""
    return _table(_json.loads(_core.list_papers()), _columns.PAPER)


__all__ = [
    "Certificate",
    "Certificates",
    "CheckError",
    "Chip",
    "ChipError",
    "Comparison",
    "DeadlockError",
    "DecisionTable",
    "Error",
    "Explanation",
    "Explanations",
    "Figure",
    "FlowError",
    "FlowRun",
    "FlowRuns",
    "InputError",
    "InputTypeError",
    "LimitError",
    "MachineError",
    "Pingpong",
    "ProgramError",
    "ProgramFileError",
    "ProgramRun",
    "Record",
    "Reproduction",
    "Request",
    "RequestError",
    "Rules",
    "Run",
    "RunError",
    "Runs",
    "Schedule",
    "ScheduleBuilder",
    "ScheduleError",
    "Table",
    "TableError",
    "Traffic",
    "TrafficError",
    "Tuning",
    "UnknownNameError",
    "UnservedError",
    "Variation",
    "VersionError",
    "View",
    "compare",
    "convert_program",
    "explain",
    "flow",
    "list_algorithms",
    "list_chips",
    "list_collectives",
    "list_formats",
    "list_keys",
    "list_machines",
    "list_papers",
    "mpirun",
    "pingpong",
    "replay",
    "reproduce",
    "request",
    "rules",
    "run",
    "schedule",
    "traffic",
    "tune",
    "vary",
    "verify",
    "view",
]
