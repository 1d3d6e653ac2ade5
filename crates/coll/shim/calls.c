/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The functions of MPI that are served; those with counts are of forms.h, once for each kind of counts.
 */
#include "take.h"

/* All others of the library are its own. */
#pragma GCC visibility push(default)

int MPI_Barrier(MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Barrier");
    struct wanted call;
    begin(&call, "MPI_Barrier", CORECAST_BARRIER, 0, comm);
    return served && take(served, &call, &code) ? code : PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
    serve_no_more();
    return PMPI_Finalize();
}

#define COUNT int
#define PLACE int
#define FORM(name) MPI_##name
#define BELOW(name) PMPI_##name
#define NAME(name) "MPI_" #name
#define BLOCKS blocks
#include "forms.h"

/* Large counts came with MPI 4.0. */
#if MPI_VERSION >= 4
#undef COUNT
#undef PLACE
#undef FORM
#undef BELOW
#undef NAME
#undef BLOCKS
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define FORM(name) MPI_##name##_c
#define BELOW(name) PMPI_##name##_c
#define NAME(name) "MPI_" #name "_c"
#define BLOCKS large_blocks
#include "forms.h"
#endif

#pragma GCC visibility pop
