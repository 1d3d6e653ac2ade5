# SPDX-License-Identifier: MIT OR Apache-2.0
"""The columns of every table that the package returns, with their types.

A table without rows has them, too, and a column in which no row has a value keeps its type: so
tables of several chips, machines and requests can be put under each other.

They are those of the records in ``crates/study`` and ``crates/papers``; the tests compare them with
what these are. Types are ``text``, ``bool``, ``int`` (64 bits), ``uint`` (of Rust's ``u64`` that callers
choose), ``float``, and lists of one, such as ``float[]``. Texts, floats and lists may be missing in a
row; others only where their type ends in ``?``. Times in cycles are floats: some chips' are no
whole numbers of them.
"""

from __future__ import annotations

#: Names of columns, in order, and their types.
Columns = dict[str, str]


def _sorted(*parts: Columns) -> Columns:
    """The columns of several in one order, by name."""
    return dict(sorted({name: kind for part in parts for name, kind in part.items()}.items()))


#: What a rank can spend its time on.
CAUSES = (
    "buffer_full",
    "compute",
    "handshake",
    "idle",
    "link_busy",
    "memory",
    "ordering",
    "port_busy",
    "software",
    "transfer",
    "wait_peer",
)

#: What every result depends on.
SETTINGS = {
    "chip": "text",
    "computer": "text",
    "fidelity": "text",
    "fingerprint": "text",
    "machine": "text",
    "notes": "text[]",
    "seed": "uint?",
    "set": "text[]",
    "version": "text",
}

#: What a collective depends on.
COLLECTIVE = {
    "arity": "int",
    "background": "text",
    "cold": "bool",
    "dtype": "text",
    "flow_control_option": "text",
    "input": "text",
    "ongoing": "text[]",
    "op": "text",
    "part_bytes": "uint?",
    "piece_bytes": "uint?",
    "root": "int?",
    "skew": "text[]",
    "status_bits": "int",
}

RUN = _sorted(
    SETTINGS,
    COLLECTIVE,
    {
        "algorithm": "text",
        "assumed_parameters": "int",
        "background_sent_percent": "float",
        "bound_cycles": "float",
        "bound_ns": "float",
        "bytes": "int",
        **{f"causes.{cause}_ns": "float" for cause in CAUSES},
        "collective": "text",
        "delivered": "bool",
        "events": "int",
        "finish_ns": "float[]",
        "fitted_parameters": "int",
        "makespan_cycles": "float",
        "makespan_max_ns": "float",
        "makespan_mean_ns": "float",
        "makespan_median_ns": "float",
        "makespan_ns": "float",
        "makespan_p99_ns": "float",
        "makespan_variance_ns2": "float",
        "network_percent": "float",
        "others_percent": "float",
        "placement_note": "text",
        "ranks": "int",
        "root": "int",
        "runs": "int",
        "software_percent": "float",
        "table_bytes": "int?",
        "table_ranks": "int?",
    },
)
EXPLANATION = _sorted(RUN, {"advice": "text"})
SWEPT_RUN = _sorted(RUN, {"faults": "text[]", "makespan_mean_cycles": "float"})
REFUSED = {"bytes": "int", "algorithm": "text", "why": "text"}
REFUSED_CASE = {"bytes": "int", "ranks": "int", "why": "text"}

CERTIFICATE = _sorted(
    SETTINGS,
    COLLECTIVE,
    {
        "algorithm": "text",
        "bound_rounds": "int",
        "bytes": "int",
        "collective": "text",
        "contention_free": "bool",
        "correct": "bool",
        "deadlock_free": "bool",
        "detours": "text[]",
        "flow_control": "bool",
        "link_bound_rounds": "int",
        "max_buffer_bytes": "int",
        "max_unread_bytes": "int?",
        "messages": "int",
        "payload_bytes": "int",
        "placement_note": "text",
        "ranks": "int",
        "redundant_bytes": "int",
        "rounds": "int",
        "slots_needed": "int?",
        "table_bytes": "int?",
        "table_ranks": "int?",
        "violation_lines": "int[][]",
        "violations": "text[]",
        "worst_case_cycles": "float",
        "worst_case_ns": "float",
    },
)

MESSAGE = {
    "bytes": "int",
    "end_ns": "float",
    "from": "int",
    "posted_ns": "float",
    "start_ns": "float",
    "to": "int",
}
SPAN = {"cause": "text", "end_ns": "float", "peer": "int?", "rank": "int", "start_ns": "float"}
LINK = {"flits": "int", "from_x": "int", "from_y": "int", "to_x": "int", "to_y": "int"}

#: A link of a mesh, and who waited there for whom.
HOLD = {"held_by": "int[]", "link_from": "int[]", "link_to": "int[]", "message": "int[]"}
SEGMENT = {
    "cause": "text",
    "from_cycles": "float",
    "from_ns": "float",
    **{f"link.{name}": kind for name, kind in HOLD.items()},
    "peer": "int?",
    "rank": "int",
    "to_cycles": "float",
    "to_ns": "float",
}
#: Of times that are told in cycles, and of those of a wall clock.
RANK_CAUSES, RANK_CAUSES_NS = (
    {"rank": "int", **{f"{cause}_{unit}": "float" for cause in sorted((*CAUSES, "sum"))}}
    for unit in ("cycles", "ns")
)
LINK_WAIT = {**HOLD, "rank": "int", "wait_cycles": "float", "wait_ns": "float"}

STEP = {
    "combines": "bool",
    "from": "int?",
    "kind": "text",
    "receives": "int[]",
    "round": "int",
    "sends": "int[]",
    "source": "int[]",
    "target": "int[]",
    "to": "int?",
}

#: A cell of a decision table, after what the table holds for.
CELL = {
    **_sorted(
        SETTINGS,
        {
            "arity": "int",
            "collective": "text",
            "corecast": "text",
            "dtype": "text",
            "flow_control": "text",
            "format": "int",
            "root": "int?",
            "status_bits": "int",
        },
    ),
    "algorithm": "text",
    "bytes": "int",
    "makespan_cycles": "float",
    "makespan_ns": "float",
    "part_bytes": "uint?",
    "piece_bytes": "uint?",
    "ranks": "int",
}
SEARCH = {
    "bytes": "int",
    "left_out": "text[]",
    "ranks": "int",
    "runs": "int",
    "winnerless": "text",
}

#: A file of a folder of schedules that tables have become.
LISTED_FILE = {
    "name": "text",
    "collective": "text",
    "ranks": "int",
    "algorithm": "text",
    "min_bytes": "uint",
    "max_bytes": "uint?",
}

FLOW_RUN = _sorted(
    SETTINGS,
    {
        "byte_hops": "int?",
        "byte_hops_optimal": "int?",
        "events": "int",
        "flow_control_option": "text",
        "flows": "int",
        "injector_rate": "float",
        "injectors": "text",
        "iterations": "int",
        "iterations_per_s": "float",
        "latency_max_ns": "float",
        "latency_mean_ns": "float",
        "latency_p99_ns": "float",
        "makespan_cycles": "float",
        "makespan_ns": "float",
        "name": "text",
        "one_core_ns": "float",
        "placement": "text",
        "right": "bool",
        "speed_up": "float",
        "tasks": "int",
        "trace_hash": "text",
        "written_bytes": "int",
    },
)
TASK = {
    "communicating_ns": "float",
    "computing_ns": "float",
    "core": "int?",
    "finish_ns": "float",
    "firings": "int",
    "flow": "int",
    "idle_ns": "float",
    "input_words": "int?",
    "input_words_max": "int?",
    "input_words_mean": "float",
    "output_words": "int?",
    "output_words_max": "int?",
    "output_words_mean": "float",
    "stalled_input_ns": "float",
    "stalled_output_ns": "float",
    "task": "text",
}
EDGE = {
    "arrivals": "int",
    "bytes": "int",
    "displacement_ns": "float",
    "flow": "int",
    "from": "text",
    "interval_max_ns": "float",
    "interval_mean_ns": "float",
    "jitter_ns": "float",
    "to": "text",
}

PINGPONG = _sorted(
    SETTINGS,
    {
        "bytes": "int",
        "bytes_per_ns": "float",
        "from": "int",
        "hops": "int?",
        "latency_cycles": "float",
        "latency_ns": "float",
        "ns_per_byte": "float",
        "start_ns": "float",
        "to": "int",
    },
)
FIT = {"ns_per_byte": "float", "start_ns": "float", "to": "int"}

#: Of synthetic traffic or of a trace, of which either lacks what only the other has.
TRAFFIC = _sorted(
    SETTINGS,
    {
        "accepted": "float",
        "all_arrived": "bool?",
        "cycles": "int",
        "drain_cycles": "float",
        "flit_hops": "int",
        "held_max": "int?",
        "held_mean": "float",
        "hops_mean": "float",
        "latency_max": "int?",
        "latency_mean": "float",
        "latency_p50": "int?",
        "latency_p99": "int?",
        "measure_cycles": "float",
        "network_latency_mean": "float",
        "offered": "float",
        "packet_flits": "int?",
        "packets": "int",
        "pattern": "text",
        "saturated": "bool?",
        "waits": "int?",
        "warmup_cycles": "float",
        "zero_load_latency": "float",
    },
)

REPRODUCED = {
    "conditions": "text",
    "error_percent": "float",
    "fitted": "bool",
    "item": "text",
    "ours": "float",
    "paper": "text",
    "published": "float",
    "quantity": "text",
    "rtl": "float",
    "unit": "text",
    "version": "text",
}
WINNER = {
    "chip": "text",
    "collective": "text",
    "ranks": "int",
    "bytes": "int",
    "ongoing_bytes": "int",
    "winner": "text",
    "winner_ns": "float",
    "runner_up": "text",
    "lead_ratio": "float",
}

#: Time by cause; missing where a cause has none.
_CALL_CAUSES = {f"causes_ns.{cause}": "float" for cause in CAUSES}
CALL = {"call": "text", **_CALL_CAUSES, "count": "int", "ns": "float"}
RANK_CALL = {"rank": "int", **CALL}
STRETCH = {
    "call": "text",
    **_CALL_CAUSES,
    "from_ns": "float",
    "rank": "int",
    "to_ns": "float",
}
LATE_RANK = {"rank": "int", "waited_ns": "float"}
#: A run of a program of which the chip varies, after the values of the keys that do.
VARIED = {
    "outcome": "text",
    "why": "text",
    "makespan_cycles": "float",
    "makespan_ns": "float",
    "messages": "int?",
    "bytes": "int?",
    **_CALL_CAUSES,
    "stdout": "text",
    "stderr": "text",
    **_sorted(
        SETTINGS,
        {
            "background": "text",
            "compute": "text",
            "ranks": "int",
            "ranks_per_core": "int",
            "skew": "text[]",
            "tables": "text",
        },
    ),
}
PAIR = {"bytes": "int", "from": "int", "messages": "int", "to": "int"}

CHIP = {"name": "text", "cores_max": "int", "summary": "text", "source": "text"}
ALGORITHM = {
    "collective": "text",
    "name": "text",
    "summary": "text",
    "source": "text",
    "requires": "text",
    "without_shared_buffers": "text",
}
MACHINE = {"name": "text", "summary": "text"}
FORMAT = {
    "name": "text",
    "of": "text",
    "extension": "text",
    "summary": "text",
    "source": "text",
}
KEY = {
    "key": "text",
    "of": "text",
    "unit": "text",
    "accepted": "text",
    "default": "text",
    "means": "text",
}
PAPER = {"name": "text", "chip": "text", "citation": "text"}
PARAMETER = {
    "key": "text",
    "value": "float",
    "unit": "text",
    "kind": "text",
    "source": "text",
    "fitted_to": "text",
    "origin": "text",
}
WORD = {"key": "text", "value": "text", "origin": "text"}
