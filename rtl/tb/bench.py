# SPDX-License-Identifier: MIT OR Apache-2.0
"""Drives a system of engines clock by clock and writes down what it did."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from golden import BCAST
from hardware import IS_SNOOPING


class Timeout(AssertionError):
    """The program did not end; `record` has what it did until then."""

    def __init__(self, message, record):
        super().__init__(message)
        self.record = record


def need(is_given, what):
    """Skips the test, and says so in the results, on hardware that it is not for."""
    if not is_given:
        pytest.skip(what)


def bits(value):
    """Positions of the ones."""
    while value:
        yield (value & -value).bit_length() - 1
        value &= value - 1


class Bench:
    """One system under test. A clock is counted from falling edge to falling edge."""

    def __init__(self, dut):
        self.dut = dut
        self.nodes = len(dut.cmd_valid_i)
        self.id_w = len(dut.cmd_peer_i) // self.nodes
        self.addr_w = len(dut.cmd_addr_i) // self.nodes
        self.len_w = len(dut.cmd_len_i) // self.nodes
        self.status_w = len(dut.status_o) // self.nodes
        self.data_w = len(dut.host_wdata_i)
        self.driven = {}    # what inputs were told last

    def drive(self, **inputs):
        """Tells inputs (by their names without `_i`) their values, if they do not have them."""
        for name, value in inputs.items():
            if self.driven.get(name) != value:
                self.driven[name] = value
                getattr(self.dut, name + "_i").value = value

    async def start(self):
        cocotb.start_soon(Clock(self.dut.clk_i, 10, "ns").start())
        self.drive(cmd_valid=0, cmd_op=0, cmd_peer=0, cmd_addr=0, cmd_len=0, cmd_members=0,
                   mem_stall=0, host_req=0, host_we=0, host_node=0, host_addr=0, host_wdata=0,
                   abort=0)
        await self.reset()

    async def reset(self):
        self.dut.rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)

    async def host(self, node, addr, write=None):
        """One access of a core to its memory; the value that was read, if it was one."""
        value = await self._access(node, addr, write)
        self.drive(host_req=0)
        return value

    async def _access(self, node, addr, write=None):
        """As `host`; the request stays, for the next one."""
        self.drive(host_req=1, host_we=int(write is not None), host_node=node, host_addr=addr,
                   host_wdata=write or 0)
        await FallingEdge(self.dut.clk_i)
        return None if write is not None else int(self.dut.host_rdata_o.value)

    async def write(self, memory):
        """Words into the first addresses of every node's memory."""
        for node, content in enumerate(memory):
            for addr, word in enumerate(content):
                await self._access(node, addr, word)
        self.drive(host_req=0)

    async def fill(self, rng, words):
        """Random words into the first `words` addresses of every memory."""
        memory = [[rng.getrandbits(self.data_w) for _ in range(words)] for _ in range(self.nodes)]
        await self.write(memory)
        return memory

    async def dump(self, words):
        memory = [[await self._access(node, addr) for addr in range(words)]
                  for node in range(self.nodes)]
        self.drive(host_req=0)
        return memory

    async def run(self, program, limit, stall=0.0, rng=None, watch=False):
        """Runs a program; returns its record, with the messages between the engines if watched.

        Clock 0 is the first in which a command may be shown.
        """
        rng = rng or random.Random(0)
        dut, nodes = self.dut, self.nodes
        record = Record(nodes)
        position = [0] * nodes
        wait = [commands[0].gap if commands else 0 for commands in program.commands]
        left = sum(len(commands) for commands in program.commands)
        clock, history = 0, []
        while left > 0 or clock == 0:
            if clock > limit:
                raise Timeout(f"{left} commands are not done after {limit} clocks; "
                              f"done so far {[len(d) for d in record.done]}, shown {position}",
                              record)
            valid = op = peer = addr = length = members = 0
            for node in range(nodes):
                commands = program.commands[node]
                if position[node] < len(commands) and wait[node] == 0:
                    command = commands[position[node]]
                    if clock < command.show:
                        continue
                    valid |= 1 << node
                    op |= command.op << 2 * node
                    peer |= command.peer << self.id_w * node
                    addr |= command.addr << self.addr_w * node
                    length |= command.length << self.len_w * node
                    members |= command.members << nodes * node
            stalls = sum((rng.random() < stall) << node for node in range(nodes)) if stall else 0
            self.drive(cmd_valid=valid, cmd_op=op, cmd_peer=peer, cmd_addr=addr, cmd_len=length,
                       cmd_members=members, mem_stall=stalls)
            await ReadOnly()
            ready, done = int(dut.cmd_ready_o.value), int(dut.done_o.value)
            short, long = int(dut.err_short_o.value), int(dut.err_long_o.value)
            status = int(dut.status_o.value)
            record.holds += int(dut.hold_o.value)
            if watch:
                self.watch(record, clock, peer)
                for node in bits(valid):
                    if len(record.shown[node]) == position[node]:
                        record.shown[node].append(clock)
                record.statuses.append(self.statuses(status))
            for node in range(nodes):
                bit = 1 << node
                if valid & bit and ready & bit:
                    command = program.commands[node][position[node]]
                    record.accepted[node].append(clock)
                    if command.op == BCAST:
                        if not IS_SNOOPING:
                            record.launched(command.message, clock, self.statuses(status))
                        elif node == command.peer:
                            # The root's name comes last, one clock per member after the launch.
                            members = bin(command.members).count("1")
                            record.launched(command.message, clock - members,
                                            self.statuses(history[-members]))
                    position[node] += 1
                    if position[node] < len(program.commands[node]):
                        wait[node] = program.commands[node][position[node]].gap
                elif wait[node] > 0:
                    wait[node] -= 1
                if done & bit:
                    record.done[node].append(clock + 1)   # done at the end of this clock
                    left -= 1
                if short & bit:
                    record.short.append((node, clock))
                if long & bit:
                    record.long.append((node, clock))
            history.append(status)
            await FallingEdge(dut.clk_i)
            clock += 1
        self.drive(cmd_valid=0, mem_stall=0)
        for node, commands in enumerate(program.commands):
            assert len(record.done[node]) == len(commands), f"node {node} reports too many ends"
        record.clocks = clock
        return record

    def watch(self, record, clock, roots):
        """Writes down the launches, control messages and words of this clock."""
        dut = self.dut
        for node in bits(int(dut.launch_o.value)):
            root = roots >> self.id_w * node & ((1 << self.id_w) - 1)
            record.events.append([clock, "launch", node, root])
        requests = int(dut.tx_req_o.value)
        for node in bits(requests & ~record.requests):
            record.events.append([clock, "request", node, self.partner(dut.tx_dst_o, node)])
        record.requests = requests
        for node in bits(int(dut.rx_rdy_o.value)):
            record.events.append([clock, "ready", node, self.partner(dut.rx_peer_o, node)])
        for node in bits(int(dut.tx_valid_o.value)):
            target = self.partner(dut.tx_to_o, node)
            run = record.words.get(node)
            if run and run[0] + run[4] == clock and run[3] == target:
                run[4] += 1
            else:
                record.words[node] = [clock, "words", node, target, 1]
                record.events.append(record.words[node])

    def partner(self, signal, node):
        """The node that one names; what idle nodes name may be unknown."""
        digits = str(signal.value)[::-1][self.id_w * node:self.id_w * (node + 1)]
        return int(digits[::-1], 2)

    def statuses(self, value):
        return [value >> self.status_w * node & ((1 << self.status_w) - 1)
                for node in range(self.nodes)]


class Record:
    """What happened when, in clocks."""

    def __init__(self, nodes):
        self.accepted = [[] for _ in range(nodes)]
        self.done = [[] for _ in range(nodes)]
        self.short, self.long = [], []
        self.launches = {}
        self.shown = [[] for _ in range(nodes)]     # this and what follows: when watched
        self.statuses = []      # per clock
        self.events = []        # [clock, kind, from, to, words]
        self.requests = 0       # tx_req_o of the clock before
        self.words = {}         # latest run of words per sender
        self.holds = 0
        self.clocks = 0

    def launched(self, message, clock, statuses):
        if message < 0:
            return
        first = self.launches.setdefault(message, (clock, statuses))
        assert first == (clock, statuses), f"broadcast {message} is not launched at once"

    def ends_of(self, program, message):
        """Clock at which each node was done with a message."""
        return {node: self.done[node][index]
                for node, commands in enumerate(program.commands)
                for index, command in enumerate(commands) if command.message == message}
