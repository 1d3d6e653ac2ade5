/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls before MPI_Init and after MPI_Finalize. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank = 5, flag, class;
    int before = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_Initialized(&flag) || flag || MPI_Finalized(&flag) || flag)
        return 1;
    if (MPI_Error_class(before, &class) || class != MPI_ERR_OTHER || rank != 5)
        return 2;
    if (MPI_Init(&argc, &argv) || MPI_Initialized(&flag) || !flag || MPI_Finalize())
        return 3;
    if (MPI_Finalized(&flag) || !flag)
        return 4;
    return MPI_Comm_rank(MPI_COMM_WORLD, &rank) == before ? 0 : 5;
}
