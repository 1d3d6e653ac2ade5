# SPDX-License-Identifier: MIT OR Apache-2.0
"""Two datasets that all ranks write, one together and one each for itself, and all read."""

import os
import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
assert ranks == int(os.environ["RANKS"])
row = np.arange(20000.0)
with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
    rows = file.create_dataset("rows", (ranks, len(row)), dtype="f8")
    with rows.collective:
        rows[rank] = row + rank
    pieces = file.create_dataset("pieces", (ranks * 7,), dtype="i4", chunks=(7,))
    pieces[rank * 7 : (rank + 1) * 7] = rank
with h5py.File(sys.argv[1], "r", driver="mpio", comm=comm) as file:
    for of in range(ranks):
        assert (file["rows"][of] == row + of).all()
    assert (file["pieces"][:] == np.repeat(np.arange(ranks), 7)).all()
