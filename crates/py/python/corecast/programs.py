# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs on a chip in virtual time: MPI programs as they are, and programs of files."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _columns, _core, plans
from ._cases import Keeper, checkpoint_of, executor_of, work
from ._values import (
    U64,
    flag,
    number,
    optional_whole,
    path_of,
    unfit,
    unknown_argument,
    whole,
    word,
)
from .chips import Chip, chip_of, text_of
from .errors import InputError, InputTypeError, ProgramError, RunError
from .figures import Figure, write_whole
from .plans import ChipLike
from .progress import bar
from .tables import Record, Table, table_of
from .tuning import Tables, tables_path

if TYPE_CHECKING:
    import pandas

__all__ = ["ProgramRun", "Variation", "convert_program", "mpirun", "replay", "vary"]

#: What the libraries of MPI are called that programs ask for.
LIBRARIES = ("libmpi.so.12", "libmpi_abi.so.1")

#: Most ranks of a program.
RANKS_MAX = 1024

#: Most values of a key that are looked at: more are refused in any case.
VALUES_MAX = 100_000

#: With what a program ends that the loader or the shell cannot start.
NOT_STARTED = 127
#: What is said then where nothing is known to load.
NO_LIBRARIES = [
    "no MPI libraries of corecast were found for it: this package has none inside, and no command "
    "`corecast` is in PATH or named by the variable CORECAST",
    "`cargo xtask dist` builds a package with them; `cargo xtask mpi-install FOLDER` puts them into "
    'FOLDER/lib, which libraries="FOLDER/lib" names',
]


class ProgramRun(Record):
    """A program's run on a chip: fields as of ``corecast mpirun --report`` or ``replay --json``.

    ``ranks``, ``makespan_cycles`` (of the chip's reference clock), ``makespan_ns``, ``messages``,
    ``bytes``, ``causes_ns`` (of all ranks together), ``advice``, ...

    It keeps messages and spans in memory; its pickle keeps its fields and what was printed only.
    """

    _shown = ("chip", "ranks", "makespan_cycles", "makespan_ns", "messages", "bytes", "advice")
    _inner: _core.Program | None

    #: What all ranks have printed, and what they have printed as errors: up to 16 MiB of each.
    stdout: str
    stderr: str

    def __init__(self, core: _core.Program) -> None:
        super().__init__(json.loads(core.record()))
        self._inner = core
        self.stdout, self.stderr = core.printed

    def _state(self) -> dict[str, Any]:
        printed = {"stdout": self.stdout, "stderr": self.stderr}
        return {"_fields": self._fields, "_inner": None, **printed}

    @property
    def _held(self) -> _core.Program:
        if self._inner is None:
            raise InputError("a run that was pickled keeps its fields only", ["run it again"])
        return self._inner

    @property
    def advice(self) -> str:
        """What to look at first, in one sentence."""
        return str(self["advice"])

    @property
    def makespan_ns(self) -> float:
        """First rank's start to last rank's finish, in nanoseconds of virtual time."""
        return float(self["makespan_ns"])

    @property
    def calls(self) -> Table[Record]:
        """Calls by kind, all ranks together: ``call``, ``count``, ``ns``, ``causes_ns``."""
        return table_of(self["calls"], _columns.CALL)

    @property
    def rank_calls(self) -> Table[Record]:
        """The same for each rank."""
        rows = ({"rank": of["rank"], **call} for of in self["per_rank"] for call in of["calls"])
        return table_of(rows, _columns.RANK_CALL)

    @property
    def critical_path(self) -> Table[Record]:
        """From time zero to the makespan: ``rank``, ``call``, ``from_ns``, ``to_ns``, ``causes_ns``."""
        return table_of(self["critical_path"], _columns.STRETCH)

    @property
    def late_ranks(self) -> Table[Record]:
        """Ranks for which others have waited, those waited for longest first."""
        return table_of(self["late_ranks"], _columns.LATE_RANK)

    @property
    def pairs(self) -> Table[Record]:
        """Who sent how many messages and bytes to whom."""
        return table_of(self["pairs"], _columns.PAIR)

    @property
    def message_table(self) -> Table[Record]:
        """Every message in order of completion: ranks, bytes, times in nanoseconds."""
        return table_of(json.loads(self._held.messages()), _columns.MESSAGE)

    @property
    def spans(self) -> Table[Record]:
        """What every rank spent its time on; the spans of a rank are adjacent."""
        return table_of(json.loads(self._held.spans()), _columns.SPAN)

    @property
    def links(self) -> Table[Record]:
        """Flits over every link of a mesh that carried something; empty on other chips."""
        return table_of(json.loads(self._held.links()), _columns.LINK)

    def to_pandas(self) -> pandas.DataFrame:
        """:attr:`rank_calls` as a DataFrame; needs pandas."""
        return self.rank_calls.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """:attr:`rank_calls` as an Arrow stream: ``polars.DataFrame(run)``."""
        return self.rank_calls.__arrow_c_stream__(requested_schema)

    def timeline(self) -> Figure:
        """What every rank did when."""
        return Figure(self._held.timeline())

    def matrix(self) -> Figure:
        """Who sent how many bytes to whom."""
        return Figure(self._held.matrix())

    def trace(self) -> str:
        """The run as JSON for Chrome's or Perfetto's viewer, with every call."""
        return self._held.trace()

    def save_capture(self, path: str | os.PathLike[str]) -> Path:
        """Writes the packets of all ranks as a program for :func:`replay`; returns the path.

        Raises:
            InputError: if nothing was captured, or the file cannot be written.
        """
        captured = self._held.captured
        if captured is None:
            raise InputError("nothing was captured", ["corecast.mpirun(..., capture=True)"])
        write_whole(Path(path), captured)
        return Path(path)


def mpirun(
    program: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    ranks: int = 1,
    chip: ChipLike = "scc",
    ranks_per_core: int = 1,
    fidelity: str | None = None,
    compute: float | None = None,
    skew: Any = None,
    background: Any = None,
    seed: int = 0,
    table: Tables | None = None,
    capture: bool = False,
    environment: Mapping[str, str] | None = None,
    libraries: str | os.PathLike[str] | None = None,
    timeout_s: float | None = None,
    limit_events: int | None = None,
    limit_ns: int | None = None,
    progress: bool | None = None,
) -> ProgramRun:
    """Runs an MPI program on a chip in virtual time.

    The program is a process per rank, built against MPICH's ABI or the standard one of MPI-5; what its
    ranks print is in the result. Nothing is read from the input of this process.

    Args:
        program: The program and its arguments: ``["./ring", "100"]``, or a name or path alone.
        ranks: Number of ranks.
        chip: A :class:`Chip`, or its name or path.
        ranks_per_core: How many ranks share each core and take turns on it.
        compute: What computing between calls counts as: its processor time on this computer times this
            factor. Without it only what the program states by ``MPI_Pcontrol`` counts.
        skew, background, seed: As of :func:`corecast.run`.
        table: Which algorithms collectives take: a table of ``tune(..., machine="mpi")``, several, the path
            of a file or folder, the name of a built-in chip, or ``"none"`` for what is best on hosts; the
            chip's own if not given.
        capture: Whether what ranks send is kept as a program for :func:`replay`.
        environment: Variables that the ranks get beside those of this process.
        libraries: The folder of corecast's MPI libraries; without it those of this package, or those
            beside the command ``corecast`` (in ``PATH``, or named by the variable ``CORECAST``).
        timeout_s: After so many seconds all ranks are ended.
        fidelity, limit_events, limit_ns: As of :func:`corecast.run`.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

    Raises:
        InputError: for what cannot be run, by its subclasses.
        ProgramError: if a rank fails; it has what was printed.
        DeadlockError: if no rank can go on; ``stuck`` says what each waits for.
        LimitError: if the program does not end in time.
    """
    of_chip = chip_of(chip)
    arguments = _arguments(
        program,
        ranks=ranks,
        ranks_per_core=ranks_per_core,
        fidelity=fidelity,
        compute=compute,
        skew=skew,
        background=background,
        seed=seed,
        environment=environment,
        libraries=libraries,
        timeout_s=timeout_s,
        limit_events=limit_events,
        limit_ns=limit_ns,
    )
    arguments["capture"] = flag("capture", capture)
    with (
        tables_path(table) as tables,
        bar(progress, "mpirun", 1) as told,
        _naming_libraries(arguments),
    ):
        text = json.dumps({**arguments, "table": tables.path})
        found = _core.mpirun(of_chip._inner, text, told)
    for note in found.notes:
        warnings.warn(tables.named(note), stacklevel=2)
    return ProgramRun(found)


class Variation(Table[Record]):
    """A program's runs on a chip with other numbers, in the order of the values.

    A column for every key that varies, with its values, then ``outcome`` (``"done"`` or ``"failed"``),
    ``why`` it failed, ``makespan_cycles`` (of the chip's reference clock), ``makespan_ns``, ``messages``,
    ``bytes``, ``causes_ns`` (of all ranks together), what ranks have printed (``stdout``, ``stderr``: the
    first 64 KiB of each), and the settings. ``corecast.list_keys()`` has the units of keys.
    """

    _svg: str | None

    def __init__(
        self, rows: Sequence[Record], varying: Mapping[str, Sequence[Any]], svg: str | None
    ) -> None:
        keys = {key: _kind(values) for key, values in varying.items()}
        super().__init__(rows, {**keys, **_columns.VARIED})
        self._shown = (*keys, "outcome", "makespan_cycles", "makespan_ns", "messages", "bytes")
        self._svg = svg

    def figure(self) -> Figure:
        """Makespan over the values of the first key, a line for every combination of the others.

        Raises:
            InputError: if no run has come to its end.
        """
        if self._svg is None:
            raise InputError("no run has come to its end", ["`why` of each row says why not"])
        return Figure(self._svg)


def varied_run(
    chip: Chip, changes: list[tuple[str, str]], arguments: dict[str, Any], table: Tables | None
) -> str:
    """One run of a sweep, anywhere; one that fails ends no other."""
    try:
        with tables_path(table) as tables, _naming_libraries(arguments):
            text = json.dumps({**arguments, "table": tables.path})
            return _core.varied_run(chip._inner, changes, text)
    except RunError as error:
        printed = {name: error.fields.get(name, "") for name in ("stdout", "stderr")}
        return json.dumps({"changes": changes, "shown": None, "why": str(error), **printed})


def vary(
    program: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    varying: Mapping[str, Any],
    *,
    chip: ChipLike = "scc",
    table: Tables | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **more: Any,
) -> Variation:
    """Runs an MPI program once with every combination of values of a chip's numbers and words.

    A run that fails is a row that says why, and ends no other. What is not wrong with a chip and may
    surprise is said as a warning.

    Args:
        program: As of :func:`mpirun`.
        varying: Keys of the chip file, each with a value or several: ``{"network.link": [1, 2, 4]}``. Of
            several keys all combinations are run, at most 1000; the last varies fastest.
        chip: A :class:`Chip`, or its name or path; it is changed in none of these keys.
        table: As of :func:`mpirun`.
        executor: Any :class:`concurrent.futures.Executor`; each run is one call, which is pickled where
            that is needed. Its workers find the program, the table's file and the libraries where this
            process does.
        checkpoint: A file in which runs are kept as they come to their end. Those that it has are not
            made again, so a sweep that was interrupted goes on; those that failed are. It does not notice
            that the program was compiled anew.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.
        more: The other arguments of :func:`mpirun`, but ``capture``.

    Raises:
        InputError: for what cannot be run, by its subclasses, before anything starts; also if the program
            cannot be started, or the checkpoint was made of something else.
        RunError: if the executor fails; what was found until then is in the checkpoint.

    >>> import corecast
    >>> corecast.vary("./halo", {"network.lnk": [1, 2]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    corecast.errors.ChipError: chips/scc.toml: no key `network.lnk` with a value to change
      did you mean `network.link`?
      ...
    """
    of_chip, executor, values = chip_of(chip), executor_of(executor), _varying(varying)
    for name in more:
        if name not in VARY_MORE:
            known = ["program", "varying", "chip", "table", "executor", "checkpoint", "progress"]
            raise unknown_argument(name, [*known, *VARY_MORE])
    arguments = {**_arguments(program, **more), "capture": False}
    texts = [(key, [text_of(key, value) for value in some]) for key, some in values.items()]
    path = checkpoint_of(checkpoint)
    with tables_path(table) as tables:
        inner = of_chip._inner
        text = json.dumps({**arguments, "table": tables.path})
        varied = _core.Varied(inner, texts, text, path)
    for note in varied.notes():
        warnings.warn(tables.named(note), stacklevel=2)
    runs = varied.changes()
    missing = [changes for changes in runs if not varied.has(changes)]
    with bar(progress, "vary", len(runs)) as told:
        keeper = Keeper(varied, path, len(runs) - len(missing), told)
        calls = [(of_chip, changes, arguments, table) for changes in missing]
        work(keeper, varied_run, calls, executor)
    combinations = product(*values.values())
    rows = [
        Record({**dict(zip(values, combination)), **row})
        for combination, row in zip(combinations, json.loads(varied.rows()))
    ]
    return Variation(rows, values, varied.chart())


def replay(
    file: str | os.PathLike[str],
    *,
    chip: ChipLike = "scc",
    ranks_per_core: int = 1,
    flops: float | None = None,
    table: Tables | None = None,
    fidelity: str | None = None,
    skew: Any = None,
    background: Any = None,
    seed: int = 0,
    limit_events: int | None = None,
    limit_ns: int | None = None,
    progress: bool | None = None,
) -> ProgramRun:
    """Runs a program from a file on a chip: GOAL, SimGrid's traces, our own text, or a capture.

    What the file says and the program does not do is said as a warning.

    Args:
        file: Its path; files that it names are beside it.
        chip: A :class:`Chip`, or its name or path.
        ranks_per_core: How many ranks share each core and take turns on it.
        flops: Operations per second of a core, for files that count what is computed in operations.
        table: Which algorithms collectives take: a table of ``tune(..., machine="mpi")``, several, the path
            of a file or folder, the name of a built-in chip, or ``"none"`` for what is best on hosts; the
            chip's own if not given.
        fidelity, skew, background, seed, limit_events, limit_ns: As of :func:`corecast.run`.
        progress: Whether a bar is shown; ``None`` leaves it to where the output goes.

    Raises:
        ProgramFileError: for what is wrong in the file, with its line.
        InputError: for what cannot be run, by its other subclasses.
        DeadlockError: if no rank can go on; ``stuck`` says what each waits for.
        LimitError: if the program does not end in time.

    >>> import corecast, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.calls"
    >>> text = "corecast calls 1\\nranks 2\\nrank 0\\nsend 1 64\\nrank 1\\nrecv 0 64\\n"
    >>> _ = file.write_text(text)
    >>> run = corecast.replay(file, chip="tilepro64")
    >>> run.messages, [(call.call, call["count"]) for call in run.calls]
    (1, [('recv', 1), ('send', 1)])
    """
    name = path_of("file", file, "give the path of a program's file")
    of_chip = chip_of(chip)
    with tables_path(table) as tables:
        arguments = {
            "ranks_per_core": whole("ranks_per_core", ranks_per_core, 1, 1 << 16),
            "flops": None if flops is None else number("flops", flops, 1, 1e18),
            "table": tables.path,
            "around": _around(fidelity, skew, background, seed, limit_events, limit_ns),
        }
        with bar(progress, "replay", 1) as told:
            found = _core.replay(of_chip._inner, name, json.dumps(arguments), told)
    for note in found.notes:
        warnings.warn(tables.named(note), stacklevel=2)
    return ProgramRun(found)


def convert_program(
    file: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    format: str | None = None,
    flops: float | None = None,
) -> list[Path]:
    """Writes the program of a file in another format, as ``corecast convert`` does.

    What is lost on the way is said as a warning. Schedules are written by :meth:`Schedule.save`.

    Args:
        file: Its path, in any format of programs; files that it names are beside it.
        to: The file to write, whole or not at all; of a format with a file per rank all are written.
        format: A format of programs of ``corecast.list_formats()``; how the name of `to` ends says it if
            not given.
        flops: Operations per second of a core, for files that count what is computed in operations.

    Returns:
        The paths of what was written.

    Raises:
        ProgramFileError: for what is wrong in the file, with its line, or cannot be said in the format.
        InputError: if a file cannot be read or written, or its name says no format.

    >>> import corecast, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "corecast calls 1\\nranks 2\\nrank 0\\nsend 1 64\\nrank 1\\nrecv 0 64\\n"
    >>> _ = (folder / "two.calls").write_text(text)
    >>> [path.name for path in corecast.convert_program(folder / "two.calls", folder / "two.goal")]
    ['two.goal']
    >>> corecast.replay(folder / "two.goal", chip="tilepro64").messages
    1
    """
    if format is not None:
        word("format", format, _core.names("program_format"))
    rate = None if flops is None else number("flops", flops, 1, 1e18)
    name = path_of("file", file, "give the path of a program's file")
    written, notes = _core.convert_program(name, path_of("to", to), format, rate)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return [Path(path) for path in written]


def _arguments(
    program: Any,
    *,
    ranks: int = 1,
    ranks_per_core: int = 1,
    fidelity: Any = None,
    compute: Any = None,
    skew: Any = None,
    background: Any = None,
    seed: int = 0,
    environment: Any = None,
    libraries: Any = None,
    timeout_s: Any = None,
    limit_events: Any = None,
    limit_ns: Any = None,
) -> dict[str, Any]:
    """What to start and amid what, as Rust takes it; but for the table and whether it is captured."""
    return {
        "program": _words(program),
        "ranks": whole("ranks", ranks, 1, RANKS_MAX),
        "ranks_per_core": whole("ranks_per_core", ranks_per_core, 1, 1 << 16),
        "compute": None if compute is None else number("compute", compute, 1e-6, 1e6),
        "timeout_s": None if timeout_s is None else number("timeout_s", timeout_s, 0, 1e9),
        "environment": _environment(environment),
        "libraries": _libraries(libraries),
        "around": _around(fidelity, skew, background, seed, limit_events, limit_ns),
    }


#: What :func:`vary` takes of :func:`mpirun` without a word of its own.
VARY_MORE = tuple(name for name in inspect.signature(_arguments).parameters if name != "program")


@contextmanager
def _naming_libraries(arguments: Mapping[str, Any]) -> Iterator[None]:
    """Says of a program that the loader cannot start that there are no libraries for it."""
    try:
        yield
    except ProgramError as error:
        if arguments["libraries"] is None and error.fields.get("code") == NOT_STARTED:
            error.help += NO_LIBRARIES
        raise


def _varying(value: Any) -> dict[str, list[Any]]:
    """Keys with the values that they take in turn."""
    help = ['such as {"network.link": [1, 2, 4]}']
    if not isinstance(value, Mapping):
        raise unfit(InputTypeError, "varying", value, "is no mapping", help)
    found = {}
    for key, values in value.items():
        is_one = isinstance(values, str) or not isinstance(values, Iterable)
        some = [values] if is_one else islice(values, VALUES_MAX)
        # NumPy's numbers as Python's.
        plain = [one.item() if hasattr(one, "item") else one for one in some]
        texts = [text_of(key, one) for one in plain]
        found[word("varying", key)] = plain if _kind(plain) != "text" else texts
    return found


def _kind(values: Sequence[Any]) -> str:
    """The type of a column with these values."""
    if all(isinstance(value, int) for value in values):
        return "int"
    return "float" if all(isinstance(value, (int, float)) for value in values) else "text"


def _around(
    fidelity: Any, skew: Any, background: Any, seed: Any, limit_events: Any, limit_ns: Any
) -> dict[str, Any]:
    return {
        "fidelity": None
        if fidelity is None
        else word("fidelity", fidelity, _core.names("fidelity")),
        "skew": plans.skew_of(skew),
        "background": plans.background_of(background),
        "seed": whole("seed", seed, 0, U64),
        "limit_events": optional_whole("limit_events", limit_events),
        "limit_ns": optional_whole("limit_ns", limit_ns),
    }


def _words(program: Any) -> list[str]:
    words = [program] if isinstance(program, (str, os.PathLike)) else program
    help = ['give a path, or a list such as ["./ring", "100"]']
    if not isinstance(words, Sequence) or isinstance(words, bytes) or not words:
        raise unfit(InputTypeError, "program", program, "names no program", help)
    found = []
    for entry in words:
        text = os.fspath(entry) if isinstance(entry, os.PathLike) else entry
        if not isinstance(text, str):
            raise unfit(InputTypeError, "program", entry, "is no text", help)
        word("program", text)
        if "\0" in text:
            raise unfit(InputError, "program", entry, "contains a NUL", help)
        found.append(text)
    return found


def _environment(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise unfit(InputTypeError, "environment", value, "is no mapping", ['such as {"A": "1"}'])
    found = {word("environment", name): word("environment", text) for name, text in value.items()}
    for name, text in found.items():
        if not name or "=" in name or "\0" in name + text:
            raise unfit(InputError, "environment", name, "cannot be a variable", [])
    return found


def _libraries(value: Any) -> str | None:
    """The folder with the MPI libraries, if there is one."""
    if value is not None:
        if not isinstance(value, (str, os.PathLike)):
            raise unfit(InputTypeError, "libraries", value, "is no path", ["give a folder"])
        if not _has_library(Path(value)):
            raise InputError(
                f"libraries: `{os.fspath(value)}` has no MPI library of corecast",
                ["`cargo xtask mpi-install FOLDER` puts them into FOLDER/lib"],
            )
        return os.path.abspath(value)
    own = Path(__file__).parent / "lib"
    if _has_library(own):
        return str(own)
    command = os.environ.get("CORECAST") or shutil.which("corecast")
    return None if command is None else _core.libraries(str(Path(command).resolve()))


def _has_library(folder: Path) -> bool:
    return any((folder / name).exists() for name in LIBRARIES)
