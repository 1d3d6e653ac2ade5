# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a program in Python does with MPI, one check at a time: checks.py NAME, or checks.py --list.

Run by `cargo xtask mpi-clients` on two to four ranks with the unmodified mpi4py wheel. A check that
finds a wrong result raises, which mpi4py turns into MPI_Abort by its runner (-m mpi4py).
"""

import os
import sys
from array import array


def world():
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    return MPI, comm, comm.Get_rank(), comm.Get_size()


def start():
    MPI, comm, rank, size = world()
    assert 0 <= rank < size and MPI.Is_initialized()
    # Another library would know nothing of our launcher, and every process would be alone.
    assert size == int(os.environ.get("CORECAST_RANKS", size))
    assert len(MPI.Get_processor_name()) > 0 and MPI.Wtime() <= MPI.Wtime()
    assert MPI.Get_library_version()


def ring():
    MPI, comm, rank, size = world()
    for n in (1, 1000, 1 << 20):
        sent, got = array("b", [rank]) * n, array("b", [0]) * n
        right, left = (rank + 1) % size, (rank - 1) % size
        comm.Sendrecv(sent, right, 5, got, left, 5)
        assert got == array("b", [left]) * n


def objects():
    MPI, comm, rank, size = world()
    if rank == 0:
        for _ in range(1, size):
            status = MPI.Status()
            value = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
            assert value == {"rank": status.source, "list": [status.tag] * 3}
    else:
        comm.send({"rank": rank, "list": [rank + 10] * 3}, dest=0, tag=rank + 10)


def requests():
    MPI, comm, rank, size = world()
    inboxes = [array("i", [0]) * 100 for _ in range(size)]
    requests = [comm.Irecv(inboxes[other], other, 1) for other in range(size)]
    requests += [comm.Isend(array("i", [rank]) * 100, other, 1) for other in range(size)]
    MPI.Request.Waitall(requests)
    for other in range(size):
        assert inboxes[other] == array("i", [other]) * 100


def persistent():
    MPI, comm, rank, size = world()
    inbox, outbox = array("i", [0]), array("i", [0])
    pair = [comm.Send_init(outbox, (rank + 1) % size, 2), comm.Recv_init(inbox, (rank - 1) % size, 2)]
    for turn in range(5):
        outbox[0] = 100 * turn + rank
        MPI.Prequest.Startall(pair)
        MPI.Request.Waitall(pair)
        assert inbox[0] == 100 * turn + (rank - 1) % size
    for request in pair:
        request.Free()


def probe():
    MPI, comm, rank, size = world()
    if rank == 0:
        for _ in range(1, size):
            status = MPI.Status()
            comm.Probe(MPI.ANY_SOURCE, 3, status)
            box = array("d", [0.0]) * status.Get_count(MPI.DOUBLE)
            comm.Recv(box, status.source, 3)
            assert len(box) == 10 * status.source
        message = comm.Mprobe(size - 1, 4)
        message.Recv(array("d", [0.0]))
    else:
        comm.Send(array("d", [1.0]) * (10 * rank), 0, 3)
    if rank == size - 1:
        comm.Send(array("d", [1.0]), 0, 4)


def barrier():
    MPI, comm, rank, size = world()
    for _ in range(100):
        comm.Barrier()


def bcast():
    MPI, comm, rank, size = world()
    for root in range(size):
        for n in (1, 5000, 300000):
            data = array("i", [root if rank == root else -1]) * n
            comm.Bcast(data, root)
            assert data == array("i", [root]) * n
        assert comm.bcast([rank, "x"], root) == [root, "x"]


def reductions():
    MPI, comm, rank, size = world()
    for n in (1, 1000, 100000):
        data, total = array("d", [rank + 1.0]) * n, array("d", [0.0]) * n
        comm.Allreduce(data, total, MPI.SUM)
        assert total == array("d", [size * (size + 1) / 2]) * n
        comm.Reduce(data, total, MPI.MAX, size - 1)
        assert rank != size - 1 or total == array("d", [float(size)]) * n
    assert comm.allreduce(rank, MPI.MIN) == 0
    part = array("i", [0])
    comm.Scan(array("i", [1]), part)
    assert part[0] == rank + 1
    comm.Exscan(array("i", [1]), part)
    assert rank == 0 or part[0] == rank
    comm.Reduce_scatter_block(array("i", [rank]) * size, part)
    assert part[0] == size * (size - 1) // 2
    assert comm.allreduce((rank * 1.5, rank), MPI.MAXLOC) == ((size - 1) * 1.5, size - 1)


def gathers():
    MPI, comm, rank, size = world()
    every = array("i", [-1]) * size
    comm.Allgather(array("i", [rank * rank]), every)
    assert list(every) == [other * other for other in range(size)]
    comm.Gather(array("i", [rank]), every if rank == 0 else None, 0)
    assert rank != 0 or list(every) == list(range(size))
    mine = array("i", [0])
    comm.Scatter(array("i", range(size)) if rank == 0 else None, mine, 0)
    assert mine[0] == rank
    assert comm.allgather({"r": rank}) == [{"r": other} for other in range(size)]
    counts = [other + 1 for other in range(size)]
    places = [sum(counts[:other]) for other in range(size)]
    box = array("i", [0]) * sum(counts)
    comm.Allgatherv(array("i", [rank]) * (rank + 1), [box, counts, places, MPI.INT])
    assert list(box) == [other for other in range(size) for _ in range(other + 1)]


def alltoalls():
    MPI, comm, rank, size = world()
    for n in (1, 10000):
        sent = array("i", [v for other in range(size) for v in [rank * size + other] * n])
        got = array("i", [0]) * (n * size)
        comm.Alltoall(sent, got)
        assert list(got) == [v for other in range(size) for v in [other * size + rank] * n]
    assert comm.alltoall([(rank, other) for other in range(size)]) == [(other, rank) for other in range(size)]


def nonblocking():
    MPI, comm, rank, size = world()
    data, total = array("i", [rank]), array("i", [0])
    requests = [comm.Ibarrier(), comm.Iallreduce(data, total)]
    MPI.Request.Waitall(requests)
    assert total[0] == size * (size - 1) // 2


def communicators():
    MPI, comm, rank, size = world()
    half = comm.Split(rank % 2, -rank)
    members = half.allgather(rank)
    assert members == sorted(members, reverse=True) and all(m % 2 == rank % 2 for m in members)
    twin = comm.Dup()
    assert MPI.Comm.Compare(twin, comm) == MPI.CONGRUENT
    group = comm.Get_group().Incl([0])
    alone = comm.Create(group)
    assert (alone == MPI.COMM_NULL) == (rank != 0)
    for one in (half, twin) + ((alone,) if rank == 0 else ()):
        one.Free()


def datatypes():
    MPI, comm, rank, size = world()
    column = MPI.INT.Create_vector(4, 1, 4).Commit()
    box = array("i", range(16)) if rank == 0 else array("i", [0]) * 16
    if rank == 0:
        for other in range(1, size):
            comm.Send([box, 1, column], other, 6)
    else:
        comm.Recv([box, 1, column], 0, 6)
        assert list(box) == [v if v % 4 == 0 else 0 for v in range(16)]
    column.Free()


def operations():
    MPI, comm, rank, size = world()

    def longest(a, b, _):
        x, y = memoryview(a).cast("i"), memoryview(b).cast("i")
        for i in range(len(y)):
            y[i] = max(x[i], y[i])

    op = MPI.Op.Create(longest, commute=True)
    got = array("i", [0]) * 3
    comm.Allreduce(array("i", [rank]) * 3, got, op)
    assert list(got) == [size - 1] * 3
    op.Free()


def errors():
    MPI, comm, rank, size = world()
    try:
        comm.Send(array("i", [1]), size + 5, 1)
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_RANK
    else:
        raise AssertionError("a rank that is not there was accepted")


def threads():
    import threading

    MPI, comm, rank, size = world()
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE

    def talk(tag):
        for turn in range(50):
            got = comm.sendrecv((rank, tag, turn), (rank + 1) % size, tag, None, (rank - 1) % size, tag)
            assert got == ((rank - 1) % size, tag, turn)

    talkers = [threading.Thread(target=talk, args=(tag,)) for tag in range(3)]
    for talker in talkers:
        talker.start()
    for talker in talkers:
        talker.join()


def topologies():
    MPI, comm, rank, size = world()
    ring = comm.Create_cart([size], [True])
    left, right = ring.Shift(0, 1)
    assert ring.sendrecv(rank, right, 0, None, left, 0) == left
    ring.Free()


CHECKS = [
    start, ring, objects, requests, persistent, probe, barrier, bcast, reductions, gathers, alltoalls,
    nonblocking, communicators, datatypes, operations, errors, threads, topologies,
]

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(check.__name__ for check in CHECKS))
    else:
        {check.__name__: check for check in CHECKS}[sys.argv[1]]()
