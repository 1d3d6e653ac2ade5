# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is refused: class, what was wrong, what would be right, and the fields."""

import math
import pickle

import corecast
import numpy
import pytest
from conftest import ROOT

REFUSED = [
    (
        lambda: corecast.run("reduce", data=numpy.ma.masked_less([[1.0], [2.0]], 2)),
        corecast.InputTypeError,
        "data: some elements are masked, and messages carry all\n  fill them: data.filled(0)",
    ),
    (
        lambda: corecast.Chip("scc", set={"network.width": 12}, network__width=8),
        corecast.InputError,
        "network.width: it is given twice, in `set` and as a keyword",
    ),
    (
        lambda: pickle.dumps(corecast.request("bcast", ranks=4)),
        corecast.InputError,
        "requests are not pickled\n  pickle the arguments of corecast.request",
    ),
    (
        lambda: corecast.run("bcst"),
        corecast.UnknownNameError,
        "there is no collective called `bcst`\n  did you mean `bcast`?\n  collectives: bcast, ",
    ),
    (
        lambda: corecast.run("bcast", chip="tilepro46"),
        corecast.UnknownNameError,
        "there is no chip called `tilepro46`\n  did you mean `tilepro64`?\n  chips: ",
    ),
    (
        lambda: corecast.run("bcast", algorithm="binomal"),
        corecast.UnknownNameError,
        "there is no bcast algorithm called `binomal`\n  did you mean `binomial`?",
    ),
    (
        lambda: corecast.run("bcast", machine="hots"),
        corecast.UnknownNameError,
        "there is no machine called `hots`",
    ),
    (
        lambda: corecast.run("bcast", ranks=49),
        corecast.RequestError,
        "49 ranks do not fit on scc\n  use 1 to 48 ranks, one per core",
    ),
    (
        lambda: corecast.run("bcast", ranks="8"),
        corecast.InputTypeError,
        "ranks: '8' is no whole number\n  give a number from 1 to 4294967295",
    ),
    (
        lambda: corecast.run("bcast", ranks=[4, 8]),
        corecast.InputError,
        "ranks: this takes one rank count\n  corecast.compare takes a list",
    ),
    (
        lambda: corecast.run("bcast", bytes=math.nan),
        corecast.InputTypeError,
        "bytes: nan is no whole number",
    ),
    (
        lambda: corecast.run("bcast", bytes=2**70),
        corecast.InputError,
        "bytes: 1180591620717411303424 is out of range\n  accepted: 0 to 18446744073709551615",
    ),
    (
        lambda: corecast.run("bcast", bytes=1 << 40),
        corecast.RequestError,
        "1099511627776 bytes over 8 ranks exceed 1 GiB in all\n  use at most 134217728 bytes",
    ),
    (
        lambda: corecast.run("bcast", bytes=-1),
        corecast.InputError,
        "bytes: -1 is out of range",
    ),
    (
        lambda: corecast.run("bcast", background=math.nan, chip="tilepro64"),
        corecast.InputError,
        "background: nan is out of range\n  accepted: 0 to 1",
    ),
    (
        lambda: corecast.run("bcast", root=8),
        corecast.RequestError,
        "rank 8 does not exist\n  with 8 ranks the root is 0 to 7",
    ),
    (
        lambda: corecast.run("reduce", dtype="f32", bytes=6),
        corecast.RequestError,
        "6 bytes are no whole number of f32\n  use a multiple of 4 bytes",
    ),
    (
        lambda: corecast.run("reduce", dtype="complex64"),
        corecast.UnknownNameError,
        "there is no dtype called `complex64`",
    ),
    (
        lambda: corecast.run("allgather", algorithm="recursive-doubling", ranks=6),
        corecast.UnservedError,
        "no algorithm can serve this allgather\n  recursive-doubling needs a power of two ranks",
    ),
    (
        lambda: corecast.run("bcast", skew="late"),
        corecast.InputTypeError,
        "skew: 'late' says not who is late\n  give (\"uniform\", cycles)",
    ),
    (
        lambda: corecast.run("bcast", ongoing=[1]),
        corecast.InputTypeError,
        "ongoing: 1 is no transfer\n  entries are (rank, bytes)",
    ),
    (
        lambda: corecast.run("bcast", ongoing=[(99, 4)]),
        corecast.RequestError,
        "`99=4` names no rank of this run\n  `ongoing` has entries",
    ),
    (
        lambda: corecast.run("bcast", cold=True, chip="tilepro64"),
        corecast.MachineError,
        'the cores of tilepro64 have no caches\n  leave out `cold`, or use chip="scc"',
    ),
    (
        lambda: corecast.run("bcast", limit_ns=1, algorithm="linear"),
        corecast.LimitError,
        "linear: the run did not end within ",
    ),
    (
        lambda: corecast.Chip("scc", network__widht=8),
        corecast.ChipError,
        "chips/scc.toml: no key `network.widht` with a value to change\n"
        "  did you mean `network.width`?",
    ),
    (
        lambda: corecast.Chip.from_toml("x = 1", "mine.toml"),
        corecast.ChipError,
        "mine.toml:1",
    ),
    (
        lambda: corecast.Chip("scc", set=[1]),
        corecast.InputTypeError,
        "set: [1] is no mapping",
    ),
    (
        lambda: corecast.DecisionTable("rank = 1", "mine.toml"),
        corecast.TableError,
        "mine.toml:1",
    ),
    (
        lambda: corecast.DecisionTable.read("missing.toml"),
        corecast.InputError,
        "the table `missing.toml` cannot be read: No such file or directory",
    ),
    (
        lambda: corecast.traffic(chip="park2019-bus"),
        corecast.TrafficError,
        'park2019-bus is a bus, and traffic needs a mesh\n  use chip="booksim-mesh"',
    ),
    (
        lambda: corecast.traffic(pattern="unifrom"),
        corecast.UnknownNameError,
        "there is no pattern called `unifrom`\n  did you mean `uniform`?",
    ),
    (
        lambda: corecast.traffic(rates=[math.inf]),
        corecast.InputError,
        "rates: inf is out of range",
    ),
    (
        lambda: corecast.pingpong(to=[0]),
        corecast.RequestError,
        "rank 0 plays with itself\n  name another rank than `start`",
    ),
    (
        lambda: corecast.flow("missing.toml"),
        corecast.InputError,
        "the flow file `missing.toml` cannot be read",
    ),
    (
        lambda: corecast.run("bcast", rank=4),
        corecast.InputTypeError,
        "there is no argument `rank`\n  did you mean `ranks`?\n  arguments: collective, chip, machine, ranks",
    ),
    (
        lambda: corecast.reproduce("park2018"),
        corecast.UnknownNameError,
        "there is no paper called `park2018`\n  did you mean `park2019`?",
    ),
    (
        lambda: corecast.tune("bcast", algorithm="auto"),
        corecast.InputError,
        'algorithm: "auto" is what a table is made for',
    ),
    (
        lambda: corecast.tune("bcast", skew={1: 5}),
        corecast.InputTypeError,
        "skew: a table says nothing about it\n  leave `skew` out",
    ),
    (
        lambda: corecast.compare("bcast", executor=4),
        corecast.InputTypeError,
        "executor: 4 has no method `submit`",
    ),
    (
        lambda: corecast.run("allreduce", data=numpy.zeros(4), ranks=3),
        corecast.RequestError,
        "data: 4 rows for ranks=3\n  give a row per rank",
    ),
    (
        lambda: corecast.run("alltoall", data=numpy.zeros((4, 3, 2))),
        corecast.RequestError,
        "data: alltoall takes no array of shape (4, 3, 2)\n  its shape is (ranks, ranks, ...)",
    ),
    (
        lambda: corecast.run("bcast", data=[object()]),
        corecast.InputTypeError,
        "data: elements of type object are no plain numbers",
    ),
    (
        lambda: corecast.run("barrier", data=numpy.zeros(4)),
        corecast.RequestError,
        "barrier moves no data\n  leave `data` out",
    ),
]


@pytest.mark.parametrize(
    ("refused", "kind", "text"), REFUSED, ids=[case[2][:40] for case in REFUSED]
)
def test_texts_say_what_was_wrong_and_what_would_be_right(refused, kind, text):
    with pytest.raises(corecast.Error) as raised:
        refused()
    assert type(raised.value) is kind, raised.value
    assert str(raised.value).startswith(text), str(raised.value)


def test_errors_have_fields_and_can_be_pickled():
    with pytest.raises(corecast.RequestError) as raised:
        corecast.run("bcast", ranks=1000)
    error = raised.value
    assert (error.ranks, error.chip, error.max) == (1000, "scc", 48)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.fields) == (str(error), error.fields)
    with pytest.raises(AttributeError, match="has no field 'nothing'"):
        error.nothing


def test_errors_are_what_python_expects():
    assert issubclass(corecast.InputError, ValueError)
    assert issubclass(corecast.InputTypeError, TypeError)
    assert issubclass(corecast.RunError, RuntimeError)
    with pytest.raises(TypeError):
        corecast.run("bcast", rank=8)


def test_unwritable_files_leave_nothing_behind(tmp_path):
    figure = corecast.Figure("<svg/>")
    with pytest.raises(corecast.InputError, match="cannot write"):
        figure.save(tmp_path / "missing" / "x.svg")
    with pytest.raises(corecast.InputError, match="in neither .svg, .pdf nor .png"):
        figure.save(tmp_path / "x.jpg")
    with pytest.raises(corecast.InputError, match="it is no picture"):
        corecast.Figure("none").save(tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []
    assert figure.save(tmp_path / "x.svg").read_text() == "<svg/>"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: corecast.run("bcast", background=10**400),
            corecast.InputError,
            "background: 1000.* is out of range",
        ),
        (
            lambda: corecast.Chip("scc", network__link=10**5000),
            corecast.InputError,
            "network.link: the number is out of range",
        ),
        (
            lambda: corecast.tune("bcast", algorithm=numpy.array(["mst", "ap"])),
            corecast.InputTypeError,
            "algorithm: .* names no algorithm",
        ),
        (lambda: corecast.flow(5), corecast.InputTypeError, "file: 5 is no path"),
        (lambda: corecast.flow(text="", placement=5), corecast.InputTypeError, "placement: 5"),
        (lambda: corecast.flow(text="", flow_control=3), corecast.InputTypeError, "flow_control"),
        (lambda: corecast.traffic(trace=5), corecast.InputTypeError, "the trace: 5 is no path"),
        (
            lambda: corecast.traffic(pattern="hotspot", hot_cores=5),
            corecast.InputTypeError,
            "hot_cores: 5 is no list",
        ),
        (lambda: corecast.traffic(open_loop=1), corecast.InputTypeError, "open_loop: 1"),
        (lambda: corecast.traffic(open_loop=True), corecast.InputTypeError, "give `trace`"),
        (
            lambda: corecast.traffic(trace="t", rates=[0.1]),
            corecast.InputTypeError,
            "rates: a trace says itself",
        ),
        (
            lambda: corecast.traffic(trace="t", pattern="tornado"),
            corecast.InputTypeError,
            "pattern: a trace says itself",
        ),
        (
            lambda: corecast.verify("bcast", repeat=4),
            corecast.InputTypeError,
            "repeat: verify looks at one run",
        ),
        (
            lambda: corecast.explain("bcast", repeat=4),
            corecast.InputTypeError,
            "repeat: explain looks at one run",
        ),
        (lambda: corecast.Chip("./\udcff.toml"), corecast.InputError, "UTF-8"),
        (lambda: corecast.Schedule.read("\udcff.sched"), corecast.InputError, "UTF-8"),
        (lambda: corecast.Schedule.read(b"a.sched"), corecast.InputTypeError, "is no path"),
        (lambda: corecast.replay("\udcff.calls"), corecast.InputError, "UTF-8"),
        (lambda: corecast.view("\udcff.json"), corecast.InputError, "UTF-8"),
        (lambda: corecast.view("a\0.json"), corecast.InputError, "contains a NUL"),
        (lambda: corecast.DecisionTable.read("\udcff.toml"), corecast.InputError, "UTF-8"),
        (lambda: corecast.compare("bcast", checkpoint="\udcff"), corecast.InputError, "UTF-8"),
    ],
)
def test_nothing_else_is_raised(call, kind, text):
    with pytest.raises(corecast.Error, match=text) as raised:
        call()
    assert isinstance(raised.value, kind)


def test_round_trips_have_limits_of_their_own():
    with pytest.raises(corecast.LimitError, match="raise `limit_ns` or `limit_events`"):
        corecast.pingpong(chip="scc", to=[47], bytes=[1 << 30])
    with pytest.raises(corecast.LimitError):
        corecast.pingpong(chip="scc", to=[47], bytes=[64], limit_ns=100)
    with pytest.raises(corecast.LimitError):
        corecast.pingpong(chip="scc", to=[47], bytes=[64], limit_events=10)
    assert corecast.pingpong(chip="scc", to=[47], bytes=[64], limit_ns=1_000_000)


def test_sizes_in_an_array_are_as_in_a_list():
    of = {"chip": "park2019-bus", "ranks": 4}
    by_array = corecast.compare("barrier", **of, bytes=numpy.array([0, 4]))
    assert by_array == corecast.compare("barrier", **of, bytes=[0, 4])


BAD_CALLS = "corecast calls 1\nranks 2\nrank 0\n  sned 1 4\n"
BAD_CHIP = 'base = "scc"\nname = "m"\nsummary = "x"\nsource = "y"\n[network]\nvcsx = 3\n'
BAD_TABLE = 'format = 1\ncorecast = "0"\ncollective = "bcst"\n'
BAD_FLOW = (ROOT / "examples/fir.toml").read_text().replace("iterations = 200", "iterations = 0")


def written(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


#: What is wrong, and some of the fields of its error.
FIELDS = [
    (lambda at: corecast.run("bcast", ranks=0), {"name": "ranks", "value": 0}),
    (lambda at: corecast.run("bcast", ranks=0), {"accepted": "1 to 4294967295"}),
    (
        lambda at: corecast.run("bcast", ranks="x"),
        {"name": "ranks", "value": "x", "accepted": "1 to 4294967295"},
    ),
    (lambda at: corecast.run("bcast", skew=[[1]]), {"name": "skew", "value": "[1]"}),
    (
        lambda at: corecast.run("bcast", progress="yes"),
        {"name": "progress", "value": "yes"},
    ),
    (lambda at: corecast.flow("missing.toml"), {"file": "missing.toml"}),
    (lambda at: corecast.Schedule.read("missing.sched"), {"file": "missing.sched"}),
    (
        lambda at: corecast.Chip.from_toml(BAD_CHIP, "mine.toml"),
        {"file": "mine.toml", "line": 6, "key": "vcsx"},
    ),
    (
        lambda at: corecast.Chip("scc", network__link=-1),
        {"file": "chips/scc.toml as changed", "key": "network.link", "value": "-1"},
    ),
    (
        lambda at: corecast.Chip("scc", network__widht=8),
        {"file": "chips/scc.toml", "key": "network.widht"},
    ),
    (
        lambda at: corecast.DecisionTable(BAD_TABLE, "mine.toml"),
        {"file": "mine.toml", "line": 3, "key": "collective", "value": "bcst"},
    ),
    (
        lambda at: corecast.replay(written(at, "bad.calls", BAD_CALLS)),
        {"line": 4},
    ),
    (
        lambda at: corecast.flow(text=BAD_FLOW),
        {"file": "text", "line": 7, "key": "iterations", "value": "0"},
    ),
    (lambda at: corecast.flow(text=BAD_FLOW, chip="scc"), {"chip": "scc"}),
    (lambda at: corecast.traffic(chip="park2019-bus"), {"chip": "park2019-bus"}),
    (
        lambda at: corecast.traffic(trace=written(at, "bad.trace", "0 0 5 4\nx\n")),
        {"line": 2},
    ),
    (lambda at: corecast.traffic(packet_flits=5000), {"key": "packet", "value": "5000"}),
    (
        lambda at: corecast.run("bcast", chip="park2019-bus", fidelity="packet"),
        {"chip": "park2019-bus"},
    ),
    (lambda at: corecast.run("bcast", machine="host", cold=True), {"machine": "host"}),
]


@pytest.mark.parametrize(("refused", "some"), FIELDS)
def test_errors_say_their_place_and_value_in_fields(refused, some, tmp_path):
    with pytest.raises(corecast.Error) as raised:
        refused(tmp_path)
    found = raised.value.fields
    assert {name: found.get(name) for name in some} == some, (str(raised.value), found)
    again = pickle.loads(pickle.dumps(raised.value))
    assert again.fields == found


def test_accepted_values_are_in_the_fields_where_the_text_says_them():
    with pytest.raises(corecast.ChipError) as raised:
        corecast.Chip.from_toml(BAD_CHIP, "mine.toml")
    assert "vcs" in raised.value.accepted
    with pytest.raises(corecast.TableError) as raised:
        corecast.DecisionTable(BAD_TABLE, "mine.toml")
    assert "bcast" in raised.value.accepted


def test_the_reference_names_the_fields_that_errors_have(tmp_path):
    """Those of the errors above, in the rows of their classes."""
    lines = (ROOT / "docs/errors.md").read_text().splitlines()
    rows = {line.split("`")[1]: line.split("|")[-2] for line in lines if line.startswith("| `")}
    for refused, _ in FIELDS:
        with pytest.raises(corecast.Error) as raised:
            refused(tmp_path)
        kind = type(raised.value)
        named = "".join(rows.get(one.__name__, "") for one in (kind, kind.__base__))
        for name in raised.value.fields:
            assert f"`{name}`" in named, (kind, name)


def test_ranks_that_leave_no_byte_are_told_to_be_fewer():
    mesh = corecast.Chip("tilepro64", network__width=1000, network__height=1000)
    with pytest.raises(corecast.RequestError, match="use fewer ranks: one byte per block"):
        corecast.run("alltoall", chip=mesh, ranks=1_000_000, algorithm="pairwise")
