# SPDX-License-Identifier: MIT OR Apache-2.0
"""Poisson's equation on a square that is cut into as many pieces as there are ranks."""

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

comm = MPI.COMM_WORLD
if comm.rank == 0:
    cut = unit_square.GenerateMesh(maxh=0.05).Distribute(comm)
else:
    cut = Cut.Receive(comm)
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
square = Integrate(found * found, mesh)
# What one rank finds.
assert abs(square - 0.0017025105237590686) < 1e-12, square
if comm.rank == 0:
    print(f"{space.ndofglobal} unknowns: the same as of one rank")
