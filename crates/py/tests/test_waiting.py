# SPDX-License-Identifier: MIT OR Apache-2.0
"""Long work can be interrupted, leaves the interpreter to others, and says how far it is."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import corecast
import pytest

#: A run that takes minutes if nobody stops it.
LONG = 'corecast.run("alltoall", chip="tilepro64", ranks=64, bytes=65536, repeat=1000)'


def interrupted(work):
    """What a program prints that is interrupted in `work`, which takes minutes if nobody stops it."""
    program = textwrap.dedent(
        f"""
        import threading, corecast, os, signal, time
        def press():
            time.sleep(0.3)  # whenever it comes, it comes while the work is going on
            os.kill(os.getpid(), signal.SIGINT)
        try:
            threading.Thread(target=press, daemon=True).start()
            {work}
        except KeyboardInterrupt:
            print("interrupted")
        print(corecast.run("bcast", algorithm="binomial")[0].delivered)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    "work",
    [
        LONG,
        'corecast.compare("alltoall", chip="tilepro64", ranks=64, bytes=range(65536, 65586))',
        'corecast.tune("alltoall", chip="tilepro64", ranks=64, bytes=65536)',
        'corecast.traffic(chip="tilepro64", measure_cycles=10**9, rates=[0.1] * 9)',
        'corecast.reproduce("scc-thesis")',
    ],
)
def test_ctrl_c_is_heard(work):
    lines, errors = interrupted(work)
    assert lines == ["interrupted", "True"], errors


def test_others_go_on_meanwhile():
    counted = []
    stop = threading.Event()

    def count():
        while not stop.wait(0.001):
            counted.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    corecast.run("alltoall", chip="tilepro64", ranks=64, bytes=4096, algorithm="pairwise")
    stop.set()
    thread.join()
    assert counted


def test_threads_share_nothing():
    found = []

    def work():
        found.append(corecast.run("bcast", algorithm="binomial").to_dict())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(rows == found[0] for rows in found)


def test_bars_are_shown_where_they_are_wanted(capfd):
    corecast.run("bcast", progress=True)
    assert "bcast" in capfd.readouterr().err
    corecast.run("bcast", progress=False)
    corecast.run("bcast")
    assert capfd.readouterr().err == ""


def test_a_bar_of_lengths_follows_the_messages_of_its_parts(monkeypatch):
    class Counted:
        n = 0

        def update(self, more):
            self.n += more

        def close(self):
            pass

    made = Counted()
    monkeypatch.setattr(corecast.progress, "_tqdm", lambda *_, **__: made)
    seen = []
    parts = [lambda messages=4: 250 * min(messages, 4), lambda messages=2: 25 * messages]
    with corecast.progress.bar_of_lengths(None, "reproduce", parts) as (first, second):
        for told, call in [
            (first, (0, 0, 0)),
            (first, (0, 1, 0)),
            (first, (0, 5, 0)),
            (first, (1, 5, 0)),
            (second, (0, 1, 0)),
            (second, (1, 1, 0)),
        ]:
            told(*call)
            seen.append(made.n)
    assert seen == [0, 250, 1000, 1000, 1025, 1050]


def test_what_a_bar_raises_ends_the_work(monkeypatch):
    def fail(*_):
        raise OSError("nobody reads this")

    study = corecast.sweeps.make("bcast").study()
    with pytest.raises(OSError, match="nobody reads this"):
        study.rank((8, 64), [], fail)
    assert signal.getsignal(signal.SIGINT) is not None


@pytest.mark.parametrize("work", ["build", "text", "view"])
def test_others_go_on_while_schedules_are_built_and_shown(work):
    chip = corecast.Chip("tilepro64", network__width=16, network__height=16)

    def build():
        return corecast.schedule("alltoall", "pairwise", chip=chip, ranks=256, bytes=4)

    done = {"build": build}
    if work != "build":
        schedule = build()
        done = {"text": lambda: str(schedule), "view": lambda: corecast.view(schedule)}
    core, counted, stop = done[work], [], threading.Event()

    def count():
        while not stop.wait(0.001):
            counted.append(time.monotonic())

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    core()
    took = time.monotonic() - start
    stop.set()
    thread.join()
    # Nobody was kept from counting for most of the time.
    times = [start, *counted, start + took]
    assert max(after - before for before, after in zip(times, times[1:])) < 0.5 * took + 0.05
