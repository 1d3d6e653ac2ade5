# SPDX-License-Identifier: MIT OR Apache-2.0
"""Register wrappers and stream adapters, driven as their masters do it."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import (AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink,
                           AxiStreamSource)

ADDR, LEN, MEMBERS, CMD, STATE, ID, IRQ_ENABLE, IRQ_STATE = range(0, 32, 4)
BCAST, SEND, RECV, FWD = 0, 1, 2, 3
PENDING, ACTIVE, ERROR, ABORTED, ABORT = 1, 2, 16, 32, 64
IRQ_DONE, IRQ_ERROR = 1, 2


class Apb:
    """A master of APB: set-up phase, access phase, as long as ready is low."""

    def __init__(self, dut):
        self.dut = dut
        for name in ("psel", "penable", "pwrite", "pprot", "paddr", "pwdata", "pstrb"):
            getattr(dut, f"apb_{name}").value = 0

    async def access(self, addr, data=None, strobe=15):
        dut = self.dut
        dut.apb_psel.value, dut.apb_penable.value, dut.apb_paddr.value = 1, 0, addr
        dut.apb_pwrite.value, dut.apb_pstrb.value = int(data is not None), strobe
        dut.apb_pwdata.value = data or 0
        await FallingEdge(dut.clk_i)
        dut.apb_penable.value = 1
        for _ in range(20):
            await RisingEdge(dut.clk_i)
            if int(dut.apb_pready.value):
                break
        else:
            raise AssertionError("no answer on APB")
        value = int(dut.apb_prdata.value)
        assert int(dut.apb_pslverr.value) == 0
        await FallingEdge(dut.clk_i)
        dut.apb_psel.value, dut.apb_penable.value = 0, 0
        return value

    async def write(self, addr, data):
        await self.access(addr, data)

    async def write_byte(self, addr, data):
        await self.access(addr & ~3, data << 8 * (addr & 3), 1 << (addr & 3))

    async def read(self, addr):
        return await self.access(addr)


class Axil:
    def __init__(self, dut):
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, dut.aresetn,
                                    reset_active_level=False)

    async def write(self, addr, data):
        await self.master.write_dword(addr, data)

    async def write_byte(self, addr, data):
        await self.master.write_byte(addr, data)

    async def read(self, addr):
        return await self.master.read_dword(addr)


class Node:
    """What the C driver does, over any bus."""

    def __init__(self, bus):
        self.bus = bus

    async def issue(self, op, peer, addr, length, members=None):
        members = (peer if op == SEND else 0) if members is None else members
        for _ in range(200):
            if not await self.bus.read(STATE) & PENDING:
                break
        else:
            raise AssertionError("the engine does not take the command")
        await self.bus.write(ADDR, addr)
        await self.bus.write(LEN, length)
        await self.bus.write(MEMBERS, members)
        await self.bus.write(CMD, op | peer << 8)

    async def finish(self):
        for _ in range(200):
            state = await self.bus.read(STATE)
            if not state & (PENDING | ACTIVE):
                return state
        raise AssertionError("the engine does not end")

    async def error(self):
        state = await self.bus.read(STATE)
        await self.bus.write(STATE, ERROR)
        return state >> 8 & 7 if state & ERROR else 0


async def start(dut):
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value, dut.aresetn.value = 0, 0
    dut.host_req_i.value, dut.loop_i.value = 0, 0
    apb = Apb(dut)
    axil = Axil(dut)
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk_i, dut.aresetn,
                             reset_active_level=False)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk_i, dut.aresetn,
                         reset_active_level=False)
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value, dut.aresetn.value = 1, 1
    await FallingEdge(dut.clk_i)
    return Node(apb), Node(axil), source, sink


async def host(dut, node, addr, write=None):
    dut.host_req_i.value, dut.host_we_i.value = 1, int(write is not None)
    dut.host_node_i.value, dut.host_addr_i.value = node, addr
    dut.host_wdata_i.value = write or 0
    await FallingEdge(dut.clk_i)
    dut.host_req_i.value = 0
    return int(dut.host_rdata_o.value) if write is None else None


async def fill(dut, node, words):
    await FallingEdge(dut.clk_i)
    for addr, word in enumerate(words):
        await host(dut, node, addr, word)


@cocotb.test()
async def messages_and_broadcast_over_registers(dut):
    """Send, receive and broadcast between an engine on APB and one on AXI4-Lite."""
    apb, axil, _, _ = await start(dut)
    rng = random.Random(1)
    assert await apb.bus.read(ID) == 4 << 8 and await axil.bus.read(ID) == 4 << 8 | 1
    words = [rng.getrandbits(32) for _ in range(20)]
    await fill(dut, 0, words)
    await apb.issue(SEND, 1, 3, 10)
    await axil.issue(RECV, 0, 64, 10)
    assert (await apb.finish()) >> 16 == 1 and (await axil.finish()) >> 16 == 1
    await FallingEdge(dut.clk_i)
    assert [await host(dut, 1, 64 + k) for k in range(10)] == words[3:13]
    await axil.issue(BCAST, 0, 100, 20, 0b11)
    await apb.issue(BCAST, 0, 0, 20, 0b11)
    assert not (await apb.finish()) & ERROR and not (await axil.finish()) & ERROR
    await FallingEdge(dut.clk_i)
    assert [await host(dut, 1, 100 + k) for k in range(20)] == words


@cocotb.test()
async def an_abort_frees_a_node(dut):
    """With nothing to drop, with a broadcast that waits at the port, with a message that waits for its
    partner, and with a full queue; then the next message is right."""
    apb, axil, _, _ = await start(dut)
    rng = random.Random(2)
    words = [rng.getrandbits(32) for _ in range(8)]
    await fill(dut, 0, words)
    ended = [0, 0]
    for me, node in enumerate((apb, axil)):
        other = 1 - me
        bcast, recv = (BCAST, me, 0, 8, 0b11), (RECV, other, 0, 8)
        for commands in ((), (bcast,), (recv,), (recv, bcast), (recv, recv)):
            for command in commands:
                await node.issue(*command)
            for _ in range(5):
                await FallingEdge(dut.clk_i)
            state = await node.bus.read(STATE)
            waits = len(commands) == 2 or commands == (bcast,)
            assert state & (PENDING | ACTIVE) == PENDING * waits + ACTIVE * (recv in commands)
            await node.bus.write(STATE, ABORT)
            state = await node.bus.read(STATE)
            assert state & (PENDING | ACTIVE | ERROR) == 0, commands
            assert state & ABORTED == ABORTED * bool(commands), commands
            await node.bus.write(STATE, ABORTED)
            assert not await node.bus.read(STATE) & ABORTED
            await apb.issue(SEND, 1, 0, 8)
            await axil.issue(RECV, 0, 16, 8)
            ended = [count + 1 for count in ended]
            for count, end in zip(ended, (await apb.finish(), await axil.finish())):
                assert end >> 16 == count and not end & (ERROR | ABORTED), (me, commands)
            await FallingEdge(dut.clk_i)
            assert [await host(dut, 1, 16 + k) for k in range(8)] == words
            await fill(dut, 1, [0] * 24)


@cocotb.test()
async def bad_commands_are_reported(dut):
    """Every code, on both buses, and the engine works afterwards."""
    apb, axil, _, _ = await start(dut)
    for me, node in enumerate((apb, axil)):
        other = 1 - me
        for code, command in ((3, (FWD, other, 0, 1, me)), (3, (FWD, other, 0, 1, other)),
                              (3, (FWD, me, 0, 1, 2)), (2, (FWD, 4, 0, 1, 2)),
                              (2, (FWD, other, 0, 1, 4)), (4, (SEND, other, 0, 1, me)),
                              (1, (SEND, other, 256, 1)),
                              (1, (RECV, other, 0, 256)), (1, (SEND, other, 250, 7)),
                              (1, (BCAST, me, 1, 256, 15)), (2, (SEND, 4, 0, 1)),
                              (2, (BCAST, 31, 0, 1, 15)), (3, (SEND, me, 0, 1)),
                              (3, (RECV, me, 0, 1)), (4, (BCAST, other, 0, 1, 1 << me)),
                              (4, (BCAST, me, 0, 1, 1 << me)), (4, (BCAST, me, 0, 1, 1 << other)),
                              (4, (BCAST, me, 0, 1, 0b10011))):
            await node.issue(*command)
            got = await node.error()
            assert got == code, f"node {me}, {command}: code {got}, not {code}"
            assert await node.error() == 0
    # A command behind a pending one: one waits in the engine for its partner, one at the port.
    for _ in range(2):
        await apb.issue(RECV, 1, 252, 4)     # to the last word of the memory
    await apb.bus.write(CMD, SEND | 1 << 8)     # its members do not matter
    assert await apb.error() == 5
    for register, value in ((ADDR, 252), (LEN, 4), (MEMBERS, 0)):
        await apb.bus.write(register, 99)   # the waiting command is shown to the engine
        assert await apb.error() == 5
        assert await apb.bus.read(register) == value
    for length in (4, 5):
        await axil.issue(SEND, 0, 0, length)
    state = await apb.finish()
    assert state >> 16 == 2 and state & ERROR and state >> 8 & 7 == 7, hex(state)
    assert await apb.error() == 7
    assert await axil.error() == 0


@cocotb.test()
async def bytes_of_a_command_that_waits(dut):
    """A write of a byte that has a field is an error and changes nothing, one of another byte is none;
    when nothing waits, the peer's byte alone issues nothing."""
    apb, axil, _, _ = await start(dut)
    for node, other in ((apb, 1), (axil, 0)):
        await node.bus.write_byte(CMD + 1, 3)
        assert await node.bus.read(CMD) == 3 << 8 and not await node.bus.read(STATE)
        for _ in range(2):
            await node.issue(RECV, other, 8, 4)
        for register, value in ((ADDR, 8), (LEN, 4), (MEMBERS, 0), (CMD, RECV | other << 8)):
            for byte in range(4):
                is_field = register != CMD or byte < 2
                await node.bus.write_byte(register + byte, 1 + byte)
                assert await node.error() == (5 if is_field else 0), (register, byte)
                assert await node.bus.read(register) == value, (register, byte)


async def clocks(dut, count):
    for _ in range(count):
        await FallingEdge(dut.clk_i)


@cocotb.test()
async def the_first_error_is_kept(dut):
    """A message becomes too long while STATE is written, at every clock of that: if the write does not
    clear the error, the code of the first one stays; if it does, an error has the code of the second."""
    apb, axil, _, _ = await start(dut)
    after_clear = set()
    for node, other, peer, me in ((apb, axil, 1, 0), (axil, apb, 0, 1)):
        for value in (0, ABORTED, ERROR):
            for delay in range(24):
                await node.issue(RECV, peer, 0, 1)
                await node.issue(SEND, 4, 0, 1)
                assert (await node.bus.read(STATE)) >> 8 & 7 == 2
                await other.issue(SEND, me, 0, 2)
                await clocks(dut, delay)
                await node.bus.write(STATE, value)
                await other.finish()
                state = await node.finish()
                if value == ERROR:
                    assert not state & ERROR or state >> 8 & 7 == 7, (me, delay, hex(state))
                    after_clear.add((me, state & ERROR))
                else:
                    assert state & ERROR and state >> 8 & 7 == 2, (me, value, delay, hex(state))
                await node.error()
    assert len(after_clear) == 4, "on either bus the clear comes before and behind the error"


@cocotb.test()
async def an_abort_in_the_clock_of_an_end(dut):
    """At every clock of a message and of two: a command has ended or was dropped, and not both."""
    apb, axil, _, _ = await start(dut)
    for node, other, peer, me in ((apb, axil, 1, 0), (axil, apb, 0, 1)):
        for count in (1, 2):
            ends = set()
            for delay in range(40):
                before = await node.bus.read(STATE)
                for _ in range(count):
                    await node.issue(RECV, peer, 0, 3)
                for _ in range(count):
                    await other.issue(SEND, me, 0, 3)
                await clocks(dut, delay)
                await node.bus.write(STATE, ABORT)
                state = await node.finish()
                ended = (state >> 16) - (before >> 16) & 0xffff
                assert bool(state & ABORTED) == (ended < count), (me, count, delay, hex(state))
                ends.add(ended)
                await clocks(dut, 20)
                await other.bus.write(STATE, ABORT)
                for bus in (node.bus, other.bus):
                    await bus.write(STATE, ABORTED)
            assert count in ends and len(ends) >= 2, ends


@cocotb.test(timeout_time=200, timeout_unit="us")
async def streams(dut):
    """Messages as packets and packets as messages, with pauses on both sides."""
    apb, axil, source, sink = await start(dut)
    rng = random.Random(2)
    words = [rng.getrandbits(32) for _ in range(64)]
    await fill(dut, 0, words)
    sink.set_pause_generator(rng.random() < 0.5 for _ in iter(int, 1))
    for addr, length in ((0, 1), (1, 2), (3, 30), (10, 1), (0, 64)):
        await apb.issue(SEND, 2, addr, length)
    await apb.finish()
    for addr, length in ((0, 1), (1, 2), (3, 30), (10, 1), (0, 64)):
        frame = await sink.recv()
        got = [int.from_bytes(bytes(frame.tdata[4 * k:4 * k + 4]), "little") for k in range(length)]
        assert got == words[addr:addr + length] and len(frame.tdata) == 4 * length
    source.set_pause_generator(rng.random() < 0.5 for _ in iter(int, 1))
    # Eight words are the adapter's depth: 1, 8, and 11 as 8 and 3.
    for length in (1, 8, 11):
        data = b"".join(word.to_bytes(4, "little") for word in words[:length])
        await source.send(AxiStreamFrame(data))
    base = 0
    for length in (1, 8, 8, 3):
        await axil.issue(RECV, 3, 128 + base, length)
        base += length
    assert not (await axil.finish()) & ERROR
    await FallingEdge(dut.clk_i)
    want = words[:1] + words[:8] + words[:11]
    assert [await host(dut, 1, 128 + k) for k in range(20)] == want


@cocotb.test()
async def interrupts(dut):
    """High as long as an enabled reason is: a command has ended, or there is an error."""
    apb, axil, _, _ = await start(dut)
    lines = {apb: dut.apb_irq, axil: dut.axil_irq}
    for node, other in ((apb, 1), (axil, 0)):
        assert int(lines[node].value) == 0
        await node.issue(SEND, 4, 0, 1)
        assert await node.bus.read(IRQ_STATE) == IRQ_ERROR
        assert int(lines[node].value) == 0, "nothing is enabled"
        await node.bus.write(IRQ_ENABLE, IRQ_ERROR)
        assert int(lines[node].value) == 1
        assert await node.error() == 2
        assert int(lines[node].value) == 0 and await node.bus.read(IRQ_STATE) == 0
        await node.bus.write(IRQ_ENABLE, IRQ_DONE)
        await node.issue(RECV, other, 0, 3)
        await node.bus.write(IRQ_STATE, IRQ_DONE)   # there is nothing to clear
        assert int(lines[node].value) == 0
    # Both wait for each other's message; each ends its own and the other's.
    for node, other in ((apb, 1), (axil, 0)):
        await node.issue(SEND, other, 0, 3)
    await FallingEdge(dut.clk_i)
    assert [int(line.value) for line in lines.values()] == [0, 0], "two receives wait for ever"
    for signal in (dut.rst_ni, dut.aresetn):
        signal.value = 0
    await FallingEdge(dut.clk_i)
    for signal in (dut.rst_ni, dut.aresetn):
        signal.value = 1
    await FallingEdge(dut.clk_i)
    for node in (apb, axil):
        assert await node.bus.read(IRQ_ENABLE) == 0, "the reset disables"
        await node.bus.write(IRQ_ENABLE, IRQ_DONE | IRQ_ERROR)
    await apb.issue(SEND, 1, 0, 3)
    await axil.issue(RECV, 0, 0, 3)
    for node, line in lines.items():
        assert not await node.finish() & ERROR
        assert int(line.value) == 1 and await node.bus.read(IRQ_STATE) == IRQ_DONE
        await node.bus.write(IRQ_STATE, 0)
        assert int(line.value) == 1, "a 0 does not clear"
        await node.bus.write(IRQ_STATE, IRQ_DONE)
        assert int(line.value) == 0 and await node.bus.read(IRQ_STATE) == 0


@cocotb.test()
async def a_stream_that_comes_back(dut):
    """Node 0's messages leave as packets, which come back and go to node 1: also such as are longer
    than what the way back collects before it needs the bus."""
    apb, axil, _, _ = await start(dut)
    dut.loop_i.value = 1
    rng = random.Random(3)
    words = [rng.getrandbits(32) for _ in range(64)]
    await fill(dut, 0, words)
    for length in (4, 8, 10, 12, 20, 64):
        await apb.issue(SEND, 2, 64 - length, length)
        for base in range(0, length, 8):
            await axil.issue(RECV, 3, base, min(8, length - base))
        assert not (await apb.finish()) & ERROR and not (await axil.finish()) & ERROR
        await FallingEdge(dut.clk_i)
        got = [await host(dut, 1, addr) for addr in range(length)]
        assert got == words[64 - length:], length
        assert int(dut.stream_long_o.value) == 0


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_message_too_long_for_a_stream(dut):
    """The packet has the words that fit, the rest is told, and the next packet is right."""
    apb, _, _, sink = await start(dut)
    await fill(dut, 0, range(80))
    told = 0

    async def count():
        nonlocal told
        while True:
            await RisingEdge(dut.clk_i)
            told += int(dut.stream_long_o.value)

    counting = cocotb.start_soon(count())
    sink.pause = True    # the stream waits, and the bus does not
    await apb.issue(SEND, 2, 0, 70)
    assert (await apb.finish()) >> 16 == 1
    await apb.issue(SEND, 2, 5, 3)
    sink.pause = False
    frames = [(await sink.recv()).tdata for _ in range(2)]
    await apb.finish()
    counting.cancel()
    assert [list(frame[::4]) for frame in frames] == [list(range(64)), [5, 6, 7]] and told == 6


@cocotb.test(timeout_time=200, timeout_unit="us")
async def a_sender_to_a_stream_aborts(dut):
    """At every clock of a message: the packet that has begun ends with the words that came, an end that
    came first is one, and the next message is a packet of its own."""
    apb, _, _, sink = await start(dut)
    await fill(dut, 0, range(80))
    lengths = set()
    for delay in range(24):
        await apb.issue(SEND, 2, 10, 8)
        await clocks(dut, delay)
        await apb.bus.write(STATE, ABORT)
        await apb.bus.write(STATE, ABORTED)
        await apb.issue(SEND, 2, 50, 3)
        assert not (await apb.finish()) & ERROR
        frames = [list((await sink.recv()).tdata[::4])]
        if frames[0] != [50, 51, 52]:
            frames.append(list((await sink.recv()).tdata[::4]))
            assert frames[0] == list(range(10, 10 + len(frames[0]))), (delay, frames)
            lengths.add(len(frames[0]))
        assert frames[-1] == [50, 51, 52], (delay, frames)
    assert len(lengths) > 5 and max(lengths) == 8, lengths
