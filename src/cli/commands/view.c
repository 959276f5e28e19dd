/* magic-trace view: a trace in the browser. */
#include "cli/options/common_arguments.h"
#include "cli/serve/serve.h"
#include "cli/serve/serve_port.h"

#include <stddef.h>

enum view_option {
    VIEW_PORT,
    VIEW_LISTEN,
    VIEW_NO_BROWSER,
    VIEW_PERFETTO,
    VIEW_UI_DIR,
};

static const struct option_spec view_options[] = {
    {"no-browser", NULL, VIEW_NO_BROWSER, NULL, "only print the address, open no browser", NULL},
    {"port", NULL, VIEW_PORT, "N", "listen at this port (default: a free one)", NULL},
    {"listen", NULL, VIEW_LISTEN, "ADDRESS",
     "listen at this address of the machine, for others\n(default: for this machine alone)", NULL},
    {"perfetto", NULL, VIEW_PERFETTO, NULL,
     "show it at https://ui.perfetto.dev, which fetches it\nfrom here", NULL},
    {"ui-dir", NULL, VIEW_UI_DIR, "DIR", "show it with the copy of the Perfetto UI in DIR", NULL},
    {"serve-port", NULL, VIEW_PORT, "N", NULL, NULL},
    {0},
};

struct view_request {
    const char *path;
    struct serve_options serve;
};

static int apply_option(const struct command *self, void *context, int option, const char *value)
{
    struct view_request *request = context;
    switch (option) {
    case OPTION_OPERAND:
        return take_trace(self, &request->path, value);
    case VIEW_PORT:
        return serve_port_parse(self, value, &request->serve.port);
    case VIEW_LISTEN:
        request->serve.listen = value;
        return 0;
    case VIEW_NO_BROWSER:
        request->serve.no_browser = true;
        return 0;
    case VIEW_PERFETTO:
        request->serve.perfetto = true;
        return 0;
    default: /* VIEW_UI_DIR */
        request->serve.ui_folder = value;
        return 0;
    }
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
    int status = command_read_options(self, argc, argv, apply_option, &request);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0 &&
        !serve_trace(request.path, &request.serve, &error))
        status = command_fail(&error);
    return status;
}

const struct command view_command = {
    .name = "view",
    .summary = "show a trace in the browser",
    .operands = "TRACE|DIR|PERF.DATA|TEXT",
    .description =
        "Shows a trace on a time line in the browser, until Ctrl-C. TRACE is a file in the\n"
        "Fuchsia trace format (trace.fxt.gz); DIR, PERF.DATA and TEXT are recordings as\n"
        "`magic-trace decode` takes them, which are decoded first.\n"
        "\n"
        "The page comes from this program and needs no network. An index is made the first\n"
        "time, and kept beside the trace. The address that is printed holds a secret:\n"
        "without it nobody, on this machine or elsewhere, can see the trace.\n",
    .options = view_options,
    .run = run_view,
};
