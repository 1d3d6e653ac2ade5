/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the checks between ranks share. A file says which rank it is in `me`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* A wrong result ends the program with 9. */
#define CHECK(what)                                                                \
  do {                                                                             \
    if (!(what)) {                                                                 \
      fprintf(stderr, "rank %d: line %d: not so: %s\n", me, __LINE__, #what);      \
      MPI_Abort(MPI_COMM_WORLD, 9);                                                \
    }                                                                              \
  } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static inline int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}
