/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HPC Challenge's Linpack without its other parts: the rest is the benchmark's own code, which has no
 * option for that. Reads hpccinf.txt and writes hpccoutf.txt, as it does. */
#include <hpcc.h>

int main(int argc, char **argv) {
  HPCC_Params params;
  MPI_Init(&argc, &argv);
  HPCC_Init(&params);
  HPL_main(argc, argv, &params.HPLrdata, &params.Failure);
  HPCC_Finalize(&params);
  MPI_Finalize();
  return 0;
}
