/* session.json: what a recording directory says about itself beyond perf.data.
 *
 * Written once by the engine at the end (mode 0600), read by decode and report. Unknown keys are
 * ignored, missing ones get the zero value (strings NULL, exit_status -1), so that recordings of
 * older and newer versions can be read. A string that is not UTF-8 (arguments and paths may be any
 * bytes) is written as the list of its bytes.
 */
#ifndef MAGIC_TRACE_RECORDING_SESSION_H
#define MAGIC_TRACE_RECORDING_SESSION_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that ran (wholly or partly) without being traced, and why. */
struct session_untraced {
    uint32_t pid;
    uint32_t threads; /* how many of its threads ran untraced */
    const char *name; /* of the program or thread */
    /* Which flag would have shown it: "-follow", "-multi-thread"; NULL when none. */
    const char *flag;
    const char *cause; /* the end of a sentence: "it is a 32-bit program"; NULL: not known */
};

/* The trigger was hit and a snapshot taken. */
struct session_hit {
    uint64_t time;     /* nanoseconds of perf's clock */
    uint64_t passed;   /* the time that the program passed (since when it took too long), likewise;
                          0: none */
    int64_t argument;  /* that the program passed */
    bool has_argument; /* only the stop indicator's callers pass one */
    uint64_t address;  /* in the process */
    uint32_t pid, tid;
};

/* An unhandled signal ended a process, in this thread. */
struct session_death {
    uint64_t time; /* nanoseconds of perf's clock */
    /* In the process, of the instruction that raised the signal, or that would have run next. A
     * call through a null pointer dies at 0. */
    uint64_t address;
    bool has_address; /* it is known */
    uint32_t signal;
    uint32_t pid, tid;
};

struct session {
    const char *version; /* of magic-trace */
    const char *engine;  /* "translator", "pt", ... */
    const char *clock;   /* "default", "host", "instructions" */
    /* How the stacks of samples were found: "fp", "dwarf", "lbr", "lbr-no-stitch"; NULL: it has
     * none. */
    const char *callgraph;
    const char **command;   /* NULL-terminated argv of the traced program; NULL for attach */
    const char *program;    /* absolute path of its executable */
    uint64_t wall_clock_ns; /* CLOCK_REALTIME at perf time `wall_clock_at` */
    uint64_t wall_clock_at; /* nanoseconds of perf's clock */
    bool full_execution;
    bool multi_thread;
    bool follow;
    bool switches;          /* it has when threads were not running, or they always were */
    uint64_t snapshot_size; /* bytes per ring */
    int exit_status;        /* as from waitpid; -1 unknown */
    uint64_t instructions;  /* executed while traced, as counted by the engine; 0 unknown */
    struct session_untraced *untraced;
    size_t untraced_count;
    const char *trigger;      /* its readable name; NULL: none */
    struct session_hit *hits; /* in the order of time */
    size_t hit_count;
    struct session_death *deaths;
    size_t death_count;
    struct arena memory; /* owns all strings of a session that was read */
};

bool session_write(const struct session *session, const char *directory, struct error *error);

/* A missing session.json gives ERROR_NOT_FOUND. After an error the session is empty; freeing it is
 * allowed. */
bool session_read(struct session *session, const char *directory, struct error *error);
void session_free(struct session *session);

#endif
