# SPDX-License-Identifier: MIT OR Apache-2.0
"""The golden model against the paper's worked example and the simulator's documented classes."""

import random

from golden import FWD, RECV, SEND, Program, order, random_program, status_class
from run import summary


def results(tmp_path, *cases):
    path = tmp_path / "results.xml"
    path.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return summary(path)


def test_a_skipped_test_has_not_passed(tmp_path):
    passed, skipped = '<testcase name="a"/>', '<testcase name="b"><skipped/></testcase>'
    failed = '<testcase name="c"><failure/></testcase>'
    assert results(tmp_path, passed, passed) == (0, "2 of 2 tests pass")
    assert results(tmp_path, passed, skipped) == (0, "1 of 2 tests pass, 1 skipped")
    assert results(tmp_path, passed, failed, skipped) == (1, "1 of 3 tests pass, 1 skipped")
    count, text = results(tmp_path, skipped)
    assert count > 0 and text.endswith("none has passed")
    assert results(tmp_path)[0] > 0


def test_parks_worked_example():
    """Park 2019, Figure 15."""
    assert order([2, 2, 2, 3, 2, 0, 1, 1], 255, 5) == [5, 6, 7, 0, 1, 2, 4, 3]


def test_members_only():
    assert order([0, 0, 1, 0], 0b1101, 2) == [2, 0, 3]


def test_classes_are_those_of_the_simulator():
    """`corecast_core::status::class`: 511 bytes are class 1, 512 class 2, 1024 class 3."""
    assert [status_class(words, 2) for words in (0, 127, 128, 255, 256, 1000)] == [1, 1, 2, 2, 3, 3]
    assert [status_class(words, 1) for words in (0, 500)] == [1, 1]
    assert [status_class(words, 3) for words in (0, 63, 64, 384)] == [1, 1, 2, 7]


def test_a_chain_leaves_its_words_at_every_node():
    program = Program(4)
    program.chain((2, 0, 3), (4, 0, 1), 2)
    memory = [[10 * node + addr for addr in range(6)] for node in range(4)]
    after = program.memory_after(memory)
    assert after[2] == memory[2] and after[1] == memory[1]
    assert after[0][:3] == [24, 25, 2] and after[3][:4] == [30, 24, 25, 33]
    assert [(c.op, c.peer, c.members) for c in (program.commands[n][0] for n in (2, 0, 3))] == \
        [(SEND, 0, 0), (FWD, 2, 3), (RECV, 0, 0)]


def test_programs_touch_their_memories_only():
    rng = random.Random(1)
    memory = [[node] * 32 for node in range(4)]
    program = random_program(rng, 4, 50, 32, 10)
    after = program.memory_after(memory)
    assert all(len(words) == 32 for words in after)
    assert memory == [[node] * 32 for node in range(4)]
