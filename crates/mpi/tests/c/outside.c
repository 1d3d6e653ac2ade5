/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls before MPI_Init and after MPI_Finalize: outside, outside WHEN, or outside beside LIBRARY. */
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

/* What may be called at any time. */
static int is_allowed(void)
{
    int number, other, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_ERROR_STRING];
    MPI_Info info;
    return !MPI_Get_version(&number, &other) && !MPI_Get_library_version(text, &length) &&
           !MPI_Error_class(MPI_ERR_OTHER, &number) && !MPI_Error_string(MPI_ERR_OTHER, text, &length) &&
           !MPI_Info_create(&info) && !MPI_Info_set(info, "key", "value") && !MPI_Info_free(&info) &&
           !MPI_T_init_thread(MPI_THREAD_SINGLE, &number) && !MPI_T_finalize();
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "";
    int rank, flag;
    MPI_Session session;
    if (MPI_Initialized(&flag) || flag || MPI_Finalized(&flag) || flag || !is_allowed())
        return 11;
    /* As if that library had been loaded. */
    if (!strcmp(when, "beside") &&
        mmap(NULL, 1, PROT_READ, MAP_PRIVATE, open(argv[2], O_RDONLY), 0) == MAP_FAILED)
        return 16;
    if (!strcmp(when, "before") || !strcmp(when, "beside"))
        return MPI_Comm_rank(MPI_COMM_WORLD, &rank) ? 12 : 13;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    if (!strcmp(when, "between"))
        return MPI_Comm_rank(MPI_COMM_WORLD, &rank) ? 12 : 13;
    if (MPI_Init(&argc, &argv) || MPI_Initialized(&flag) || !flag)
        return 14;
    /* The handlers of communicators end with them. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Finalize() || MPI_Finalized(&flag) || !flag || !is_allowed())
        return 15;
    if (!strcmp(when, "after"))
        return MPI_Comm_rank(MPI_COMM_WORLD, &rank) ? 12 : 13;
    if (!strcmp(when, "again"))
        return MPI_Init(&argc, &argv) ? 12 : 13;
    return 0;
}
