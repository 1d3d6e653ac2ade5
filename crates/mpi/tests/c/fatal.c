/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A mistake that nobody handles. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int x = 1;
    MPI_Init(&argc, &argv);
    MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    return 0;
}
