# SPDX-License-Identifier: MIT OR Apache-2.0
"""A heated plate: Jacobi's iteration on a grid that is cut both ways, with mpi4py and NumPy.

    python halo.py [SIDE [STEPS [FLOP_PS]]]

Every rank has a block, and in every step exchanges its edges with up to four neighbours; rows are sent as
they lie in memory, columns by a datatype. FLOP_PS is how many picoseconds an operation on floating-point
numbers takes: what a rank computes, four operations a point, it states by `MPI_Pcontrol`, so that on a
simulated chip it takes that long in every run.

Rank 0 computes the same alone afterwards, which has to be the same to the last bit, and prints
`row halo SIDE RANKS MICROSECONDS verified|WRONG`. The exit code is 1 if it is not.
"""

import ctypes
import os
import sys

import numpy
from mpi4py import MPI


def library():
    """The MPI library of this process, whichever interface mpi4py was built for."""
    for name in ("libmpi.so.12", "libmpi_abi.so.1"):
        try:
            return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            pass
    sys.exit("halo.py: there is no MPI library to state computing to")


def plate(rows, columns, top):
    """Cold, with an edge around it; hot where it is the plate's top row."""
    plate = numpy.zeros((rows + 2, columns + 2))
    if top:
        plate[0, :] = 1.0
    return plate


def step(old, new):
    """Every point becomes the mean of its neighbours, always added in this order."""
    inside = new[1:-1, 1:-1]
    numpy.add(old[:-2, 1:-1], old[2:, 1:-1], out=inside)
    inside += old[1:-1, :-2]
    inside += old[1:-1, 2:]
    inside *= 0.25


def main():
    side, steps, flop_ps = (int(word) for word in (sys.argv[1:] + ["480", "10", "0"][len(sys.argv) - 1 :]))
    world = MPI.COMM_WORLD
    ranks = world.Get_size()
    across = MPI.Compute_dims(ranks, 2)
    grid = world.Create_cart(across, periods=[False, False], reorder=False)
    place = grid.Get_coords(grid.Get_rank())
    first, last = ([side * (at + more) // of for at, of in zip(place, across)] for more in (0, 1))
    rows, columns = (end - begin for begin, end in zip(first, last))
    old, new = (plate(rows, columns, place[0] == 0) for _ in range(2))
    column = MPI.DOUBLE.Create_vector(rows, 1, columns + 2).Commit()
    up, down = grid.Shift(0, 1)
    left, right = grid.Shift(1, 1)
    computing_ns = 4 * rows * columns * flop_ps // 1000
    states = library() if computing_ns > 2 else None

    world.Barrier()
    begin = MPI.Wtime()
    for _ in range(steps):
        flat = old.reshape(-1)
        width = columns + 2
        edges = [  # neighbour, where what it gets begins, where what it sends goes, in what form
            (up, width + 1, 1, (columns, MPI.DOUBLE)),
            (down, rows * width + 1, (rows + 1) * width + 1, (columns, MPI.DOUBLE)),
            (left, width + 1, width, (1, column)),
            (right, width + columns, width + columns + 1, (1, column)),
        ]
        requests = [grid.Irecv([flat[into:], *form], source=other) for other, _, into, form in edges]
        requests += [grid.Isend([flat[out:], *form], dest=other) for other, out, _, form in edges]
        MPI.Request.Waitall(requests)
        step(old, new)
        if states is not None:
            states.MPI_Pcontrol(computing_ns)
        old, new = new, old
    world.Barrier()
    time = MPI.Wtime() - begin

    blocks = world.gather((first, last, old[1:-1, 1:-1].copy()))
    is_right = None
    if blocks is not None:
        one, other = (plate(side, side, True) for _ in range(2))
        for _ in range(steps):
            step(one, other)
            one, other = other, one
        one = one[1:-1, 1:-1]
        is_right = all(
            numpy.array_equal(one[first[0] : last[0], first[1] : last[1]], block)
            for first, last, block in blocks
        )
        print(f"row halo {side} {ranks} {1e6 * time:.3f} {'verified' if is_right else 'WRONG'}")
    column.Free()
    return 0 if world.bcast(is_right) else 1


if __name__ == "__main__":
    sys.exit(main())
