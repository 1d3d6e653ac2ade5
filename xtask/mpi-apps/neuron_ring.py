# SPDX-License-Identifier: MIT OR Apache-2.0
"""A ring of twelve cells over all ranks, the first of which is excited once; writes down every spike."""

import sys

from neuron import h

h.load_file("stdrun.hoc")
h.nrnmpi_init()
context = h.ParallelContext()
rank, ranks = int(context.id()), int(context.nhost())
assert ranks == int(sys.argv[1])

CELLS = 12
cells, kept, times, senders = {}, [], h.Vector(), h.Vector()
for cell in range(rank, CELLS, ranks):
    soma = h.Section(name=f"soma{cell}")
    soma.L = soma.diam = 12
    soma.insert("hh")
    synapse = h.ExpSyn(soma(0.5))
    context.set_gid2node(cell, rank)
    spike = h.NetCon(soma(0.5)._ref_v, None, sec=soma)
    context.cell(cell, spike)
    context.spike_record(cell, times, senders)
    cells[cell] = (soma, synapse, spike)
for cell, (_, synapse, _) in cells.items():
    link = context.gid_connect((cell - 1) % CELLS, synapse)
    link.weight[0], link.delay = 0.05, 1 + cell / 8
    kept.append(link)
if 0 in cells:
    begin = h.NetStim()
    begin.number, begin.start = 1, 2
    first = h.NetCon(begin, cells[0][1])
    first.weight[0], first.delay = 0.05, 1
    kept += [begin, first]

context.set_maxstep(10)
h.finitialize(-65)
context.psolve(300)

# Its own collectives: of numbers, vectors and objects.
assert context.allreduce(rank + 1, 1) == ranks * (ranks + 1) / 2
vector = h.Vector([rank, 1])
context.allreduce(vector, 1)
assert list(vector) == [ranks * (ranks - 1) / 2, ranks]
assert context.py_alltoall([(rank, to) for to in range(ranks)]) == [(of, rank) for of in range(ranks)]
spikes = context.py_gather(list(zip(times, senders)), 0)
if rank == 0:
    with open(f"spikes-{ranks}.txt", "w", encoding="utf-8") as file:
        for time, sender in sorted(spike for part in spikes for spike in part):
            print(f"{time:.3f} {sender:.0f}", file=file)
context.barrier()
h.quit()
