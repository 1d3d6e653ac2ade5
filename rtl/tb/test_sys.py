# SPDX-License-Identifier: MIT OR Apache-2.0
"""The system of engines against the golden model (memory, order) and its cycle budget."""

import os
import random

import cocotb
from cocotb.triggers import FallingEdge

from bench import Bench, need
from golden import BCAST, RECV, SEND, Command, Program, order, random_program, status_class
from hardware import IS_HOLDING, IS_SNOOPING

SEED = int(os.environ.get("MPE_SEED", "1"))
PROGRAMS = int(os.environ.get("MPE_PROGRAMS", "6"))


def check_order(program, record, bench):
    """The nodes of a broadcast end in the order of the chain, one clock after the other."""
    for index, message in enumerate(program.messages):
        if message[0] != "bcast":
            continue
        _, root, members, _, length = message
        _, statuses = record.launches[index]
        chain = order(statuses, members, root)
        if record.holds:
            continue
        ends = record.ends_of(program, index)
        times = [ends[node] for node in chain]
        want = [times[0] + place for place in range(len(chain))]
        if length > 0:
            # The last one forwards nothing: it ends together with the one before it.
            want[-1] -= 1
        assert times == want, f"message {index}: chain {chain} ended at {times}, not {want}"


async def run_random(dut, stall, gap_max, messages=40, length_max=24, words=64):
    bench = Bench(dut)
    await bench.start()
    for number in range(PROGRAMS):
        rng = random.Random(f"{SEED} {number} {stall} {gap_max}")
        memory = await bench.fill(rng, words)
        program = random_program(rng, bench.nodes, messages, words, length_max, gap_max)
        record = await bench.run(program, 6_000, stall, rng)
        got, want = await bench.dump(words), program.memory_after(memory)
        for node in range(bench.nodes):
            assert got[node] == want[node], f"program {number}: memory of node {node} differs"
        assert not record.short and not record.long
        check_order(program, record, bench)


@cocotb.test()
async def random_programs(dut):
    """Commands as fast as the queues take them."""
    await run_random(dut, stall=0.0, gap_max=0)


@cocotb.test()
async def random_programs_with_gaps(dut):
    """Cores that come late, so every stage is met in every state."""
    await run_random(dut, stall=0.0, gap_max=30)


@cocotb.test()
async def random_programs_with_stalls(dut):
    """Memories that are not always ready."""
    # One of them stops the whole bus, so that the bus stops as often whatever their number.
    await run_random(dut, stall=0.8 / len(dut.cmd_valid_i), gap_max=10)


@cocotb.test()
async def long_messages_and_broadcasts(dut):
    """Classes of status above 1, and ready sent ahead of the end of a long message."""
    await run_random(dut, stall=0.0, gap_max=300, messages=16, length_max=400, words=512)


async def alone(bench, program, limit=5000):
    record = await bench.run(program, limit)
    assert not record.short and not record.long
    return record


@cocotb.test()
async def cycle_budget(dut):
    """The table of README.md, exactly."""
    bench = Bench(dut)
    await bench.start()
    nodes = bench.nodes
    for length in (0, 1, 2, 7, 64):
        program = Program(nodes)
        program.send(0, 1, 0, 0, length)
        record = await alone(bench, program)
        # command 1, request 1, ready 1, words, complete 1; no words take their receiver a clock, too
        assert record.done[:2] == [[length + 4], [max(length, 1) + 4]], (length, record.done)
    for length in (1, 2, 7):
        program = Program(nodes)
        program.chain(range(nodes), [0] * nodes, length)
        record = await alone(bench, program)
        assert max(times[0] for times in record.done) == 2 * nodes + length, (length, record.done)
    for late in (1, 2, 3, 9):
        program = Program(nodes)
        program.send(0, 1, 0, 0, 3, (0, late))
        record = await alone(bench, program)
        # the request waits for the receiver: its command 1, ready 1, words, complete 1
        assert record.done[1] == [max(3 + 4, late + 1 + 1 + 3 + 1)], (late, record.done)
        program = Program(nodes)
        program.send(0, 1, 0, 0, 3, (late, 0))
        record = await alone(bench, program)
        assert record.done[0] == [late + 3 + 4], (late, record.done)
    for length in (1, 2, 5, 33):
        program = Program(nodes)
        everyone = (1 << nodes) - 1
        program.bcast(nodes - 1, everyone, {n: 8 * n for n in range(nodes)}, length)
        record = await alone(bench, program)
        last = max(times[0] for times in record.done)
        # With the emitter, the tail knows its predecessor two clocks later than with a finder, and
        # the predecessor asks another clock later, unless it is the root.
        want = 2 * nodes + 1 + length + (IS_SNOOPING and min(nodes, 3))
        assert last == want, (nodes, length, record.done)


@cocotb.test()
async def sends_follow_each_other(dut):
    """A sequence of sends costs its words plus one clock each, as in Chung 2011."""
    bench = Bench(dut)
    await bench.start()
    nodes = bench.nodes
    for length in (2, 5, 16):
        program = Program(nodes)
        for leaf in range(1, nodes):
            program.send(0, leaf, 0, 0, length)
        record = await alone(bench, program)
        assert record.done[0] == [3 + (length + 1) * (k + 1) for k in range(nodes - 1)], record.done


@cocotb.test()
async def order_of_parks_example(dut):
    """Park 2019, Figure 15: status 10 10 10 11 10 00 01 01, root 5."""
    bench = Bench(dut)
    await bench.start()
    need(bench.nodes == 8 and bench.status_w == 2 and bench.addr_w >= 10,
         "the figure is of 8 nodes, a status of 2 bits and addresses of 10 bits")
    need(not IS_HOLDING, "the launch finds members busy, and a held one waits until they are free")
    program = Program(8)
    add = lambda node, *what: program.commands[node].append(Command(*what))
    # Lengths that do not agree bring an odd number of nodes into one class; that is a mistake of
    # the program, and the engine reports it and goes on.
    for source, target, sent, expected in ((6, 7, 100, 100), (0, 1, 200, 200), (2, 3, 200, 400),
                                           (4, 5, 200, 1)):
        add(source, SEND, target, 0, sent, target)
        add(target, RECV, source, 0, expected)
    for node in range(8):
        add(node, BCAST, 5, 512, 300, 255, 12, 0)
    record = await bench.run(program, 5000)
    _, statuses = record.launches[0]
    assert statuses == [2, 2, 2, 3, 2, 0, 1, 1], statuses
    ends = [record.done[node][1] for node in range(8)]
    chain = sorted(range(8), key=lambda node: (ends[node], node))
    assert order(statuses, 255, 5) == [5, 6, 7, 0, 1, 2, 4, 3]
    assert sorted(chain[6:]) == [3, 4] and chain[:6] == [5, 6, 7, 0, 1, 2], (chain, ends)
    assert [node for node, _ in record.short] == [3]
    assert {node for node, _ in record.long} == {5}


@cocotb.test()
async def a_wrong_length_is_reported_and_survived(dut):
    """Short and long messages; the next message is intact."""
    bench = Bench(dut)
    await bench.start()
    rng = random.Random(SEED)
    for sent, expected in ((3, 7), (7, 3), (0, 4), (4, 0), (1, 2), (2, 1)):
        memory = await bench.fill(rng, 32)
        program = Program(bench.nodes)
        program.commands[0].append(Command(SEND, 1, 0, sent, 1))
        program.commands[1].append(Command(RECV, 0, 16, expected))
        record = await bench.run(program, 200)
        assert bool(record.short) == (sent < expected), (sent, expected, record.short)
        assert bool(record.long) == (sent > expected), (sent, expected, record.long)
        for _ in range(12):
            await bench.host(0, 0)
        kept = min(sent, expected)
        memory[1][16:16 + kept] = memory[0][:kept]
        assert await bench.dump(32) == memory, (sent, expected)
        program = Program(bench.nodes)
        program.send(0, 1, 4, 4, 9)
        await alone(bench, program)
        assert await bench.dump(32) == program.memory_after(memory)


@cocotb.test()
async def words_for_a_receive_of_none_are_reported(dut):
    """Also if they come late, because their sender still streams to another node."""
    bench = Bench(dut)
    await bench.start()
    need(bench.nodes >= 3, "three nodes take part")
    await bench.fill(random.Random(SEED), 64)
    for late in (0, 1, 2, 20):
        program = Program(bench.nodes)
        program.send(0, 2, 0, 0, 4)
        program.commands[0].append(Command(SEND, 1, 0, 3, 1))
        program.commands[1].append(Command(RECV, 0, 16, 0, gap=late))
        record = await bench.run(program, 100)
        assert {node for node, _ in record.long} == {1} and not record.short, late
        for _ in range(12):
            await bench.host(0, 0)


@cocotb.test()
async def a_member_that_takes_nothing_holds_nobody_up(dut):
    """Node 2 has length 0 in a broadcast of four words; node 3, behind it, is busy for any time."""
    bench = Bench(dut)
    await bench.start()
    need(bench.nodes >= 5, "five nodes take part")
    await bench.fill(random.Random(SEED), 64)
    for busy in (1, 12):
        for gap in range(20):
            program = Program(bench.nodes)
            program.send(4, 3, 0, 20, busy)
            for node, length in enumerate((4, 4, 0, 4)):
                program.commands[node].append(Command(BCAST, 0, 8, length, 0b1111, gap))
            record = await bench.run(program, 100)
            # Node 3 is in front of node 2 if it has nothing to do then.
            long, short = ({node for node, _ in errors} for errors in (record.long, record.short))
            assert long == {2} and short in (set(), {3}), (busy, gap, record.long, record.short)
            for _ in range(12):
                await bench.host(0, 0)
            if busy == 12 and 6 < gap < 10:
                assert short == {3}, (gap, record.short)


@cocotb.test()
async def status_of_every_length(dut):
    """The status register follows the words left; a waiting command has the top class."""
    bench = Bench(dut)
    await bench.start()
    top = (1 << bench.status_w) - 1
    length = min(600, (1 << bench.len_w) - 1, (1 << bench.addr_w) - 1)
    program = Program(bench.nodes)
    program.send(0, 1, 0, 0, length, (0, 5))
    seen = []
    run = cocotb.start_soon(bench.run(program, 2 * length + 50))
    for _ in range(length + 20):
        await FallingEdge(dut.clk_i)
        seen.append(bench.statuses(int(dut.status_o.value))[:2])
    await run
    assert [0, 0] in seen and seen[-1] == [0, 0]
    assert [top, 0] in seen, "a send that waits for its receiver counts as the longest class"
    classes = [two[1] for two in seen[10:] if two[1]]
    assert classes == sorted(classes, reverse=True), "the class never rises while words move"
    for level in range(1, top + 1):
        bounds = [n for n in range(length)
                  if status_class(n, bench.status_w, bench.data_w // 8) == level]
        if bounds and max(bounds) < length - 20:
            # An empty stage still counts for the clock of the complete message: class 1.
            want = len(bounds)
            assert classes.count(level) == want, (level, classes.count(level), want)


async def around_a_busy_leaf(bench, build):
    """Runs programs with a broadcast 0 to 3 that meets node 3 busy at every distance."""
    rng = random.Random(SEED)
    savings = 0
    for length in range(1, 21):
        memory = await bench.fill(rng, 64)
        program = Program(bench.nodes)
        build(program, length)
        record = await bench.run(program, 1000)
        assert await bench.dump(64) == program.memory_after(memory), length
        assert not record.short and not record.long
        index = next(n for n, message in enumerate(program.messages) if message[0] == "bcast")
        ends = record.ends_of(program, index)
        earlier = record.done[3][0]
        # Without ready ahead: ready, three hops back, three words' hops and the complete message.
        savings = max(savings, earlier + 8 - ends[3])
    return savings


@cocotb.test()
async def ready_ahead_of_a_long_message(dut):
    """The last leaf is still busy; behind the broadcast its predecessor sends to it at once."""
    bench = Bench(dut)
    await bench.start()
    need(bench.nodes >= 6 and bench.addr_w >= 6, "it takes 6 nodes and addresses of 6 bits")

    def build(program, length):
        program.send(4, 3, 0, 20, length)
        program.bcast(0, 0b1111, dict(enumerate(range(bench.nodes))), 1, [12] * bench.nodes)
        program.send(2, 3, 40, 50, 4)

    savings = await around_a_busy_leaf(bench, build)
    # A launch that is held comes when the words just are not early, so little else can be hidden.
    assert savings >= (2 if IS_HOLDING else 4), f"ready ahead hides only {savings} clocks"


@cocotb.test()
async def no_ready_ahead_of_a_message_that_waits(dut):
    """The last leaf waits for one word of a node that is busy for long, outside the broadcast."""
    bench = Bench(dut)
    await bench.start()
    need(bench.nodes >= 6 and bench.addr_w >= 6, "it takes 6 nodes and addresses of 6 bits")

    def build(program, length):
        program.send(4, 5, 0, 20, length)
        program.send(4, 3, 0, 20, 1)
        program.bcast(0, 0b1111, dict(enumerate(range(bench.nodes))), 1, [12] * bench.nodes)

    await around_a_busy_leaf(bench, build)
