# SPDX-License-Identifier: MIT OR Apache-2.0
"""Data of one's own, compared with what NumPy says."""

import corecast
import numpy
import pytest

RANKS = 4
SEEDED = numpy.random.default_rng(7)


def drawn(*shape, dtype="int32"):
    return SEEDED.integers(-1000, 1000, shape).astype(dtype)


def expected(collective, data, op, root):
    """What every rank must end with."""
    reduced = {"sum": data.sum, "max": data.max, "min": data.min, "prod": data.prod}
    total = (
        None
        if collective in ("bcast", "scatter")
        else reduced[op](axis=0, dtype=data.dtype)
        if op in ("sum", "prod")
        else reduced[op](axis=0)
    )
    ranks = range(RANKS)
    return {
        "bcast": lambda: [data] * RANKS,
        "scatter": lambda: list(data),
        "gather": lambda: [data if rank == root else None for rank in ranks],
        "allgather": lambda: [data] * RANKS,
        "reduce": lambda: [total if rank == root else None for rank in ranks],
        "allreduce": lambda: [total] * RANKS,
        "reduce_scatter": lambda: list(total),
        "alltoall": lambda: list(numpy.swapaxes(data, 0, 1)),
        "alltoallv": lambda: list(numpy.swapaxes(data, 0, 1)),
    }[collective]()


SHAPES = {
    "bcast": (3, 2),
    "scatter": (RANKS, 3, 2),
    "gather": (RANKS, 3),
    "allgather": (RANKS, 3),
    "reduce": (RANKS, 8),
    "allreduce": (RANKS, 2, 4),
    "reduce_scatter": (RANKS, RANKS, 3),
    "alltoall": (RANKS, RANKS, 3),
    "alltoallv": (RANKS, RANKS, 3),
}


@pytest.mark.parametrize("collective", SHAPES)
@pytest.mark.parametrize(
    ("chip", "machine"), [("scc", "sim"), ("tilepro64", "sim"), ("scc", "threads"), ("scc", "host")]
)
def test_every_rank_ends_with_what_it_is_promised(collective, chip, machine):
    data = drawn(*SHAPES[collective])
    root = 2 if collective in ("bcast", "scatter", "gather", "reduce") else 0
    runs = corecast.run(collective, data=data, ranks=RANKS, root=root, chip=chip, machine=machine)
    wanted = expected(collective, data, "sum", root)
    for run in runs:
        assert run.delivered, run
        for output, of_rank in zip(run.outputs, wanted, strict=True):
            if of_rank is None:
                assert output is None
            else:
                numpy.testing.assert_array_equal(output, of_rank, err_msg=run.algorithm)
                assert output.dtype == data.dtype


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64"])
def test_operators_and_types(op, dtype):
    data = SEEDED.integers(0, 5, (RANKS, 6)).astype(dtype)
    run = corecast.run("allreduce", data=data, op=op, algorithm="recursive-doubling")[0]
    wanted = {"sum": data.sum, "prod": data.prod}.get(op)
    total = wanted(axis=0, dtype=dtype) if wanted else getattr(data, op)(axis=0)
    assert run.delivered
    numpy.testing.assert_array_equal(run.outputs[1], total)


def test_floats_of_any_sign_are_taken():
    data = numpy.array([[1e30, numpy.nan], [-1e30, 1.0], [1.0, numpy.inf]])
    run = corecast.run("allreduce", data=data, algorithm="ring")[0]
    assert run.delivered
    assert run.outputs[0][0] in (0.0, 1.0) and numpy.isnan(run.outputs[0][1])


def test_any_type_is_moved():
    data = numpy.array([1 + 2j, 3j])
    run = corecast.run("bcast", data=data, algorithm="binomial")[0]
    numpy.testing.assert_array_equal(run.outputs[5], data)
    assert run.input == run["input"] and len(run["input"]) == 16
    assert run.input != corecast.run("bcast", data=data[::-1], algorithm="binomial")[0].input


def test_drawn_data_can_be_seen():
    run = corecast.run("allreduce", ranks=4, bytes=32, dtype="f64", algorithm="ring")[0]
    assert run.outputs[0].shape == (4,) and run.outputs[0].dtype == numpy.float64
    assert all((output == run.outputs[0]).all() for output in run.outputs)
    assert corecast.run("barrier", algorithm="dissemination")[0].outputs == [None] * 8


def test_the_data_say_sizes_and_types():
    data = numpy.zeros((4, 2), dtype="complex64")
    with pytest.raises(corecast.UnknownNameError, match="complex64"):
        corecast.run("allreduce", data=data)
    with pytest.raises(corecast.InputError, match="bytes: the data say that already"):
        corecast.run("allgather", data=data, bytes=16)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_data_in_the_other_order_of_bytes_are_the_same_numbers(dtype):
    data = numpy.arange(8, dtype=dtype).reshape(4, 2)
    swapped = data.astype(data.dtype.newbyteorder())
    for collective in ("allreduce", "allgather"):
        for run in corecast.run(collective, data=swapped, algorithm="ring"):
            plain = corecast.run(collective, data=data, algorithm="ring")[0]
            for found, wanted in zip(run.outputs, plain.outputs):
                assert numpy.array_equal(found, wanted)
