# SPDX-License-Identifier: MIT OR Apache-2.0
"""A sum over all ranks and a message round a ring, in compiled code."""

import os

import numba
import numba_mpi
import numpy as np


@numba.njit
def calls():
    rank, ranks = numba_mpi.rank(), numba_mpi.size()
    own, total = np.array([rank + 1.0]), np.zeros(1)
    assert numba_mpi.allreduce(own, total, numba_mpi.Operator.SUM) == 0
    assert total[0] == ranks * (ranks + 1) / 2
    came = np.zeros(1)
    status, request = numba_mpi.irecv(came, (rank - 1) % ranks, 5)
    assert status == 0 and numba_mpi.send(own, (rank + 1) % ranks, 5) == 0
    assert numba_mpi.wait(request) == 0
    assert came[0] == (rank - 1) % ranks + 1
    assert numba_mpi.barrier() == 0


assert numba_mpi.initialized() and numba_mpi.size() == int(os.environ["RANKS"])
calls()
