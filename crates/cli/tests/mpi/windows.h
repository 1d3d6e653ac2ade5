/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Windows of all kinds. A file says which rank it is in `me`, and how many there are in `ranks`. */
#include <string.h>

#include "check.h"

static int me, ranks;

enum { CELLS = 64 };

enum kind { CREATED, ALLOCATED, SHARED, DYNAMIC, KINDS };

/* A window of CELLS longs at every rank; of a dynamic one also where each rank's cells are. */
struct box {
  MPI_Win win;
  enum kind kind;
  long *cells;
  MPI_Aint at[16];
};

static struct box make(enum kind kind) {
  struct box box = {.kind = kind};
  MPI_Aint size = CELLS * sizeof(long);
  int unit = sizeof(long);
  MPI_Comm all = MPI_COMM_WORLD;
  switch (kind) {
    case CREATED:
      box.cells = malloc(size);
      OK(MPI_Win_create(box.cells, size, unit, MPI_INFO_NULL, all, &box.win));
      break;
    case ALLOCATED:
      OK(MPI_Win_allocate(size, unit, MPI_INFO_NULL, all, &box.cells, &box.win));
      break;
    case SHARED:
      OK(MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, all, &box.cells, &box.win));
      break;
    default:
      box.cells = malloc(size);
      OK(MPI_Win_create_dynamic(MPI_INFO_NULL, all, &box.win));
      OK(MPI_Win_attach(box.win, box.cells, size));
      MPI_Aint mine;
      MPI_Get_address(box.cells, &mine);
      MPI_Allgather(&mine, 1, MPI_AINT, box.at, 1, MPI_AINT, all);
  }
  memset(box.cells, 0, size);
  MPI_Win_set_errhandler(box.win, MPI_ERRORS_RETURN);
  OK(MPI_Barrier(all));
  return box;
}

static void drop(struct box *box) {
  long *cells = box->cells;
  if (box->kind == DYNAMIC) {
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_detach(box->win, cells));
  }
  OK(MPI_Win_free(&box->win));
  CHECK(box->win == MPI_WIN_NULL);
  if (box->kind == CREATED || box->kind == DYNAMIC) free(cells);
}

/* Where cell `i` of a rank is. */
static MPI_Aint cell(const struct box *box, int rank, int i) {
  return box->kind == DYNAMIC ? box->at[rank] + i * (MPI_Aint)sizeof(long) : i;
}
