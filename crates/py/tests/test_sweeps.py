# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps that others work on, and that go on where they were interrupted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import corecast
import pytest

SWEEP: dict[str, Any] = {"chip": "park2019-bus", "ranks": [4, 8], "bytes": [64, 256]}
NAMES = ["ap", "linear", "mst"]
HERE = Path(__file__).parent


def sweep(**more: Any) -> corecast.Comparison:
    return corecast.compare("bcast", **SWEEP, algorithm=NAMES, **more)


def test_a_sweep_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    whole, kept = sweep(), tmp_path / "kept.jsonl"
    first = corecast.compare(
        "bcast", chip="park2019-bus", ranks=[4], bytes=[64, 256], algorithm=NAMES, checkpoint=kept
    )
    assert [row["ranks"] for row in first] == [4] * 6
    lines = kept.read_text().splitlines()
    assert len(lines) == 1 + 2
    # A case that was kept is not run again: what the file says is what comes out.
    line = json.loads(lines[1])
    line["case"]["runs"][0]["record"]["events"] = 12345
    kept.write_text("\n".join([lines[0], json.dumps(line)]) + "\n")
    rest = sweep(checkpoint=kept)
    assert rest[0]["events"] == 12345
    assert [row.to_dict() for row in rest][1:] == [row.to_dict() for row in whole][1:]
    assert len(kept.read_text().splitlines()) == 1 + 4


def test_what_was_found_before_an_error_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    two: dict[str, Any] = {"chip": "park2019-bus", "ranks": [2, 8], "algorithm": "linear"}
    few, many = (row["events"] for row in corecast.compare("bcast", **two))
    assert few < many
    with pytest.raises(corecast.LimitError):
        corecast.compare("bcast", **two, limit_events=(few + many) // 2, checkpoint=kept)
    assert len(kept.read_text().splitlines()) == 1 + 1


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError])
def test_a_sweep_that_is_interrupted_keeps_what_was_found(
    end: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Ctrl-C, or because whoever watched it is gone: a notebook that was closed."""
    kept, cell, done = tmp_path / "kept.jsonl", corecast.sweeps.cell, []

    def ends(*arguments: Any) -> str:
        if len(done) == 2:
            raise end
        done.append(arguments)
        return cell(*arguments)

    monkeypatch.setattr(corecast.sweeps, "cell", ends)
    with pytest.raises(end):
        sweep(checkpoint=kept)
    assert len(kept.read_text().splitlines()) == 1 + 2
    monkeypatch.undo()
    assert sweep(checkpoint=kept) == sweep()


def test_figures_have_the_lines_that_were_asked_for() -> None:
    of: dict[str, Any] = {"chip": "park2019-bus", "ranks": 8, "bytes": [64, 256, 1024]}
    lines = corecast.compare("bcast", **of)
    every = lines.figure(top=100).svg
    few = lines.figure(top=2, absolute=True).svg
    assert every.count("<polyline") > few.count("<polyline") == 2 * 2  # and their samples
    assert "slower lines not drawn" in few and "makespan (cycles)" in few
    assert "makespan / lower bound" in every
    with pytest.raises(corecast.InputError, match="top: 0 is out of range"):
        lines.figure(top=0)
    with pytest.raises(corecast.InputError, match="with several rank counts"):
        sweep().figure(absolute=True)


def test_files_for_something_else_are_refused(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    sweep(checkpoint=kept)
    before = kept.read_bytes()
    for wrong, arguments in (
        ("seed is 0, not 5", {"seed": 5}),
        ("checkpoint: 4 is no path", {"checkpoint": 4}),
    ):
        with pytest.raises((corecast.InputError, TypeError), match=wrong):
            sweep(**{"checkpoint": kept, **arguments})
    assert kept.read_bytes() == before
    kept.write_text("nonsense\n")
    with pytest.raises(corecast.InputError, match="kept.jsonl: line 1, column 1: expected value"):
        sweep(checkpoint=kept)
    with pytest.raises(corecast.InputError, match="what a function does cannot be kept"):
        corecast.compare("bcast", algorithm=lambda request: None, checkpoint=kept)


def test_dask_works_on_sweeps(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    )
    with cluster, Client(cluster) as client, client.get_executor() as executor:
        assert sweep(executor=executor) == sweep()


def test_ray_works_on_sweeps() -> None:
    """By the executor that docs/python.md shows; CI has no Ray, which is large."""
    ray = pytest.importorskip("ray")
    text = (HERE.parents[2] / "docs/python.md").read_text()
    (shown,) = (block for block in text.split("```") if "class RayExecutor" in block)
    names: dict[str, Any] = {}
    exec(shown.removeprefix("text").replace(">>> ", "").replace("... ", ""), names)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        assert sweep(executor=names["RayExecutor"]()) == sweep()
    finally:
        ray.shutdown()


@pytest.mark.skipif("CORECAST" not in os.environ, reason="CORECAST does not name the command")
def test_ranks_of_an_mpi_program_work_on_sweeps(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    command = [os.environ["CORECAST"], "mpirun", "-n", "3", "--timeout", "100"]
    command += [sys.executable, "-m", "mpi4py.futures", str(HERE / "mpi_sweep.py"), str(found)]
    environment = {**os.environ, "MPI4PY_MPIABI": "mpich"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(found.read_text()) == sweep().to_dict()
