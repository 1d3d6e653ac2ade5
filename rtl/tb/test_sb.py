# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scoreboard unit: free leaves in numeric order, then busy ones (Chung 2011, section 3)."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly


@cocotb.test()
async def order_of_every_scoreboard(dut):
    """All scoreboards and leaves of four nodes, random ones for more; with and without waiting."""
    nodes = len(dut.busy_i)
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    rng = random.Random(1)
    dut.rst_ni.value, dut.start_i.value, dut.ready_i.value = 0, 0, 0
    dut.busy_i.value, dut.leaves_i.value = 0, 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    cases = [(busy, leaves) for busy in range(1 << nodes) for leaves in range(1 << nodes)] \
        if nodes <= 4 else [(rng.getrandbits(nodes), rng.getrandbits(nodes)) for _ in range(500)]
    for busy, leaves in cases:
        dut.start_i.value, dut.busy_i.value, dut.leaves_i.value = 1, busy, leaves
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        want = sorted((busy >> node & 1, node) for node in range(nodes) if leaves >> node & 1)
        for place, (_, node) in enumerate(want):
            while True:
                ready = rng.random() < 0.8
                dut.ready_i.value = ready
                # A copy was taken, and a start while leaves are named is ignored.
                dut.start_i.value = rng.random() < 0.5
                dut.busy_i.value, dut.leaves_i.value = (rng.getrandbits(nodes) for _ in range(2))
                await ReadOnly()
                assert int(dut.valid_o.value) == 1 and int(dut.node_o.value) == node, (busy, leaves)
                assert int(dut.last_o.value) == (place == len(want) - 1)
                await FallingEdge(dut.clk_i)
                if ready:
                    break
        dut.start_i.value = 0
        await ReadOnly()
        assert int(dut.valid_o.value) == 0
        await FallingEdge(dut.clk_i)
