#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the C header that PeakRDL writes one that every compiler accesses by words, without libc."""

import sys
from pathlib import Path

# What it says, and what it has to say. A packed struct has alignment 1, and compilers for machines
# that need aligned accesses take the registers byte by byte: four writes, and the first issues.
# <assert.h> is libc's, and a freestanding compiler need not have it.
CHANGES = [
    ("typedef struct __attribute__ ((__packed__)) {", "typedef struct {"),
    ("#include <assert.h>\n", ""),
    ('static_assert(sizeof(mpe_regs_t) == 0x20, "Packing error");',
     '#ifdef __cplusplus\n'
     'static_assert(sizeof(mpe_regs_t) == 0x20, "Packing error");\n'
     '#else\n'
     '_Static_assert(sizeof(mpe_regs_t) == 0x20, "Packing error");\n'
     '#endif'),
]


def main():
    path = Path(sys.argv[1])
    text = path.read_text()
    for former, latter in CHANGES:
        if text.count(former) != 1:
            sys.exit(f"{path}: not once: {former}")
        text = text.replace(former, latter)
    path.write_text(text)


if __name__ == "__main__":
    main()
