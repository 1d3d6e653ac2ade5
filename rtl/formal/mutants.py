#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeded faults: every mutant must be found by the test or proof that is named beside it."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prove import tasks_of

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build" / "mutants"

# name, file, text, replacement, killer: "test NAME" (cocotb, N = 4), "test6 NAME" (N = 6),
# "hold PARAMETER=VALUE" (test_hold), "soak PARAMETER=VALUE" (12000 programs), "wrap NAME", "sb",
# "lockstep FILE" (tb/vectors), "proof FILE TASK" or "netlist UNIT PARAMETERS", which compares the
# netlist of the source without faults
MUTANTS = [
    ("stale ready: granted is not forgotten", "mpe_link.sv",
     "granted_q   <= granted && !move;", "granted_q   <= granted;", "test random_programs"),
    ("ready again while the first is under way", "mpe_link.sv",
     "rx_req_i && !granting_q &&", "rx_req_i &&",
     "test6 ready_ahead_of_a_long_message"),
    ("request without its clock", "mpe_link.sv",
     "h_tx && requested_q && !granted_q", "h_tx && !granted_q", "test cycle_budget"),
    ("forward grants before it is granted", "mpe_link.sv",
     "&& (granted_q || !h_tx) &&", "&&", "test cycle_budget"),
    ("ready ahead one word too early", "mpe_link.sv",
     "(LenW+IdW)'(s_len_q >> 1) <\n", "(LenW+IdW)'(s_len_q >> 1) <=\n",
     "test long_messages_and_broadcasts"),
    ("ready ahead of a message that has not started", "mpe_link.sv",
     "assign s_empties = flows &&", "assign s_empties = s_valid_q &&",
     "test6 no_ready_ahead_of_a_message_that_waits"),
    ("a word for somebody else is taken", "mpe_xbar.sv",
     "from[s] && (tx_to_i[s] == IdW'(r))", "from[s]", "test sends_follow_each_other"),
    ("request reaches a node that did not name the sender", "mpe_xbar.sv",
     "(tx_dst_i[s] == IdW'(r)) && is_peer", "(tx_dst_i[s] == IdW'(r))", "test random_programs"),
    ("ready reaches everybody", "mpe_xbar.sv",
     "rx_rdy_i[r] && is_peer", "rx_rdy_i[r]", "test random_programs"),
    ("launch without waiting for all", "mpe_status_bus.sv",
     "&(shows[r] | ~members_i[r]) && shows[r][r]", "shows[r][r]",
     "test random_programs_with_gaps"),
    ("launch of nodes that are no members", "mpe_status_bus.sv",
     "shows[r] & members_i[r] &", "shows[r] &", "test random_programs_with_gaps"),
    ("launch twice", "mpe_status_bus.sv", " && !launch_q[r]", "", "test random_programs"),
    ("held launch is ordered by a later status", "mpe_status_bus.sv",
     "if (!frozen) status_q <= status_i", "status_q <= status_i", "hold"),
    ("launch is not held", "mpe_status_bus.sv",
     "group[r] && &(in_time_i | ~members_i[r])", "group[r]", "proof mpe_sys n3held"),
    ("held launch counts a sender's clocks without the complete message", "mpe_link.sv",
     "(LenW+1)'(s_len_q) + (LenW+1)'(s_tx_q)", "(LenW+1)'(s_len_q)", "proof mpe_sys n3held"),
    ("launch is held a clock too long", "mpe_front.sv",
     "leaves_before + IdW'(1) : '0", "leaves_before : '0", "hold"),
    ("held launch looks at words that have not come", "mpe_link.sv",
     "assign settled_o = !s_valid_q || flows;", "assign settled_o = 1'b1;", "hold"),
    ("a held group has members whose commands wait for others", "mpe.sv",
     "(!head_valid && settled)", "settled", "hold QueueDepth=4"),
    ("forward goes back to where it came from", "mpe_front.sv",
     "cmd_members_i[IdW-1:0]", "cmd_peer_i", "lockstep diagrams"),
    ("class one too low", "mpe_size_class.sv",
     "classes[StatusW-1:0] + StatusW'(1)", "classes[StatusW-1:0]", "test status_of_every_length"),
    ("waiting command looks free", "mpe_size_class.sv",
     "if (waiting_i || (active_i && above))", "if (active_i && above)", "test status_of_every_length"),
    ("root is ordered by its status", "mpe_order_nbr.sv",
     "(is_root || !less[j])", "!less[j]", "proof mpe_order n4"),
    ("equal classes in reverse order", "mpe_order_nbr.sv",
     "(IdW'(j) < self_i));", "(IdW'(j) > self_i));", "proof mpe_order n4"),
    ("least significant status bit is ignored", "mpe_order_nbr.sv",
     "for (int b = StatusW - 1; b >= 0; b--) begin\n      logic [NumNodes-1:0] low, high;",
     "for (int b = StatusW - 1; b >= 1; b--) begin\n      logic [NumNodes-1:0] low, high;",
     "proof mpe_order n4"),
    ("emitter looks at the live status", "mpe_order_emit.sv",
     "assign status = status_q;", "assign status = status_i;", "proof mpe_emit n4"),
    ("emitter counts places from the wrong end", "mpe_order_emit.sv",
     "leaves_before -= IdW'(2);", "leaves_before -= IdW'(1);", "proof mpe_emit n4"),
    ("queue loses an entry that comes with a pop", "mpe_issue_queue.sv",
     "(pop_i ? (valid[i] && !valid[i+1]) : (valid[i-1] && !valid[i]))",
     "(valid[i-1] && !valid[i])", "proof mpe_queue d2"),
    ("queue accepts one too many", "mpe_issue_queue.sv",
     "assign ready_o = !valid_q[Depth-1];", "assign ready_o = 1'b1;", "proof mpe_queue d2"),
    ("hold does not stop the counter", "mpe_link.sv",
     "    if (!hold_i) begin\n      s_addr_q", "    if (1'b1) begin\n      s_addr_q",
     "test random_programs_with_stalls"),
    ("memory written behind the length", "mpe_link.sv",
     "assign step = len != '0 && (", "assign step = (",
     "test a_wrong_length_is_reported_and_survived"),
    ("short message is not ended", "mpe_link.sv",
     "(over_q || rx_end_i || (rx_word", "(over_q || (rx_word",
     "test a_wrong_length_is_reported_and_survived"),
    ("who receives nothing does not wait for the end", "mpe_link.sv",
     "(over_q || !s_rx_q);", "(over_q || !s_rx_q || s_len_q == '0);",
     "test words_for_a_receive_of_none_are_reported"),
    ("any program: who receives nothing does not wait for the end", "mpe_link.sv",
     "(over_q || !s_rx_q);", "(over_q || !s_rx_q || s_len_q == '0);", "proof mpe_pairs n3"),
    ("a receiver forgets that its last word has come", "mpe_link.sv",
     "(over_q || rx_end_i ||", "(rx_end_i ||", "proof mpe_link induction"),
    ("a held group has members whose streams wait for others", "mpe_link.sv",
     "assign settled_o = !s_valid_q || flows;", "assign settled_o = 1'b1;",
     "soak NumNodes=5 HoldLaunch=1"),
    ("a group stays frozen when a member takes its broadcast back", "mpe_status_bus.sv",
     "group = held_q & complete;", "group = held_q;", "soak NumNodes=5 HoldLaunch=1"),
    ("after an abort a node is taken into a broadcast that is still named", "mpe_front.sv",
     "ordered = ordering_q && named;", "ordered = named;", "soak NumNodes=5 Snoop=1"),
    ("a broadcast is launched in the clock of an abort", "mpe_front.sv",
     "!ordering && !abort_i;", "!ordering;", "soak NumNodes=5"),
    ("registers: a command that is refused is not told beside the error of a message", "mpe_port.sv",
     "assign refused_o = illegal || busy;", "assign refused_o = err_o && !err_short_i && !err_long_i;",
     "proof mpe_apb n4"),
    ("registers: an abort leaves the command that waits", "mpe_port.sv",
     "pending_q <= !abort_i && (pending_q", "pending_q <= (pending_q", "proof mpe_apb n4"),
    ("registers: an abort of a command that waits is not told", "mpe_port.sv",
     "abort_i && (pending_o || taken_q", "abort_i && (taken_q", "proof mpe_apb n4"),
    ("an abort leaves an entry in the queue", "mpe_issue_queue.sv",
     "<= !clear_i && (push_here[i]", "<= (push_here[i]", "proof mpe_queue d2"),
    ("an abort forgets to forget a ready", "mpe_link.sv",
     "abort_i) begin\n      requested_q <= 1'b0;\n      granted_q   <= 1'b0;",
     "abort_i) begin\n      requested_q <= 1'b0;", "proof mpe_link induction"),
    ("an abort leaves the message that streams", "mpe_link.sv",
     "abort_i) begin\n      s_valid_q <= 1'b0;", "abort_i) begin", "proof mpe_link induction"),
    ("forward ends before its last word has left", "mpe_link.sv",
     "assign s_done  = s_valid_q && !word_q &&", "assign s_done  = s_valid_q &&",
     "test cycle_budget"),
    ("a node may send to itself", "mpe_check.sv",
     "!is_bcast && 32'(peer_i) == 32'(NodeId)", "1'b0", "wrap bad_commands_are_reported"),
    ("a forward may go back to its source", "mpe_check.sv",
     " || members_i == 32'(peer_i))", ")", "wrap bad_commands_are_reported"),
    ("last beat of a packet is not marked", "mpe_axis_tx.sv",
     "tlast_q <= is_last;", "tlast_q <= 1'b0;", "wrap streams"),
    ("scoreboard: busy leaves first", "sb_unit.sv",
     "pending_q & ~busy_q", "pending_q & busy_q", "sb"),
    # What the proofs are for.
    ("stale ready, in the whole system", "mpe_link.sv",
     "granted_q   <= granted && !move;", "granted_q   <= granted;", "proof mpe_sys n2k2"),
    ("a ready is given for the next message, too", "mpe_link.sv",
     "granting_q  <= granting && !move;", "granting_q  <= granting;", "proof mpe_link induction"),
    ("a request goes on after its ready", "mpe_link.sv",
     "h_tx && requested_q && !granted_q", "h_tx && requested_q", "proof mpe_link induction"),
    ("a message starts without its receiver's ready", "mpe_link.sv",
     "s_free && (granted || !h_tx)", "s_free", "proof mpe_link induction"),
    ("a word more than the length is sent", "mpe_link.sv",
     "assign step = len != '0 && (", "assign step = (", "proof mpe_link induction"),
    ("any program: stale ready", "mpe_link.sv",
     "granted_q   <= granted && !move;", "granted_q   <= granted;", "proof mpe_pairs n2"),
    ("any program: ready ahead one word too early", "mpe_link.sv",
     "(LenW+IdW)'(s_len_q >> 1) <\n", "(LenW+IdW)'(s_len_q >> 1) <=\n", "proof mpe_pairs n3"),
    ("any program: ready ahead of a message that has not started", "mpe_link.sv",
     "assign s_empties = flows &&", "assign s_empties = s_valid_q &&", "proof mpe_pairs n3"),
    ("any program: forward grants before it is granted", "mpe_link.sv",
     "&& (granted_q || !h_tx) &&", "&&", "proof mpe_pairs n3"),
    ("any program: a word for somebody else is taken", "mpe_xbar.sv",
     "from[s] && (tx_to_i[s] == IdW'(r))", "from[s]", "proof mpe_pairs n3"),
    ("the class below the top counts as the top", "mpe_size_class.sv",
     "classes >= ClassesW'(Top - 1)", "classes >= ClassesW'(Top - 2)", "proof mpe_size s2"),
    ("three bits count as two", "mpe_size_class.sv",
     "(mpe_pkg::ReferenceBytes >> (StatusW - 1))",
     "(mpe_pkg::ReferenceBytes >> (StatusW > 1 ? 1 : 0))", "proof mpe_size s3"),
    ("the last of many nodes is not heard", "mpe_xbar.sv",
     "for (int s = 0; s < NumNodes; s++) word_n",
     "for (int s = 0; s < (NumNodes > 8 ? NumNodes - 1 : NumNodes); s++) word_n",
     "proof mpe_xbar n16"),
    ("APB: ready without a transfer", "../gen/mpe_regs_apb.sv",
     "= cpuif_rd_ack | cpuif_wr_ack;", "= cpuif_rd_ack | cpuif_wr_ack | !is_active;",
     "proof mpe_apb n4"),
    ("APB: length changes under a waiting command", "mpe_apb.sv",
     "to_regs.LEN.len.swwel         = pending;", "to_regs.LEN.len.swwel         = 1'b0;",
     "proof mpe_apb n4"),
    ("APB: an error in the clock of the clear is lost", "../gen/mpe_regs_apb.sv",
     "if(hwif_in.STATE.error.hwset) begin",
     "if(hwif_in.STATE.error.hwset && !hwif_out.STATE.error.swmod) begin",
     "proof mpe_apb n4"),
    ("an error behind a legal command is lost", "mpe_port.sv",
     "if (illegal)          err_code_o", "if (written_q)        err_code_o",
     "proof mpe_apb n4"),
    ("a command is shown for one clock only", "mpe_port.sv",
     "pending_q ? !cmd_ready_i :", "pending_q ? 1'b0 :", "proof mpe_apb n4"),
    ("a group of one is legal", "mpe_check.sv",
     "(members_i & (members_i - 32'd1)) != 0", "1'b1", "proof mpe_apb n4"),
    ("AXI4-Lite: length changes under a waiting command", "mpe_axil.sv",
     "to_regs.LEN.len.swwel         = pending;", "to_regs.LEN.len.swwel         = 1'b0;",
     "proof mpe_axil n4"),
    ("AXI4-Lite: active without class 2", "mpe_axil.sv", "status_i != '0;", "status_i[0];",
     "proof mpe_axil n4"),
    ("AXI4-Lite: the code of an error in the clock of the clear is lost", "mpe_axil.sv",
     "(!from_regs.STATE.error.value ||\n                                            "
     "(from_regs.STATE.error.swmod && clears_q));", "!from_regs.STATE.error.value;",
     "proof mpe_axil n4"),
    ("APB: a write that does not clear lets the code of a later error in", "mpe_apb.sv",
     "from_regs.STATE.error.swmod && clears)", "from_regs.STATE.error.swmod)",
     "proof mpe_apb n4"),
    ("AXI4-Lite: a write that does not clear lets the code of a later error in", "mpe_axil.sv",
     "from_regs.STATE.error.swmod && clears_q)", "from_regs.STATE.error.swmod)",
     "wrap the_first_error_is_kept"),
    ("AXI4-Lite: an end interrupts without being enabled", "mpe_axil.sv",
     "(from_regs.IRQ_ENABLE.done.value && from_regs.IRQ_STATE.done.value)",
     "from_regs.IRQ_STATE.done.value", "proof mpe_axil n4"),
    ("APB: an end in the clock of the clear does not interrupt", "../gen/mpe_regs_apb.sv",
     "if(hwif_in.IRQ_STATE.done.hwset) begin",
     "if(hwif_in.IRQ_STATE.done.hwset && !(decoded_reg_strb.IRQ_STATE && decoded_req_is_wr)) begin",
     "proof mpe_apb n4"),
    ("a register that is locked is written without an error", "mpe_port.sv",
     "else if (busy) ", "else if (1'b0) ", "proof mpe_apb n4"),
    ("an abort drops a command that ends in its clock", "mpe_port.sv",
     "taken_q != TakenW'(done_d));", "taken_q != TakenW'(done_q));", "proof mpe_apb n4"),
    ("an abort leaves commands counted that it has dropped", "mpe_port.sv",
     "abort_i ? TakenW'(done_d) : taken_q", "taken_q", "proof mpe_apb n4"),
    ("APB: the peer alone is written without an error", "mpe_apb.sv",
     "from_regs.CMD.op.swmod ||\n                   from_regs.CMD.peer.swmod;",
     "from_regs.CMD.op.swmod;", "proof mpe_apb n4"),
    ("AXI4-Lite: the peer alone is written without an error", "mpe_axil.sv",
     "from_regs.CMD.op.swmod ||\n                   from_regs.CMD.peer.swmod;",
     "from_regs.CMD.op.swmod;", "wrap bytes_of_a_command_that_waits"),
    ("a command is written in the clock in which the one before it leaves", "mpe_port.sv",
     "write_i && !pending_o;", "write_i;", "proof mpe_apb n4"),
    ("a message may end behind the memory", "mpe_check.sv",
     " ||\n                    (behind[AddrW] && behind[AddrW-1:0] != '0);", ";", "proof mpe_apb n4"),
    ("a message may not end with the memory", "mpe_check.sv",
     "(behind[AddrW] && behind[AddrW-1:0] != '0)", "behind[AddrW]", "proof mpe_apb n4"),
    ("peers up to the next power of two are nodes", "mpe_check.sv",
     "32'(peer_i) < 32'(NumNodes) &&", "32'(peer_i) < (32'd1 << $clog2(NumNodes)) &&",
     "proof mpe_apb n5"),
    ("targets up to the next power of two are nodes", "mpe_check.sv",
     "members_i < 32'(NumNodes)", "members_i < (32'd1 << $clog2(NumNodes))", "proof mpe_apb n5"),
    ("to a stream: a word is lost when the stream waits", "mpe_axis_tx.sv",
     "rx_req_i && !busy_q && !ended_q;", "rx_req_i && !busy_q;", "proof mpe_axis_tx d2"),
    ("to a stream: words are stored behind the last place", "mpe_axis_tx.sv",
     "assign store      = word && !full;", "assign store      = word;", "proof mpe_axis_tx d3"),
    ("to a stream: words that are dropped are not told", "mpe_axis_tx.sv",
     "assign err_long_o = word && full;", "assign err_long_o = 1'b0;",
     "wrap a_message_too_long_for_a_stream"),
    ("to a stream: what is shown changes", "mpe_axis_tx.sv",
     "&& (!tvalid_q || tready_i);", ";", "proof mpe_axis_tx d2"),
    ("to a stream: a word leaves before it can be the last", "mpe_axis_tx.sv",
     "(!is_last || ended_q) &&", "", "proof mpe_axis_tx d2"),
    ("to a stream: a sender's abort is not seen", "mpe_axis_tx.sv",
     "if (abort_i)      busy_q <= 1'b0;", "if (1'b0) busy_q <= 1'b0;",
     "wrap a_sender_to_a_stream_aborts"),
    ("to a stream: the word of the abort's clock is lost", "mpe_axis_tx.sv",
     "ended_q <= store || count_q != '0;", "ended_q <= count_q != '0;", "proof mpe_axis_tx d2"),
    ("to a stream: the port looks idle when it gives its ready", "mpe_axis_tx.sv",
     "tvalid_q || rx_rdy_o;", "tvalid_q;", "proof mpe_axis_tx d2"),
    ("from a stream: the port looks idle when it takes the first word", "mpe_axis_rx.sv",
     "count_q != '0 || take;", "count_q != '0;", "proof mpe_axis_rx d2"),
    ("from a stream: one word too many is collected", "mpe_axis_rx.sv",
     "count_q == CountW'(Depth - 1)", "count_q == CountW'(Depth)", "proof mpe_axis_rx d2"),
    ("from a stream: words leave without a ready", "mpe_axis_rx.sv",
     "Request: if (tx_rdy_i && !hold_i)", "Request: if (!hold_i)", "proof mpe_axis_rx d2"),
    ("from a stream: a word passes while the bus is held", "mpe_axis_rx.sv",
     "if (state_q == Send && !hold_i) sent_q", "if (state_q == Send) sent_q",
     "proof mpe_axis_rx d2"),
    ("snooped: a launch while the emitter still names another group", "mpe_status_bus.sv",
     "(|launch_q || ord_valid_o) ?", "(|launch_q) ?", "proof mpe_launch n4"),
    ("snooped: the same, in the simulator's programs", "mpe_status_bus.sv",
     "(|launch_q || ord_valid_o) ?", "(|launch_q) ?", "lockstep snoop"),
    ("snooped: roots from 8 on are others", "mpe_status_bus.sv",
     "if (root[r]) root_id |= IdW'(r);", "if (root[r]) root_id |= IdW'(r % 8);",
     "proof mpe_launch n9"),
    ("snooped: the emitter leaves out the last of many", "mpe_order_emit.sv",
     "pending_q & ~chosen;", "pending_q & ~chosen & ~(NumNodes'(1) << 8);", "proof mpe_launch n9"),
    ("a word too many is told while the bus is held, too", "mpe_link.sv",
     "rx_word && s_len_q == '0 && !hold_i", "rx_word && s_len_q == '0",
     "proof mpe_link induction"),
    ("scoreboard: a start in the middle counts", "sb_unit.sv",
     "assign load    = start_i && !valid_o;", "assign load    = start_i;", "sb"),
    ("memory: both ports write at once", "mpe_ram.sv",
     "assign b_rdy_o  = !(a_writes && b_we_i);", "assign b_rdy_o  = 1'b1;",
     "proof mpe_ram induction"),
    ("memory: a port's copy misses the other's writes", "mpe_ram.sv",
     "if (writes) b_words[addr] <= data;", "if (writes && !a_writes) b_words[addr] <= data;",
     "proof mpe_ram induction"),
    ("a netlist of another source", "mpe_order_nbr.sv",
     "(IdW'(j) < self_i));", "(IdW'(j) > self_i));", "netlist mpe_order_nbr NumNodes=4"),
    ("a netlist with another next state", "mpe_link.sv",
     "granting_q  <= granting && !move;", "granting_q  <= granting;",
     "netlist mpe NumNodes=4 NodeId=2"),
]


def is_there(kind, *names):
    """Whether the proof or test is: one that is not fails on every mutant."""
    if kind == "proof":
        return any(names[1] in task and "cover" not in task for task in tasks_of(f"{names[0]}.sby"))
    file = {"test": "test_sys", "test6": "test_sys", "wrap": "test_wrap"}.get(kind)
    return file is None or all(f"async def {name}(" in (RTL / "tb" / f"{file}.py").read_text()
                               for name in names)


def kill(mutant):
    """Whether the named killer fails on the mutant, and how it was run."""
    number, (name, file, text, replacement, killer) = mutant
    if not is_there(*killer.split()):
        return name, killer, "there is no such proof or test"
    tree = BUILD / f"{number}"
    shutil.rmtree(tree, ignore_errors=True)
    for part in ("src", "gen", "tb", "formal", "lint", "syn"):
        shutil.copytree(RTL / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    kind, *rest = killer.split()
    if kind == "netlist":
        # Of the source as it is, in this tree: RTL's own build folder may be in use.
        mapped = subprocess.run([sys.executable, "syn/synth.py", *rest, "--recipe", "amap"], cwd=tree,
                                capture_output=True, text=True, check=True).stdout
        netlist = json.loads(mapped.split(maxsplit=1)[1])["netlist"]
    source = tree / "src" / file
    content = source.read_text()
    if content.count(text) != 1:
        return name, killer, f"text occurs {content.count(text)} times in {file}"
    source.write_text(content.replace(text, replacement))
    if kind == "proof":
        command = [sys.executable, "formal/prove.py", f"{rest[0]}.sby", "--only", rest[1], "--skip",
                   "cover", "--jobs", "1"]
    elif kind == "netlist":
        command = [sys.executable, "syn/equal.py", *rest, "--netlist", netlist]
    elif kind == "soak":
        command = [sys.executable, "tb/soak.py", "--programs", "12000", *rest]
    elif kind == "lockstep":
        command = [sys.executable, "tb/run.py", "--jobs", "1", "--vectors",
                   f"tb/vectors/{rest[0]}.json"]
    else:
        top, module = {"test": ("mpe_tb", "test_sys"), "test6": ("mpe_tb", "test_sys"),
                       "wrap": ("wrap_tb", "test_wrap"), "hold": ("mpe_tb", "test_hold"),
                       "sb": ("sb_unit", "test_sb")}[kind]
        command = [sys.executable, "tb/run.py", "--sim", "icarus", "--top", top, "--module", module]
        command += rest if kind == "hold" else [f"--test={test}" for test in rest]
        command += ["NumNodes=5", "HoldLaunch=1"] if kind == "hold" else []
        command += ["NumNodes=6", "QueueDepth=4"] if kind == "test6" else []
    try:
        # Fewer programs than this do not meet every one of the faults.
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False,
                              timeout=300, env={**os.environ, "MPE_PROGRAMS": "6"})
        output, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        output, code = "timeout", 1     # a mutant that never ends is found, too
    built = "error: " not in output.lower().split("running", 1)[0]
    if code == 0:
        return name, killer, "survives"
    return name, killer, "killed" if built and "Traceback (most recent call last)" not in \
        output.split("cocotb", 1)[0] else f"does not build:\n{output[-600:]}"


def is_quick(mutant):
    """Whether it is found in seconds and without Icarus."""
    return mutant[-1].split()[0] in ("netlist", "proof")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--quick", action="store_true", help="those that are found in seconds")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chosen = [(n, mutant) for n, mutant in enumerate(MUTANTS)
              if given.only in mutant[0] and (is_quick(mutant) or not given.quick)]
    bad = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for name, killer, result in pool.map(kill, chosen):
            bad += result != "killed"
            print(f"{result:9} {name} ({killer})", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} mutants are killed")
    sys.exit(1 if bad or not chosen else 0)


if __name__ == "__main__":
    main()
