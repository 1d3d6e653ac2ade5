#!/usr/bin/env python3
"""Seeded faults: every mutant must be found by the test or proof that is named beside it."""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build" / "mutants"

# name, file, text, replacement, killer: "test NAME" (cocotb, N = 4), "test6 NAME" (N = 6),
# "hold PARAMETER=VALUE" (test_hold), "wrap NAME", "sb",
# "lockstep FILE" (tb/vectors) or "proof FILE TASK"
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
     "|| (flows &&", "|| (s_valid_q &&", "hold"),
    ("a held group has members that wait for others", "mpe.sv",
     "bcast_req && (!HoldLaunch || !head_valid)", "bcast_req", "hold QueueDepth=4"),
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
     "(s_len_q == '0 || cut_q)", "(s_len_q == '0)",
     "test a_wrong_length_is_reported_and_survived"),
    ("forward ends before its last word has left", "mpe_link.sv",
     "assign s_done  = s_valid_q && !word_q &&", "assign s_done  = s_valid_q &&",
     "test cycle_budget"),
    ("a node may send to itself", "mpe_check.sv",
     "!is_bcast && 32'(peer_i) == 32'(NodeId)", "1'b0", "wrap bad_commands_are_reported"),
    ("a forward may go back to its source", "mpe_check.sv",
     " || members_i == 32'(peer_i))", ")", "wrap bad_commands_are_reported"),
    ("last beat of a packet is not marked", "mpe_axis_tx.sv",
     "tlast_q <= ended_q;", "tlast_q <= 1'b0;", "wrap streams"),
    ("scoreboard: busy leaves first", "sb_unit.sv",
     "pending_q & ~busy_q", "pending_q & busy_q", "sb"),
]


def kill(mutant):
    """Whether the named killer fails on the mutant, and how it was run."""
    number, (name, file, text, replacement, killer) = mutant
    tree = BUILD / f"{number}"
    shutil.rmtree(tree, ignore_errors=True)
    for part in ("src", "gen", "tb", "formal", "lint"):
        shutil.copytree(RTL / part, tree / part)
    source = tree / "src" / file
    content = source.read_text()
    if content.count(text) != 1:
        return name, killer, f"text occurs {content.count(text)} times in {file}"
    source.write_text(content.replace(text, replacement))
    kind, *rest = killer.split()
    if kind == "proof":
        command = [sys.executable, "formal/prove.py", f"{rest[0]}.sby", "--only", rest[1], "--skip",
                   "cover", "--jobs", "1"]
    elif kind == "lockstep":
        command = [sys.executable, "tb/run.py", "--vectors", f"tb/vectors/{rest[0]}.json"]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    given = parser.parse_args()
    chosen = [(n, mutant) for n, mutant in enumerate(MUTANTS) if given.only in mutant[0]]
    bad = 0
    with ThreadPoolExecutor(2) as pool:
        for name, killer, result in pool.map(kill, chosen):
            bad += result != "killed"
            print(f"{result:9} {name} ({killer})", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} mutants are killed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
