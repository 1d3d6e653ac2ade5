# SPDX-License-Identifier: MIT OR Apache-2.0
"""Schedules built step by step, and algorithms as functions."""

import concurrent.futures
import multiprocessing
import re

import corecast
import numpy
import pytest
from conftest import ROOT
from own_algorithms import forgetful, ring_sum, star, stuck


def test_functions_are_verified_and_run_beside_the_others():
    runs = corecast.run("bcast", ranks=8, algorithm=[star, "binomial", "linear"])
    assert {run.algorithm for run in runs} == {"star", "binomial", "linear"}
    assert all(run.delivered and run.certificate.correct for run in runs)
    times = {run.algorithm: run.makespan_ns for run in runs}
    assert times["star"] == times["linear"] > times["binomial"]
    everything = corecast.run("bcast", ranks=4, algorithm=["all", star])
    assert "star" in {run.algorithm for run in everything}


def test_reductions_combine():
    data = numpy.arange(20, dtype="float64").reshape(5, 4)
    run = corecast.run("allreduce", data=data, algorithm=ring_sum)[0]
    for output in run.outputs:
        numpy.testing.assert_array_equal(output, data.sum(axis=0))
    assert corecast.verify("allreduce", ranks=6, algorithm=ring_sum, bytes=24)[0].correct


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 16])
def test_rooted_functions_hear_the_root(ranks):
    root = ranks - 1
    assert corecast.verify("bcast", ranks=ranks, root=root, algorithm=star)[0].correct


def test_incorrect_schedules_are_not_run():
    with pytest.raises(corecast.ScheduleError) as raised:
        corecast.run("bcast", ranks=4, algorithm=forgetful)
    assert str(raised.value).startswith("forgetful: the schedule is not correct: "), str(
        raised.value
    )
    assert (raised.value.algorithm, raised.value.count) == ("forgetful", 1)
    proven = corecast.verify("bcast", ranks=4, algorithm=forgetful)[0]
    assert not proven.correct and len(proven.violations) == 1
    certificate = corecast.verify(stuck(corecast.request("allgather", ranks=4, bytes=8)))
    assert not certificate["deadlock_free"]
    with pytest.raises(corecast.ScheduleError):
        corecast.run("allgather", ranks=4, bytes=8, algorithm=stuck)


def test_functions_that_make_something_else_are_refused():
    def nothing(request):
        return None

    def other(request):
        return star(corecast.request("bcast", ranks=3, bytes=8))

    def taken(request):
        builder = corecast.ScheduleBuilder(request, "binomial")
        builder.message(0, 0, 1, [0])
        return builder.finish()

    for function, text in (
        (nothing, "nothing returned None, which is no schedule"),
        (
            other,
            "star: the schedule is for bcast of 8 bytes over 3 ranks with root 0, asked for was",
        ),
        (taken, "corecast has an algorithm called `binomial`"),
    ):
        with pytest.raises(corecast.ScheduleError) as raised:
            corecast.run("bcast", ranks=2, algorithm=function)
        assert str(raised.value).startswith(text)

    def broken(request):
        return 1 // 0

    with pytest.raises(ZeroDivisionError):
        corecast.run("bcast", algorithm=broken)


def test_builders_refuse_what_there_is_not():
    request = corecast.request("bcast", ranks=4, bytes=64)
    builder = corecast.ScheduleBuilder(request, "mine", parts=2)
    assert (builder.ranks, builder.blocks, builder.parts, builder.chunks) == (4, 1, 2, 2)
    for wrong, text in (
        (
            lambda: builder.message(0, 0, 4, [0]),
            "rank 4 does not exist\n  with 4 ranks it is 0 to 3",
        ),
        (
            lambda: builder.message(0, 0, 1, [2]),
            "chunk 2 does not exist\n  chunks and places are 0 to 1",
        ),
        (lambda: builder.message(1 << 30, 0, 1, [0]), "round 1073741824 is out of range"),
        (lambda: builder.remove(0, 0), "rank 0 has no step 0"),
        (lambda: builder.block(1), "block 1 does not exist"),
        (lambda: builder.add_result(7), "chunk 7 does not exist"),
        (lambda: builder.set_result(0, 7), "chunk 7 does not exist"),
        (lambda: builder.add_place(1 << 50), "there is no room for this place"),
        (lambda: corecast.ScheduleBuilder(request, ""), "a name of 0 characters"),
        (
            lambda: corecast.ScheduleBuilder(request, "x", parts=1 << 30),
            "1073741824 chunks are more",
        ),
    ):
        with pytest.raises(corecast.ScheduleError) as raised:
            wrong()
        assert str(raised.value).startswith(text)
    for wrong in (
        lambda: builder.message(0, 0, 1, ["0"]),
        lambda: builder.message(0, 0.5, 1, [0]),
        lambda: corecast.ScheduleBuilder("bcast", "x"),
        lambda: corecast.Schedule(),
        lambda: corecast.Request(),
    ):
        with pytest.raises(corecast.InputTypeError):
            wrong()


def test_schedules_are_values():
    first = corecast.schedule("bcast", "binomial", ranks=8)
    assert first == corecast.schedule("bcast", "binomial", ranks=8)
    assert first != corecast.schedule("bcast", "binomial", ranks=4)
    assert (first.ranks, first.rounds, first.messages, first.bytes) == (8, 3, 7, 64)
    assert str(first.edit("mine").finish()) == str(first).replace("binomial", "mine")
    assert str(first).startswith("bcast binomial: ranks 8")
    assert first.steps(7)[0].kind == "recv"


def test_schedules_stand_where_collectives_do():
    mine = corecast.schedule("allreduce", ring_sum, ranks=4, bytes=32)
    data = numpy.arange(16, dtype="int64").reshape(4, 4)
    run = corecast.run(mine, chip="tilepro64", data=data)[0]
    assert run.algorithm == "ring-sum"
    numpy.testing.assert_array_equal(run.outputs[0], data.sum(axis=0))
    assert corecast.run(mine)[0].bytes == 32
    explained = corecast.explain(mine, chip="park2019-bus")[0]
    assert explained.algorithm == "ring-sum" and explained.advice
    with pytest.raises(corecast.InputTypeError, match="ranks: a schedule says that itself"):
        corecast.run(mine, ranks=4)
    linear = corecast.schedule("bcast", "linear", ranks=4)
    assert corecast.run(linear)[0].delivered
    with pytest.raises(corecast.ScheduleError, match="another name"):
        corecast.run("bcast", algorithm=[lambda _: linear, "mst"], ranks=4)
    # 3 elements of 8 bytes in 4 chunks that were cut on bytes are cut again
    of_bytes = corecast.schedule("allreduce", ring_sum, ranks=4, bytes=24)
    assert corecast.run(of_bytes, dtype="f64")[0].delivered


def test_schedules_are_edited():
    builder = corecast.schedule("bcast", "linear", ranks=4).edit()
    assert builder.step_count(0) == 3
    builder.reorder(0, 2, 0)
    assert [step["to"] for step in builder.finish().steps(0)] == [3, 1, 2]
    builder.remove(3, 0)
    assert not corecast.verify(builder.finish()).correct


def test_places_hold_what_has_no_name():
    request = corecast.request("reduce", ranks=3, bytes=8)
    builder = corecast.ScheduleBuilder(request, "two-partial-sums")
    other = builder.add_place(8)
    builder.message(0, 1, 0, [0], combine=True)
    builder.send(1, 2, 0, [0])
    builder.recv(1, 0, 2, [other])
    builder.combine(1, 0, [other], [0])
    certificate = corecast.verify(builder.finish())
    assert certificate.correct, certificate.violations


def test_streams_of_a_rank_wait_for_each_other():
    request = corecast.request("bcast", ranks=3, bytes=8)
    builder = corecast.ScheduleBuilder(request, "two-streams", parts=2)
    first, _ = builder.message(0, 0, 1, [0, 1])
    stream = builder.add_stream(0)
    second = builder.send(0, 0, 2, [0, 1], stream=stream)
    builder.recv(0, 2, 0, [0, 1])
    assert (first, second) == ((0, 0, 0), (0, 1, 0))
    builder.wait(second, first)
    schedule = builder.finish()
    assert corecast.verify(schedule).correct
    assert corecast.run(schedule)[0].delivered
    again = schedule.edit("two-streams")
    assert again.finish() == schedule
    assert again.add_stream(0) == 2
    for wrong, text in (
        (lambda: builder.wait(second, (1, 0, 0)), "a step of rank 0 waits for one of rank 1"),
        (lambda: builder.wait(second, (0, 0, 9)), "rank 0 has no step 9 in stream 0"),
        (lambda: builder.wait(second, (0, 9, 0)), "rank 0 has no step 0 in stream 9"),
        (lambda: builder.send(0, 1, 2, [0], stream=1), "rank 1 has no stream 1"),
        (lambda: builder.remove(0, 0), "steps of rank 0 wait for one another by their numbers"),
        (lambda: builder.multicast(0, 0, [(1, 0)], [0]), "a route leads to rank 0 once too often"),
        (lambda: builder.multicast(0, 0, [], [0]), "a multicast reaches nobody"),
    ):
        with pytest.raises(corecast.ScheduleError) as raised:
            wrong()
        assert str(raised.value).startswith(text)
    with pytest.raises(corecast.InputTypeError, match="a step is what send"):
        builder.wait(1, 2)


def test_requests_know_the_chip():
    request = corecast.request("bcast", chip="tilepro64", ranks=64, bytes=128, ongoing=[(1, 32)])
    assert request.grid == (8, 8, 1) and request.position(9) == (1, 1)
    assert request.busy_bytes[:3] == [0, 32, 0]
    assert corecast.request("bcast", chip="park2019-bus").grid is None


def test_sweeps_are_the_same_wherever_they_are_worked_on():
    arguments = {"chip": "park2019-bus", "ranks": [4, 8], "bytes": [64, 256]}
    names = [star, "ap", "linear"]
    here = corecast.compare("bcast", **arguments, algorithm=names)
    assert len(here) == 12 and here.winners[0].algorithm == "ap"
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        assert corecast.compare("bcast", **arguments, algorithm=names, executor=threads) == here
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as processes:
            there = corecast.compare("bcast", **arguments, algorithm=names, executor=processes)
        assert there.to_dict() == here.to_dict(), method
    assert here.figure().svg.startswith("<svg")
    one = corecast.compare("bcast", chip="park2019-bus", ranks=4, bytes=[64, 256], algorithm=names)
    assert "makespan / lower bound" in one.figure().svg


def test_functions_that_others_cannot_import_are_refused():
    with concurrent.futures.ProcessPoolExecutor(1) as processes:
        with pytest.raises(corecast.InputError, match="in a module that they can import"):
            corecast.compare("bcast", algorithm=lambda request: star(request), executor=processes)


def test_errors_of_workers_arrive():
    with concurrent.futures.ProcessPoolExecutor(1) as processes:
        with pytest.raises(corecast.ScheduleError, match="forgetful"):
            corecast.compare("bcast", ranks=4, algorithm=forgetful, executor=processes)
        with pytest.raises(corecast.LimitError) as raised:
            corecast.compare("bcast", algorithm="linear", limit_events=3, executor=processes)
    assert raised.value.algorithm == "linear"


def test_files_are_repaired_where_nobody_has_to_know_what_was_meant(tmp_path):
    good = (ROOT / "crates/exchange/tests/samples/allreduce_pairs_3.xml").read_text()
    path, to = tmp_path / "theirs.xml", tmp_path / "mine.xml"
    path.write_text(good)
    assert corecast.Schedule.repair(path, to) == [] and not to.exists()
    path.write_text(re.sub(r' (minBytes|maxBytes)="[^"]*"', "", good))
    changes = corecast.Schedule.repair(path, to)
    assert [change.split(":")[0] for change in changes] == ["added minBytes", "added maxBytes"]
    assert corecast.verify(corecast.Schedule.read(to)).correct
    wrong = corecast.schedule("bcast", "linear", ranks=3).edit("forgetful")
    wrong.remove(2, 0)
    (path,) = wrong.finish().save(tmp_path / "wrong.sched")
    with pytest.raises(corecast.ScheduleError, match="more is wrong") as refused:
        corecast.Schedule.repair(path, tmp_path / "right.sched")
    assert refused.value.fields["file"] == str(path)
    with pytest.raises(corecast.InputError, match="cannot write"):
        path.write_text(re.sub(r' minBytes="[^"]*"', "", good))
        corecast.Schedule.repair(path, tmp_path / "none" / "mine.xml")
