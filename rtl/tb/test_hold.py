# SPDX-License-Identifier: MIT OR Apache-2.0
"""HoldLaunch: every broadcast is launched in its clock, neither earlier nor later.

The clock follows from what the nodes were seen to do: when they showed their commands, gave ready,
moved words and were done.
"""

import os
import random

import cocotb

from bench import Bench
from golden import BCAST, FWD, RECV, SEND, Program, order, random_program
from hardware import PARAMETERS

SEED = int(os.environ.get("MPE_SEED", "1"))
PROGRAMS = int(os.environ.get("MPE_PROGRAMS", "6"))


class Past:
    """The command before a broadcast at one of its members."""

    def __init__(self, program, record, node, index):
        command = program.commands[node][index]
        self.role = role_of(program, record, node, index)
        self.length = command.length
        self.done = record.done[node][index] - 1
        # The clock of the first word, from which on the end is known; the end, if there is none.
        self.settled = self.done - self.length - (self.role == FWD and self.length > 0)

    def is_in_time(self, clock, hops):
        left = self.done - clock
        return left < 0 or left <= min(hops, self.length + (self.role == FWD))


def role_of(program, record, node, index):
    """What a command became: a broadcast's root sends, its last node receives."""
    command = program.commands[node][index]
    if command.op != BCAST:
        return command.op
    chain = order(record.launches[command.message][1], command.members, command.peer)
    return SEND if node == chain[0] else RECV if node == chain[-1] else FWD


def check_launches(program, record):
    """How many launches were held."""
    held = 0
    launches = {message: clock for message, (clock, _) in record.launches.items()}
    for message, launched in sorted(launches.items(), key=lambda entry: entry[1]):
        _, root, members, _, _ = program.messages[message]
        chain = order(record.launches[message][1], members, root)
        # One group at a time, and the status belongs to a launch for one more clock.
        complete = max([clock + 1 for clock in launches.values() if clock < launched], default=0)
        past = []
        for place, node in enumerate(chain):
            index = next(i for i, command in enumerate(program.commands[node])
                         if command.message == message)
            complete = max(complete, record.shown[node][index])
            if index > 0:
                past.append((Past(program, record, node, index - 1), place))
                complete = max(complete, past[-1][0].settled)
        clock = complete
        while not all(one.is_in_time(clock, hops) for one, hops in past):
            clock += 1
        what = f"broadcast {message}: complete in clock {complete}"
        assert launched == clock + 1, f"{what}, launched after {launched - 1}, not {clock}"
        seen = record.statuses[complete:launched + 1]
        assert all(one == seen[0] for one in seen), f"{what}, not ordered by the status of that clock"
        held += clock > complete
    return held


@cocotb.test()
async def launches_are_in_time(dut):
    """Random programs whose broadcasts meet members that are busy for any number of clocks."""
    bench = Bench(dut)
    await bench.start()
    held = 0
    for number in range(4 * PROGRAMS):
        rng = random.Random(f"{SEED} {number}")
        memory = await bench.fill(rng, 64)
        program = random_program(rng, bench.nodes, 24, 64, rng.choice((3, 12, 40)),
                                 rng.choice((0, 20)))
        record = await bench.run(program, 4000, watch=True)
        assert await bench.dump(64) == program.memory_after(memory), number
        held += check_launches(program, record)
    assert held > PROGRAMS, f"only {held} launches were held"
    dut._log.info("%d launches were held", held)


@cocotb.test(skip=PARAMETERS["NumNodes"] < 5)
async def a_stream_without_a_word_holds_nobody_up(dut):
    """Node 2 shows a broadcast while it waits for words whose source waits for another launch."""
    bench = Bench(dut)
    await bench.start()
    for late in (0, 1, 5, 20):
        rng = random.Random(f"{SEED} {late}")
        memory = await bench.fill(rng, 16)
        program = Program(bench.nodes)
        addrs = {node: 0 for node in range(bench.nodes)}
        program.bcast(4, 0b10001, addrs, 1, [0, 0, 0, 0, late])
        program.chain((0, 1, 2), (0, 0, 0), 1)
        program.bcast(2, 0b01100, {node: 8 for node in addrs}, 1)
        record = await bench.run(program, 200, watch=True)
        assert await bench.dump(16) == program.memory_after(memory), late
        check_launches(program, record)
