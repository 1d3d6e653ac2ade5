/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Buffers of the program as bytes that lie as a plan has them.
 *
 * Ranks may describe the same data by other types, so what moves data takes every type: those of
 * which this file does not see at once that they have no gaps and no order of their own are packed.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "shim.h"

/* How the elements of a type lie. */
struct form {
    int is_named; /* one of the standard's */
    MPI_Count size, lower, extent, true_lower, true_extent;
};

static int ask_form(MPI_Datatype type, struct form *form) {
    int integers, addresses, types, combiner;
    int code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    form->is_named = code == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
    if (code == MPI_SUCCESS)
        code = PMPI_Type_size_x(type, &form->size);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_get_extent_x(type, &form->lower, &form->extent);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_get_true_extent_x(type, &form->true_lower, &form->true_extent);
    return code;
}

/* The last of the standard's types is known again: it never goes, so that its handle is never another's. */
static int form_of(MPI_Datatype type, struct form *form) {
    static _Thread_local struct {
        MPI_Datatype type;
        struct form form;
    } known;
    if (known.form.is_named && known.type == type) {
        *form = known.form;
        return MPI_SUCCESS;
    }
    int code = ask_form(type, form);
    if (code == MPI_SUCCESS && form->is_named) {
        known.type = type;
        known.form = *form;
    }
    return code;
}

/* Whether elements are used where they are. */
static int is_plain(const struct form *form) {
    return form->is_named && form->lower == 0 && form->size == form->extent;
}

int type_extent(MPI_Datatype type, MPI_Aint *extent) {
    struct form form;
    int code = form_of(type, &form);
    if (code == MPI_SUCCESS)
        *extent = (MPI_Aint)form.extent;
    return code;
}

int reduced_bytes(MPI_Datatype type, size_t *element_bytes) {
    struct form form;
    *element_bytes = 0;
    int code = form_of(type, &form);
    if (code != MPI_SUCCESS)
        return code;
    /* Bytes between the parts of a standard pair belong to nobody. All ranks name the same type, so
     * that the order of a type's parts is the same everywhere. */
    int is_dense = form.lower == 0 && form.true_lower == 0 && form.size == form.extent &&
                   form.true_extent == form.extent;
    if (is_dense || (form.is_named && form.lower == 0))
        *element_bytes = (size_t)form.extent;
    return MPI_SUCCESS;
}

/* Whether so many elements are no more bytes than memory can have; short calls do without a division. */
static int fits(size_t size, size_t count) {
    return (size | count) >> 31 == 0 || size == 0 || count <= PTRDIFF_MAX / size;
}

/* One after the other, in the order of parts. */
static void in_a_row(struct corecast_block *blocks, int total) {
    size_t offset = 0;
    for (int i = 0; i < total; i++) {
        blocks[i].offset = offset;
        offset += blocks[i].bytes;
    }
}

/* Where the program has them, from the first byte on that is a part's. */
static void in_place(struct side *side, struct corecast_block *blocks) {
    MPI_Aint lowest = 0;
    int is_first = 1;
    for (int i = 0; i < side->parts_total; i++) {
        MPI_Aint displacement = side->parts[i].displacement;
        if (blocks[i].bytes > 0 && (is_first || displacement < lowest)) {
            lowest = displacement;
            is_first = 0;
        }
    }
    for (int i = 0; i < side->parts_total; i++)
        blocks[i].offset = blocks[i].bytes > 0 ? (size_t)(side->parts[i].displacement - lowest) : 0;
    side->bytes = side->user + lowest;
}

int side_lay(struct side *side, void *user, const struct part *parts, int parts_total,
             struct corecast_block *blocks, size_t element_bytes, size_t *bytes) {
    struct form form = {0};
    *side = (struct side){.bytes = user, .user = user, .parts = parts, .parts_total = parts_total};
    side->blocks = blocks;
    for (int i = 0; i < parts_total; i++) {
        const struct part *part = &parts[i];
        if (part->count < 0 || part->type == MPI_DATATYPE_NULL)
            return MPI_ERR_ARG;
        if (element_bytes == 0 && (i == 0 || part->type != part[-1].type)) {
            int code = form_of(part->type, &form);
            if (code != MPI_SUCCESS)
                return code;
        }
        size_t size = element_bytes > 0 ? element_bytes : (size_t)form.size, count = (size_t)part->count;
        if (!fits(size, count) || size * count > PTRDIFF_MAX - side->total)
            return MPI_ERR_ARG;
        blocks[i].bytes = size * count;
        side->total += blocks[i].bytes;
        if (element_bytes == 0 && blocks[i].bytes > 0 && !is_plain(&form))
            side->is_apart = 1;
    }
    *bytes = side->total;
    if (side->is_apart || element_bytes > 0)
        in_a_row(blocks, parts_total);
    else
        in_place(side, blocks);
    return MPI_SUCCESS;
}

int many(MPI_Count count, MPI_Datatype type, MPI_Datatype *as) {
    const int row = 1 << 30;
    MPI_Count lower, extent;
    MPI_Datatype rows, all[2] = {MPI_DATATYPE_NULL, type};
    int code = PMPI_Type_get_extent_x(type, &lower, &extent);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Type_contiguous(row, type, &rows);
    if (code != MPI_SUCCESS)
        return code;
    int lengths[2] = {(int)(count / row), (int)(count % row)};
    MPI_Aint displacements[2] = {0, (MPI_Aint)(count / row * row * extent)};
    all[0] = rows;
    code = PMPI_Type_create_struct(2, lengths, displacements, all, as);
    PMPI_Type_free(&rows);
    return code == MPI_SUCCESS ? PMPI_Type_commit(as) : code;
}

/* Packs a part of more bytes than an int can say, or brings it back: a message to this rank itself does. */
static int move_much(const struct part *part, char *user, char *packed, size_t bytes, int is_back,
                     MPI_Comm comm) {
    int rank;
    MPI_Datatype elements, all;
    int code = PMPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = many(part->count, part->type, &elements);
    if (code != MPI_SUCCESS)
        return code;
    code = many((MPI_Count)bytes, MPI_BYTE, &all);
    if (code == MPI_SUCCESS) {
        code = is_back ? PMPI_Sendrecv(packed, 1, all, rank, 0, user, 1, elements, rank, 0, comm,
                                       MPI_STATUS_IGNORE)
                       : PMPI_Sendrecv(user, 1, elements, rank, 0, packed, 1, all, rank, 0, comm,
                                       MPI_STATUS_IGNORE);
        PMPI_Type_free(&all);
    }
    PMPI_Type_free(&elements);
    return code;
}

/* Packs all parts, or brings them back. */
static int move(struct side *side, int is_back, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < side->parts_total && code == MPI_SUCCESS; i++) {
        const struct part *part = &side->parts[i];
        size_t bytes = side->blocks[i].bytes;
        char *user = side->user + part->displacement;
        char *packed = (char *)side->packed + side->blocks[i].offset;
        int position = 0;
        if (bytes == 0)
            continue;
        if (bytes > INT_MAX)
            code = move_much(part, user, packed, bytes, is_back, comm);
        else if (is_back)
            code = PMPI_Unpack(packed, (int)bytes, &position, user, (int)part->count, part->type, comm);
        else
            code = PMPI_Pack(user, (int)part->count, part->type, packed, (int)bytes, &position, comm);
        if (code == MPI_SUCCESS && bytes <= INT_MAX && (size_t)position != bytes)
            code = MPI_ERR_INTERN;
    }
    return code;
}

int side_ready(struct side *side, int is_read, MPI_Comm comm) {
    if (!side->is_apart)
        return MPI_SUCCESS;
    side->packed = malloc(side->total);
    side->bytes = side->packed;
    if (side->packed == NULL)
        return MPI_ERR_NO_MEM;
    return is_read ? move(side, 0, comm) : MPI_SUCCESS;
}

int side_end(struct side *side, int is_written, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    if (side->packed != NULL && is_written)
        code = move(side, 1, comm);
    free(side->packed);
    side->packed = NULL;
    return code;
}
