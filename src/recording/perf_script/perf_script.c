#include "recording/perf_script/perf_script.h"

#include "base/array.h"
#include "base/child_wait.h"
#include "base/helper_program.h"
#include "base/memory.h"
#include "base/own_file.h"
#include "recording/perf_script/perf_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* So that perf and magic-trace do not wait for each other; the most that Linux grants to all.
     */
    PIPE_SIZE = 1 << 20,
};

static const char filter_name[] = "magic-trace-branches.so";
static const char filter_build_folder[] = "dlfilter";

/* ---- which perf ---- */

/* perf of before Linux 5.14 does not know this option, and says so by its exit status. */
static bool knows_filters(char *perf, struct error *error)
{
    char *const arguments[] = {perf, "script", "--list-dlfilters", NULL};
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t pid = nothing < 0 ? -1 : helper_program_start(arguments, nothing, nothing);
    if (nothing >= 0)
        close(nothing);
    if (pid < 0)
        return error_set_errno(error, ERROR_IO, errno, "Running %s failed", perf);
    return child_wait(pid) == 0;
}

bool perf_tool_find(struct perf_tool *tool, struct error *error)
{
    struct error failure = {0};
    *tool = (struct perf_tool){.path = perf_program_find()};
    if (!tool->path)
        return error_set(error, ERROR_NOT_FOUND,
                         "-decoder perf needs perf, which is not in PATH. Install it (Debian: "
                         "apt-get install linux-perf; Ubuntu: linux-tools-generic), or leave "
                         "-decoder out.");
    bool knows = knows_filters(tool->path, &failure);
    if (knows)
        tool->filter = own_file_find(filter_name, filter_build_folder);
    if (failure.code == ERROR_NONE && knows && !tool->filter)
        error_set(&failure, ERROR_NOT_FOUND,
                  "-decoder perf needs %s, the part of magic-trace that runs inside perf: looked "
                  "in %s and beside the program. Unpack it with `magic-trace install`, and call "
                  "what that installs.",
                  filter_name, own_file_installed_folder);
    if (failure.code == ERROR_NONE)
        return true;
    perf_tool_free(tool);
    return error_set(error, failure.code, "%s", failure.text);
}

void perf_tool_free(struct perf_tool *tool)
{
    free(tool->path);
    free(tool->filter);
    *tool = (struct perf_tool){0};
}

/* ---- one run ---- */

static void add(struct array *arguments, const char *argument)
{
    *(const char **)array_add(arguments) = argument;
}

/* -f: the recording may belong to another user. Branches, errors and, for the filter, PTWRITE
 * packets.
 */
static struct array arguments_of(const struct perf_script_request *request)
{
    struct array arguments = array_of(sizeof(char *));
    add(&arguments, request->tool->path);
    add(&arguments, "script");
    add(&arguments, "-f");
    add(&arguments, "-i");
    add(&arguments, request->data);
    if (request->images) {
        add(&arguments, "--symfs");
        add(&arguments, request->images);
    }
    if (request->tool->filter) {
        add(&arguments, "--itrace=bew");
        add(&arguments, "--dlfilter");
        add(&arguments, request->tool->filter);
    } else {
        add(&arguments, "--ns");
        add(&arguments, "--itrace=bep");
        add(&arguments, "-F");
        add(&arguments, "pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period");
    }
    array_add(&arguments);
    return arguments;
}

static bool spawn_script(struct perf_script *script, const struct perf_script_request *request,
                         int output)
{
    struct array arguments = arguments_of(request);
    script->pid = helper_program_start(arguments.elements, output, script->messages);
    int failure = errno;
    array_free(&arguments);
    errno = failure;
    return script->pid > 0;
}

bool perf_script_start(struct perf_script *script, const struct perf_script_request *request,
                       struct error *error)
{
    int ends[2] = {-1, -1};
    *script = (struct perf_script){.data = memory_copy_string(request->data)};
    script->messages = memfd_create("perf messages", MFD_CLOEXEC);
    bool ok = script->messages >= 0 && pipe2(ends, O_CLOEXEC) == 0;
    script->output = ends[0];
    if (ok) {
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* a smaller one is slower, and no worse */
        ok = spawn_script(script, request, ends[1]);
    }
    int failure = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    if (ok)
        return true;
    error_set_errno(error, ERROR_IO, failure, "Running %s script failed", request->tool->path);
    script->pid = 0;
    perf_script_finish(script, NULL);
    return false;
}

bool perf_script_finish(struct perf_script *script, struct error *error)
{
    int status = 0;
    if (script->output >= 0)
        close(script->output);
    if (script->pid > 0)
        status = child_wait(script->pid);
    char *words = status ? perf_program_last_words(script->messages) : NULL;
    if (status && WIFSIGNALED(status))
        error_set(error, ERROR_IO, "perf script, decoding %s, was killed by signal %d%s%s",
                  script->data, WTERMSIG(status), *words ? ":\n" : ".", words);
    else if (status)
        error_set(error, ERROR_IO, "perf script, decoding %s, failed with status %d%s%s",
                  script->data, WEXITSTATUS(status), *words ? ":\n" : ".", words);
    free(words);
    if (script->messages >= 0)
        close(script->messages);
    free(script->data);
    *script = (struct perf_script){.output = -1, .messages = -1};
    return status == 0;
}
