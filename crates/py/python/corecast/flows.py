# SPDX-License-Identifier: MIT OR Apache-2.0
"""Dataflow programs: tasks that exchange blocks, on the tiles of a chip or on threads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _columns, _core
from ._values import (
    U64,
    flag,
    number,
    optional_whole,
    path_of,
    read_bytes,
    read_text,
    unfit,
    whole,
    wholes,
    word,
)
from .chips import chip_of
from .errors import InputError, InputTypeError
from .figures import Figure
from .plans import ChipLike
from .progress import bar
from .tables import Record, Table, table_of

__all__ = ["FlowRun", "FlowRuns", "flow"]

FILE_BYTES_MAX = 1 << 20
INPUT_BYTES_MAX = 64 << 20
#: Most tasks of a graph, and most instances of it.
NUMBER_MAX = 2**32 - 1


class FlowRun(Record):
    """One run: fields as of ``corecast flow --json``."""

    _shown = (
        "name",
        "flows",
        "tasks",
        "iterations",
        "placement",
        "makespan_ns",
        "iterations_per_s",
        "speed_up",
        "right",
    )

    @property
    def each_task(self) -> Table[Record]:
        """Every task: where it ran, and where its time went."""
        return table_of(self["per_task"], _columns.TASK)

    @property
    def each_edge(self) -> Table[Record]:
        """Every edge: blocks, bytes, intervals and jitter in nanoseconds."""
        return table_of(self["per_edge"], _columns.EDGE)


class FlowRuns(Table[FlowRun]):
    """Runs of a flow: every number of stages, of flows, and every placement."""

    _shown = FlowRun._shown
    _kinds = _columns.FLOW_RUN

    def __init__(self, core: _core.Flow) -> None:
        rows = [FlowRun(row) for row in json.loads(core.records())]
        super().__init__(rows)
        self._bars = core.bars()
        self._layouts = [core.layout(case) for case in range(len(rows))]

    def figure(self) -> Figure:
        """Where the time of every task went."""
        return Figure(self._bars)

    def layout(self, case: int = 0) -> Figure:
        """Tasks of a run on the mesh, edges coloured by load.

        Args:
            case: Which run, counted from 0.

        Raises:
            InputError: if there are fewer runs, or on machines that place no tasks.
        """
        svg = self._layouts[whole("case", case, 0, max(len(self._layouts) - 1, 0))]
        if svg is None:
            raise InputError("this computer has no mesh", ['use machine="sim"'])
        return Figure(svg)


def flow(
    file: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    chip: ChipLike = "nagam",
    machine: str = "sim",
    flows: Any = None,
    stages: Any = None,
    placement: Any = None,
    flow_control: bool | None = None,
    injectors: Any = None,
    seed: int = 1,
    limit_events: int | None = None,
    limit_ns: int | None = None,
    progress: bool | None = None,
) -> FlowRuns:
    """Runs a dataflow program, from a flow file or its text.

    Args:
        file: The flow file; an input file that it names lies beside it.
        text: Or: what would stand in it.
        chip: A :class:`Chip`, or its name or path.
        machine: As of :func:`run`.
        flows: Instances of the graph at once, one number or several.
        stages: Stages of the tasks that have ``stages``, one number or several.
        placement: ``"near"``, ``"row"``, ``"column"``, ``"random"``, or several.
        flow_control: ``False`` lets tasks with several senders acknowledge nothing.
        injectors: Share of time in which injectors at the edges send, 0 to 1, or a pair of that and
            ``"north-south"`` or ``"west-east"``.
        seed: Of random placements and of what injectors send.
        limit_events: Most events of a run.
        limit_ns: Most nanoseconds of a run, simulated or of this computer's clock.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

    Raises:
        FlowError: for what is wrong in the file, with its line, or cannot be placed.
        InputError: for other arguments that cannot be, or a file that cannot be read.
        RunError: if a run ends without a result.

    >>> import corecast
    >>> runs = corecast.flow(text='''
    ... iterations = 4
    ... [[task]]
    ... name = "a"
    ... ''')
    Traceback (most recent call last):
        ...
    corecast.errors.FlowError: ...
    """
    if (file is None) == (text is None):
        raise InputTypeError("a flow is given by its file or its text", ["give one of the two"])
    name = "text" if file is None else path_of("file", file)
    content = (
        word("text", text) if file is None else read_text("the flow file", file, FILE_BYTES_MAX)
    )
    several = isinstance(injectors, (tuple, list))
    if several and len(injectors) != 2:
        raise InputTypeError(
            "injectors: no pair of a share and a direction", ['such as (0.1, "west-east")']
        )
    rate, direction = injectors if several else (injectors, "north-south")
    placements = [placement] if isinstance(placement, str) else placement
    if placements is not None and not isinstance(placements, Iterable):
        raise unfit(
            InputTypeError, "placement", placement, "names no placement", ['such as "near"']
        )
    arguments = {
        "machine": word("machine", machine, _core.names("machine")),
        "stages": None if stages is None else wholes("stages", stages, 1, NUMBER_MAX),
        "flows": None if flows is None else wholes("flows", flows, 1, NUMBER_MAX),
        "placement": None
        if placements is None
        else [word("placement", entry) for entry in placements],
        "flow_control": None if flow_control is None else flag("flow_control", flow_control),
        "injectors": None
        if injectors is None
        else (number("injectors", rate, 0, 1), word("injectors", direction)),
        "seed": whole("seed", seed, 0, U64),
        "limit_events": optional_whole("limit_events", limit_events),
        "limit_ns": optional_whole("limit_ns", limit_ns),
    }
    core = _core.Flow(chip_of(chip)._inner, content, name, json.dumps(arguments))
    data = None
    if core.input_file is not None:
        data = read_bytes("the input file", Path(name).parent / core.input_file, INPUT_BYTES_MAX)
    with bar(progress, "flow", core.case_count) as told:
        return FlowRuns(core.run(data, told))
