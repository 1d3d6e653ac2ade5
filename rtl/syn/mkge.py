#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes ge.lib: a small cell library whose unit of area is the two-input NAND gate.

It contains no data of any process. Areas of combinational cells are those on which common open
libraries agree (they count transistors); flip-flops, on which they do not, take the mean of five
(OSU 0.18 um 4.0 and 7.33 with asynchronous reset, gf180mcu 5.8 and 6.8, Nangate 45 5.67 and 6.67,
SkyWater 130 5.33 and 6.67, IHP 130 - and 6.5; each relative to the library's own NAND2). Delays are
in units of the delay of a NAND2 that drives one NAND2, rough, and there for the mapper alone.
"""

import sys

# name: (area, inputs, function, intrinsic delay)
COMB = {
    "INV": (0.67, "A", "!A", 0.5),
    "BUF": (1.0, "A", "A", 1.0),
    "NAND2": (1.0, "AB", "!(A&B)", 0.6),
    "NAND3": (1.33, "ABC", "!(A&B&C)", 0.8),
    "NAND4": (1.67, "ABCD", "!(A&B&C&D)", 1.0),
    "NOR2": (1.0, "AB", "!(A|B)", 0.7),
    "NOR3": (1.33, "ABC", "!(A|B|C)", 1.0),
    "NOR4": (1.67, "ABCD", "!(A|B|C|D)", 1.3),
    "AND2": (1.33, "AB", "A&B", 1.0),
    "OR2": (1.33, "AB", "A|B", 1.1),
    "AOI21": (1.33, "ABC", "!((A&B)|C)", 0.8),
    "OAI21": (1.33, "ABC", "!((A|B)&C)", 0.8),
    "AOI22": (1.67, "ABCD", "!((A&B)|(C&D))", 0.9),
    "OAI22": (1.67, "ABCD", "!((A|B)&(C|D))", 0.9),
    "AOI211": (1.67, "ABCD", "!((A&B)|C|D)", 1.1),
    "OAI211": (1.67, "ABCD", "!((A|B)&C&D)", 1.1),
    "AOI221": (2.0, "ABCDE", "!((A&B)|(C&D)|E)", 1.2),
    "OAI221": (2.0, "ABCDE", "!((A|B)&(C|D)&E)", 1.2),
    "AOI222": (2.67, "ABCDEF", "!((A&B)|(C&D)|(E&F))", 1.3),
    "OAI222": (2.67, "ABCDEF", "!((A|B)&(C|D)&(E|F))", 1.3),
    "XOR2": (2.33, "AB", "(A&!B)|(!A&B)", 1.3),
    "XNOR2": (2.33, "AB", "(A&B)|(!A&!B)", 1.3),
    "MUX2": (2.33, "ABS", "(A&!S)|(B&S)", 1.4),
    "MUXI2": (2.0, "ABS", "!((A&!S)|(B&S))", 1.1),
}
FLOPS = {"DFF": (5.2, False), "DFFR": (6.8, True)}
LOAD = 0.4  # delay per NAND2 input driven


def table(name, base):
    values = ", ".join(f'"{base + 0.1 * s + LOAD * c:.2f}, {base + 0.1 * s + LOAD * 16 * c:.2f}"'
                       for s, c in ((0.1, 1), (4.0, 1)))
    return (f"        {name}(t) {{ index_1(\"0.1, 4.0\"); index_2(\"1.0, 16.0\"); "
            f"values({values}); }}\n")


def timing(pin, base, sense, kind=""):
    text = f"      timing() {{ related_pin : \"{pin}\"; {kind}timing_sense : {sense};\n"
    for name in ("cell_rise", "cell_fall", "rise_transition", "fall_transition"):
        text += table(name, base)
    return text + "      }\n"


def combinational(name, area, inputs, function, delay):
    text = f"  cell({name}) {{\n    area : {area};\n"
    for pin in inputs:
        text += f"    pin({pin}) {{ direction : input; capacitance : 1.0; }}\n"
    text += f"    pin(Y) {{\n      direction : output; max_capacitance : 64; function : \"{function}\";\n"
    sense = "non_unate" if "X" in name else ("positive_unate" if name in ("BUF", "AND2", "OR2")
                                              else "negative_unate")
    for pin in inputs:
        text += timing(pin, delay, sense)
    return text + "    }\n  }\n"


def flop(name, area, has_reset):
    clear = "; clear : \"!RN\"" if has_reset else ""
    text = (f"  cell({name}) {{\n    area : {area};\n"
            f"    ff(IQ, IQN) {{ clocked_on : \"CK\"; next_state : \"D\"{clear}; }}\n"
            "    pin(CK) { direction : input; capacitance : 1.0; clock : true; }\n"
            "    pin(D) { direction : input; capacitance : 1.0;\n"
            "      timing() { related_pin : \"CK\"; timing_type : setup_rising;\n"
            "        rise_constraint(t) { index_1(\"0.1, 4.0\"); index_2(\"1.0, 16.0\"); "
            "values(\"1.0, 1.0\", \"1.0, 1.0\"); }\n"
            "        fall_constraint(t) { index_1(\"0.1, 4.0\"); index_2(\"1.0, 16.0\"); "
            "values(\"1.0, 1.0\", \"1.0, 1.0\"); }\n      }\n    }\n")
    if has_reset:
        text += "    pin(RN) { direction : input; capacitance : 1.0; }\n"
    text += "    pin(Q) { direction : output; max_capacitance : 64; function : \"IQ\";\n"
    text += timing("CK", 3.0, "non_unate", "timing_type : rising_edge; ")
    return text + "    }\n  }\n"


def library():
    text = ("/* Written by mkge.py: areas in NAND2 equivalents, no data of any process. */\n"
            "library(ge) {\n  delay_model : table_lookup;\n  time_unit : \"1ns\";\n"
            "  capacitive_load_unit(1, pf);\n  voltage_unit : \"1V\";\n  current_unit : \"1mA\";\n"
            "  leakage_power_unit : \"1nW\";\n  nom_voltage : 1.0;\n  nom_temperature : 25;\n"
            "  nom_process : 1;\n  default_max_transition : 100;\n"
            "  lu_table_template(t) { variable_1 : input_net_transition; "
            "variable_2 : total_output_net_capacitance; index_1(\"0.1, 4.0\"); "
            "index_2(\"1.0, 16.0\"); }\n")
    for name, cell in COMB.items():
        text += combinational(name, *cell)
    for name, cell in FLOPS.items():
        text += flop(name, *cell)
    return text + "}\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(library())
