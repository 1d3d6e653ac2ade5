# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pages of results, and schedules of files."""

import html
import json
import os
import pickle
import re
import warnings

import corecast
import pytest


@pytest.fixture(scope="module")
def runs():
    return corecast.run("bcast", chip="tilepro64", ranks=8, algorithm=["mst", "linear"])


def test_everything_that_can_be_looked_at_is(runs, tmp_path):
    sweep = corecast.compare("bcast", chip="park2019-bus", ranks=[4], bytes=[64, 256])
    tuned = corecast.tune("bcast", chip="park2019-bus", ranks=[4], bytes=[64])
    explained = corecast.explain("bcast", chip="park2019-bus", ranks=4, algorithm="linear")
    schedule = corecast.schedule("allreduce", "ring", ranks=4)
    [file] = schedule.save(tmp_path / "ring.xml")
    trace = tmp_path / "trace.json"
    trace.write_text(runs[0].trace())
    kept = corecast.view(runs[0]).save(tmp_path / "kept.json")
    view = corecast.view(runs, sweep, tuned, explained, [schedule], file, str(trace), kept)
    documents = json.loads(view.documents)["documents"]
    kinds = [document["view"] for document in documents]
    assert kinds == [
        "run",
        "run",
        "sweep",
        "sweep",
        "sweep",
        *["run"],
        *["schedule"] * 2,
        *["run"] * 2,
    ]
    assert view.titles[0] == f"bcast by {runs[0].algorithm}: 64 bytes, 8 ranks on tilepro64"
    assert documents[5]["advice"].startswith('Use algorithm="')
    assert documents[0]["makespan_ps"] == round(runs[0].makespan_ns * 1000)
    assert repr(view).startswith("<View of 10: bcast by ")


def test_a_notebook_shows_the_page_that_is_saved(runs, tmp_path):
    view = corecast.view(runs, height=400)
    page = view.save(tmp_path / "page.html").read_text()
    assert page == view.page
    shown = view._repr_html_()
    [inside] = re.findall('srcdoc="([^"]*)"', shown)
    assert html.unescape(inside) == page and "height: 400px" in shown
    assert pickle.loads(pickle.dumps(view)).documents == view.documents


def test_a_widget_holds_the_page_and_its_address(runs):
    widget = corecast.view(runs).widget()
    assert widget.page == corecast.view(runs).page
    widget.address = "tab=mesh"
    assert {"page", "address", "height"} <= set(widget.keys)
    widget.close()  # as when its notebook is
    widget.address = "tab=timeline"
    assert widget.address == "tab=timeline"


def test_schedules_come_from_files_and_go_there(tmp_path):
    ring = corecast.schedule("allgather", "ring", ranks=4, bytes=64)
    for format in (f for f in corecast.list_formats() if f.of == "schedules"):
        path = tmp_path / f"ring-{format.name}.{format.extension}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            paths = ring.save(path, format.name)
        again = corecast.Schedule.read(paths[0])
        # Signals that a slot is free again are messages in a plan of MSCCL++.
        extra = again.messages - ring.messages
        assert extra > 0 if format.name == "mscclpp" else extra == 0, format.name
        assert corecast.verify(again).correct, format.name
        assert corecast.run(again)[0].delivered, format.name
    assert corecast.Schedule.read(ring.save(tmp_path / "a.sched")[0]) == ring
    with pytest.raises(corecast.ScheduleError, match="mscclpp cannot say a collective like bcast"):
        corecast.schedule("bcast", "linear", ranks=4).save(tmp_path / "b.json", "mscclpp")


def test_what_a_format_leaves_out_is_told(tmp_path):
    direct = corecast.schedule("bcast", "linear", ranks=4, part_bytes=16)
    with pytest.warns(UserWarning) as told:
        direct.save(tmp_path / "a.goal")
    assert all(str(one.message) for one in told)
    assert told[0].filename == __file__


def test_what_cannot_be_shown_or_read_is_refused(runs, tmp_path):
    wrong = tmp_path / "wrong.sched"
    wrong.write_text("corecast schedule 1\ncollective bcast\nranks 2\nbytes 8\nrank 0\nsnd 1 [0]\n")
    other = tmp_path / "other.json"
    other.write_text("{}")
    for call, kind, message in [
        (lambda: corecast.view(), corecast.InputError, "view: nothing to show"),
        (
            lambda: corecast.view(7),
            corecast.InputTypeError,
            "view: 7 cannot be shown\n  give runs, ",
        ),
        (lambda: corecast.view(runs, height=1), corecast.InputError, "height: 1 is out of range"),
        (
            lambda: corecast.view(other),
            corecast.InputError,
            f"`{other}` is nothing that can be shown: it is JSON of another program",
        ),
        (lambda: corecast.view("none.json"), corecast.InputError, "the file `none.json` cannot be"),
        (
            lambda: corecast.view(runs).save(tmp_path / "page.pdf"),
            corecast.InputError,
            f"`{tmp_path / 'page.pdf'}` ends in neither .html nor .json",
        ),
        (lambda: corecast.Schedule.read(wrong), corecast.ScheduleError, f"{wrong}:6: "),
        (
            lambda: corecast.Schedule.read("none.sched"),
            corecast.InputError,
            "cannot read `none.sched`: ",
        ),
        (lambda: corecast.Schedule.read(3), corecast.InputTypeError, "path: 3 is no path"),
        (
            lambda: corecast.schedule("allreduce", "ring", ranks=4).save("/a.json", "teccl"),
            corecast.ScheduleError,
            "teccl cannot say a collective like allreduce\n  format=",
        ),
        (
            lambda: corecast.Schedule.read(wrong, "mscl"),
            corecast.UnknownNameError,
            "there is no format called `mscl`\n  did you mean `msccl`?",
        ),
        (
            lambda: corecast.schedule("bcast", "mst", ranks=4).save(tmp_path / "a.txt"),
            corecast.InputError,
            f"the name of `{tmp_path / 'a.txt'}` does not say which format it should have",
        ),
        (
            lambda: corecast.schedule("bcast", "mst", ranks=4).save("/nowhere/a.sched"),
            corecast.InputError,
            "cannot write `/nowhere/a.sched`: ",
        ),
    ]:
        with pytest.raises(kind) as raised:
            call()
        assert str(raised.value).startswith(message), str(raised.value)
    with pytest.raises(corecast.ScheduleError) as raised:
        corecast.Schedule.read(wrong)
    assert (raised.value.file, raised.value.line) == (str(wrong), 6)


def test_notebooks_show_whole_advice():
    explained = corecast.explain("bcast", chip="park2019-bus", ranks=4, algorithm="linear")
    assert len(explained[0].advice) > 48
    assert html.escape(explained[0].advice) in explained._repr_html_()


def test_files_have_the_mode_that_the_umask_leaves(tmp_path, monkeypatch):
    """And nobody changes it meanwhile, which other threads would notice."""
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", None)
        figure = corecast.Figure("<svg xmlns='http://www.w3.org/2000/svg'/>")
        mode = figure.save(tmp_path / "a.svg").stat().st_mode & 0o777
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert mode == 0o640 and [path.name for path in tmp_path.iterdir()] == ["a.svg"]
