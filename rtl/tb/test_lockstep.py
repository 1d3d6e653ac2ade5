"""The engine against the Rust simulator: the same programs end in the same clocks.

vectors/simulator.json is written by from_simulator.py. A simulated core waits `notify` clocks after
everything that it receives, and at its end; the bench waits as long.
"""

import json
import random
from pathlib import Path

import cocotb

from bench import Bench
from golden import BCAST, RECV, SEND, Command, Program

VECTORS = json.loads((Path(__file__).parent / "vectors" / "simulator.json").read_text())


def program_of(case, notify, words):
    """The simulator's steps as commands."""
    program = Program(case["ranks"])
    everyone = (1 << case["ranks"]) - 1
    for rank, steps in enumerate(case["steps"]):
        if case["is_atomic"]:
            program.commands[rank] = [Command(BCAST, case["root"], 0, words, everyone)]
            continue
        received = False
        for kind, peer in steps:
            program.commands[rank].append(
                Command(SEND if kind == "send" else RECV, peer, 0, words,
                        gap=notify if received else 0, after_done=received))
            received = kind == "recv"
    return program


@cocotb.test()
async def finish_times_of_the_simulator(dut):
    """Finish time of every rank, and the data it has then."""
    bench = Bench(dut)
    await bench.start()
    notify = VECTORS["notify_cycles"]
    compared = 0
    for case in VECTORS["cases"]:
        words = -(-case["bytes"] // VECTORS["word_bytes"])
        if case["ranks"] != bench.nodes or words >= 1 << bench.len_w:
            continue
        memory = await bench.fill(random.Random(case["bytes"]), words)
        record = await bench.run(program_of(case, notify, words), 20_000)
        got = [times[-1] + notify for times in record.done]
        name = f"{case['algorithm']}, {case['bytes']} bytes, root {case['root']}"
        assert got == case["finish_cycles"], f"{name}: {got} is not {case['finish_cycles']}"
        assert await bench.dump(words) == [memory[case["root"]]] * bench.nodes, name
        compared += 1
    assert compared > 0, "no vector has this number of nodes"
    dut._log.info("%d programs end in the simulator's clocks", compared)
