/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What MPICH's tests ask of their `configure`, for Linux with GCC or Clang and an MPI that has everything
 * of the standard and nothing else. Names that are not here are not defined. */
#ifndef MPITESTCONF_H_INCLUDED
#define MPITESTCONF_H_INCLUDED

/* The same feature macros that Autoconf's AC_USE_SYSTEM_EXTENSIONS defines. */
#define _GNU_SOURCE 1

#define HAVE_INTTYPES_H 1
#define HAVE_MEMORY_H 1
#define HAVE_PTHREAD_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRINGS_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1

#define HAVE_GETRUSAGE 1
#define HAVE_PTHREAD_BARRIER_INIT 1
#define HAVE_STRDUP 1
#define HAVE_USLEEP 1
#define HAVE_H_ADDR_LIST 1

#define HAVE_ATOMIC 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_INT16_T 1
#define HAVE_INT32_T 1
#define HAVE_INT64_T 1
#define HAVE_INT8_T 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define HAVE_LONG_LONG 1
#define HAVE_LONG_LONG_INT 1
#define HAVE_UINT16_T 1
#define HAVE_UINT32_T 1
#define HAVE_UINT64_T 1
#define HAVE_UINT8_T 1
#define HAVE__BOOL 1
#define POINTERINT_t long
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SHORT 2
#define SIZEOF_VOID_P 8
#define USE_LONG_DOUBLE_COMPLEX 1

#define HAVE_MPI_INIT_THREAD 1
#define HAVE_MPI_INTEGER16 1
#define HAVE_MPI_IO 1
#define HAVE_MPI_SPAWN 1
#define HAVE_MPI_TYPE_CREATE_STRUCT 1
#define HAVE_MPI_WIN_CREATE 1
#define MPIO_USES_MPI_REQUEST

/* Only what the standard says: no operators on types that it does not allow them for, no MPIX. */
#define ENABLE_STRICTMPI 1
#define USE_STRICT_MPI 1

#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX

#endif
