# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program as a type checker sees it: `mypy --strict` has nothing to say against it."""

from __future__ import annotations

import corecast


def star(request: corecast.Request) -> corecast.Schedule:
    """An algorithm of one's own."""
    builder = corecast.ScheduleBuilder(request, "star")
    for rank in range(1, request.ranks):
        builder.message(rank - 1, 0, rank, [0])
    return builder.finish()


def fastest(runs: corecast.Runs) -> tuple[str, float]:
    """Name and time of the fastest run."""
    run: corecast.Run = runs[0]
    first: corecast.Table[corecast.Run] = runs[:1]
    return run.algorithm, max(of.makespan_ns for of in first)


def studied() -> list[str]:
    """Every verb once."""
    chip: corecast.Chip = corecast.Chip("tilepro64", network__buffer=8)
    name, _ = fastest(corecast.run("bcast", chip=chip, algorithm=[star, "binomial"]))
    explained: corecast.Explanations = corecast.explain("bcast", chip=chip)
    sweep: corecast.Comparison = corecast.compare("bcast", chip=chip, ranks=[4, 8])
    figure: corecast.Figure = sweep.figure()
    table: corecast.DecisionTable = corecast.tune("bcast", chip=chip, ranks=4, bytes=4).table
    certificate: corecast.Certificate = corecast.verify(corecast.schedule("bcast", star, ranks=4))
    correct: bool = certificate.correct
    return [name, explained[0].advice, figure.svg, str(table), str(correct)]
