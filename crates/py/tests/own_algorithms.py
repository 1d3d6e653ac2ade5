# SPDX-License-Identifier: MIT OR Apache-2.0
"""Algorithms of one's own, in a module that other processes can import."""

import corecast


def star(request):
    """The root sends to one rank after the other."""
    builder = corecast.ScheduleBuilder(request, "star")
    others = [rank for rank in range(request.ranks) if rank != request.root]
    for round, rank in enumerate(others):
        builder.message(round, request.root, rank, [0])
    return builder.finish()


def ring_sum(request):
    """A ring allreduce in two laps, on as many chunks as ranks."""
    ranks = request.ranks
    builder = corecast.ScheduleBuilder(request, "ring-sum", parts=ranks)
    for round in range(2 * (ranks - 1)):
        for rank in range(ranks):
            builder.exchange(
                round,
                rank,
                to=(rank + 1) % ranks,
                sends=[(rank - round) % ranks],
                start=(rank - 1) % ranks,
                receives=[(rank - 1 - round) % ranks],
                combine=round < ranks - 1,
            )
    return builder


def forgetful(request):
    """A broadcast that forgets the last rank."""
    builder = corecast.ScheduleBuilder(request, "forgetful")
    for rank in range(1, request.ranks - 1):
        builder.message(rank - 1, 0, rank, [0])
    return builder.finish()


def stuck(request):
    """Every rank waits for a message of its left neighbour before it sends."""
    builder = corecast.ScheduleBuilder(request, "stuck")
    for rank in range(request.ranks):
        builder.recv(0, rank, (rank - 1) % request.ranks, [0])
        builder.send(1, rank, (rank + 1) % request.ranks, [0])
    return builder.finish()


def raises(request):
    """No schedule at all."""
    raise LookupError("a mistake of its own")
