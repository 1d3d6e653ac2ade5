/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Buffers of the program as bytes one after the other.
 *
 * Ranks may describe the same data by other types, so what moves data takes every type: those of
 * which this file does not see at once that they have no gaps and no order of their own are packed.
 */
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

int type_bytes(MPI_Datatype type, long long count, size_t *bytes) {
    struct form form;
    int code = form_of(type, &form);
    if (code != MPI_SUCCESS)
        return code;
    *bytes = form.size > 0 && count > 0 ? (size_t)form.size * (size_t)count : 0;
    return MPI_SUCCESS;
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

int side_ready(struct side *side, void *user, long long count, MPI_Datatype type, int is_read,
               MPI_Comm comm) {
    struct form form;
    *side = (struct side){.bytes = user, .user = user, .count = (int)count, .type = type};
    int code = form_of(type, &form);
    if (code != MPI_SUCCESS || (form.is_named && form.lower == 0 && form.size == form.extent))
        return code;
    int bytes = (int)(form.size * count), position = 0;
    side->packed = malloc(bytes > 0 ? (size_t)bytes : 1);
    side->bytes = side->packed;
    if (side->packed == NULL)
        return MPI_ERR_NO_MEM;
    if (!is_read)
        return MPI_SUCCESS;
    code = PMPI_Pack(user, (int)count, type, side->packed, bytes, &position, comm);
    return code == MPI_SUCCESS && position != bytes ? MPI_ERR_INTERN : code;
}

int side_end(struct side *side, int is_written, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    if (side->packed != NULL && is_written) {
        size_t bytes;
        int position = 0;
        code = type_bytes(side->type, side->count, &bytes);
        if (code == MPI_SUCCESS)
            code = PMPI_Unpack(side->packed, (int)bytes, &position, side->user, side->count,
                               side->type, comm);
    }
    free(side->packed);
    side->packed = NULL;
    return code;
}
