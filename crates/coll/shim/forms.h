/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The functions of MPI that are served and have counts. Without a guard, since calls.c includes it for
 * either kind of counts: COUNT and PLACE are their types, and those of displacements; FORM(name) is what is
 * defined, BELOW(name) the library's own, NAME(name) what it is called. BLOCKS is a function of this file.
 *
 * What cannot be served is left to the library below; whether it is must follow from what is the same at
 * all ranks.
 */

int FORM(Bcast)(void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Bcast));
    if (served) {
        struct wanted call;
        begin(&call, NAME(Bcast), CORECAST_BCAST, root, comm);
        get(&call, buffer, count, type, 1);
        call.is_get_read = root == served->rank;
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Bcast)(buffer, count, type, root, comm);
}

int FORM(Gather)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                 COUNT recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Gather));
    if (served) {
        struct wanted call;
        begin(&call, NAME(Gather), CORECAST_GATHER, root, comm);
        give(&call, send, send_count, send_type, 1);
        if (root == served->rank)
            get(&call, recv, recv_count, recv_type, served->ranks);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Gather)(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int FORM(Scatter)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                  COUNT recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Scatter));
    if (served) {
        struct wanted call;
        begin(&call, NAME(Scatter), CORECAST_SCATTER, root, comm);
        if (root == served->rank)
            give(&call, send, send_count, send_type, served->ranks);
        if (recv == MPI_IN_PLACE)
            call.call.in_place = 1;
        else
            get(&call, recv, recv_count, recv_type, 1);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Scatter)(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int FORM(Allgather)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                    COUNT recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Allgather));
    if (served) {
        struct wanted call;
        begin(&call, NAME(Allgather), CORECAST_ALLGATHER, 0, comm);
        give(&call, send, send_count, send_type, 1);
        get(&call, recv, recv_count, recv_type, served->ranks);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Allgather)(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int FORM(Alltoall)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                   COUNT recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Alltoall));
    if (served) {
        struct wanted call;
        begin(&call, NAME(Alltoall), CORECAST_ALLTOALL, 0, comm);
        give(&call, send, send_count, send_type, served->ranks);
        get(&call, recv, recv_count, recv_type, served->ranks);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Alltoall)(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

/* A side with a block of its own length for every rank: all of `type`, in whose extents places are then, or
 * each of its own one of `types`, with places in bytes. What is reduced has no places: blocks lie one after
 * the other. */
static void BLOCKS(struct served *served, struct wanted *wanted, struct buffer *side,
                   const void *address, const COUNT *counts, const PLACE *places, MPI_Datatype type,
                   const MPI_Datatype *types) {
    MPI_Aint unit = 1;
    struct part *parts = table_of(served, wanted, side, address);
    /* Of types that are none nobody asks the extent: it is found later that they are. */
    if (types == NULL && type != MPI_DATATYPE_NULL && type_extent(type, &unit) != MPI_SUCCESS)
        wanted->is_wrong = 1;
    if (counts == NULL || (places == NULL && !wanted->is_reduction))
        wanted->is_wrong = 1;
    if (parts == NULL || wanted->is_wrong)
        return;
    for (int i = 0; i < served->ranks; i++) {
        MPI_Aint place = places ? (MPI_Aint)places[i] * unit : 0;
        parts[i] = (struct part){counts[i], place, types ? types[i] : type};
    }
}

int FORM(Gatherv)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                  const COUNT recv_counts[], const PLACE places[], MPI_Datatype recv_type, int root,
                  MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Gatherv));
    if (served) {
        struct wanted call;
        begin_irregular(&call, NAME(Gatherv), CORECAST_GATHER, root, comm);
        give(&call, send, send_count, send_type, 1);
        if (root == served->rank)
            BLOCKS(served, &call, &call.get, recv, recv_counts, places, recv_type, NULL);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Gatherv)(send, send_count, send_type, recv, recv_counts, places, recv_type, root, comm);
}

int FORM(Scatterv)(const void *send, const COUNT send_counts[], const PLACE places[],
                   MPI_Datatype send_type, void *recv, COUNT recv_count, MPI_Datatype recv_type,
                   int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Scatterv));
    if (served) {
        struct wanted call;
        begin_irregular(&call, NAME(Scatterv), CORECAST_SCATTER, root, comm);
        if (root == served->rank)
            BLOCKS(served, &call, &call.give, send, send_counts, places, send_type, NULL);
        if (recv == MPI_IN_PLACE)
            call.call.in_place = 1;
        else
            get(&call, recv, recv_count, recv_type, 1);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Scatterv)(send, send_counts, places, send_type, recv, recv_count, recv_type, root, comm);
}

int FORM(Allgatherv)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                     const COUNT recv_counts[], const PLACE places[], MPI_Datatype recv_type,
                     MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Allgatherv));
    if (served) {
        struct wanted call;
        begin_irregular(&call, NAME(Allgatherv), CORECAST_ALLGATHER, 0, comm);
        give(&call, send, send_count, send_type, 1);
        BLOCKS(served, &call, &call.get, recv, recv_counts, places, recv_type, NULL);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Allgatherv)(send, send_count, send_type, recv, recv_counts, places, recv_type, comm);
}

int FORM(Alltoallv)(const void *send, const COUNT send_counts[], const PLACE send_places[],
                    MPI_Datatype send_type, void *recv, const COUNT recv_counts[],
                    const PLACE recv_places[], MPI_Datatype recv_type, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Alltoallv));
    if (served) {
        struct wanted call;
        begin_irregular(&call, NAME(Alltoallv), CORECAST_ALLTOALLV, 0, comm);
        if (send == MPI_IN_PLACE)
            give(&call, send, 0, send_type, 0);
        else
            BLOCKS(served, &call, &call.give, send, send_counts, send_places, send_type, NULL);
        BLOCKS(served, &call, &call.get, recv, recv_counts, recv_places, recv_type, NULL);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Alltoallv)(send, send_counts, send_places, send_type, recv, recv_counts, recv_places,
                            recv_type, comm);
}

int FORM(Alltoallw)(const void *send, const COUNT send_counts[], const PLACE send_places[],
                    const MPI_Datatype send_types[], void *recv, const COUNT recv_counts[],
                    const PLACE recv_places[], const MPI_Datatype recv_types[], MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Alltoallw));
    if (served) {
        struct wanted call;
        begin_irregular(&call, NAME(Alltoallw), CORECAST_ALLTOALLV, 0, comm);
        call.is_wrong = recv_types == NULL || (send_types == NULL && send != MPI_IN_PLACE);
        if (send == MPI_IN_PLACE)
            give(&call, send, 0, MPI_DATATYPE_NULL, 0);
        else if (!call.is_wrong)
            BLOCKS(served, &call, &call.give, send, send_counts, send_places, MPI_DATATYPE_NULL,
                   send_types);
        if (!call.is_wrong)
            BLOCKS(served, &call, &call.get, recv, recv_counts, recv_places, MPI_DATATYPE_NULL,
                   recv_types);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Alltoallw)(send, send_counts, send_places, send_types, recv, recv_counts, recv_places,
                            recv_types, comm);
}

int FORM(Reduce)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Reduce));
    if (served) {
        struct wanted call;
        begin(&call, NAME(Reduce), CORECAST_REDUCE, root, comm);
        int gets = root == served->rank;
        void *into = gets ? recv : NULL;
        if (reduce(&call, served, send, into, count, type, op, 1, gets, &code))
            return code;
    }
    return BELOW(Reduce)(send, recv, count, type, op, root, comm);
}

/* A reduction without a root, of so many blocks at every rank to one. */
#define REDUCTION(name, collective, blocks)                                                                \
    int FORM(name)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op,                \
                   MPI_Comm comm) {                                                                        \
        int code;                                                                                          \
        struct served *served = of(comm, NAME(name));                                                      \
        if (served) {                                                                                      \
            struct wanted call;                                                                            \
            begin(&call, NAME(name), collective, 0, comm);                                                 \
            if (reduce(&call, served, send, recv, count, type, op, blocks, 1, &code))                      \
                return code;                                                                               \
        }                                                                                                  \
        return BELOW(name)(send, recv, count, type, op, comm);                                             \
    }

REDUCTION(Allreduce, CORECAST_ALLREDUCE, 1)
REDUCTION(Scan, CORECAST_SCAN, 1)
REDUCTION(Exscan, CORECAST_EXSCAN, 1)
REDUCTION(Reduce_scatter_block, CORECAST_REDUCE_SCATTER, served->ranks)

#undef REDUCTION

int FORM(Reduce_scatter)(const void *send, void *recv, const COUNT counts[], MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, NAME(Reduce_scatter));
    if (served) {
        struct wanted call;
        begin_irregular(&call, NAME(Reduce_scatter), CORECAST_REDUCE_SCATTER, 0, comm);
        int in_place = send == MPI_IN_PLACE;
        call.is_reduction = 1;
        call.op = op;
        call.type = type;
        if (in_place)
            give(&call, send, 0, type, 0);
        else
            get(&call, recv, counts ? counts[served->rank] : -1, type, 1);
        BLOCKS(served, &call, in_place ? &call.get : &call.give, in_place ? recv : send, counts, NULL,
               type, NULL);
        if (take(served, &call, &code))
            return code;
    }
    return BELOW(Reduce_scatter)(send, recv, counts, type, op, comm);
}
