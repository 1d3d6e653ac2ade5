# SPDX-License-Identifier: MIT OR Apache-2.0
"""Poisson's equation on a square that is cut into as many pieces as there are ranks."""

import os

from mpi4py import MPI
from netgen.geom2d import unit_square
from netgen.meshing import Mesh as Cut
from ngsolve import (
    H1,
    BilinearForm,
    CGSolver,
    GridFunction,
    Integrate,
    LinearForm,
    Mesh,
    Preconditioner,
    dx,
    grad,
)


def square(cut):
    """The square of the solution, over all of a mesh."""
    mesh = Mesh(cut)
    space = H1(mesh, order=3, dirichlet=".*")
    trial, test = space.TnT()
    stiffness = BilinearForm(grad(trial) * grad(test) * dx)
    load = LinearForm(test * dx)
    local = Preconditioner(stiffness, "local")
    stiffness.Assemble()
    load.Assemble()
    found = GridFunction(space)
    found.vec.data = CGSolver(stiffness.mat, local.mat, maxiter=500) * load.vec
    return Integrate(found * found, mesh)


comm = MPI.COMM_WORLD
assert comm.size == int(os.environ["RANKS"])
whole = unit_square.GenerateMesh(maxh=0.05)
alone = square(whole)
cut = whole.Distribute(comm) if comm.rank == 0 else Cut.Receive(comm)
together = square(cut)
assert abs(together - alone) < 1e-12, (together, alone)
