/* magic-trace explain: why calls of a function are slow. */
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/serve/viewed_trace.h"
#include "cli/text/explained_calls.h"
#include "cli/trace_format.h"
#include "output/duration.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAUSES_MAX = 1000 };

struct explain_request {
    const char *path;
    struct explained_calls calls;
};

/* Other commands take the trace first. */
static bool looks_like_trace(const char *operand)
{
    return strchr(operand, '/') || strstr(operand, ".fxt");
}

static int explain_trace(const struct explain_request *request)
{
    struct error error = {0};
    struct viewed_trace trace;
    bool ok = viewed_trace_open(&trace, request->path, &error) &&
              explained_calls_print(&request->calls, trace.index, request->path, stdout, &error);
    viewed_trace_close(&trace);
    return ok ? 0 : command_fail(&error);
}

/* ---- options ---- */

/* "3x" or "2ms". */
static int take_limit(const struct option_spec *option, const struct command *self, void *target,
                      const char *value)
{
    struct explain_request *request = target;
    char *end;
    double factor = strtod(value, &end);
    if (end != value && strcmp(end, "x") == 0 && factor >= 1 && factor < 1e9) {
        request->calls.factor = factor;
        request->calls.limit = 0;
        return 0;
    }
    if (duration_has_unit(value) && duration_parse(value, &request->calls.limit) &&
        request->calls.limit > 0)
        return 0;
    return command_usage_error(self,
                               "-%s is a multiple of the median (3x) or a time (2ms), not `%s`.",
                               option->name, value);
}

static int take_causes(const struct option_spec *option, const struct command *self, void *target,
                       const char *value)
{
    struct explain_request *request = target;
    char *end;
    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    if (errno || end == value || *end || *value == '-' || number == 0 || number > CAUSES_MAX)
        return command_usage_error(self, "-%s is a number of causes from 1 to %d, not `%s`.",
                                   option->name, CAUSES_MAX, value);
    request->calls.causes = number;
    return 0;
}

static const struct option_spec explain_options[] = {
    {.name = "above",
     .argument = "LIMIT",
     .help = "which calls are slow: those above so many medians (default\n3x), or above a time "
             "(2ms)",
     .manual = "Which calls are slow: those that take longer than so many medians (`3x`, the "
               "default), or than a time (`2ms`).",
     .apply = take_limit},
    {.name = "top",
     .argument = "N",
     .help = "name at most N causes (default 6)",
     .manual = "Name at most N causes, 6 by default. All others are in the last line.",
     .apply = take_causes},
    {.name = "wall",
     .help = "count the time in which calls were preempted, too",
     .manual = "Count the time in which calls were preempted, too. Without it that time counts "
               "where nothing else makes calls slow.",
     .apply = option_set_flag,
     .field = offsetof(struct explain_request, calls.wall)},
    {.name = "json",
     .help = "print one JSON object, for programs",
     .manual = "Print one JSON object, for programs; see JSON.",
     .apply = option_set_flag,
     .field = offsetof(struct explain_request, calls.json)},
    {.name = "max-bytes",
     .argument = "N",
     .help = "JSON: name fewer causes, so that it has at most N bytes",
     .manual = "With -json, name fewer causes, one at least, so that it has at most N bytes. The "
               "shares of the others are in the last.",
     .apply = take_byte_count,
     .field = offsetof(struct explain_request, calls.max_bytes)},
    {0},
};

static const struct option_group explain_groups[] = {{explain_options, 0}, {0}};

static int take_operand(const struct command *self, void *target, const char *operand)
{
    struct explain_request *request = target;
    if (request->calls.function)
        return take_trace(self, &request->path, operand);
    request->calls.function = operand;
    return 0;
}

static int run_explain(const struct command *self, int argc, char **argv)
{
    struct explain_request request = {.calls = explained_calls_standard()};
    int status = command_read_options(self, argc, argv, &request, take_operand);
    if (status != COMMAND_GOES_ON)
        return status;
    if (!request.calls.function)
        return command_usage_error(self, "no function was given: a name like parse, or a call of "
                                         "it like parse#804.");
    if (looks_like_trace(request.calls.function) && access(request.calls.function, F_OK) == 0)
        return command_usage_error(self, "the function comes before the trace: %s %s.",
                                   request.path ? request.path : "FUNCTION",
                                   request.calls.function);
    if (request.calls.max_bytes && !request.calls.json)
        return command_usage_error(self, "-max-bytes belongs to -json.");
    if (!request.path)
        request.path = trace_format_default->default_output;
    return explain_trace(&request);
}

const struct command explain_command = {
    .name = "explain",
    .summary = "say why calls of a function are slow",
    .operands = "FUNCTION[#CALL] [TRACE|DIR|PERF.DATA|TEXT]",
    .description =
        "Compares the slow calls of a function with its usual ones, and says where the extra\n"
        "time went, the most important cause first: functions that only slow calls call, that\n"
        "they call more often, that take longer, and time outside of the program. The shares\n"
        "add up to 100 %. FUNCTION#804 is the 804th call alone.\n"
        "\n"
        "TRACE is a file in the Fuchsia trace format (default: trace.fxt.gz); DIR, PERF.DATA\n"
        "and TEXT are recordings as `magic-trace decode` takes them, which are decoded first.\n"
        "An index is made the first time, and kept beside the trace.\n",
    .options = explain_groups,
    .run = run_explain,
};
