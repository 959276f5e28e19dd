/* What is done with a trace as soon as it is written: -serve shows it in the browser, -share hands
 * it to a command of the site's own, as in the original.
 *
 * Used by run, attach and decode. With -serve and without -output the trace is temporary.
 */
#ifndef MAGIC_TRACE_CLI_SERVE_TRACE_SHOWING_H
#define MAGIC_TRACE_CLI_SERVE_TRACE_SHOWING_H

#include "cli/command.h"
#include "cli/recording_folder.h"
#include "cli/serve/serve.h"
#include "cli/trace_file.h"

enum show_option {
    SHOW_SERVE,
    SHOW_PORT,
    SHOW_NO_BROWSER,
    SHOW_SHARE,
};

/* Rows of a command's table of options; `first`: the id of SHOW_SERVE in it. The names of the
 * tutorial's time are not shown. */
#define SHOW_OPTIONS(first)                                                                        \
    {"serve",                                                                                      \
     NULL,                                                                                         \
     (first) + SHOW_SERVE,                                                                         \
     NULL,                                                                                         \
     "show the trace in the browser, until Ctrl-C; without\n-output it is gone then",              \
     NULL},                                                                                        \
        {"serve-port", NULL, (first) + SHOW_PORT, "N", "-serve: listen at this port", NULL},       \
        {"no-browser", NULL, (first) + SHOW_NO_BROWSER, NULL, "-serve: only print the address",    \
         NULL},                                                                                    \
        {"share",                                                                                  \
         NULL,                                                                                     \
         (first) + SHOW_SHARE,                                                                     \
         NULL,                                                                                     \
         "hand the trace to the command that\n$MAGIC_TRACE_SHARE_COMMAND names",                   \
         NULL},                                                                                    \
        {"serve-always", NULL, (first) + SHOW_SERVE, NULL, NULL, NULL},                            \
    {                                                                                              \
        "http-port", NULL, (first) + SHOW_PORT, "N", NULL, NULL                                    \
    }

struct trace_showing {
    bool serve, share;
    struct serve_options options;
    struct recording_folder folder; /* of a temporary trace */
    char *temporary;                /* its path; NULL: it has a name that stays. Owned */
};

/* Applies one. 0, or the exit status after a message. */
int trace_showing_option(struct trace_showing *showing, const struct command *self,
                         enum show_option option, const char *value);

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
