# SPDX-License-Identifier: MIT OR Apache-2.0
"""A hundred steps of a melting crystal, by all ranks together and by every other one for itself."""

import lammps
from mpi4py import MPI

MELT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
run 100
"""

# What one rank gives. Sums of other orders differ in the last digits.
ENERGY, PRESSURE = -5.751458413811859, 0.22224801342781558


def melt(comm):
    melt = lammps.lammps(comm=comm, cmdargs=["-log", "none", "-screen", "none"])
    melt.commands_string(MELT)
    energy, pressure = melt.get_thermo("pe"), melt.get_thermo("press")
    assert abs(energy - ENERGY) < 1e-9 and abs(pressure - PRESSURE) < 1e-9, (energy, pressure)
    atoms = melt.get_natoms()
    melt.close()
    return atoms


world = MPI.COMM_WORLD
atoms = melt(world)
half = world.Split(world.rank % 2, world.rank)
melt(half)
half.Free()
if world.rank == 0:
    print(f"{atoms} atoms: all energies agree")
