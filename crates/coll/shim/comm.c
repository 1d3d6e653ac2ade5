/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Communicators that are served: our state is an attribute of theirs, with a communicator of its own
 * for our messages, which no message of the program can meet.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static struct served *all;

/* The communicator of a thread's last call: most calls are on that of the one before. It counts until a
 * state ends, after which the same handle may mean another communicator. */
static _Thread_local struct {
    MPI_Comm comm;
    struct served *served; /* NULL: there was none yet */
    unsigned ended;
} last;
static atomic_uint ended;

static struct corecast_wish asked;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void ask(void) {
    corecast_wish(CORECAST_PLANS, &asked);
}

const struct corecast_wish *wish(void) {
    pthread_once(&once, ask);
    return &asked;
}

/* Says how long calls took, and ends the groups of a state. */
static void end_group(struct served *served) {
    if (served->group != NULL)
        corecast_group_free(served->group);
    served->group = NULL;
    if (served->levels != NULL)
        levels_report(served->levels);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    struct served *served = value;
    atomic_fetch_add(&ended, 1);
    pthread_mutex_lock(&lock);
    struct served **link = &all;
    while (*link != NULL && *link != served)
        link = &(*link)->next;
    if (*link != NULL)
        *link = served->next;
    pthread_mutex_unlock(&lock);
    /* Without its group MPI_Finalize runs, after which all that is left goes with the process. */
    if (served->group == NULL)
        return MPI_SUCCESS;
    end_group(served);
    if (served->levels != NULL)
        levels_free(served->levels);
    if (served->messages != MPI_COMM_NULL)
        PMPI_Comm_free(&served->messages);
    free(served->scratch);
    free(served->posts);
    free(served->parts);
    free(served->blocks);
    free(served);
    return MPI_SUCCESS;
}

void serve_no_more(void) {
    atomic_fetch_add(&ended, 1);
    pthread_mutex_lock(&lock);
    struct served *served = all;
    all = NULL;
    pthread_mutex_unlock(&lock);
    for (; served != NULL; served = served->next)
        end_group(served);
}

static int own_key(int *key) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
    *key = keyval;
    pthread_mutex_unlock(&lock);
    return code;
}

/* Ends the job where what was asked for is wrong, or differs between ranks: each would choose for
 * itself, and they would wait for each other for ever. */
static int agree(MPI_Comm comm, int rank) {
    const struct corecast_wish *own = wish();
    /* The least and the greatest, in one reduction. */
    unsigned long long given[3] = {own->hash, ~own->hash, own->fault != NULL}, got[3];
    int code = PMPI_Allreduce(given, got, 3, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
    if (code != MPI_SUCCESS)
        return code;
    int differs = got[0] != own->hash || got[1] != ~own->hash;
    if (!differs && !got[2]) {
        static int was_said;
        if (own->checks && rank == 0 && !was_said++)
            fprintf(stderr, "corecast: CORECAST_CHECK is of corecast's own MPI library, and changes "
                            "nothing here\n");
        return MPI_SUCCESS;
    }
    if (own->fault != NULL && (rank == 0 || differs))
        fprintf(stderr, "corecast: %s\n", own->fault);
    else if (rank == 0)
        fprintf(stderr, "corecast: variables that begin with CORECAST_ differ between ranks; the "
                        "launcher has to pass them on to all nodes (Open MPI: -x NAME; MPICH: "
                        "-genv NAME VALUE)\n");
    fflush(stderr);
    /* So that who says why is not ended before. */
    PMPI_Barrier(comm);
    PMPI_Abort(comm, 2);
    return MPI_ERR_OTHER;
}

/* Another communicator of the same ranks. One that is made so has none of the program's attributes, so
 * that no function of the program runs. */
static int same_ranks(MPI_Comm comm, MPI_Comm *into) {
    MPI_Group group;
    int code = PMPI_Comm_group(comm, &group);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Comm_create(comm, group, into);
    PMPI_Group_free(&group);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(*into, MPI_ERRORS_RETURN);
    return code;
}

static int prepare(MPI_Comm comm, struct served *served) {
    int code = PMPI_Comm_rank(comm, &served->rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(comm, &served->ranks);
    if (code == MPI_SUCCESS)
        code = agree(comm, served->rank);
    if (code != MPI_SUCCESS)
        return code;
    served->is_in_scope = wish()->scope == CORECAST_JOB;
    if (wish()->scope == CORECAST_NODE) {
        code = levels_make(comm, served->ranks, &served->levels);
        int nodes = code == MPI_SUCCESS ? levels_nodes(served->levels) : 0;
        served->is_in_scope = nodes == 1;
        if (nodes == 1 || nodes == served->ranks) {
            levels_free(served->levels);
            served->levels = NULL;
        }
    }
    if (code == MPI_SUCCESS && served->is_in_scope)
        code = same_ranks(comm, &served->messages);
    if (code == MPI_SUCCESS)
        served->group = corecast_group_new((uint32_t)served->rank, (uint32_t)served->ranks);
    return code;
}

int serve(MPI_Comm comm, struct served **into, const char **why) {
    int key, found, is_between, ranks;
    struct served *served;
    unsigned now = atomic_load(&ended);
    if (last.served != NULL && last.comm == comm && last.ended == now) {
        *into = last.served;
        return MPI_SUCCESS;
    }
    *into = NULL;
    int code = own_key(&key);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_get_attr(comm, key, &served, &found);
    if (code != MPI_SUCCESS)
        return code;
    if (!found) {
        code = PMPI_Comm_test_inter(comm, &is_between);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_size(comm, &ranks);
        if (code != MPI_SUCCESS)
            return code;
        *why = "between two groups";
        if (is_between)
            return MPI_SUCCESS;
        *why = NULL; /* nothing to choose */
        if (ranks == 1)
            return MPI_SUCCESS;
        served = calloc(1, sizeof *served);
        if (served == NULL)
            return MPI_ERR_NO_MEM;
        served->messages = MPI_COMM_NULL;
        code = prepare(comm, served);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_set_attr(comm, key, served);
        if (code != MPI_SUCCESS) {
            free(served);
            return code;
        }
        pthread_mutex_lock(&lock);
        served->next = all;
        all = served;
        pthread_mutex_unlock(&lock);
    }
    *why = wish()->scope == CORECAST_OFF ? "CORECAST_COLL is off" : "every rank is on a node of its own";
    /* Functions of the program that MPI_Finalize calls may communicate, too. */
    if (served->group == NULL)
        *why = NULL;
    else if (served->is_in_scope || served->levels != NULL)
        *into = served;
    last.comm = comm;
    last.served = *into;
    last.ended = now;
    return MPI_SUCCESS;
}
