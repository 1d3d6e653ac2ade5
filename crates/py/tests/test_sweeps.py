# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps that others work on, and that go on where they were interrupted."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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


def test_lists_of_who_is_late_are_told_apart(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    of: dict[str, Any] = {"chip": "park2019-bus", "ranks": 4, "algorithm": "ap"}
    late = corecast.compare("bcast", **of, skew=[0, 0, 0, 9000], checkpoint=kept)
    again = corecast.compare("bcast", **of, skew=[0, 0, 0, 9000], checkpoint=kept)
    assert again == late and late[0]["skew"][0].startswith("file:the list given#")
    with pytest.raises(corecast.InputError, match="it holds for something else: skew is"):
        corecast.compare("bcast", **of, skew=[0, 0, 0, 1], checkpoint=kept)
    other = corecast.compare("bcast", **of, skew=[0, 0, 0, 1])
    assert other[0]["skew"] != late[0]["skew"]


CHIP = 'base = "scc"\nname = "mine"\nsummary = "x"\nsource = "y"\n'
SLOW = """[network]
link = { value = 50, unit = "cycles", kind = "assumed", source = "z" }
"""


def test_chips_stay_what_they_were_when_they_were_read(tmp_path: Path) -> None:
    """Also where their file is another one by now, or gone."""
    file = tmp_path / "mine.toml"
    file.write_text(CHIP)
    chip = corecast.Chip(file)
    of: dict[str, Any] = {"chip": chip, "ranks": 4, "bytes": [64, 256], "algorithm": ["mst", "ap"]}
    sweep = corecast.compare("bcast", **of)
    for change in (lambda: file.write_text(CHIP + SLOW), file.unlink):
        change()
        assert corecast.compare("bcast", **of, executor=Copying()) == sweep
        for copied in (pickle.loads(pickle.dumps(chip)), copy.deepcopy(chip)):
            assert copied == chip and copied.name == "mine"
        assert chip.changed(network__link=4).changes == ["network.link=4"]
        drawn = pickle.loads(pickle.dumps(sweep)).figure().svg
        assert chip.fingerprint in drawn and drawn == sweep.figure().svg


class Copying(Executor):
    """What it works on comes as a copy, as in other processes."""

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        function, arguments, more = pickle.loads(pickle.dumps((function, arguments, more)))
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **more))
        return future


def test_what_is_there_twice_is_run_once() -> None:
    names = ["mst", "cube", "linear"]
    twice = corecast.compare("bcast", ranks=[4, 4, 8], bytes=[64, 64, 1024], algorithm=names)
    once = corecast.compare("bcast", ranks=[4, 8], bytes=[64, 1024], algorithm=names)
    assert twice == once and twice.figure().svg == once.figure().svg
    tuned = corecast.tune("bcast", ranks=[4, 4], bytes=[64, 64], algorithm=names)
    assert len(tuned) == 1
    assert (
        tuned.figure().svg
        == corecast.tune("bcast", ranks=4, bytes=64, algorithm=names).figure().svg
    )


def test_files_that_cannot_be_written_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(corecast.InputError, match="cannot write `.*no/kept.jsonl`"):
        sweep(checkpoint=tmp_path / "no" / "kept.jsonl")
    # A folder that is gone before the end takes nothing else with it.
    folder, cell = tmp_path / "folder", corecast.sweeps.cell
    folder.mkdir()

    def goes(*arguments: Any) -> str:
        shutil.rmtree(folder, ignore_errors=True)
        return cell(*arguments)

    monkeypatch.setattr(corecast.sweeps, "cell", goes)
    with pytest.warns(UserWarning, match="checkpoint: cannot write .*; the sweep goes on"):
        found = sweep(checkpoint=folder / "kept.jsonl")
    monkeypatch.undo()
    assert found == sweep()


def test_sweeps_say_who_could_not_take_part() -> None:
    names = ["recursive-doubling", "ring"]
    found = corecast.compare("allgather", ranks=[4, 6], algorithm=names)
    assert [(row["ranks"], row["bytes"]) for row in found.refused] == [(6, 64)]
    assert "recursive-doubling" in found.refused[0]["why"]


def test_figures_without_a_point_are_refused() -> None:
    barrier = corecast.compare("barrier", chip="park2019-bus", ranks=4)
    alone = corecast.compare("bcast", ranks=1, bytes=64, algorithm="mst")
    for sweep in (barrier, alone):
        with pytest.raises(corecast.InputError, match="no case can be drawn"):
            sweep.figure()


class Failing(Executor):
    """Works on some cases, then its worker is dead."""

    def __init__(self, good: int) -> None:
        self.good = good

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.good:
            self.good -= 1
            future.set_result(function(*arguments, **more))
        else:
            future.set_exception(BrokenProcessPool("a process ended abruptly"))
        return future


def test_an_executor_that_fails_is_told_of_and_nothing_is_lost(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    with pytest.raises(corecast.RunError, match="executor: it has failed: BrokenProcessPool") as it:
        sweep(executor=Failing(2), checkpoint=kept)
    assert isinstance(it.value.__cause__, BrokenProcessPool)
    assert len(kept.read_text().splitlines()) == 1 + 2
    assert sweep(checkpoint=kept) == sweep()
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(corecast.RunError, match="cannot schedule new futures"):
        sweep(executor=pool)


class Given(Executor):
    """Its calls come back as something else; the first `good` do not."""

    def __init__(self, *given: Any, good: int = 0) -> None:
        self.given, self.good = list(given), good

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Any:
        future: Future[Any] = Future()
        if self.good:
            self.good -= 1
            future.set_result(function(*arguments, **more))
            return future
        given = self.given.pop(0) if len(self.given) > 1 else self.given[0]
        if isinstance(given, type) and issubclass(given, BaseException):
            raise given("not today")
        if isinstance(given, BaseException):
            future.set_exception(given)
        elif given == "cancelled":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif given is None:
            return None
        else:
            future.set_result(given)
        return future


class Mine(Exception):
    """An exception that corecast does not know."""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Mine("the queue is full"), "it has failed: Mine: the queue is full"),
        (Mine, "it has failed: Mine: not today"),
        (TypeError("its own"), "it has failed: TypeError: its own"),
        (AttributeError, "it has failed: AttributeError: not today"),
        (TimeoutError(), "it has failed: TimeoutError: "),
        (SystemExit(1), "it has failed: SystemExit: 1"),
        ("cancelled", "it has failed: CancelledError: "),
        (None, "`submit` gave None, which is no concurrent.futures.Future"),
        (5, "a call came back with 5, which is no case"),
        ("{}", "a call came back with '{}', which is no case"),
    ],
)
def test_executors_of_ones_own_fail_as_others_do(given: Any, message: str, tmp_path: Path) -> None:
    """Whatever they raise; what was found before and beside it is kept."""
    kept = tmp_path / "kept.jsonl"
    with pytest.raises(corecast.RunError) as raised:
        sweep(executor=Given(given, good=2), checkpoint=kept)
    assert raised.value.message.startswith("executor: ") and message in str(raised.value)
    assert "cases that were found are not run again" in str(raised.value)
    assert len(kept.read_text().splitlines()) == 1 + 2
    assert sweep(checkpoint=kept) == sweep()


def test_what_a_function_raises_comes_as_it_is_also_from_an_executor() -> None:
    from own_algorithms import raises

    of: dict[str, Any] = {"chip": "park2019-bus", "ranks": 4, "algorithm": [raises]}
    for pool in (None, ThreadPoolExecutor(1), ProcessPoolExecutor(1)):
        with pytest.raises(LookupError, match="a mistake of its own"):
            corecast.compare("bcast", **of, executor=pool)
        if pool is not None:
            pool.shutdown()


def test_schedules_take_part_in_sweeps(tmp_path: Path) -> None:
    mine = corecast.schedule("bcast", "mst", ranks=4, bytes=64, chip="park2019-bus").edit("mine")
    mine_made = mine.finish()
    path = mine_made.save(tmp_path / "mine.sched")[0]
    of: dict[str, Any] = {"chip": "park2019-bus", "ranks": [4, 8], "bytes": [64, 256]}
    whole = corecast.compare("bcast", **of, algorithm=["mst", mine_made, path])
    at_4 = [row.algorithm for row in whole if row.ranks == 4]
    assert sorted(set(at_4)) == sorted(["mst", "mine", str(path)])
    assert {row.algorithm for row in whole if row.ranks == 8} == {"mst"}
    assert {row.ranks for row in whole.refused} == {8} and len(whole.refused) == 4
    times = {row.algorithm: row.makespan_ns for row in whole if (row.ranks, row.bytes) == (4, 64)}
    assert len(set(times.values())) == 1
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert (
            corecast.compare("bcast", **of, algorithm=["mst", mine_made, path], executor=pool)
            == whole
        )
    of_file: dict[str, Any] = {**of, "algorithm": ["mst", path], "checkpoint": tmp_path / "kept"}
    assert corecast.compare("bcast", **of_file) == corecast.compare("bcast", **of_file)
    alone = corecast.compare(mine_made, chip="park2019-bus", bytes=[64, 256])
    assert [(row.algorithm, row.ranks, row.bytes) for row in alone] == [
        ("mine", 4, 64),
        ("mine", 4, 256),
    ]
    beside = corecast.compare(mine_made, chip="park2019-bus", algorithm="all")
    assert {"mine", "mst"} <= {row.algorithm for row in beside}
    assert beside.figure().svg
    again = corecast.run("bcast", chip="park2019-bus", algorithm=["linear", mine_made])
    assert {(run.algorithm, run.ranks) for run in again} == {("linear", 4), ("mine", 4)}
    with pytest.raises(corecast.InputError, match="two that take part are called `mst`"):
        corecast.compare(corecast.schedule("bcast", "mst", ranks=4), algorithm="all")
    with pytest.raises(corecast.InputError, match="a table names algorithms"):
        corecast.tune("bcast", algorithm=[str(path)])
    with pytest.raises(corecast.InputError, match="no.sched"):
        corecast.compare("bcast", algorithm="./no.sched")


def test_searches_are_worked_on_by_others_and_go_on(tmp_path: Path) -> None:
    whole = corecast.tune("bcast", **SWEEP, algorithm=NAMES)
    kept = tmp_path / "bcast.toml"
    few: dict[str, Any] = {**SWEEP, "ranks": 8, "algorithm": NAMES}
    with ThreadPoolExecutor(2) as pool:
        part = corecast.tune("bcast", **few, executor=pool, checkpoint=kept)
        assert corecast.DecisionTable.read(kept) == part.table
        again = corecast.tune("bcast", **SWEEP, algorithm=NAMES, executor=pool, checkpoint=kept)
    assert (again, again.table) == (whole, whole.table)
    assert kept.read_text() == str(whole.table)
    # Only what was missing was searched, and is said in the order of the table.
    assert [(row.ranks, row.bytes) for row in again.searches] == [(4, 64), (4, 256)]
    here = corecast.tune("bcast", **SWEEP, algorithm=NAMES, checkpoint=kept)
    assert here == whole and len(here.searches) == 0
    with pytest.raises(corecast.TableError, match="algorithms"):
        corecast.tune("bcast", **SWEEP, algorithm="ap", checkpoint=kept)
    with pytest.raises(corecast.InputError, match="cannot write"):
        corecast.tune("bcast", **SWEEP, checkpoint=tmp_path / "none" / "bcast.toml")


def test_what_a_search_has_found_is_kept_where_an_executor_fails(tmp_path: Path) -> None:
    kept = tmp_path / "bcast.toml"

    class Failing(Executor):
        calls = 0

        def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if self.calls == 3:
                raise OSError("nobody is left")
            self.calls += 1
            future.set_result(function(*arguments, **more))
            return future

    with pytest.raises(corecast.RunError, match="nobody is left"):
        corecast.tune("bcast", **SWEEP, algorithm=NAMES, executor=Failing(), checkpoint=kept)
    table = corecast.DecisionTable.read(kept)
    assert str(table).count("[[cell]]") == 3

    class Other(Executor):
        def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(function(*arguments, **more).replace("ap", "no"))
            return future

    with pytest.raises(corecast.RunError, match="which is no case"):
        corecast.tune("bcast", **SWEEP, algorithm=NAMES, executor=Other())
