# SPDX-License-Identifier: MIT OR Apache-2.0
"""A sweep on the ranks of an MPI program: ``mpirun -n 3 python -m mpi4py.futures mpi_sweep.py FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import corecast
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        sweep = corecast.compare(
            "bcast",
            chip="park2019-bus",
            ranks=[4, 8],
            bytes=[64, 256],
            algorithm=["ap", "linear", "mst"],
            executor=executor,
        )
    Path(sys.argv[1]).write_text(json.dumps(sweep.to_dict()))
