/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A rank starts a program of MPI, which is no rank of the job: it says so, or runs alone. */
#include "check.h"

static int me;

int main(int argc, char **argv) {
  char command[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (argc == 1) {
    snprintf(command, sizeof command, "%s child", argv[0]);
    CHECK(system(command) != 0);
    snprintf(command, sizeof command, "env -u CORECAST_SEGMENT %s child", argv[0]);
    CHECK(system(command) == 0);
  }
  MPI_Finalize();
  return 0;
}
