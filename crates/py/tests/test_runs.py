# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs, tables, pictures: what the command says, and in the forms of others."""

import copy
import html
import json
import pickle
import types

import corecast
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest


def test_the_fastest_comes_first_and_all_deliver():
    runs = corecast.run("bcast", chip="tilepro64", ranks=16, bytes=[64, 1024])
    by_size = [[run.makespan_ns for run in runs if run.bytes == size] for size in (64, 1024)]
    assert all(times == sorted(times) and len(times) > 5 for times in by_size)
    assert all(run.delivered and not run.faults for run in runs)
    assert runs.check() is runs
    assert runs.fastest.certificate.correct


def test_runs_can_be_repeated():
    arguments = {"chip": "scc", "algorithm": "binomial", "skew": ("random", 5000), "seed": 3}
    again = [corecast.run("reduce", **arguments, repeat=5) for _ in range(2)]
    assert again[0].to_dict() == again[1].to_dict()
    assert again[0][0].runs == 5
    assert again[0][0]["skew"] == ["random:5000"]


def test_surroundings_are_those_of_the_command():
    quiet = corecast.run("bcast", chip="park2019-bus", algorithm="linear", bytes=4)[0]
    busy = corecast.run(
        "bcast", chip="park2019-bus", algorithm="linear", bytes=4, ongoing=[(1, 512)]
    )[0]
    assert busy.makespan_ns > quiet.makespan_ns
    assert busy["ongoing"] == ["1=512"]
    late = corecast.run("bcast", algorithm="linear", skew={3: 10**6})[0]
    assert late["skew"] == ["3=1000000"] and late.makespan_cycles > 10**6
    beside = corecast.run("bcast", chip="tilepro64", algorithm="mst", background=(0.05, 8))[0]
    assert beside["background"] == "0.05:8"


def test_tables_are_frames_and_arrow_streams():
    runs = corecast.run("allgather", chip="tilepro64", ranks=8)
    frame = runs.to_pandas()
    assert list(frame.columns) == runs.columns
    for other in (polars.DataFrame(runs).to_pandas(), pyarrow.table(runs).to_pandas()):
        assert list(other["algorithm"]) == list(frame["algorithm"])
        numpy.testing.assert_array_equal(other["makespan_ns"], frame["makespan_ns"])
        assert list(other.columns) == runs.columns
        assert list(other["finish_ns"][0]) == runs[0].finish_ns
    count = duckdb.sql("select count(*), min(makespan_ns) from runs").fetchall()[0]
    assert count == (len(runs), frame["makespan_ns"].min())
    assert pyarrow.table(runs)["causes.transfer_ns"].type == pyarrow.float64()
    assert pyarrow.table(runs)["delivered"].type == pyarrow.bool_()
    assert pyarrow.table(runs)["ranks"].type == pyarrow.int64()
    assert pyarrow.table(corecast.Table([])).num_rows == 0
    assert isinstance(corecast.Table([]).to_pandas(), pandas.DataFrame)


def test_lines_of_large_numbers_and_mixed_fields_stay_what_they_are():
    rows = [{"a": 2**63, "b": None, "c": [1, 2], "d": "x"}, {"a": 1, "b": True, "c": [], "d": None}]
    table = pyarrow.table(corecast.Table([corecast.Record(row) for row in rows]))
    assert table.to_pylist() == rows


def test_no_value_of_a_mixed_column_is_lost():
    rows = [{"a": True, "b": -1, "c": [True, 2]}, {"a": 1, "b": 2**64 - 1, "c": []}]
    table = pyarrow.table(corecast.Table([corecast.Record(row) for row in rows]))
    assert table["a"].to_pylist() == ["true", "1"]
    assert table["b"].to_pylist() == [-1.0, 2.0**64]
    assert table["c"].to_pylist() == [["true", "2"], []]


def test_tables_of_several_chips_can_be_put_together():
    runs = [corecast.run("bcast", chip=c, ranks=16, algorithm="mst") for c in ("tilepro64", "scc")]
    cycles = [pyarrow.table(of_chip)["makespan_cycles"].type for of_chip in runs]
    assert cycles == [pyarrow.float64()] * 2
    columns = ["chip", "algorithm", "makespan_cycles", "makespan_ns", "bound_cycles"]
    both = polars.concat([polars.DataFrame(of_chip).select(columns) for of_chip in runs])
    assert list(both["chip"]) == ["tilepro64", "scc"]


def test_records_show_themselves():
    run = corecast.run("bcast", algorithm="binomial")[0]
    assert repr(run).startswith("Run(collective='bcast', algorithm='binomial', chip='scc', ranks=8")
    assert "<table>" in run._repr_html_() and "binomial" in run._repr_html_()
    with pytest.raises(AttributeError, match="did you mean 'makespan_ns'"):
        run.makespan_n
    assert {"makespan_ns", "timeline"} <= set(dir(run))
    assert json.loads(json.dumps(run.to_dict())) == run.to_dict()
    text = repr(corecast.list_chips())
    assert text.splitlines()[0].split() == ["name", "cores_max", "summary", "source"]
    assert "<script>" not in corecast.Record({"a": "<script>"})._repr_html_()


def test_schedules_and_tables_show_their_text():
    schedule = corecast.schedule("bcast", "mst", ranks=4)
    assert html.escape(str(schedule)) in schedule._repr_html_()
    assert repr(schedule.edit()) == "<ScheduleBuilder: 4 ranks, 1 chunks>"
    large = corecast.schedule("alltoall", "linear", ranks=48)
    assert len(large._repr_html_()) < 200 < len(str(large))
    tuned = corecast.tune("bcast", chip="park2019-bus", ranks=4, bytes=64)
    table = tuned.table
    assert html.escape(str(table)) in table._repr_html_()


def test_a_run_tells_what_happened():
    run = corecast.run("alltoall", chip="tilepro64", ranks=9, algorithm="pairwise")[0]
    spans = run.spans.to_pandas()
    assert spans.groupby("rank")["end_ns"].max().eq(run.makespan_ns).all()
    assert len(run.messages) == 9 * 8
    assert run.links.to_pandas()["flits"].gt(0).all()
    for figure in (run.timeline(), run.heat_map()):
        assert figure.svg.startswith("<svg") and run.fingerprint in figure.svg
        assert figure._repr_svg_() == figure._repr_html_() == figure.svg
    assert json.loads(run.trace())["traceEvents"]
    with pytest.raises(corecast.InputError, match="park2019-bus has no mesh"):
        corecast.run("bcast", chip="park2019-bus", algorithm="ap")[0].heat_map()


def test_explanations_say_what_to_do():
    explained = corecast.explain("bcast", chip="park2019-bus", algorithm="linear", ranks=8)[0]
    assert explained.advice.startswith('Use algorithm="')
    path = explained.critical_path.to_pandas()
    assert path["from_cycles"].iloc[0] == 0
    assert path["to_cycles"].iloc[-1] == explained.makespan_cycles
    assert len(explained.rank_causes) == 8
    assert explained.timeline().svg == explained.run.timeline().svg
    several = corecast.explain("bcast", chip="park2019-bus", algorithm=["linear", "ap"], ranks=8)
    assert list(several.to_pandas()["algorithm"]) == [one.algorithm for one in several]
    assert html.escape(several[0].advice)[:20] in several._repr_html_()
    assert len(corecast.view(several).titles) == 2


def test_certificates_need_no_run():
    proven = corecast.verify("alltoall", chip="tilepro64", ranks=16)
    assert all(certificate.correct for certificate in proven)
    free = {c.algorithm for c in proven if c["contention_free"]}
    assert "contention-free" in free and "linear" not in free


def test_pickles_of_results_keep_their_fields():
    run = corecast.run("bcast", algorithm="binomial")[0]
    again = pickle.loads(pickle.dumps(run))
    assert again == run and again.makespan_ns == run.makespan_ns
    with pytest.raises(corecast.InputError, match="keeps its fields only"):
        again.timeline()
    table = corecast.list_chips()
    assert pickle.loads(pickle.dumps(table)) == table


def test_pickles_of_other_versions_are_refused():
    dumped = pickle.dumps(corecast.run("bcast", algorithm="binomial"), protocol=0)
    other = dumped.replace(corecast.__version__.encode(), b"0.0.1")
    assert other != dumped
    with pytest.raises(corecast.VersionError, match="pickled by corecast 0.0.1"):
        pickle.loads(other)
    for thing in (corecast.Chip("scc"), corecast.tune("bcast", ranks=2, bytes=4).table):
        again = pickle.loads(pickle.dumps(thing))
        assert again == thing
        with pytest.raises(corecast.VersionError):
            pickle.loads(pickle.dumps(thing, 0).replace(corecast.__version__.encode(), b"0.0.1"))


def test_chips_are_read_and_changed(tmp_path):
    scc = corecast.Chip("scc")
    wide = corecast.Chip("scc", set={"network.width": 12})
    assert wide.cores_max == 2 * scc.cores_max
    assert wide == corecast.Chip("scc", network__width=12) != scc
    assert wide.changed(endpoint__library="rcce").changes == [
        "network.width=12",
        "endpoint.library=rcce",
    ]
    text = 'base = "scc"\nname = "mine"\nsummary = "Mine."\nsource = "me"\n'
    mine = corecast.Chip.from_toml(text, "mine.toml")
    (tmp_path / "mine.toml").write_text(text)
    assert mine == corecast.Chip(tmp_path / "mine.toml")
    assert mine.changed(network__width=12).cores_max == 96
    assert pickle.loads(pickle.dumps(mine.changed(network__width=12))).cores_max == 96
    run = corecast.run("bcast", chip=mine, algorithm="binomial")[0]
    assert run.chip == "mine"
    assert {row.kind for row in scc.parameters} >= {"published"}


def test_lists_are_those_of_the_command():
    assert {"scc", "tilepro64"} <= {chip.name for chip in corecast.list_chips()}
    assert len(corecast.list_algorithms()) > 40
    assert [machine.name for machine in corecast.list_machines()] == [
        "sim",
        "mpi",
        "host",
        "threads",
    ]
    assert "park2019" in [paper.name for paper in corecast.list_papers()]
    assert corecast.list_collectives()[0] == "bcast"


def test_this_computers_cores_are_a_machine():
    run = corecast.run("allreduce", machine="threads", ranks=4, algorithm="ring", dtype="f32")[0]
    assert run.delivered and run.makespan_cycles is None and run.chip is None


def test_round_trips():
    points = corecast.pingpong(chip="tilepro64", to=[1, 63], bytes=[4, 64, 1024])
    assert len(points) == 6 and len(points.fits) == 2
    assert points.fits[1].start_ns > points.fits[0].start_ns > 0
    assert points.figure().svg.startswith("<svg")


def test_traffic(tmp_path):
    points = corecast.traffic(
        rates=[0.02, 0.4], warmup_cycles=300, measure_cycles=1000, drain_cycles=1000
    )
    assert points[0].latency_mean < points[1].latency_mean
    assert points.saturation is not None and points.saturation[0] == 0.4
    assert points.figure().svg.startswith("<svg") and points.heat_map().svg.startswith("<svg")
    hot = corecast.traffic(
        pattern="hotspot", hot_cores=[0], hot_share=0.5, rates=[0.02], measure_cycles=500
    )
    assert hot[0].pattern == "hotspot:0=0.5"
    assert hot[0].measure_cycles == 500
    trace = tmp_path / "packets.txt"
    trace.write_text("0 0 5 4\n3 1 2 1\n")
    sent = corecast.traffic(trace=trace)
    assert sent[0].packets == 2
    with pytest.raises(corecast.InputError, match="no curve"):
        sent.figure()
    trace.write_text("0 0\n")
    with pytest.raises(corecast.TrafficError, match="cycle src dst flits"):
        corecast.traffic(trace=trace)


def test_flows_that_do_not_end(examples):
    costs = examples / "costs.toml"
    with pytest.raises(corecast.DeadlockError, match="deadlock at ") as raised:
        corecast.flow(costs, flow_control=False)
    blocked = raised.value.blocked
    assert {of["task"] for of in blocked} >= {of["peer"] for of in blocked[:1]}
    assert any("flow_control=False" in line for line in raised.value.help)
    with pytest.raises(corecast.LimitError, match="within 5 events") as raised:
        corecast.flow(costs, limit_events=5)
    assert raised.value.help == ["raise `limit_ns` or `limit_events` if the run needs longer"]


def test_flows(examples):
    runs = corecast.flow(examples / "fir.toml", stages=[1, 2])
    assert len(runs) == 2 and all(run["right"] for run in runs)
    assert len(runs[0].each_task) == runs[0].tasks and len(runs[0].each_edge) > 0
    assert runs.figure().svg.startswith("<svg") and runs.layout(1).svg.startswith("<svg")
    text = (examples / "fir.toml").read_text()
    assert corecast.flow(text=text, stages=1)[0].makespan_ns == runs[0].makespan_ns
    with pytest.raises(corecast.UnknownNameError, match="near, row"):
        corecast.flow(text=text, placement="nera")


def test_papers():
    rows = corecast.reproduce("park2019")
    assert {row.paper for row in rows} == {"park2019"}
    assert any(row.error_percent == 0 for row in rows)
    assert list(rows.open) == ["park2019"]


def test_the_figures_of_a_paper_have_the_form_that_is_asked_for(tmp_path):
    rows = corecast.reproduce("chung2011")
    folder = tmp_path / "new" / "figures"
    with pytest.raises(corecast.UnknownNameError, match="did you mean `png`"):
        rows.save_figures(folder, form="pnq")
    assert not folder.exists()
    paths = rows.save_figures(folder, form="pdf")
    assert sorted(paths) == sorted(folder.iterdir())
    assert folder / "chung2011-figure5a.pdf" in paths
    assert all(path.read_bytes().startswith(b"%PDF-") for path in paths)
    (tmp_path / "file").write_text("")
    with pytest.raises(corecast.InputError, match="cannot make the folder"):
        rows.save_figures(tmp_path / "file")


def test_tables_decide(tmp_path):
    tuned = corecast.tune("bcast", chip="park2019-bus", ranks=[4, 8], bytes=[64, 256])
    assert len(tuned) == 4 and tuned.figure().svg.startswith("<svg")
    tuned.table.save(tmp_path / "table.toml")
    table = corecast.DecisionTable.read(tmp_path / "table.toml")
    assert table == tuned.table
    run = corecast.run(
        "bcast", chip="park2019-bus", ranks=8, bytes=200, algorithm="auto", table=table
    )[0]
    assert (run.table_ranks, run.table_bytes) == (8, 256)
    more = corecast.tune(
        "bcast", chip="park2019-bus", ranks=[4, 8], bytes=[64, 256, 512], table=table
    )
    assert len(more) == 6 and len(more.searches) == 2
    with pytest.raises(corecast.TableError, match="tune again"):
        corecast.run("bcast", chip="scc", algorithm="auto", table=table)


def test_real_cores_tell_medians_in_nanoseconds():
    swept = corecast.compare("bcast", machine="host", ranks=2, bytes=[8, 64])
    assert all(row.runs == 9 and row.makespan_median_ns > 0 for row in swept)
    assert all(row["makespan_mean_cycles"] is None for row in swept)
    assert "makespan (ns), median" in swept.figure()._repr_svg_()
    explained = corecast.explain("bcast", machine="host", ranks=2)[0]
    first = explained.critical_path[0]
    assert first["from_cycles"] is None
    assert first["from_ns"] == 0
    once = corecast.run("bcast", machine="host", ranks=2, repeat=1)
    assert once.fastest.runs == 1


def test_what_nobody_can_serve_is_refused_by_every_verb():
    of = {"ranks": 6, "algorithm": "recursive-doubling"}
    for verb in (corecast.run, corecast.explain, corecast.verify, corecast.compare):
        with pytest.raises(corecast.UnservedError, match="recursive-doubling"):
            verb("allgather", **of)
    of["algorithm"] = ["recursive-doubling", "ring"]
    for verb in (corecast.run, corecast.explain, corecast.verify):
        found = verb("allgather", **of)
        assert [row.algorithm for row in found] == ["ring"]
        assert [(row.bytes, row.algorithm) for row in found.refused] == [(64, "recursive-doubling")]
        assert pickle.loads(pickle.dumps(found)).refused == found.refused


def test_who_is_late_is_a_mapping_or_a_list_of_all():
    of = {"ranks": 4, "algorithm": "mst"}
    late = corecast.run("bcast", **of, skew={2: 700, 0: 100})[0]
    assert late["skew"] == ["2=700", "0=100"]
    series = pandas.Series([700, 100], index=[2, 0])
    for skew in (types.MappingProxyType({2: 700, 0: 100}), series):
        assert corecast.run("bcast", **of, skew=skew)[0] == late
    by_list = corecast.run("bcast", **of, skew=numpy.array([100, 0, 700, 0]))[0]
    assert by_list.makespan_ns == late.makespan_ns
    for skew in ([1, 2, 3], [1, 2, 3, 4, 5]):
        wrong = f"skew: a list of {len(skew)} numbers for 4 ranks"
        with pytest.raises(corecast.RequestError, match=wrong) as raised:
            corecast.run("bcast", **of, skew=skew)
        assert (raised.value.given, raised.value.ranks) == (len(skew), 4)


def test_schedules_serve_other_sizes():
    ring = corecast.schedule("allreduce", "ring", ranks=4, bytes=64)
    large = corecast.run(ring, bytes=[64, 1 << 12])
    assert [(run.bytes, run.delivered) for run in large] == [(64, True), (1 << 12, True)]
    by_name = corecast.run("allreduce", algorithm="ring", ranks=4, bytes=1 << 12)[0]
    assert large[1].makespan_ns == by_name.makespan_ns


def test_schedules_with_wide_columns_are_shown():
    parts = 1 << 16
    builder = corecast.ScheduleBuilder(
        corecast.request("bcast", ranks=2, bytes=parts), "odd-even", parts=parts
    )
    for first in (0, 1):
        builder.message(first, 0, 1, list(range(first, parts, 2)))
    text = str(builder.finish())
    assert len(text.splitlines()[1]) > 2 * 65535


def test_copies_keep_all(tmp_path):
    runs = corecast.run("allreduce", data=numpy.ones((4, 2)), chip="park2019-bus")
    for made in (copy.copy(runs[0]), copy.deepcopy(runs[0]), copy.deepcopy(runs)[0]):
        assert made == runs[0]
        assert numpy.array_equal(made.outputs[3], [4.0, 4.0])
    schedule = corecast.schedule("bcast", "binomial", ranks=4)
    assert copy.copy(schedule) is schedule and copy.deepcopy(schedule) is schedule
    asked = corecast.request("bcast", ranks=4)
    assert asked == copy.deepcopy(asked) == corecast.request("bcast", ranks=4)
    assert asked != corecast.request("bcast", ranks=5)
    first = runs[:2]
    assert len(first) == 2 and list(first.to_pandas().columns) == list(runs.to_pandas().columns)


def test_files_are_written_as_the_command_does(tmp_path):
    figure = corecast.run("bcast", chip="park2019-bus", algorithm="ap")[0].timeline()
    there = tmp_path / "there.svg"
    there.write_text("before")
    there.chmod(0o600)
    link = tmp_path / "link.svg"
    link.symlink_to(there)
    figure.save(link)
    assert link.is_symlink() and there.read_text() == figure.svg
    assert there.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("machine", ["sim", "threads"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_zeros_with_signs_and_what_is_no_number_are_combined_in_any_order(op, machine):
    given = numpy.array([[0.0, -0.0, 1.0], [-0.0, 0.0, numpy.nan], [0.0, 0.0, 2.0]])
    expected = getattr(numpy, f"{op}imum").reduce(given)
    for run in corecast.run("allreduce", data=given, op=op, chip="tilepro64", machine=machine):
        run.check()
        for held in run.outputs:
            assert numpy.array_equal(held, expected, equal_nan=True), run.algorithm


def test_notebooks_show_every_object():
    classes = [getattr(corecast, name) for name in corecast.__all__]
    classes = [of for of in classes if isinstance(of, type) and not issubclass(of, Exception)]
    assert len(classes) > 20
    assert [of.__name__ for of in classes if not hasattr(of, "_repr_html_")] == []
    request = corecast.request("bcast", ranks=3, bytes=8)
    assert html.escape(repr(request)) in request._repr_html_()
    builder = corecast.ScheduleBuilder(request, "nothing-yet")
    assert "nothing-yet" in builder._repr_html_()
