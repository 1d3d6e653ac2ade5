#!/usr/bin/env python3
"""Prints budgets.json as the table of README.md, beside the published numbers."""

from area import UNITS, label, read_budgets


def main():
    budgets = read_budgets()
    print("| unit | published | own library | flip-flops | combinational | ratio | OSU 0.18 um |\n"
          "|---|---|---|---|---|---|---|")
    for unit, params, published in UNITS:
        ours = budgets.get(f"{label(unit, params)} ge")
        osu = budgets.get(f"{label(unit, params)} osu018")
        if ours is None:
            continue
        ratio = f"{ours['ge'] / published:.2f}" if published else ""
        print(f"| {label(unit, params)} | {published or ''} | {ours['ge']} | {ours['flops']} | "
              f"{ours['comb_ge']} | {ratio} | {osu['ge'] if osu else ''} |")


if __name__ == "__main__":
    main()
