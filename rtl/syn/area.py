#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`make area`: gate equivalents of every unit, beside the published ones, against a budget.

A unit that is more than 2 % larger than in budgets.json fails; --bless writes the file anew. What has
a published size, and the bus, has the area of a plain synthesis there, too (synth.py --plain). What is
counted is proven equal to its source, see equal.py and `is_provable`.
"""

import argparse
import json
import math
import sys

from equal import prove
from synth import libraries, plain, RECIPES, RTL, synthesize

# unit, parameters, published NAND2 equivalents (Park 2019, Table 3; Chung 2011, section 4.2)
UNITS = [
    ("mpe", {"NumNodes": 4, "NodeId": 0}, 2288.1),
    ("mpe", {"NumNodes": 4, "NodeId": 1}, 2288.1),
    ("mpe", {"NumNodes": 4, "NodeId": 2}, 2288.1),
    ("mpe", {"NumNodes": 4, "NodeId": 3}, 2288.1),
    ("mpe", {"NumNodes": 4, "NodeId": 2, "QueueDepth": 4}, 2288.1),
    ("mpe", {"NumNodes": 4, "NodeId": 2, "StatusW": 1}, 2108.4),
    ("mpe", {"NumNodes": 8, "NodeId": 5}, None),
    ("mpe", {"NumNodes": 16, "NodeId": 9}, None),
    ("mpe", {"NumNodes": 32, "NodeId": 17}, None),
    ("mpe", {"NumNodes": 4, "NodeId": 2, "Snoop": 1}, None),
    ("mpe", {"NumNodes": 8, "NodeId": 5, "Snoop": 1}, None),
    ("mpe", {"NumNodes": 32, "NodeId": 17, "Snoop": 1}, None),
    ("mpe", {"NumNodes": 4, "NodeId": 2, "HoldLaunch": 1}, 2288.1),
    ("mpe_status_bus", {"NumNodes": 32}, None),
    ("mpe_status_bus", {"NumNodes": 32, "Snoop": 1}, None),
    ("mpe_bus", {"NumNodes": 4}, None),
    # The one that gives Park's times is the one to compare.
    ("mpe_bus", {"NumNodes": 4, "HoldLaunch": 1}, 2526.4),
    ("mpe_bus", {"NumNodes": 8}, None),
    ("mpe_bus", {"NumNodes": 16}, None),
    ("mpe_bus", {"NumNodes": 32}, None),
    ("mpe_status_bus", {"NumNodes": 4}, None),
    ("mpe_status_bus", {"NumNodes": 4, "HoldLaunch": 1}, None),
    ("mpe_status_bus", {"NumNodes": 32, "HoldLaunch": 1}, None),
    ("sb_unit", {"NumNodes": 4}, 257.79),
    ("sb_unit", {"NumNodes": 8}, 495.96),
    ("sb_unit", {"NumNodes": 16}, 987.96),
    ("sb_unit", {"NumNodes": 32}, None),
] + [(unit, {"NumNodes": nodes}, None)
     for unit in ("mpe_order_nbr", "mpe_order_emit", "mpe_order_snoop") for nodes in (4, 8, 16, 32)
     ] + [
    ("mpe_check", {"NumNodes": 4}, None),
    ("mpe_apb", {"NumNodes": 4}, None),
    ("mpe_axil", {"NumNodes": 4}, None),
]
TOLERANCE = 1.02
DEEP = [recipe for recipe in RECIPES if recipe.startswith("deep")]
# README.md's targets for four nodes in our own library, whatever the budget says.
TARGETS = {"mpe": 1100, "mpe_bus": 620}
BUDGETS = RTL / "budgets.json"


def read_budgets():
    return json.loads(BUDGETS.read_text()) if BUDGETS.exists() else {}


def label(unit, params):
    return " ".join([unit, *(f"{key}={value}" for key, value in params.items())])


def recipes_for(unit, params, is_quick):
    """All recipes for what has a target; elsewhere those that have been best, to save time."""
    nodes = params["NumNodes"]
    if unit == "mpe_bus" and nodes > 4:
        return ["nf-dch"] if nodes < 32 else ["nf"]
    if unit == "mpe" and nodes > 4:
        return ["amap", "nf-rounds"]
    if unit in ("mpe_apb", "mpe_axil"):
        return ["amap-dch"]
    if is_quick:
        return DEEP
    if nodes > 8:    # the search takes many minutes
        shallow = [recipe for recipe in RECIPES if recipe not in DEEP]
        return shallow if nodes < 32 else ["amap", "nf-area"]
    return None


def target_of(unit, params, published):
    """Gate equivalents that it must stay below; for the scoreboard unit half of the published."""
    if unit == "sb_unit" and published:
        return published / 2
    is_plain = params["NumNodes"] == 4 and set(params) <= {"NumNodes", "NodeId"}
    return TARGETS.get(unit, math.inf) if is_plain else math.inf


def is_provable(unit, params, library):
    """In our own library, up to where it takes seconds; the register block merges flip-flops."""
    nodes_max = {"mpe_apb": 0, "mpe_axil": 0, "mpe_order_nbr": 16}.get(unit, 8)
    return library.name == "ge" and params["NumNodes"] <= nodes_max


def has_plain(unit, published, library):
    """Whether what a plain synthesis gives is of interest."""
    return library.name == "ge" and (published or unit == "mpe_bus")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--quick", action="store_true", help="own library and N = 4 only")
    parser.add_argument("--only", default="", help="units whose name contains this")
    parser.add_argument("--jobs", type=int, default=2, help="recipes at a time")
    given = parser.parse_args()
    budgets = read_budgets()
    rows, bad = ["| unit | library | GE | flip-flops | GE of them | GE combinational | published | "
                 "ratio |", "|---|---|---|---|---|---|---|---|"], []
    for library in libraries()[:1 if given.quick else None]:
        for unit, params, published in UNITS:
            if not (RTL / "src" / f"{unit}.sv").exists():
                continue
            if given.quick and params["NumNodes"] != 4:
                continue
            if given.only not in f"{label(unit, params)} {library.name}":
                continue
            if unit == "mpe_bus" and params["NumNodes"] == 32 and library.name != "ge":
                continue    # minutes, and only more of the same multiplexers
            result = synthesize(unit, params, library, recipes_for(unit, params, given.quick),
                                given.jobs)
            proven = ""
            if is_provable(unit, params, library):
                prove(unit, params, library, result["netlist"])
                proven = "  = source"
            name, ge = f"{label(unit, params)} {library.name}", result["ge"]
            if has_plain(unit, published, library) and params["NumNodes"] <= 16:
                result["plain"] = plain(unit, params, library)
            print(f"{name:48} {ge:9.1f} GE {result['flops']:5} flip-flops "
                  f"{result['comb_ge']:9.1f} combinational  "
                  f"{result['recipe']}{proven}"
                  + (f"  plain {result['plain']}" if "plain" in result else ""), flush=True)
            ratio = f"{ge / published:.2f}" if published else ""
            rows.append(f"| {label(unit, params)} | {library.name} | {ge} | {result['flops']} | "
                        f"{result['flop_ge']} | {result['comb_ge']} | {published or ''} | {ratio} |")
            (RTL / "build" / "area.md").write_text("\n".join(rows) + "\n")
            target = target_of(unit, params, published)
            if library.name == "ge" and ge >= target:
                bad.append(f"{name}: {ge} GE is not below the target of {target:.1f}")
            if given.bless:
                budgets = read_budgets()
                budgets[name] = {key: result[key] for key in ("ge", "flops", "comb_ge", "plain")
                                 if key in result}
                lines = [f"{json.dumps(key)}: {json.dumps(budgets[key])}" for key in sorted(budgets)]
                BUDGETS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
            elif name not in budgets:
                bad.append(f"{name}: no budget; `make area-bless` writes one")
            else:
                for key in {"ge", "plain"} & set(result):
                    if result[key] > budgets[name].get(key, 0) * TOLERANCE:
                        bad.append(f"{name}: {key} {result[key]} is more than 2 % above its "
                                   f"{budgets[name].get(key)}")
    print(*bad, f"{len(rows) - 2} areas, {len(bad)} above their budgets", sep="\n")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
