/* The control channel of perf record, --control=fd:COMMANDS,ACKS (perf-record(1)): we write
 * commands, and perf acknowledges each when it has carried it out.
 *
 * A command is a line; its acknowledgement is "ack\n" followed by a NUL (evlist__ctlfd_ack() of
 * tools/perf/util/evlist.c). perf reads commands in its main loop, so the first acknowledgement
 * also means that its events are open. That of `snapshot` means that the trace was stopped to be
 * read.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_CONTROL_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_CONTROL_H

#include "base/error.h"

#include <stddef.h>

enum perf_command {
    PERF_COMMAND_ENABLE,
    PERF_COMMAND_DISABLE,
    PERF_COMMAND_SNAPSHOT,
    PERF_COMMAND_STOP,
};

enum { PERF_COMMANDS_AWAITED = 16 };

struct perf_control {
    int commands[2], acks[2]; /* pipes; perf reads commands[0] and writes acks[1]. -1: none */
    /* Sent and not acknowledged yet, in the order of sending. */
    enum perf_command awaited[PERF_COMMANDS_AWAITED];
    size_t awaited_count;
};

/* Both pipes, close-on-exec. We and perf both hold all four ends: so writing to a perf that has
 * died causes no SIGPIPE (its pidfd reports its end), and perf 6.1, on SIGTERM, leaves an
 * unfinished perf.data if the other end of its control channel was closed, as it is when
 * magic-trace is killed. */
bool perf_control_open(struct perf_control *control, struct error *error);
void perf_control_close(struct perf_control *control);

/* False when so many commands are unanswered that perf cannot be reading them. */
bool perf_control_send(struct perf_control *control, enum perf_command command);

/* acks[0] is readable: takes what came. The next acknowledged command in *command; false when there
 * is no more (call it until then). */
bool perf_control_next_ack(struct perf_control *control, enum perf_command *command);

#endif
