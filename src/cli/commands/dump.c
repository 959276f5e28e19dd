/* magic-trace dump: what a recording holds, one line each, to be read or compared by diff. */
#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/salvage.h"
#include "cli/text/packet_lines.h"
#include "cli/text/step_lines.h"
#include "recording/recording.h"

#include <stddef.h>
#include <string.h>

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

/* ---- options ---- */

static const struct option_spec dump_options[] = {
    {.name = "packets",
     .help = "the Intel PT packets, in the words of\n`perf script -D`",
     .manual =
         "The Intel PT packets. A line says whose ring it is (`tid` or `cpu`, and its number), at "
         "which byte of the ring the packet begins, in hexadecimal digits, and what it says, in "
         "the words of `perf script -D`:\n\n"
         "  tid 1234 00000015 MODE.Exec IF:0 64\n"
         "  tid 1234 00000061 TIP 0xd794\n"
         "  tid 1234 00000064 TNT TTNTTT (6)\n\n"
         "Addresses stand as they do in the packet, which leaves out the upper bytes that have not "
         "changed. A byte that begins no packet is `Bad packet!`. Rings follow one another; in "
         "each, packets were lost where offsets jump. perf shows several `PAD` as one, counts them "
         "to the packet before, and does not put packets together that lie across two of its "
         "records; else the two agree.",
     .apply = option_set_flag,
     .field = offsetof(struct dump_request, packets)},
    {.name = "branches",
     .help = "the branches that were taken, and the decode errors\nbetween them",
     .manual =
         "The branches that each thread took, and the decode errors between them. A line holds "
         "from where, to where, and how:\n\n"
         "  tid 1234 401000 401020 call\n"
         "  tid 1234 401030 401005 return\n"
         "  tid 1234 401012 0 end\n"
         "  tid 1234 401012 0 error 1f3c bytes that are no packet\n\n"
         "The kinds are `conditional`, `jump`, `call`, `return`, `far-call` (a system call, an "
         "interrupt instruction), `far-return`, `far-jump`, `interrupt`, `abort` (of a "
         "transaction), and, where the other side is not known, hence 0, `start` and `end` of "
         "tracing, where packets say so: none where a recording begins or ends in the middle of "
         "what ran, or after an error. Conditional jumps that are not taken are left out, as "
         "`perf script --itrace=b` does.\n\n"
         "An `error` stands where it was noticed, with the offset of the packet in its ring, in "
         "hexadecimal digits, and the reason. `overflow` and `lost` say that the processor or the "
         "recorder has dropped packets.",
     .apply = option_set_flag,
     .field = offsetof(struct dump_request, branches)},
    {.name = "instructions",
     .help = "the instructions that were executed, likewise",
     .manual = "The instructions that each thread executed, and errors as above:\n\n"
               "  tid 1234 401000",
     .apply = option_set_flag,
     .field = offsetof(struct dump_request, steps.instructions)},
    {.name = "symbols",
     .help = "with -branches or -instructions: the functions that\nthe addresses lie in, too",
     .manual = "With -branches or -instructions: after a tab, the function that each address lies "
               "in, and the offset in it.",
     .apply = option_set_flag,
     .field = offsetof(struct dump_request, steps.symbols)},
    {0},
};

static const struct option_group dump_groups[] = {{dump_options, 0}, {0}};

static int take_recording(const struct command *self, void *context, const char *operand)
{
    struct dump_request *request = context;
    if (request->path)
        return command_usage_error(self, "one recording at a time, and there is `%s` too.",
                                   operand);
    request->path = operand;
    return 0;
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
    int status = command_read_options(self, argc, argv, &request, take_recording);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0)
        status = dump(&request);
    return status;
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
    .options = dump_groups,
    .run = run_dump,
};
