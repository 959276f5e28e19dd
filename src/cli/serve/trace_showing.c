#include "cli/serve/trace_showing.h"

#include "base/child_wait.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/options/options.h"
#include "cli/serve/serve_port.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char share_command[] = "MAGIC_TRACE_SHARE_COMMAND";

/* The value of an environment variable; NULL when it is not set or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int take_port(const struct option_spec *option, const struct command *self, void *target,
                     const char *value)
{
    return serve_port_take(option, self, &((struct trace_showing *)target)->options, value);
}

/* The names of the tutorial's time (-serve-always, -http-port) are not shown. */
const struct option_spec trace_showing_options[] = {
    {.name = "serve",
     .help = "show the trace in the browser, until Ctrl-C; without\n-output it is gone then",
     .manual = "Show the trace in the browser as soon as it is written, as magic-trace-view(1) "
               "does, until Ctrl-C. Without -output the trace is temporary, and gone then. When "
               "$MAGIC_TRACE_PERFETTO_DIR names a copy of the Perfetto UI, that shows it.",
     .apply = option_set_flag,
     .field = offsetof(struct trace_showing, serve)},
    {.name = "serve-port",
     .argument = "N",
     .help = "-serve: listen at this port",
     .manual = "With -serve: listen at this port (default: a free one).",
     .apply = take_port},
    {.name = "no-browser",
     .help = "-serve: only print the address",
     .manual = "With -serve: only print the address.",
     .apply = option_set_flag,
     .field = offsetof(struct trace_showing, options.no_browser)},
    {.name = "share",
     .help = "hand the trace to the command that\n$MAGIC_TRACE_SHARE_COMMAND names",
     .manual = "Run the command that $MAGIC_TRACE_SHARE_COMMAND names, with the path of the trace "
               "as its argument, when the trace is written.",
     .apply = option_set_flag,
     .field = offsetof(struct trace_showing, share)},
    {.name = "serve-always",
     .apply = option_set_flag,
     .field = offsetof(struct trace_showing, serve)},
    {.name = "http-port", .argument = "N", .apply = take_port},
    {0},
};

int trace_showing_check(const struct trace_showing *showing, const struct command *self,
                        const struct trace_file_options *trace)
{
    if (showing->serve && showing->share)
        return command_usage_error(self, "-serve and -share are two ways of showing the trace: "
                                         "give one.");
    if ((showing->serve || showing->share) && trace->format &&
        trace->format != trace_format_default)
        return command_usage_error(self, "-serve and -share go with -format %s alone.",
                                   trace_format_default->name);
    if (showing->share && !variable(share_command))
        return command_usage_error(self,
                                   "-share hands the trace to a command of your own: name it in "
                                   "the environment variable %s.",
                                   share_command);
    if (!showing->serve && (showing->options.port || showing->options.no_browser))
        return command_usage_error(self, "-serve-port and -no-browser belong to -serve.");
    return 0;
}

bool trace_showing_begin(struct trace_showing *showing, struct trace_file_options *trace,
                         struct error *error)
{
    if (!showing->serve || trace->output)
        return true;
    if (!recording_folder_make(&showing->folder, NULL, error))
        return false;
    showing->temporary = memory_format("%s/trace.fxt.gz", showing->folder.path);
    showing->options.temporary_folder = showing->folder.path;
    trace->output = showing->temporary;
    trace->is_temporary = true;
    return true;
}

void trace_showing_end(struct trace_showing *showing)
{
    if (showing->temporary)
        recording_folder_remove(&showing->folder);
    free(showing->temporary);
    showing->temporary = NULL;
}

static bool start_command(const char *command, char *path, struct error *error)
{
    char *const arguments[] = {(char *)command, path, NULL};
    pid_t pid;
    int failure = posix_spawnp(&pid, command, NULL, NULL, arguments, environ);
    if (failure)
        return error_set_errno(error, ERROR_NOT_FOUND, failure, "cannot run %s, which %s names",
                               command, share_command);
    int status = child_wait(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return error_set(error, ERROR_IO, "%s could not share the trace %s: it ended with %s %d.",
                     command, path, WIFSIGNALED(status) ? "signal" : "status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static bool share(const char *output, struct error *error)
{
    char *path = realpath(output, NULL);
    if (!path)
        return error_set_errno(error, ERROR_IO, errno, "cannot find the trace %s again", output);
    bool ok = start_command(variable(share_command), path, error);
    free(path);
    return ok;
}

bool trace_showing_carry_out(struct trace_showing *showing, const struct trace_file_options *trace,
                             struct error *error)
{
    if (showing->share)
        return share(trace_file_path(trace), error);
    if (!showing->serve)
        return true;
    memory_give_back_freed(); /* of decoding: serving takes little, for long */
    showing->options.ui_folder = variable("MAGIC_TRACE_PERFETTO_DIR");
    return serve_trace(trace_file_path(trace), &showing->options, error);
}
