# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables have the columns that are declared for them, whatever is in their rows."""

import pickle

import corecast
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest
from conftest import ROOT
from corecast import _columns
from corecast.tables import PANDAS_TYPES, _flat

CALLS = """corecast calls 1
ranks 2
rank 0
  compute 5us
  send 1 4096
rank 1
  recv 0 4096
"""


def of_collectives():
    """Tables of verbs that run collectives, on chips and machines of every kind."""
    places = [
        {"chip": "park2019-bus", "ranks": 4},
        {"chip": "tilepro64", "ranks": 16, "bytes": 2048, "background": 0.1, "skew": {1: 50}},
        {"machine": "mpi", "ranks": 4},
        {"machine": "threads", "ranks": 2},
    ]
    for at in places:
        for collective in ("bcast", "allreduce"):
            runs = corecast.run(collective, **at)
            yield from [runs, runs.refused, runs[0].messages, runs[0].spans, runs[0].links]
            explained = corecast.explain(collective, **at)
            yield from [explained, explained.refused]
            for one in explained:
                yield from [one.critical_path, one.link_waits, one.rank_causes]
            certificates = corecast.verify(collective, **at)
            yield from [certificates, certificates.refused]
        swept = corecast.compare("allgather", **{**at, "ranks": [3]})
        yield from [swept, swept.refused, swept.winners]
    data = numpy.zeros((3, 2), dtype="int32")
    odd = corecast.run("allgather", data=data, algorithm=["ring", "recursive-doubling"])
    yield from [odd, odd.refused]
    wrong = corecast.schedule("bcast", "linear", ranks=4).edit()
    wrong.remove(3, 0)
    yield corecast.verify("bcast", algorithm=[wrong.finish()])
    tuned = corecast.tune("bcast", chip="park2019-bus", ranks=4, bytes=64)
    yield from [tuned, tuned.searches]
    names = ["ring", "recursive-doubling"]
    two = corecast.tune(
        "allreduce", chip="park2019-bus", ranks=4, bytes=[64, 4096], algorithm=names
    )
    yield corecast.rules(two.table, "msccl").files
    for algorithm in ("direct", "shared-rabenseifner", "ring"):
        yield corecast.schedule("allreduce", algorithm, ranks=4, chip="scc").steps(1)


def of_programs(tmp_path, examples):
    """Tables of what is no collective, and lists."""
    program, trace = tmp_path / "two.calls", tmp_path / "two.trace"
    program.write_text(CALLS)
    trace.write_text("0 0 5 4\n3 5 0 4 after 0\n")
    for chip in ("park2019-bus", "tilepro64"):
        run = corecast.replay(program, chip=chip)
        yield from [run.calls, run.rank_calls, run.critical_path, run.late_ranks, run.pairs]
        yield from [run.message_table, run.spans, run.links]
        points = corecast.pingpong(chip=chip, to=[1], bytes=[4, 64])
        yield from [points, points.fits]
    for machine in ("sim", "threads"):
        flows = corecast.flow(examples / "fir.toml", machine=machine, stages=2)
        yield from [flows, flows[0].each_task, flows[0].each_edge]
    yield corecast.traffic(rates=[0.02], measure_cycles=500)
    yield corecast.traffic(trace=trace)
    rows = corecast.reproduce("chung2011")
    yield from [rows, rows.winners()]
    yield from [corecast.list_chips(), corecast.list_algorithms(), corecast.list_machines()]
    yield from [corecast.list_formats(), corecast.list_keys(), corecast.list_papers()]
    yield from [corecast.Chip("scc").parameters, corecast.Chip("scc").words]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return [*of_collectives(), *of_programs(folder, ROOT / "examples")]


def declared():
    """The columns of every kind of table, by their names."""
    # Those of a varied program come after its keys.
    parts = ("SETTINGS", "COLLECTIVE", "HOLD", "CAUSES", "VARIED")
    return {
        name: columns
        for name, columns in vars(_columns).items()
        if name.isupper() and not name.startswith("_") and name not in parts
    }


def has_own_table(value):
    """Whether a field is no column: one of mappings, of which there may be none."""
    return value is None or value == [] or (isinstance(value, list) and isinstance(value[0], dict))


def test_rows_have_the_columns_that_are_declared(tables):
    seen = {}
    for table in tables:
        assert table._kinds is not None
        fields = seen.setdefault(id(table._kinds), set())
        for row in table:
            flat = _flat(row._fields)
            fields.update(flat)
            for name in flat.keys() - table._kinds.keys():
                is_empty = flat[name] is None or flat[name] == []
                assert is_empty and has_own_table(row._fields[name]), (name, flat[name])
            for name, kind in table._kinds.items():
                if kind in ("int", "uint", "bool"):
                    assert flat.get(name) is not None, name
    for name, columns in declared().items():
        found = seen.get(id(columns), set())
        some_have = {name for name in columns if name == "input" or name.startswith("causes_ns.")}
        missing = columns.keys() - found - some_have
        assert not missing, f"{name}: no row of the tests has {missing}"


def arrow_type(kind):
    if kind.endswith("[]"):
        return pyarrow.list_(arrow_type(kind[:-2]))
    return {
        "text": pyarrow.string(),
        "bool": pyarrow.bool_(),
        "int": pyarrow.int64(),
        "uint": pyarrow.uint64(),
        "float": pyarrow.float64(),
    }[kind]


def test_types_are_those_of_the_columns_with_and_without_rows(tables):
    of_kinds = {id(table._kinds): table for table in tables}
    assert len(of_kinds) > 25
    for table in of_kinds.values():
        columns = table._kinds
        for part in (table, table[:0]):
            schema = pyarrow.table(part).schema
            assert schema.names == list(columns) == part.columns
            for name, kind in columns.items():
                assert schema.field(name).type == arrow_type(kind.rstrip("?")), name
            frame = part.to_pandas()
            assert list(frame.columns) == list(columns) and len(frame) == len(part)
            for name, kind in columns.items():
                assert frame[name].dtype == PANDAS_TYPES.get(kind, "object"), name
            other = polars.DataFrame(part)
            assert other.columns == list(columns)
            assert other.height == duckdb.sql("select count(*) from part").fetchone()[0]


def test_every_value_arrives(tables):
    for table in tables:
        assert pyarrow.table(table).to_pydict() == table.to_columns()


def test_runs_of_any_chip_and_machine_can_be_put_together():
    bus = corecast.run("bcast", chip="park2019-bus", ranks=4)
    mesh = corecast.run("allreduce", chip="tilepro64", ranks=4, background=0.1)
    here = corecast.run("bcast", machine="threads", ranks=2, algorithm="linear")
    several = [bus, mesh, here, bus[:0]]
    both = polars.concat([polars.DataFrame(runs) for runs in several])
    assert both.height == len(bus) + len(mesh) + 1
    assert set(both["fidelity"]) == {None, "packet"} or "flit" in set(both["fidelity"])
    assert pandas.concat([runs.to_pandas() for runs in several]).dtypes["ranks"] == "int64"
    together = pyarrow.concat_tables([pyarrow.table(runs) for runs in several])
    assert together.num_rows == both.height
    union = "select * from bus union all select * from mesh union all select * from here"
    assert len(duckdb.sql(union).fetchall()) == both.height


def test_empty_tables_show_themselves():
    runs = corecast.run("bcast", ranks=4, algorithm="linear")
    assert repr(runs[:0]) == "Table without rows"
    assert "<th>" in runs[:0]._repr_html_()
    refused = runs.refused
    assert refused.columns == ["bytes", "algorithm", "why"] and len(refused) == 0
    assert duckdb.sql("select * from refused").fetchall() == []


def test_a_value_of_another_type_is_not_lost():
    table = corecast.Table([corecast.Record({"a": 2**63})], {"a": "int"})
    with pytest.raises(ValueError, match="column a: it has values that are no int"):
        pyarrow.table(table)


def test_tables_become_rules_of_other_libraries(tmp_path):
    at = {"chip": "park2019-bus", "ranks": 4, "bytes": [64, 4096]}
    bcast = corecast.tune("bcast", algorithm="binomial", **at).table
    allreduce = corecast.tune("allreduce", algorithm="ring", **at).table
    rules = corecast.rules([bcast, allreduce], "openmpi")
    assert str(rules) == rules.text and rules.library == "openmpi" and rules.notes == ()
    path = rules.save(tmp_path / "rules.conf")
    assert path.read_text() == rules.text and str(path) in rules.usage(path)
    folder = tmp_path / "tables"
    folder.mkdir()
    bcast.save(folder / "a.toml")
    allreduce.save(folder / "b.toml")
    assert corecast.rules(folder, "openmpi") == rules
    one = corecast.rules(folder / "a.toml", "mpich")
    assert one == corecast.rules(bcast, "mpich") != rules
    own = corecast.tune("bcast", algorithm="ap", **at).table
    with pytest.raises(corecast.TableError, match="Open MPI has none of the algorithms"):
        corecast.rules(own, "openmpi")
    with pytest.raises(corecast.TableError, match="both tables of bcast") as both:
        corecast.rules([bcast, own], "openmpi")
    # Where they lie for a moment is nobody's business.
    assert "table[0]" in str(both.value) and "corecast-" not in str(both.value)
    assert "corecast-" not in str(both.value.fields)
    assert repr(rules).startswith("<Rules for openmpi: ")
    assert pickle.loads(pickle.dumps(rules)) == rules
    shown = corecast.rules(bcast, "mpich")._repr_html_()
    assert shown.startswith("<pre>{")
    with pytest.raises(corecast.TableError) as missing:
        corecast.rules(tmp_path / "none.toml", "openmpi")
    assert missing.value.fields["file"].endswith("none.toml")
    with pytest.raises(corecast.InputError, match="chip: openmpi has algorithms of its own"):
        corecast.rules(bcast, "openmpi", chip="scc")
    with pytest.raises(corecast.UnknownNameError, match="openmp"):
        corecast.rules(bcast, "openmp")
    for table in (None, 3, [], [bcast, "b"]):
        with pytest.raises(corecast.InputTypeError, match="is no DecisionTable"):
            corecast.rules(table, "openmpi")


def test_tables_become_a_folder_of_schedules(tmp_path):
    at = {"ranks": 4, "bytes": [64, 4096], "algorithm": ["ring", "recursive-doubling"]}
    tuned = corecast.tune("allreduce", chip="park2019-bus", **at)
    made = corecast.rules(tuned.table, "msccl")
    assert made.text == "" and made.library == "msccl" and len(made.files) == len(made.texts) > 0
    assert "<table>" in made._repr_html_()
    assert made.files[0].min_bytes == 0 and made.files[-1].max_bytes is None
    assert {row.algorithm for row in made.files} <= set(at["algorithm"])
    folder = made.save(tmp_path / "algorithms")
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(row.name for row in made.files)
    assert made.usage(folder) == f"MSCCL_ALGO_DIR={folder}"
    read = corecast.Schedule.read(folder / names[0])
    assert read.ranks == 4 and corecast.verify(read).correct
    with pytest.raises(corecast.InputError, match="cannot make"):
        made.save(folder)
    chip = corecast.Chip("park2019-bus", endpoint__request=3)
    other = corecast.tune("allreduce", chip=chip, **at).table
    with pytest.raises(corecast.TableError, match="for another chip") as raised:
        corecast.rules(other, "msccl")
    assert "give its chip" in str(raised.value) and "--chip" not in str(raised.value)
    assert corecast.rules(other, "msccl", chip=chip).files == made.files
    own = corecast.tune("bcast", chip="park2019-bus", ranks=4, bytes=64, algorithm="ap").table
    with pytest.raises(corecast.TableError, match="nothing in these tables can be a file of MSCCL"):
        corecast.rules(own, "msccl")
