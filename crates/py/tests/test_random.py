# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random schedules and arguments: whatever is built is verified or refused, and never crashes."""

import random

import corecast
import pytest

COLLECTIVES = corecast.list_collectives()
SEEDS = range(200)


def scribbled(chance, request):
    """A schedule of random steps, most of them wrong."""
    builder = corecast.ScheduleBuilder(request, "scribbled", parts=chance.randint(1, 3))
    places = builder.chunks
    if chance.random() < 0.3:
        builder.add_place(chance.choice([0, 4, 8]))
        places += 1
    if chance.random() < 0.2:
        builder.add_result(chance.randrange(builder.chunks))
        places += 1
    if chance.random() < 0.2:
        try:
            builder.set_result(*(chance.randrange(builder.chunks) for _ in range(2)))
        except corecast.ScheduleError as error:
            assert "bytes, and chunk" in str(error)
    rank = lambda: chance.randrange(request.ranks)  # noqa: E731
    chunks = lambda: [chance.randrange(places) for _ in range(chance.randint(0, 2))]  # noqa: E731
    combine = chance.random() < 0.3
    for _ in range(chance.randint(0, 12)):
        round = chance.randint(0, 4)
        match chance.randrange(10):
            case 0 | 1:
                builder.message(round, rank(), rank(), chunks(), combine=combine)
            case 2:
                builder.send(round, rank(), rank(), chunks())
            case 3:
                builder.recv(round, rank(), rank(), chunks(), combine=combine)
            case 4:
                builder.exchange(round, rank(), rank(), chunks(), rank(), chunks(), combine=combine)
            case 5:
                builder.forward(round, rank(), rank(), rank(), chunks(), combine=combine)
            case 6:
                builder.copy(round, rank(), chunks(), chunks())
            case 7:
                of = rank()
                stream = builder.add_stream(of, chance.randint(0, 2))
                step = builder.send(round, of, rank(), chunks(), stream=stream)
                if builder.step_count(of):
                    builder.wait(*chance.sample([step, (of, 0, 0)], 2))
            case 8:
                of = rank()
                stream = builder.add_stream(of, chance.randint(0, 2))
                builder.recv(round, of, rank(), chunks(), stream=stream, combine=combine)
            case 9:
                edges = [(rank(), rank()) for _ in range(chance.randint(0, 3))]
                try:
                    builder.multicast(round, rank(), edges, chunks())
                except corecast.ScheduleError:
                    continue
    if chance.random() < 0.2:
        builder.set_slots(chance.randint(0, 3))
    if chance.random() < 0.2:
        builder.set_piece_bytes(chance.choice([None, 1, 4]))
    if chance.random() < 0.2:
        builder.set_shared_buffers()
    return builder.finish()


@pytest.mark.parametrize("chip", ["scc", "tilepro64", "park2019-bus", "nagam"])
def test_scribbled_schedules_are_refused_or_run(chip):
    correct = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        collective = chance.choice(COLLECTIVES)
        ranks, bytes = chance.randint(1, 4), chance.choice([0, 4, 64])
        request = corecast.request(collective, chip=chip, ranks=ranks, bytes=bytes)
        schedule = scribbled(chance, request)
        assert str(schedule)
        certificate = corecast.verify(schedule, chip=chip)
        correct += certificate.correct
        assert schedule.edit("scribbled").finish() == schedule
        try:
            runs = corecast.run(
                collective,
                chip=chip,
                ranks=ranks,
                bytes=bytes,
                algorithm=lambda _, schedule=schedule: schedule,
                limit_events=100_000,
            )
        except (corecast.ScheduleError, corecast.RunError) as error:
            assert not certificate.correct or isinstance(error, corecast.RunError), error
        else:
            assert certificate.correct and runs[0].delivered
    assert correct > 0


def test_arguments_of_any_kind_are_taken_or_refused():
    kinds = [
        None,
        True,
        -1,
        0,
        1,
        2**40,
        1.5,
        float("nan"),
        "",
        "x",
        b"x",
        [],
        [1],
        (),
        {},
        object(),
    ]
    names = [
        "ranks", "bytes", "root", "dtype", "op", "part_bytes", "piece_bytes", "status_bits", "arity",
        "flow_control", "fidelity", "ongoing", "skew", "background", "cold", "seed", "repeat",
        "limit_events", "limit_ns", "table", "machine", "chip", "algorithm", "data",
    ]  # fmt: skip
    for name in names:
        for value in kinds:
            arguments = {"algorithm": "binomial", "ranks": 4, "bytes": 4, name: value}
            if (name, value) == ("repeat", 2**40):
                continue
            try:
                corecast.run("bcast", **arguments)
            except corecast.Error as error:
                assert str(error), (name, value)
