/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A mistake that nobody handles, whatever threads may do. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int x = 1, level = argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    return 0;
}
