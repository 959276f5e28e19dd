/* magic-trace dump: what a recording holds, one line each, to be read or compared by diff. */
#include "cli/command.h"
#include "cli/packet_lines.h"
#include "cli/salvage.h"
#include "cli/step_lines.h"
#include "recording/recording.h"

#include <string.h>

enum dump_option {
    DUMP_PACKETS,
    DUMP_BRANCHES,
    DUMP_INSTRUCTIONS,
    DUMP_SYMBOLS,
};

static const struct option_spec dump_options[] = {
    {"packets", NULL, DUMP_PACKETS, NULL, "the Intel PT packets, in the words of\n`perf script -D`",
     NULL},
    {"branches", NULL, DUMP_BRANCHES, NULL,
     "the branches that were taken, and the decode errors\nbetween them", NULL},
    {"instructions", NULL, DUMP_INSTRUCTIONS, NULL, "the instructions that were executed, likewise",
     NULL},
    {"symbols", NULL, DUMP_SYMBOLS, NULL,
     "with -branches or -instructions: the functions that\nthe addresses lie in, too", NULL},
    {0},
};

struct dump_request {
    const char *path;
    bool packets, branches;
    struct step_lines_options steps;
};

/* No code is needed for packets. */
static bool open_data(struct perf_data *data, const char *path, struct error *error)
{
    struct file_view view;
    if (strcmp(path, "-") == 0)
        return file_map_input(&view, path, error) &&
               perf_data_open_view(data, view, "standard input", error);
    struct recording recording;
    if (!recording_open(&recording, path, error))
        return false;
    bool ok = perf_data_open(data, recording.files[0], error);
    recording_close(&recording);
    return ok;
}

static bool dump_packets(const char *path, struct error *error)
{
    struct perf_data data = {0};
    bool ok = open_data(&data, path, error) && perf_data_check_packets(&data, error);
    if (ok)
        packet_lines_print(&data, stdout);
    if (ok && data.damage.code != ERROR_NONE) {
        *error = data.damage;
        ok = false;
    }
    perf_data_close(&data);
    return ok;
}

static bool dump_contents(const struct dump_request *request, struct error *error)
{
    if (request->packets)
        return dump_packets(request->path, error);
    return step_lines_print(request->path, &request->steps, stdout, error);
}

static int dump(const struct dump_request *request)
{
    struct error error = {0};
    if (salvage(request->path, &error) && dump_contents(request, &error))
        return 0;
    return command_fail(&error);
}

static int apply_option(const struct command *self, struct dump_request *request, int option,
                        const char *value)
{
    switch (option) {
    case DUMP_PACKETS:
        request->packets = true;
        break;
    case DUMP_BRANCHES:
        request->branches = true;
        break;
    case DUMP_INSTRUCTIONS:
        request->steps.instructions = true;
        break;
    case DUMP_SYMBOLS:
        request->steps.symbols = true;
        break;
    default:
        if (request->path)
            return command_usage_error(self, "one recording at a time, and there is `%s` too.",
                                       value);
        request->path = value;
        break;
    }
    return 0;
}

static int read_options(const struct command *self, struct dump_request *request, int argc,
                        char **argv, int *option)
{
    struct option_reader reader;
    option_reader_open(&reader, dump_options, NULL, argc, argv);
    int status = 0;
    while (status == 0 && (*option = option_reader_next_or_operand(&reader)) != OPTION_END) {
        if (*option == OPTION_HELP || *option == OPTION_ERROR)
            break;
        status = apply_option(self, request, *option, reader.value);
    }
    option_reader_close(&reader);
    return status;
}

static int check_request(const struct command *self, const struct dump_request *request)
{
    if (request->packets + request->branches + request->steps.instructions != 1)
        return command_usage_error(
            self, "what is to be printed? Say one of -packets, -branches and -instructions.");
    if (request->packets && request->steps.symbols)
        return command_usage_error(self, "-symbols goes with -branches and -instructions.");
    if (!request->path)
        return command_usage_error(
            self, "no recording was given: a folder (see -working-directory of `magic-trace run`) "
                  "or a perf.data file.");
    return 0;
}

static int run_dump(const struct command *self, int argc, char **argv)
{
    struct dump_request request = {0};
    int option = OPTION_END;
    int status = read_options(self, &request, argc, argv, &option);
    if (status != 0)
        return status;
    if (option == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (option == OPTION_HELP) {
        command_print_help(self);
        return 0;
    }
    status = check_request(self, &request);
    return status == 0 ? dump(&request) : status;
}

const struct command dump_command = {
    .name = "dump",
    .summary = "print what a recording holds, one line each, for comparison",
    .operands = "DIR|PERF.DATA",
    .description =
        "Prints the contents of a recording: DIR is a folder kept by `magic-trace run\n"
        "-working-directory DIR`, PERF.DATA a file by `perf record -e intel_pt//`, or - for\n"
        "standard input.\n"
        "\n"
        "A line of -packets holds whose ring it is (tid or cpu, and its number), the offset\n"
        "in the ring in hexadecimal digits, and the packet:\n"
        "  tid 1234 00000061 TIP 0xd794\n"
        "\n"
        "One of -branches holds from where to where a thread went, and how; one of\n"
        "-instructions the address. Errors stand between them, with the offset of the\n"
        "packet in its ring and the reason:\n"
        "  tid 1234 401000 401020 call\n"
        "  tid 1234 401020 0 error 1f3c bytes that are no packet\n",
    .options = dump_options,
    .run = run_dump,
};
