#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints budgets.json as the table of README.md, beside the published numbers."""

from area import UNITS, label, read_budgets

# Park 2019, Table 3, in equivalent NAND gates: the chip, its four engines, its bus.
CHIP, ENGINES, BUS = 433975.06, 2281.7 + 2281.0 + 2296.9 + 2292.8, 2526.4


def share(budgets):
    """Of Park's chip: engines and bus as published, and ours in their place."""
    def ours(unit, params):
        return budgets[f"{label(unit, params)} ge"]["ge"]
    engines = sum(ours("mpe", {"NumNodes": 4, "NodeId": node}) for node in range(4))
    bus = ours("mpe_bus", {"NumNodes": 4, "HoldLaunch": 1})
    rest = CHIP - ENGINES - BUS
    print("\n| share of Park's chip, % | published | ours in its place |\n|---|---|---|")
    for name, published, mine in (("four engines", ENGINES, engines), ("bus", BUS, bus)):
        print(f"| {name} | {100 * published / CHIP:.2f} | "
              f"{100 * mine / (rest + engines + bus):.2f} |")


def main():
    budgets = read_budgets()
    print("| unit | published | own library | flip-flops | combinational | ratio | plain | OSU 0.18 um |\n"
          "|---|---|---|---|---|---|---|---|")
    for unit, params, published in UNITS:
        ours = budgets.get(f"{label(unit, params)} ge")
        osu = budgets.get(f"{label(unit, params)} osu018")
        if ours is None:
            continue
        ratio = f"{ours['ge'] / published:.2f}" if published else ""
        print(f"| {label(unit, params)} | {published or ''} | {ours['ge']} | {ours['flops']} | "
              f"{ours['comb_ge']} | {ratio} | {ours.get('plain', '')} | {osu['ge'] if osu else ''} |")
    share(budgets)


if __name__ == "__main__":
    main()
