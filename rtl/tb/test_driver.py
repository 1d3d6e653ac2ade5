# SPDX-License-Identifier: MIT OR Apache-2.0
"""The C driver on the engines: the same C code runs once per node, each in a thread of its own, and
every register it touches is an access on that node's bus in the simulation."""

import ctypes
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import FallingEdge, RisingEdge

LIBRARY = Path(__file__).resolve().parent.parent / "build" / "driver.so"
BCAST, SEND, RECV, FWD = range(4)
OK, BAD_COMMAND, NO_SUCH_NODE, TO_ITSELF, BAD_MEMBERS, _, TOO_SHORT, TOO_LONG, TIMEOUT = range(9)
REFUSED = 9
CMD, STATE, ERROR = 0x0c, 0x10, 0x10
WINDOW = 0x1000     # node n's registers are at (n + 1) * WINDOW, so that none is at NULL
POLLS = 1000
READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_size_t)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_uint32)


class Ports:
    """Ports with one field per node; a node sets its own and leaves the others."""

    def __init__(self, dut):
        self.dut, self.nodes = dut, len(dut.psel_i)
        self.fields = {}

    def put(self, node, **values):
        for name, value in values.items():
            port = getattr(self.dut, name)
            fields = self.fields.setdefault(name, [0] * self.nodes)
            fields[node] = value
            width = len(port) // self.nodes
            port.value = sum(field << width * n for n, field in enumerate(fields))

    def get(self, node, name):
        port = getattr(self.dut, name).value
        width = len(port) // self.nodes
        return int(port[width * node + width - 1:width * node])

    async def until(self, node, *names):
        """Waits for the clocks in which the named ports are high; in each, `names` gets shorter."""
        for _ in range(20):
            await RisingEdge(self.dut.clk_i)
            seen = [name for name in names if self.get(node, name)]
            assert not seen or not self.get(node, "error_o"), f"node {node}: error response"
            value = self.get(node, "rdata_o") if seen else None
            await FallingEdge(self.dut.clk_i)
            if seen:
                return seen, value
        raise AssertionError(f"node {node}: none of {names} in 20 clocks")


class Buses:
    """One master per node: APB at even nodes, AXI4-Lite at odd ones."""

    def __init__(self, dut):
        self.ports = Ports(dut)
        for name in ("psel_i", "penable_i", "pwrite_i", "awvalid_i", "wvalid_i", "bready_i",
                     "arvalid_i", "rready_i", "addr_i", "wdata_i"):
            self.ports.put(0, **{name: 0})
        self.accesses = [0] * self.ports.nodes
        self.handlers = set()   # nodes whose handler takes an error before the next access

    async def access(self, node, addr, data=None):
        self.accesses[node] += 1
        self.ports.put(node, addr_i=addr, wdata_i=data or 0)
        is_write = data is not None
        value = await (self.axil if node % 2 else self.apb)(node, is_write)
        if is_write and addr == CMD and node in self.handlers:
            for _ in range(2):    # the error comes behind the write's end
                await FallingEdge(self.ports.dut.clk_i)
            if await self.access(node, STATE) & ERROR:
                await self.access(node, STATE, ERROR)
        return value

    async def apb(self, node, is_write):
        ports = self.ports
        ports.put(node, psel_i=1, pwrite_i=int(is_write))
        await FallingEdge(ports.dut.clk_i)
        ports.put(node, penable_i=1)
        _, value = await ports.until(node, "pready_o")
        ports.put(node, psel_i=0, penable_i=0)
        return value

    async def axil(self, node, is_write):
        ports = self.ports
        ask, answer = (("aw", "w"), "b") if is_write else (("ar",), "r")
        ports.put(node, **{f"{channel}valid_i": 1 for channel in ask}, **{f"{answer}ready_i": 1})
        waiting = [f"{channel}ready_o" for channel in ask] + [f"{answer}valid_o"]
        value = None
        while waiting:
            seen, value = await ports.until(node, *waiting)
            for name in seen:
                waiting.remove(name)
                if name.endswith("ready_o"):
                    ports.put(node, **{name.replace("ready_o", "valid_i"): 0})
        ports.put(node, **{f"{answer}ready_i": 0})
        return value


class Driver:
    """The library, with calls that coroutines can wait for."""

    def __init__(self, buses):
        self.library = ctypes.CDLL(str(LIBRARY))
        self.failure = None
        access = resume(buses.access)

        def reached(address, *data):
            # An exception cannot pass through C: it is kept, and the call raises it.
            try:
                return access(address // WINDOW - 1, address % WINDOW, *data)
            except BaseException as failure:    # pylint: disable=broad-except
                self.failure = self.failure or failure
                return 0

        def wrote(address, data):
            reached(address, data)

        self.callbacks = READ(reached), WRITE(wrote)    # they must live as long as the library
        self.library.attach(*self.callbacks)

    async def call(self, name, node, *arguments):
        def function():
            base = ctypes.c_void_p((node + 1) * WINDOW)
            return getattr(self.library, name)(base, *map(ctypes.c_uint32, arguments))

        result = await bridge(function)()
        if self.failure:
            raise self.failure
        return result


async def start(dut):
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value, dut.host_req_i.value = 0, 0
    buses = Buses(dut)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    return Driver(buses), buses


async def host(dut, node, addr, write=None):
    dut.host_req_i.value, dut.host_we_i.value = 1, int(write is not None)
    dut.host_node_i.value, dut.host_addr_i.value = node, addr
    dut.host_wdata_i.value = write or 0
    await FallingEdge(dut.clk_i)
    dut.host_req_i.value = 0
    return None if write is not None else int(dut.host_rdata_o.value)


async def fill(dut, rng, nodes, words):
    """Random words into every memory; returns them."""
    memory = [[rng.getrandbits(32) for _ in range(words)] for _ in range(nodes)]
    for node, content in enumerate(memory):
        for addr, word in enumerate(content):
            await host(dut, node, addr, word)
    return memory


async def compare(dut, memory):
    for node, content in enumerate(memory):
        got = [await host(dut, node, addr) for addr in range(len(content))]
        wrong = [addr for addr, word in enumerate(content) if got[addr] != word]
        assert not wrong, f"node {node} differs at words {wrong[:5]}"


async def on_all(calls):
    tasks = [cocotb.start_soon(call) for call in calls]
    return [await task for task in tasks]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_example(dut):
    """sw/example.c on every node at once, two times in a row: the second finds no trace of the
    first."""
    driver, buses = await start(dut)
    nodes = buses.ports.nodes
    for seed in range(2):
        memory = await fill(dut, random.Random(seed), nodes, 0xa0)
        results = await on_all(driver.call("example", node) for node in range(nodes))
        assert results == [OK] * nodes
        for content in memory[1:]:
            content[:64] = memory[0][:64]
        memory[-1][0x80:0x90] = memory[0][0x10:0x20]
        await compare(dut, memory)
        done = [await driver.call("done", node) for node in range(nodes)]
        assert done == [(seed + 1) * (2 if node in (0, nodes - 1) else 1) for node in range(nodes)]
    assert all(count > 8 for count in buses.accesses), "a node's registers were not used"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def bad_commands(dut):
    """Bad commands of one node, by error bit and code, while the others work; then it works."""
    driver, buses = await start(dut)
    nodes = buses.ports.nodes
    memory = await fill(dut, random.Random(3), nodes, 64)
    everyone = (1 << nodes) - 1
    for me in (0, 1):
        other = 1 - me
        mine = [(BAD_COMMAND, (SEND, other, 256, 1, other)),
                (BAD_COMMAND, (RECV, other, 0, 256, 0)),
                (NO_SUCH_NODE, (SEND, nodes, 0, 1, 0)),
                (NO_SUCH_NODE, (SEND, 32, 0, 1, 0)),
                (TO_ITSELF, (SEND, me, 0, 1, me)),
                (BAD_MEMBERS, (BCAST, me, 0, 1, 1 << me)),
                (BAD_MEMBERS, (BCAST, me, 0, 1, everyone & ~(1 << me))),
                (BAD_MEMBERS, (BCAST, me, 0, 1, everyone | 1 << nodes)),
                (OK, (BCAST, me, 0, 8, everyone))]

        async def misuse():
            return [await driver.call("issue", me, *command, POLLS) for _, command in mine]

        async def use(node):
            return [await driver.call("issue", node, BCAST, me, 0, 8, everyone, POLLS)]

        before = await driver.call("done", me)
        results = await on_all(misuse() if node == me else use(node) for node in range(nodes))
        assert results[me] == [code for code, _ in mine]
        ends = await on_all(driver.call("finish", node, POLLS) for node in range(nodes))
        assert ends == [OK] * nodes
        assert await driver.call("done", me) == before + 1, "a bad command was counted"
        for content in memory:
            content[:8] = memory[me][:8]
        await compare(dut, memory)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def partners_that_do_not_agree(dut):
    """A partner that does not come is a timeout, and the message passes when it does come; lengths
    that differ are reported at the node that is wrong about them, and the next message is right."""
    driver, buses = await start(dut)
    last = buses.ports.nodes - 1
    memory = await fill(dut, random.Random(4), last + 1, 64)

    async def message(sent, received):
        await on_all((driver.call("issue", 0, SEND, last, 0, sent, last, POLLS),
                      driver.call("issue", last, RECV, 0, 32, received, 0, POLLS)))
        ends = await on_all(driver.call("finish", node, POLLS) for node in (0, last))
        memory[last][32:32 + min(sent, received)] = memory[0][:min(sent, received)]
        return ends

    assert await driver.call("issue", last, RECV, 0, 32, 4, 0, POLLS) == OK
    assert await driver.call("finish", last, 10) == TIMEOUT
    assert await driver.call("issue", 0, SEND, last, 0, 4, last, POLLS) == OK
    assert await on_all(driver.call("finish", node, POLLS) for node in (0, last)) == [OK, OK]
    memory[last][32:36] = memory[0][:4]
    assert await message(3, 8) == [OK, TOO_SHORT]
    assert await message(8, 5) == [OK, TOO_LONG]
    assert await message(9, 9) == [OK, OK]
    await compare(dut, memory)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_error_before_a_command(dut):
    """A receiver issues its next command while the message before it becomes too long, at every clock
    of that: the call tells of the error or not, and the command is issued exactly if it does not."""
    driver, buses = await start(dut)
    last = buses.ports.nodes - 1
    results = set()

    async def send(words):
        return await driver.call("issue", 0, SEND, last, 0, words, last, POLLS)

    async def receive(delay):
        for _ in range(delay):
            await FallingEdge(dut.clk_i)
        return await driver.call("issue", last, *second)

    second = (RECV, 0, 48, 4, 0, POLLS)

    for delay in range(0, 60, 2):
        before = await driver.call("done", last)
        assert await driver.call("issue", last, RECV, 0, 32, 2, 0, POLLS) == OK
        result, sent = await on_all((receive(delay), send(3)))
        assert result in (OK, TOO_LONG) and sent == OK, result
        results.add(result)
        if result == TOO_LONG:
            assert await driver.call("finish", last, POLLS) == OK, "it was told and is cleared"
            assert await driver.call("done", last) == before + 1, "it was not to be issued"
            assert await driver.call("issue", last, *second) == OK
        assert await send(4) == OK
        ends = await on_all(driver.call("finish", node, POLLS) for node in (0, last))
        assert ends == [OK, OK if result == TOO_LONG else TOO_LONG], (delay, ends)
        assert await driver.call("done", last) == before + 2
    assert results == {OK, TOO_LONG}


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_refusal_is_not_hidden(dut):
    """A command that is refused is never told to be issued: not when a message before it becomes too
    long at any clock of the call, and not when an interrupt's handler takes the error first."""
    driver, buses = await start(dut)
    last = buses.ports.nodes - 1
    bad = (SEND, 0, 255, 2, 0, POLLS)     # beyond the memory
    results = set()

    async def issue(delay):
        for _ in range(delay):
            await FallingEdge(dut.clk_i)
        return await driver.call("issue", last, *bad)

    for delay in range(0, 60, 2):
        assert await driver.call("issue", last, RECV, 0, 32, 2, 0, POLLS) == OK
        result, sent = await on_all((
            issue(delay), driver.call("issue", 0, SEND, last, 0, 3, last, POLLS)))
        assert sent == OK and result in (BAD_COMMAND, TOO_LONG, REFUSED), (delay, result)
        results.add(result)
        ends = await on_all(driver.call("finish", node, POLLS) for node in (0, last))
        # Whoever was not told by the call of what happened to the message is told now, but for an
        # error behind the refusal's: only the first one is kept.
        assert ends[0] == OK and ends[1] in ((OK,) if result == TOO_LONG else
                                             (TOO_LONG,) if result == REFUSED else (OK, TOO_LONG))
    assert results == {BAD_COMMAND, TOO_LONG, REFUSED}
    buses.handlers = {0, last}
    for node in (0, last):
        assert await driver.call("issue", node, SEND, 1, 255, 2, 0, POLLS) == BAD_COMMAND
        assert await driver.call("issue", node, RECV, node, 0, 2, 0, POLLS) == TO_ITSELF
    assert await driver.call("issue", 0, SEND, last, 0, 3, last, POLLS) == OK
    assert await driver.call("issue", last, RECV, 0, 32, 3, 0, POLLS) == OK
    assert await on_all(driver.call("finish", node, POLLS) for node in (0, last)) == [OK, OK]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def interrupts(dut):
    """The handler of every node: an end and an error, each when it is enabled, and cleared."""
    driver, buses = await start(dut)
    last = buses.ports.nodes - 1
    done, error = 1, 2

    async def line(node):
        await FallingEdge(dut.clk_i)
        return buses.ports.get(node, "irq_o")

    for node in (0, last):
        await driver.call("interrupts", node, done | error)
        assert await line(node) == 0
    assert await driver.call("issue", 0, SEND, last, 0, 8, last, POLLS) == OK
    assert await driver.call("issue", last, RECV, 0, 32, 5, 0, POLLS) == OK
    for node, reasons in ((0, done), (last, done | error)):
        for _ in range(50):
            if await line(node):
                break
        # The longer message goes on behind the shorter one's end.
        for _ in range(20):
            await FallingEdge(dut.clk_i)
        assert await line(node) == 1
        assert await driver.call("interrupted", node) == reasons
        assert await line(node) == (1 if reasons & error else 0)
        assert await driver.call("error", node) == (TOO_LONG if reasons & error else OK)
        assert await line(node) == 0 and await driver.call("interrupted", node) == 0
    await driver.call("interrupts", 0, 0)
    assert await driver.call("issue", 0, SEND, 32, 0, 1, 0, POLLS) == NO_SUCH_NODE
    assert await driver.call("issue", 0, SEND, last, 255, 2, last, POLLS) == BAD_COMMAND
    assert await line(0) == 0, "nothing is enabled"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def partners_that_never_come(dut):
    """A broadcast without its last member, and a chain without its source: everybody times out and
    aborts, also who waits for a node that has; then a broadcast is right."""
    driver, buses = await start(dut)
    nodes = buses.ports.nodes
    memory = await fill(dut, random.Random(5), nodes, 64)
    everyone = (1 << nodes) - 1
    assert await driver.call("abandon", 0) == 0, "there was nothing to drop"
    bcast = (BCAST, 1, 0, 8, everyone)
    waiting = [(node, bcast) for node in range(nodes - 1)]
    chain = [(1, (FWD, 0, 0, 8, 2)), (2, (RECV, 1, 0, 8, 0))]
    for commands in (waiting, chain):
        for node, command in commands:
            assert await driver.call("issue", node, *command, POLLS) == OK
        for node, _ in commands:
            assert await driver.call("finish", node, 10) == TIMEOUT
        for node, _ in commands:
            assert await driver.call("abandon", node) == 1
            assert await driver.call("finish", node, 0) == TIMEOUT, "it does not poll"
            assert await driver.call("finish", node, 1) == OK
    results = await on_all(driver.call("issue", node, *bcast, POLLS) for node in range(nodes))
    ends = await on_all(driver.call("finish", node, POLLS) for node in range(nodes))
    assert results == ends == [OK] * nodes
    assert [await driver.call("done", node) for node in range(nodes)] == [1] * nodes
    for content in memory:
        content[:8] = memory[1][:8]
    await compare(dut, memory)
