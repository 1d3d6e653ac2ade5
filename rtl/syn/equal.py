#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Proves by SAT that a mapped netlist is its source: `equal.py mpe_bus NumNodes=8`.

Flip-flops keep their names through synthesis, so equal names are cut points and every next state and
every output is one combinational proof. A reset is proven as the value that it forces on the next
state; flip-flops without reset are taken to start with the same value.
"""

import argparse
import sys

from synth import BUILD, Library, RTL, libraries, sources, synthesize, yosys

RESET = r"""
module \$_DFF_PN0_ (input D, input C, input R, output Q);
  \$_DFF_P_ ff (.D(D & R), .C(C), .Q(Q));
endmodule
module \$_DFF_PP0_ (input D, input C, input R, output Q);
  \$_DFF_P_ ff (.D(D & ~R), .C(C), .Q(Q));
endmodule
"""
BITS = "techmap; simplemap; opt_merge; techmap -map build/syn/reset.v; splitnets -ports"


def prove(top, params, library, netlist):
    """Raises RuntimeError unless the netlist is proven equal to the unit; returns the log."""
    (BUILD / "reset.v").write_text(RESET)
    options = " ".join(f"-G{key}={value}" for key, value in params.items())
    name = f"{top}.{library.name}.equal"
    # Names inside cells would hide those of the source; bits that the netlist does not drive go.
    ok, log = yosys(
        f"read_slang -j 1 {options} --top {top} src/mpe_pkg.sv {sources()}; hierarchy -check; "
        "flatten; rename -top gold; proc; memory; opt_expr; opt_dff -nosdff -nodffe; "
        f"{BITS}; opt_clean; design -stash source; "
        f"read_liberty -ignore_miss_func {library.path.relative_to(RTL)}; read_verilog {netlist}; "
        f"hierarchy -check -top {top}; proc; flatten; rename -top gate; rename -hide w:_*_.*; "
        f"{BITS}; opt_clean -purge; design -stash netlist; "
        "design -copy-from source -as gold gold; design -copy-from netlist -as gate gate; "
        "equiv_make gold gate equal; hierarchy -top equal; opt_clean; equiv_simple; "
        f"tee -q -o build/syn/{name} equiv_status -assert", name)
    if not ok:
        raise RuntimeError(f"{top} {params}: the netlist is not proven equal to the source:\n"
                           f"{log[-2000:]}")
    return (BUILD / name).read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("unit")
    parser.add_argument("params", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--netlist", help="instead of the one that is synthesized now")
    given = parser.parse_args()
    params, library = dict(pair.split("=") for pair in given.params), libraries()[0]
    netlist = given.netlist or synthesize(given.unit, params, library)["netlist"]
    try:
        print(prove(given.unit, params, library, netlist))
    except RuntimeError as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
