/* What is done with a trace as soon as it is written: -serve shows it in the browser, -share hands
 * it to a command of the site's own, as in Jane Street's magic-trace.
 *
 * Used by run, attach and decode. With -serve and without -output the trace is temporary.
 */
#ifndef MAGIC_TRACE_CLI_SERVE_TRACE_SHOWING_H
#define MAGIC_TRACE_CLI_SERVE_TRACE_SHOWING_H

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/recording_folder.h"
#include "cli/serve/serve.h"
#include "cli/trace_file.h"

struct trace_showing {
    bool serve, share;
    struct serve_options options;
    struct recording_folder folder; /* of a temporary trace */
    char *temporary;                /* its path; NULL: it has a name that stays. Owned */
};

/* -serve, -share and what goes with them; they fill a struct trace_showing. */
extern const struct option_spec trace_showing_options[];

/* All options have been read: whether they go together. 0, or the exit status after a message. */
int trace_showing_check(const struct trace_showing *showing, const struct command *self,
                        const struct trace_file_options *trace);

/* Before the trace is written: makes room for a temporary one, and names it in `trace`. */
bool trace_showing_begin(struct trace_showing *showing, struct trace_file_options *trace,
                         struct error *error);

/* The trace is written: shows it, as was asked for. */
bool trace_showing_carry_out(struct trace_showing *showing, const struct trace_file_options *trace,
                             struct error *error);

/* Removes what was temporary. To be called also after a failure. */
void trace_showing_end(struct trace_showing *showing);

#endif
