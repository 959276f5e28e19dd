/* magic-trace view: a trace in the browser, or two that are compared. */
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/serve/serve.h"
#include "cli/serve/serve_port.h"

#include <stddef.h>

struct view_request {
    const char *path;
    struct serve_options serve;
};

static const struct option_spec view_options[] = {
    {.name = "at",
     .argument = "PLACE",
     .help =
         "show first a time (1.5ms), a call (parse#804), or what\nan address of an earlier view "
         "showed",
     .manual = "What the page shows first: a time since the beginning of the trace (`1.5ms`), a "
               "call (`parse#804`, or `parse` for the first), or what an address of the page "
               "showed, given whole or from its `#` on: so a link that was kept, or sent by "
               "another user, outlives the server that it was made with.",
     .apply = option_set_text,
     .field = offsetof(struct serve_options, at)},
    {.name = "no-browser",
     .help = "only print the address, open no browser",
     .apply = option_set_flag,
     .field = offsetof(struct serve_options, no_browser)},
    {.name = "port",
     .argument = "N",
     .help = "listen at this port (default: a free one)",
     .apply = serve_port_take},
    {.name = "listen",
     .argument = "ADDRESS",
     .help = "listen at this address of the machine, for others\n(default: for this machine alone)",
     .manual = "Listen at this address of the machine, so that others can reach the page; see "
               "SECURITY.",
     .apply = option_set_text,
     .field = offsetof(struct serve_options, listen)},
    {.name = "no-inlined",
     .help = NO_INLINED_HELP,
     .manual = NO_INLINED_MANUAL,
     .apply = option_set_flag,
     .field = offsetof(struct serve_options, no_inlined)},
    {.name = "perfetto",
     .help = "show it at https://ui.perfetto.dev, which fetches it\nfrom here",
     .manual = "Show the trace at https://ui.perfetto.dev: the page there fetches it from port "
               "9001 of this machine, and the trace stays in the browser. Its tab holds about 11 "
               "million calls, and 512 levels of a track; a warning says when the trace has more.",
     .apply = option_set_flag,
     .field = offsetof(struct serve_options, perfetto)},
    {.name = "ui-dir",
     .argument = "DIR",
     .help = "show it with the copy of the Perfetto UI in DIR",
     .manual = "Show the trace with the copy of the Perfetto UI in DIR, which has its "
               "`index.html`.",
     .apply = option_set_text,
     .field = offsetof(struct serve_options, ui_folder)},
    {.name = "serve-port", .argument = "N", .apply = serve_port_take},
    {0},
};

static const struct option_group view_groups[] = {
    {view_options, offsetof(struct view_request, serve)},
    {0},
};

static int take_operand(const struct command *self, void *request, const char *operand)
{
    struct view_request *view = request;
    if (view->serve.baseline)
        return command_usage_error(self, "two traces can be compared, and `%s` is a third.",
                                   operand);
    view->serve.baseline = view->path;
    view->path = operand;
    return 0;
}

static int check_request(const struct command *self, const struct view_request *request)
{
    const struct serve_options *serve = &request->serve;
    int status = need_trace(self, request->path);
    if (status)
        return status;
    if (serve->perfetto && serve->ui_folder)
        return command_usage_error(self, "-perfetto and -ui-dir are two ways of showing the trace: "
                                         "give one.");
    if (serve->at && (serve->perfetto || serve->ui_folder))
        return command_usage_error(self, "-at goes with our own page.");
    if (serve->baseline && (serve->perfetto || serve->ui_folder))
        return command_usage_error(self, "two traces are compared on our own page: give one trace, "
                                         "or neither -perfetto nor -ui-dir.");
    if (serve->no_inlined && (serve->perfetto || serve->ui_folder))
        return command_usage_error(self, "-no-inlined goes with our own page: for Perfetto's, "
                                         "write the trace by `magic-trace decode -no-inlined`.");
    if (serve->perfetto && (serve->port || serve->listen))
        return command_usage_error(self, "-perfetto goes with neither -port nor -listen: "
                                         "ui.perfetto.dev asks at port 9001 of this machine, and "
                                         "nowhere else.");
    return 0;
}

static int run_view(const struct command *self, int argc, char **argv)
{
    struct view_request request = {0};
    struct error error = {0};
    int status = command_read_options(self, argc, argv, &request, take_operand);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0 &&
        !serve_trace(request.path, &request.serve, &error))
        status = command_fail(&error);
    return status;
}

const struct command view_command = {
    .name = "view",
    .summary = "show a trace in the browser",
    .operands = "TRACE|DIR|PERF.DATA|TEXT [TRACE|...]",
    .description =
        "Shows a trace on a time line in the browser, until Ctrl-C. TRACE is a file in the\n"
        "Fuchsia trace format (trace.fxt.gz); DIR, PERF.DATA and TEXT are recordings as\n"
        "`magic-trace decode` takes them, which are decoded first.\n"
        "Of two traces, A and B, the page says what differs; each has its own time line.\n"
        "\n"
        "The page comes from this program and needs no network. An index is made the first\n"
        "time, and kept beside the trace. The address that is printed holds a secret:\n"
        "without it nobody, on this machine or elsewhere, can see the trace.\n",
    .options = view_groups,
    .run = run_view,
};
