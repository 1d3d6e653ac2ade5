# SPDX-License-Identifier: MIT OR Apache-2.0
"""Data of a run as NumPy arrays: what goes in, and what every rank ends with.

====================  =======================  ===================================
collective            ``data``                 ``run.outputs[rank]``
====================  =======================  ===================================
bcast                 any shape: the root's    the same shape
scatter               ``(ranks, ...)``: the    ``(...)``
                      root's blocks
gather                ``(ranks, ...)``         ``(ranks, ...)`` at the root, else
                                               ``None``
allgather             ``(ranks, ...)``         ``(ranks, ...)``
reduce                ``(ranks, ...)``         ``(...)`` at the root, else ``None``
allreduce             ``(ranks, ...)``         ``(...)``
reduce_scatter        ``(ranks, ranks, ...)``  ``(...)``: block `rank` of the sum
alltoall, alltoallv   ``(ranks, ranks, ...)``  ``(ranks, ...)``: a block per sender
====================  =======================  ===================================

Row `r` is what rank `r` contributes. Of reductions the element type is that of the data: uint8, int32,
int64, float32 or float64; what is only moved may be of any type without Python objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._values import shown, wholes, word
from .errors import InputError, InputTypeError, RequestError

if TYPE_CHECKING:
    import numpy

#: Axes of the data before those of a block.
AXES = {
    "bcast": 0,
    "scatter": 1,
    "gather": 1,
    "allgather": 1,
    "reduce": 1,
    "allreduce": 1,
    "reduce_scatter": 2,
    "alltoall": 2,
    "alltoallv": 2,
}
#: Axes of what a rank ends with before those of a block.
AXES_AFTER = {"gather": 1, "allgather": 1, "alltoall": 1, "alltoallv": 1}
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter")


def array_of(data: Any) -> numpy.ndarray[Any, Any]:
    """Data as an array in one piece; needs NumPy."""
    try:
        import numpy
    except ImportError:
        raise InputError("NumPy is not installed", ["pip install numpy"]) from None
    if isinstance(data, numpy.ma.MaskedArray) and numpy.any(data.mask):
        raise InputTypeError(
            "data: some elements are masked, and messages carry all",
            ["fill them: data.filled(0)"],
        )
    try:
        found = numpy.ascontiguousarray(data) if numpy.ndim(data) else numpy.asarray(data)
    except ValueError as error:
        raise InputTypeError(f"data: {error}", ["give an array"]) from None
    if found.dtype.hasobject:
        raise InputTypeError(
            f"data: elements of type {found.dtype} are no plain numbers",
            ["give an array of numbers"],
        )
    # The other order of bytes would be read as this computer's.
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def described(
    collective: str, data: Any, arguments: dict[str, Any]
) -> tuple[dict[str, Any], bytes]:
    """The arguments with ranks, bytes and dtype as the data have them, and the data."""
    word("collective", collective, _core.names("collective"))
    if collective not in AXES:
        raise RequestError(f"{collective} moves no data", ["leave `data` out"])
    found = array_of(data)
    for name in ("bytes", "dtype"):
        if arguments.get(name) is not None:
            raise InputError(
                f"{name}: the data say that already", [f"leave `{name}` or `data` out"]
            )
    axes = AXES[collective]
    rows = found.shape[0] if axes and found.ndim else None
    if found.ndim < axes or len(set(found.shape[:axes])) > 1:
        wanted = "(ranks, ranks, ...)" if axes == 2 else "(ranks, ...)"
        raise RequestError(
            f"data: {collective} takes no array of shape {found.shape}", [f"its shape is {wanted}"]
        )
    ranks = arguments.get("ranks")
    if rows is not None:
        if ranks is not None and wholes("ranks", ranks) != [rows]:
            raise RequestError(
                f"data: {rows} rows for ranks={shown(ranks)}",
                ["give a row per rank, or leave `ranks` out"],
            )
        ranks = rows
    blocks = rows**axes if rows else 1
    made = {**arguments, "ranks": ranks, "bytes": found.nbytes // max(blocks, 1)}
    if collective in REDUCTIONS:
        made["dtype"] = found.dtype
    return made, found.tobytes()


def outputs_of(
    record: Any, outputs: list[bytes], like: numpy.ndarray[Any, Any] | None
) -> list[Any]:
    """What the ranks end with, as arrays like the data that went in, or of bytes or elements."""
    import numpy

    collective = str(record["collective"])
    names = {"u8": "uint8", "i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64"}
    if like is not None:
        dtype, shape = like.dtype, like.shape[AXES[collective] :]
    else:
        dtype = numpy.dtype(names[record.get("dtype") or "u8"])
        shape = (int(record["bytes"]) // dtype.itemsize,)
    rows = (int(record["ranks"]),) * AXES_AFTER.get(collective, 0)
    held = [
        collective not in ("gather", "reduce") or rank == record["root"]
        for rank in range(len(outputs))
    ]
    if collective == "barrier":
        return [None] * len(outputs)
    return [
        numpy.frombuffer(output, dtype).reshape(rows + shape) if is_held else None
        for output, is_held in zip(outputs, held)
    ]
