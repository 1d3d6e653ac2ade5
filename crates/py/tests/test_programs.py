# SPDX-License-Identifier: MIT OR Apache-2.0
"""MPI programs on chips, and programs of files."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor

import corecast
import numpy
import pyarrow
import pytest
from conftest import ROOT
from corecast import _columns

needs_mpi = pytest.mark.skipif(
    "CORECAST" not in os.environ, reason="CORECAST does not name the command"
)
ABI = {"MPI4PY_MPIABI": "mpich"}
RING = """
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
data = bytearray(64)
world.Sendrecv(bytes(64), (rank + 1) % size, 0, data, (rank - 1) % size, 0)
print(f"rank {rank} of {size}", flush=True)
"""


def mpi(program, **more):
    words = [sys.executable, "-c", program]
    return corecast.mpirun(words, environment=ABI, **{"chip": "park2019-bus", **more})


@pytest.fixture(scope="module")
def ring():
    if "CORECAST" not in os.environ:
        pytest.skip("CORECAST does not name the command")
    return mpi(RING, ranks=4, capture=True, seed=7)


def test_an_mpi_program_is_timed_and_tells_where(ring):
    assert sorted(ring.stdout.splitlines()) == [f"rank {rank} of 4" for rank in range(4)]
    assert ring.ranks == 4 and ring.chip == "park2019-bus" and ring.seed == 7
    assert ring.makespan_ns > 0 and ring.messages >= 4
    # mpi4py calls functions with counts of their own type where there are some.
    assert {"MPI_Sendrecv", "MPI_Sendrecv_c"} & {call.call for call in ring.calls}
    assert {(pair["from"], pair.to) for pair in ring.pairs} >= {(0, 1), (1, 2), (2, 3), (3, 0)}
    assert len(ring.message_table) == ring.messages
    spent = sum(sum(call.causes_ns.values()) for call in ring.rank_calls)
    assert spent == pytest.approx(sum(of["finish_ns"] for of in ring["per_rank"]))
    frame = ring.to_pandas()
    assert set(frame["rank"]) == {0, 1, 2, 3} and "causes_ns.transfer" in frame
    assert ring.advice in ring._repr_html_() and repr(ring).startswith("ProgramRun(chip=")
    assert ring.matrix().svg.startswith("<svg") and "seed 7" in ring.timeline().svg
    assert corecast.view(ring).titles
    kept = pickle.loads(pickle.dumps(ring))
    assert kept == ring
    with pytest.raises(corecast.InputError, match="keeps its fields only"):
        kept.timeline()


def test_it_takes_the_same_time_as_by_the_command(ring, tmp_path):
    report = tmp_path / "report.json"
    command = [os.environ["CORECAST"], "mpirun", "-n", "4", "--chip", "park2019-bus"]
    command += ["--seed", "7", "--report", str(report), sys.executable, "-c", RING]
    subprocess.run(command, env={**os.environ, **ABI}, check=True, capture_output=True)
    expected = json.loads(report.read_text())
    assert {**ring.to_dict(), "hand_overs": 0} == {**expected, "hand_overs": 0}


def test_ranks_that_share_a_core_take_turns(ring):
    shared = mpi(RING, ranks=4, ranks_per_core=2, seed=7)
    assert shared.ranks_per_core == 2 and ring.ranks_per_core == 1
    assert sorted(shared.stdout.splitlines()) == sorted(ring.stdout.splitlines())
    functions = [{call.call for call in run.rank_calls} for run in (ring, shared)]
    assert functions[0] - {"no call"} == functions[1] - {"no call"}
    assert "ranks_per_core=2" in shared.timeline().svg


def test_what_was_captured_is_replayed(ring, tmp_path):
    file = ring.save_capture(tmp_path / "ring.calls")
    again = corecast.replay(file, chip="park2019-bus")
    assert again.makespan_ns == ring.makespan_ns
    elsewhere = corecast.replay(file, chip="tilepro64", skew={1: 500})
    assert elsewhere.chip == "tilepro64" and elsewhere.makespan_ns != ring.makespan_ns
    assert elsewhere.matrix().svg.startswith("<svg") and elsewhere.stdout == ""
    with pytest.raises(corecast.InputError, match="nothing was captured"):
        again.save_capture(tmp_path / "again.calls")


@needs_mpi
def test_programs_that_fail_say_how():
    fails = RING + "if rank == 2: raise SystemExit(5)\n"
    with pytest.raises(corecast.ProgramError, match="rank 2 ended with exit code 5") as raised:
        mpi(fails, ranks=3)
    assert raised.value.code == 5 and "rank 2 of 3" in raised.value.stdout
    deadlock = "from mpi4py import MPI\nMPI.COMM_WORLD.recv(source=1 - MPI.COMM_WORLD.rank)\n"
    with pytest.raises(corecast.DeadlockError, match="deadlock at ") as raised:
        mpi(deadlock, ranks=2)
    assert len(raised.value.stuck) == 2 and raised.value.stuck[0].startswith("rank ")
    with pytest.raises(corecast.ProgramError, match="no rank called MPI_Init"):
        corecast.mpirun([sys.executable, "-c", "pass"], ranks=2)
    with pytest.raises(corecast.LimitError, match="events"):
        mpi(RING, ranks=2, limit_events=3)


@needs_mpi
def test_programs_can_be_interrupted_and_signals_stay_as_they_were():
    endless = "from mpi4py import MPI\nwhile True: pass\n"
    program = f"""
        import threading, corecast, os, signal, sys, time
        def press():
            time.sleep(1)  # whenever it comes, it comes while the work is going on
            os.kill(os.getpid(), signal.SIGINT)
        before = [signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP)]
        try:
            threading.Thread(target=press, daemon=True).start()
            corecast.mpirun([sys.executable, "-c", {endless!r}], ranks=2, environment={ABI!r})
        except KeyboardInterrupt:
            print("interrupted")
        after = [signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP)]
        print(before == after)
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGTERM)  # still ends the process
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.splitlines() == ["interrupted", "True"], done.stderr
    assert done.returncode == -15


TWO = "corecast calls 1\nranks 2\nrank 0\nsend 1 64\nrank 1\nrecv 0 64\n"


def test_tables_decide_in_replayed_programs(tmp_path):
    file = tmp_path / "all.calls"
    ranks = "".join(f"rank {rank}\nallreduce 64\n" for rank in range(4))
    file.write_text(f"corecast calls 1\nranks 4\n{ranks}")
    scene = {"chip": "park2019-bus", "ranks": [4], "bytes": [64]}
    table = corecast.tune("allreduce", machine="mpi", **scene)
    path = table.table.save(tmp_path / "allreduce.toml")
    plain = corecast.replay(file, chip="park2019-bus")
    assert [row["collective"] for row in plain["algorithms"]] == ["allreduce"]
    by_table = corecast.replay(file, chip="park2019-bus", table=table.table)
    assert by_table == corecast.replay(file, chip="park2019-bus", table=path)
    other = corecast.tune("allreduce", **scene).table
    with pytest.raises(corecast.TableError, match="of machine `sim`, and programs run on `mpi`"):
        corecast.replay(file, chip="park2019-bus", table=other)


def test_several_ranks_of_a_file_share_a_core(tmp_path):
    file = tmp_path / "two.calls"
    file.write_text(TWO)
    alone = corecast.replay(file, chip="tilepro64")
    shared = corecast.replay(file, chip="tilepro64", ranks_per_core=2, skew=[0])
    assert (alone.ranks_per_core, shared.ranks_per_core) == (1, 2)
    assert shared.pairs[0].bytes == alone.pairs[0].bytes + 4
    assert "ranks_per_core=2" in shared.timeline().svg
    many = tmp_path / "many.calls"
    many.write_text("corecast calls 1\nranks 97\n")
    assert corecast.replay(many, ranks_per_core=3).ranks == 97
    with pytest.raises(corecast.RequestError, match="97 ranks do not fit on scc"):
        corecast.replay(many, ranks_per_core=2)
    with pytest.raises(corecast.InputError, match="ranks_per_core: 0 is out of range"):
        corecast.replay(many, ranks_per_core=0)


def test_what_cannot_be_run_is_refused(tmp_path):
    file, wrong = tmp_path / "two.calls", tmp_path / "wrong.calls"
    file.write_text(TWO)
    wrong.write_text("corecast calls 1\nranks 2\nrank 0\nsnd 1 64\n")
    deadlock = tmp_path / "deadlock.calls"
    deadlock.write_text(
        "corecast calls 1\nranks 2\nrank 0\nrecv 1 8\nsend 1 8\nrank 1\nrecv 0 8\nsend 0 8\n"
    )
    for call, kind, message in [
        (lambda: corecast.mpirun([]), corecast.InputTypeError, "program: [] names no program"),
        (lambda: corecast.mpirun(3), corecast.InputTypeError, "program: 3 names no program"),
        (lambda: corecast.mpirun(["a", 3]), corecast.InputTypeError, "program: 3 is no text"),
        (lambda: corecast.mpirun("a\0b"), corecast.InputError, "program: 'a\\x00b' contains a NUL"),
        (
            lambda: corecast.mpirun("a", ranks=0),
            corecast.InputError,
            "ranks: 0 is out of range\n  accepted: 1 to 1024",
        ),
        (
            lambda: corecast.mpirun("a", ranks=10**9),
            corecast.InputError,
            "ranks: 1000000000 is out of range\n  accepted: 1 to 1024",
        ),
        (
            lambda: corecast.mpirun("a", ranks=100, ranks_per_core=2),
            corecast.RequestError,
            "100 ranks do not fit on scc",
        ),
        (
            lambda: corecast.mpirun("a", compute=float("nan")),
            corecast.InputError,
            "compute: nan is out of range",
        ),
        (
            lambda: corecast.mpirun("a", environment={"": "x"}),
            corecast.InputError,
            "environment: '' cannot be a variable",
        ),
        (
            lambda: corecast.mpirun("a", libraries=tmp_path),
            corecast.InputError,
            f"libraries: `{tmp_path}` has no MPI library",
        ),
        (
            lambda: corecast.mpirun("/nowhere/a"),
            corecast.InputError,
            '"/nowhere/a"',
        ),
        (lambda: corecast.mpirun("a", table=5), corecast.InputTypeError, "table: 5 is no Decision"),
        (lambda: corecast.replay(5), corecast.InputTypeError, "file: 5 is no path"),
        (lambda: corecast.replay("none.calls"), corecast.InputError, "cannot read `none.calls`"),
        (lambda: corecast.replay(wrong), corecast.ProgramFileError, f"{wrong}:4: "),
        (
            lambda: corecast.replay(file, flops=float("nan")),
            corecast.InputError,
            "flops: nan is out of range",
        ),
        (
            lambda: corecast.replay(file, chip="park2019-bus", background=0.1),
            corecast.MachineError,
            "",
        ),
        (
            lambda: corecast.replay(file, table=tmp_path / "none.toml"),
            corecast.TableError,
            "cannot read the table",
        ),
        (lambda: corecast.replay(deadlock), corecast.DeadlockError, "deadlock at 0 ns"),
    ]:
        with pytest.raises(kind) as raised:
            call()
        assert message in str(raised.value), str(raised.value)


def test_programs_without_a_library_say_so(monkeypatch, tmp_path):
    monkeypatch.delenv("CORECAST", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(corecast.programs, "LIBRARIES", ())
    with pytest.raises(corecast.ProgramError, match="no MPI libraries of corecast") as raised:
        corecast.mpirun(["/bin/sh", "-c", "exit 127"])
    assert raised.value.code == 127 and "mpi-install" in str(raised.value)
    (row,) = corecast.vary(["/bin/sh", "-c", "exit 127"], {"network.link": 1})
    assert row.outcome == "failed" and "mpi-install" in row.why
    with pytest.raises(corecast.ProgramError) as raised:
        corecast.mpirun(["/bin/sh", "-c", "exit 5"])
    assert "no MPI libraries" not in str(raised.value)


def test_what_was_printed_is_kept_by_copies(ring):
    kept = pickle.loads(pickle.dumps(ring))
    assert (kept.stdout, kept.stderr) == (ring.stdout, ring.stderr) and kept.stdout


@needs_mpi
def test_python_states_computing_as_docs_say():
    text = (ROOT / "docs/virtual.md").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("`MPI_Pcontrol(n)`"))
    (stated,) = (code for code in line.split("`") if code.startswith("ctypes."))
    program = "import ctypes\nfrom mpi4py import MPI\n"
    ends = [mpi(program + more).makespan_ns for more in ("", stated.replace("(n)", "(5_000_000)"))]
    assert 5e6 <= ends[1] - ends[0] < 5.1e6


@needs_mpi
def test_a_heated_plate_is_the_same_on_any_number_of_ranks_and_takes_the_same_time_twice():
    words = [sys.executable, str(ROOT / "examples/programs/halo.py"), "30", "4", "5629"]
    times = {}
    for ranks in (1, 4, 6, 6):
        run = corecast.mpirun(words, ranks=ranks, chip="scc", environment=ABI, capture=True)
        *row, us, verdict = run.stdout.split()
        assert row == ["row", "halo", "30", str(ranks)] and verdict == "verified"
        assert times.setdefault(ranks, us) == us
    assert float(times[1]) >= 30 * 30 * 4 * 4 * 5.629e-3  # points, operations, steps


def test_who_is_late_is_of_all_ranks_of_a_program(tmp_path):
    file = tmp_path / "two.calls"
    file.write_text("corecast calls 1\nranks 2\nrank 0\n  send 1 64\nrank 1\n  recv 0 64\n")
    with pytest.raises(corecast.RequestError, match="a list of 1 numbers for 2 ranks"):
        corecast.replay(file, skew=[5])
    late = corecast.replay(file, skew=[5000, 0])
    assert late.makespan_ns == corecast.replay(file, skew={0: 5000}).makespan_ns


@needs_mpi
def test_who_is_late_is_of_all_cores_that_ranks_share():
    with pytest.raises(corecast.RequestError, match="a list of 4 numbers for 2 "):
        mpi(RING, ranks=4, ranks_per_core=2, skew=[1, 2, 3, 4])
    assert mpi(RING, ranks=4, ranks_per_core=2, skew=[1, 2]).ranks == 4


LINK = {"network.link": [1, 8]}


def vary(varying=LINK, program=RING, **more):
    words = [sys.executable, "-c", program]
    scene = {"chip": "scc", "ranks": 4, "environment": ABI, **more}
    return corecast.vary(words, varying, **scene)


@needs_mpi
def test_a_program_is_run_on_changed_chips(tmp_path):
    both = {"network.link": numpy.array([1, 8]), "memory.l1_ways": 4}
    runs = vary(both)
    assert [(run["network.link"], run["memory.l1_ways"], run.outcome) for run in runs] == [
        (1, 4, "done"),
        (8, 4, "done"),
    ]
    assert runs[0].makespan_ns < runs[1].makespan_ns
    assert runs[1].set == ["network.link=8", "memory.l1_ways=4"]
    assert "rank 3 of 4" in runs[1].stdout and runs[1].why is None
    alone = mpi(
        RING, chip=corecast.Chip("scc", set={"network.link": 8, "memory.l1_ways": 4}), ranks=4
    )
    assert runs[1].makespan_cycles == alone.makespan_cycles
    assert runs[1].causes_ns == alone["causes_ns"] and runs[1].fingerprint == alone.fingerprint
    frame = runs.to_pandas()
    assert list(frame.columns[:4]) == ["network.link", "memory.l1_ways", "outcome", "why"]
    assert frame["network.link"].dtype == "int64" and list(frame["network.link"]) == [1, 8]
    assert set(runs.columns) == {*both, *_columns.VARIED}
    assert pyarrow.table(runs).to_pydict() == runs.to_columns()
    assert "network.link" in repr(runs) and "<th>network.link</th>" in runs._repr_html_()
    assert "network.link (cycles)" in runs.figure().svg and "chip scc" in runs.figure().svg
    kept = pickle.loads(pickle.dumps(runs))
    assert kept == runs and kept.figure().svg == runs.figure().svg


@needs_mpi
def test_words_vary_as_well_and_notes_are_said():
    with pytest.warns(UserWarning, match="`endpoint.library` does nothing on scc"):
        runs = vary({"endpoint.library": ["rcce", "ircce"], "network.link": ["1", 2]}, ranks=2)
    assert list(runs.to_pandas()["endpoint.library"]) == ["rcce", "rcce", "ircce", "ircce"]
    assert list(pyarrow.table(runs)["network.link"].to_pylist()) == ["1", "2"] * 2
    runs = runs[::2]
    assert runs[0].makespan_ns == runs[1].makespan_ns


FAILS_ONCE = (
    RING
    + """
import os, pathlib
flag = pathlib.Path(os.environ["FLAG"])
if rank == 1:
    flag.write_text(flag.read_text() + ".")
    if len(flag.read_text()) == 2: raise SystemExit(5)
"""
)


@needs_mpi
def test_a_run_that_fails_is_a_row_and_is_made_again(tmp_path):
    flag, kept = tmp_path / "flag", tmp_path / "kept.jsonl"
    flag.write_text("")
    of = {"program": FAILS_ONCE, "environment": {**ABI, "FLAG": str(flag)}, "checkpoint": kept}
    three = {"network.link": [1, 4, 8]}
    runs = vary(three, **of)
    assert [run.outcome for run in runs] == ["done", "failed", "done"]
    assert "rank 1 ended with exit code 5" in runs[1].why and "rank 1 of 4" in runs[1].stdout
    assert runs.to_columns()["makespan_ns"][1] is None and pyarrow.table(runs).num_rows == 3
    assert runs.figure().svg.startswith("<svg")
    assert len(kept.read_text().splitlines()) == 1 + 2 and flag.read_text() == "..."
    again = vary(three, **of)
    assert [run.outcome for run in again] == ["done"] * 3 and flag.read_text() == "...."
    assert [again[0], again[2]] == [runs[0], runs[2]]
    with pytest.raises(corecast.InputError, match="it holds for something else: seed is 0, not 3"):
        vary(three, **of, seed=3)
    nothing = vary(program="raise SystemExit(4)", ranks=1)
    assert {run.outcome for run in nothing} == {"failed"}
    with pytest.raises(corecast.InputError, match="no run has come to its end"):
        nothing.figure()


def but_order(runs):
    """The rows; ranks may print in another order."""
    rows = runs.to_dict()
    return [{**row, "stdout": sorted(row["stdout"].splitlines())} for row in rows]


@needs_mpi
def test_runs_on_changed_chips_by_an_executor_and_after_an_interrupt(tmp_path, monkeypatch):
    table = corecast.tune("bcast", chip="scc", machine="mpi", ranks=4, bytes=64).table
    whole = but_order(vary(table=table))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert but_order(vary(table=table, executor=pool)) == whole
    kept, run = tmp_path / "kept.jsonl", corecast.programs.varied_run

    def ends(chip, changes, *more):
        if changes == [("network.link", "8")]:
            raise KeyboardInterrupt
        return run(chip, changes, *more)

    monkeypatch.setattr(corecast.programs, "varied_run", ends)
    with pytest.raises(KeyboardInterrupt):
        vary(table=table, checkpoint=kept)
    monkeypatch.undo()
    assert len(kept.read_text().splitlines()) == 1 + 1
    assert but_order(vary(table=table, checkpoint=kept)) == whole


def test_what_cannot_vary_is_refused_before_anything_starts():
    changed = corecast.Chip("scc", network__link=2)
    wrong = corecast.InputError
    for varying, more, kind, message in [
        ({}, {}, wrong, "there is no value"),
        ({"network.link": []}, {}, wrong, "network.link: there is no value"),
        ({"network.link": [1, 1]}, {}, wrong, "network.link: the value `1` is there twice"),
        ({"network.link": ""}, {}, wrong, "network.link: a value is empty"),
        (LINK, {"chip": changed}, wrong, "network.link: the chip is changed there already"),
        ({"network.link": range(2000)}, {}, wrong, "2000 runs, one per combination"),
        ({"network.lnk": 1}, {}, corecast.ChipError, "no key `network.lnk`"),
        ({"network.link": "few"}, {}, corecast.ChipError, "`network.link.value` is a text"),
        ({"network.link": True}, {}, corecast.InputTypeError, "True is neither a number"),
        ({"network.link": float("nan")}, {}, corecast.ChipError, ""),
        ({1: [1]}, {}, corecast.InputTypeError, "varying: 1 is no text"),
        ([1], {}, corecast.InputTypeError, "varying: [1] is no mapping"),
        (LINK, {"ranks": 100}, corecast.RequestError, "100 ranks do not fit on scc"),
        (LINK, {"capture": True}, corecast.InputTypeError, "there is no argument `capture`"),
        (LINK, {"rank": 3}, corecast.InputTypeError, "did you mean `ranks`?"),
        (LINK, {"executor": 3}, corecast.InputTypeError, "executor: 3 has no method `submit`"),
        (LINK, {"checkpoint": 3}, corecast.InputTypeError, "checkpoint: 3 is no path"),
        (LINK, {"skew": [1]}, corecast.RequestError, "a list of 1 numbers for 2 ranks"),
    ]:
        with pytest.raises(kind) as raised:
            corecast.vary("/nowhere/a", varying, **{"ranks": 2, **more})
        assert message in str(raised.value), str(raised.value)
    with pytest.raises(corecast.InputError, match='"/nowhere/a"'):
        corecast.vary("/nowhere/a", LINK)
