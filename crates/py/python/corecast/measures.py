# SPDX-License-Identifier: MIT OR Apache-2.0
"""Round trips between cores, and synthetic traffic on meshes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from . import _columns, _core
from ._values import (
    U32,
    U64,
    flag,
    number,
    optional_whole,
    path_of,
    read_bytes,
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

__all__ = ["Pingpong", "Traffic", "pingpong", "traffic"]

#: Most bytes of a trace file.
TRACE_BYTES_MAX = 1 << 28
#: Most rates of one sweep.
RATES_MAX = 1000
#: Rates that are tried if none are given.
RATES_TRIED = 50


class Pingpong(Table[Record]):
    """Half round trips: ``to``, ``hops``, ``bytes``, ``latency_cycles``, ``latency_ns``, ..."""

    _shown = ("to", "hops", "bytes", "latency_cycles", "latency_ns", "bytes_per_ns")
    _kinds = _columns.PINGPONG

    #: LogGP of every core that answers, by least squares: ``ns = start_ns + ns_per_byte * bytes``.
    fits: Table[Record]

    def __init__(self, core: _core.Pingpong) -> None:
        super().__init__([Record(row) for row in json.loads(core.records())])
        self.fits = table_of(json.loads(core.fits()), _columns.FIT)
        self._svg = core.chart()

    def figure(self) -> Figure:
        """Half a round trip against the size, a line per core."""
        return Figure(self._svg)


def pingpong(
    *,
    chip: ChipLike = "scc",
    machine: str = "sim",
    start: int = 0,
    to: Any = None,
    bytes: Any = None,
    limit_events: int | None = None,
    limit_ns: int | None = None,
    progress: bool | None = None,
) -> Pingpong:
    """How long a message takes between two ranks: half of there and back.

    Args:
        chip: A :class:`Chip`, or its name or path.
        machine: As of :func:`run`.
        start: The rank that begins.
        to: The ranks that answer; five from near to far if not given.
        bytes: Sizes in bytes; 4 to 8192 in steps of twice if not given.
        limit_events: Most events of the round trips of one size with one rank.
        limit_ns: Most nanoseconds of them, simulated or of this computer's clock.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

    Raises:
        InputError: for ranks or sizes that cannot be, by its subclasses.
        RunError: if a run ends without a result.

    >>> import corecast
    >>> points = corecast.pingpong(chip="tilepro64", to=[1, 63], bytes=[4, 64])
    >>> [(point.to, point.hops) for point in points]
    [(1, 1), (1, 1), (63, 14), (63, 14)]
    """
    sizes = [1 << power for power in range(2, 14)] if bytes is None else wholes("bytes", bytes)
    ranks = None if to is None else wholes("to", to, 0, U32)
    arguments = {
        "machine": word("machine", machine, _core.names("machine")),
        "start": whole("start", start, 0, U32),
        "to": ranks,
        "bytes": sizes,
        "limit_events": optional_whole("limit_events", limit_events),
        "limit_ns": optional_whole("limit_ns", limit_ns),
    }
    parts = len(sizes) * len(ranks or range(5))
    with bar(progress, "pingpong", parts) as told:
        return Pingpong(_core.Pingpong(chip_of(chip)._inner, json.dumps(arguments), told))


class Traffic(Table[Record]):
    """Points of latency against load: ``offered``, ``accepted`` (flits per core and cycle),
    ``latency_mean``, ``latency_p99`` (cycles), ``saturated``, ...
    """

    _shown = (
        "pattern",
        "offered",
        "accepted",
        "latency_mean",
        "latency_p50",
        "latency_p99",
        "saturated",
    )
    _kinds = _columns.TRAFFIC

    #: Offered and accepted load of the first point beyond saturation, or ``None``.
    saturation: tuple[float, float] | None

    def __init__(self, core: _core.Traffic) -> None:
        super().__init__([Record(row) for row in json.loads(core.records())])
        self.saturation = core.saturation()
        self._chart, self._heat_map = core.chart(), core.heat_map()

    def figure(self) -> Figure:
        """Latency against offered load, up to saturation.

        Raises:
            InputError: for a trace, which has one load.
        """
        if self._chart is None:
            raise InputError("a trace has no curve of loads", ["see heat_map()"])
        return Figure(self._chart)

    def heat_map(self) -> Figure:
        """What every link carries at the highest load below saturation, or by the trace."""
        if self._heat_map is None:
            raise InputError("no load was measured", [])
        return Figure(self._heat_map)


def traffic(
    *,
    chip: ChipLike = "booksim-mesh",
    pattern: str = "uniform",
    hot_cores: Sequence[int] = (),
    hot_share: float = 0.0,
    rates: Any = None,
    packet_flits: int = 4,
    warmup_cycles: int = 3000,
    measure_cycles: int = 10_000,
    drain_cycles: int = 30_000,
    seed: int = 1,
    trace: str | os.PathLike[str] | None = None,
    open_loop: bool = False,
    progress: bool | None = None,
) -> Traffic:
    """Latency and throughput of a mesh under synthetic traffic.

    Args:
        chip: A :class:`Chip` with a mesh, or its name or path.
        pattern: ``"uniform"``, ``"transpose"``, ``"bit-complement"``, ``"bit-reverse"``,
            ``"tornado"``, ``"neighbour"`` or ``"hotspot"``.
        hot_cores, hot_share: Of ``"hotspot"``: these cores receive this share of the packets.
        rates: Flits per core and cycle, 0 to 1; in steps of 0.02 until the mesh is saturated if not
            given.
        packet_flits: Flits of a packet.
        warmup_cycles: Cycles before those that are measured.
        measure_cycles: Cycles in which the packets leave whose latency counts.
        drain_cycles: Cycles after these in which they have to arrive; a load at which they do not is
            beyond saturation.
        seed: Of who sends when, and whereto.
        trace: A file with lines ``cycle src dst flits [after N,...]`` or of netrace, whose packets
            are sent instead; then nothing is said about patterns, rates and cycles.
        open_loop: Let packets of a trace leave in their cycles, whatever they wait for.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

    Raises:
        TrafficError: for traffic that cannot be put on this mesh, or a chip without one.
        InputError: for other arguments that cannot be, or a trace that cannot be read.

    >>> import corecast
    >>> points = corecast.traffic(rates=[0.02], measure_cycles=1000)
    >>> points[0].latency_mean > 10, points.saturation
    (True, None)
    """
    of_chip = chip_of(chip)
    flag("open_loop", open_loop)
    if trace is not None:
        of_patterns = {
            "pattern": (pattern, "uniform"),
            "hot_cores": (hot_cores, ()),
            "hot_share": (hot_share, 0.0),
            "rates": (rates, None),
            "packet_flits": (packet_flits, 4),
            "warmup_cycles": (warmup_cycles, 3000),
            "measure_cycles": (measure_cycles, 10_000),
            "drain_cycles": (drain_cycles, 30_000),
            "seed": (seed, 1),
        }
        for name, (value, usual) in of_patterns.items():
            if type(value) is not type(usual) or value != usual:
                raise InputTypeError(
                    f"{name}: a trace says itself what is sent", [f"leave `{name}` or `trace` out"]
                )
        found = read_bytes("the trace", trace, TRACE_BYTES_MAX)
        inner, file = of_chip._inner, path_of("trace", trace)
        with bar(progress, "traffic", 1) as told:
            return Traffic(_core.Traffic.trace(inner, file, found, open_loop, told))
    if open_loop:
        raise InputTypeError("open_loop: without a trace nothing waits", ["give `trace`"])
    word("pattern", pattern, [name.split(":")[0] for name in _core.names("pattern")])
    if not isinstance(hot_cores, Iterable):
        raise unfit(InputTypeError, "hot_cores", hot_cores, "is no list", ["such as [0, 63]"])
    if pattern == "hotspot" and not list(hot_cores):
        raise InputError("hot_cores: nobody is hot", ["such as hot_cores=[0, 63], hot_share=0.2"])
    loads = None if rates is None else _rates(rates)
    arguments = {
        "pattern": pattern,
        "hot_cores": wholes("hot_cores", hot_cores, 0, U32) if pattern == "hotspot" else [],
        "hot_share": number("hot_share", hot_share, 0, 1),
        "rates": loads,
        "packet_flits": whole("packet_flits", packet_flits, 1, U32),
        "warmup": whole("warmup_cycles", warmup_cycles),
        "measure": whole("measure_cycles", measure_cycles),
        "drain": whole("drain_cycles", drain_cycles),
        "seed": whole("seed", seed, 0, U64),
    }
    parts = RATES_TRIED if loads is None else len(loads)
    with bar(progress, "traffic", parts) as told:
        return Traffic(_core.Traffic(of_chip._inner, json.dumps(arguments), told))


def _rates(value: Any) -> list[float]:
    try:
        entries = list(value)
    except TypeError:
        entries = [value]
    if isinstance(value, (str, bytes)) or not entries:
        raise unfit(InputTypeError, "rates", value, "are no loads", ["numbers from 0 to 1"])
    if len(entries) > RATES_MAX:
        raise InputError(f"rates: more than {RATES_MAX}", ["use fewer"])
    return [number("rates", entry, 0, 1) for entry in entries]
