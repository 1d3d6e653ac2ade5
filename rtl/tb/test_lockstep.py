# SPDX-License-Identifier: MIT OR Apache-2.0
"""The engine against the Rust simulator: the same programs, the same clocks, messages and bytes.

`corecast rtl-vectors` writes the programs and what the simulator did with them; MPE_VECTORS names the
files. Every acceptance, launch, request, ready, run of words and end must come in the simulator's
clock. MPE_ENDS gets the clock in which each program ended, if it ended as it should.
"""

import json
import os
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import cocotb

from bench import Bench, Timeout
from golden import Command, Program
from hardware import PARAMETERS
from run import parameters_of

MARGIN = 500    # clocks behind the simulator's end in which a late engine may still end
SHOWN = 5       # differing events that are printed


def first_word(node, addr, seed):
    """What a memory holds before the run."""
    return ((node << 16 | addr) * 0x9E3779B1 + seed) % (1 << 32)


def fnv(words, width_bytes):
    value = 0xCBF29CE484222325
    for word in words:
        for byte in word.to_bytes(width_bytes, "little"):
            value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


def program_of(case):
    program = Program(case["nodes"])
    for commands, given in zip(program.commands, case["commands"], strict=True):
        for show, op, peer, addr, length, members in given:
            commands.append(Command(op, peer, addr, length, members, show=show))
    return program


def by_node(kind, clocks):
    return [[clock, kind, node] for node, times in enumerate(clocks) for clock in times]


def happened(accepted, done, events):
    """One list of all that happened, in order."""
    return sorted(by_node("accepted", accepted) + by_node("done", done) + events)


def differences(expected, got):
    """The first events of either side that the other one has not, side by side."""
    counts = [Counter(map(tuple, events)) for events in (expected, got)]
    only = [sorted((one - other).elements())
            for one, other in ((counts[0], counts[1]), (counts[1], counts[0]))]
    rows = [["simulator", "engine"]] + [
        ["" if event is None else " ".join(map(str, event)) for event in row]
        for row in zip_longest(*(events[:SHOWN] for events in only))]
    width = max(len(left) for left, _ in rows) + 3
    return [f"{left:{width}}{right}" for left, right in rows] if any(only) else []


async def replay(bench, case, width_bytes):
    """Runs one program; returns what differs, as lines, and the clock of its end."""
    expected, words = case["expected"], case["memory_words"]
    await bench.reset()
    await bench.write([[first_word(node, addr, case["seed"]) for addr in range(words)]
                       for node in range(bench.nodes)])
    end = max((times[-1] for times in expected["done"] if times), default=0)
    lines = []
    try:
        record = await bench.run(program_of(case), end + MARGIN, watch=True)
    except Timeout as timeout:
        lines, record = [str(timeout)], timeout.record
    done = [[clock - 1 for clock in times] for times in record.done]
    # Between the engines of a netlist nothing can be watched.
    events = [] if "MPE_NETLIST" in os.environ else expected["events"]
    lines += differences(happened(expected["accepted"], expected["done"], events),
                         happened(record.accepted, done, record.events))
    hashes = [fnv(content, width_bytes) for content in await bench.dump(words)]
    lines += [f"memory of node {node}: simulator {want}, engine {got}"
              for node, (want, got) in enumerate(zip(expected["memory"], hashes, strict=True))
              if want != got]
    lines += [f"wrong length reported: {record.short} {record.long}"] \
        if record.short or record.long else []
    return lines, max((times[-1] for times in done if times), default=0)


@cocotb.test()
async def programs_of_the_simulator(dut):
    """Everything that happens, to the clock, and the bytes."""
    bench = Bench(dut)
    files = os.environ["MPE_VECTORS"].split(os.pathsep)
    vectors = [json.loads(Path(file).read_text()) for file in files]
    programs = [program for file in vectors for program in file["programs"]]
    cases = [case for case in programs
             if all(PARAMETERS[name] == value for name, value in parameters_of(case).items())]
    assert cases, f"no program is for {PARAMETERS}"
    width_bytes = bench.data_w // 8
    assert all(file["width_bytes"] == width_bytes for file in vectors)
    await bench.start()
    ends, failed = {}, []
    for case in cases:
        lines, ends[case["name"]] = await replay(bench, case, width_bytes)
        if lines:
            failed.append(case["name"])
            dut._log.error("%s:\n%s", case["name"], "\n".join(lines))
    # Two files may have programs of one name: it has failed if one of them has.
    Path(os.environ["MPE_ENDS"]).write_text(
        json.dumps({name: end for name, end in ends.items() if name not in failed}))
    dut._log.info("%d programs compared, %d are for other hardware", len(cases),
                  len(programs) - len(cases))
    assert not failed, f"{len(failed)} of {len(cases)} programs differ: {failed[0]}"
