# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs on a chip in virtual time: MPI programs as they are, and programs of files."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _columns, _core, plans
from ._values import U64, flag, number, optional_whole, path_of, unfit, whole, word
from .chips import chip_of
from .errors import InputError, InputTypeError, ProgramError
from .figures import Figure, write_whole
from .plans import ChipLike
from .progress import bar
from .tables import Record, Table, table_of
from .tuning import Tables, tables_path

if TYPE_CHECKING:
    import pandas

__all__ = ["ProgramRun", "mpirun", "replay"]

#: What the libraries of MPI are called that programs ask for.
LIBRARIES = ("libmpi.so.12", "libmpi_abi.so.1")

#: Most ranks of a program.
RANKS_MAX = 1024

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
    with tables_path(table) as path:
        arguments = {
            "program": _words(program),
            "ranks": whole("ranks", ranks, 1, RANKS_MAX),
            "ranks_per_core": whole("ranks_per_core", ranks_per_core, 1, 1 << 16),
            "compute": None if compute is None else number("compute", compute, 1e-6, 1e6),
            "capture": flag("capture", capture),
            "timeout_s": None if timeout_s is None else number("timeout_s", timeout_s, 0, 1e9),
            "environment": _environment(environment),
            "libraries": _libraries(libraries),
            "table": path,
            "around": _around(fidelity, skew, background, seed, limit_events, limit_ns),
        }
        with bar(progress, "mpirun", 1) as told:
            try:
                return ProgramRun(_core.mpirun(of_chip._inner, json.dumps(arguments), told))
            except ProgramError as error:
                if arguments["libraries"] is None and error.fields.get("code") == NOT_STARTED:
                    error.help += NO_LIBRARIES
                raise


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
    with tables_path(table) as path:
        arguments = {
            "ranks_per_core": whole("ranks_per_core", ranks_per_core, 1, 1 << 16),
            "flops": None if flops is None else number("flops", flops, 1, 1e18),
            "table": path,
            "around": _around(fidelity, skew, background, seed, limit_events, limit_ns),
        }
        with bar(progress, "replay", 1) as told:
            found = _core.replay(of_chip._inner, name, json.dumps(arguments), told)
    for note in found.notes:
        warnings.warn(note, stacklevel=2)
    return ProgramRun(found)


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
