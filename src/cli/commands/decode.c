/* magic-trace decode: write the trace of a recording made earlier. */
#include "base/log.h"
#include "base/memory.h"
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/salvage.h"
#include "cli/serve/trace_showing.h"
#include "cli/trace_file.h"
#include "recording/flags.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct decode_request {
    struct trace_file_options trace;
    struct trace_showing showing;
    const char *recording;
    char *perf_map_directory; /* owned */
};

/* perf-PID.map: the decoder finds the file of a process by this name. */
static bool is_perf_map_name(const char *name)
{
    if (strncmp(name, "perf-", strlen("perf-")) != 0)
        return false;
    const char *pid = name + strlen("perf-");
    size_t digits = strspn(pid, "0123456789");
    return digits > 0 && strcmp(pid + digits, ".map") == 0;
}

/* The folder in which all files of the comma-separated list lie. */
static int find_perf_maps(const struct command *self, const char *list, char **directory)
{
    char *copy = memory_copy_string(list);
    int status = 0;
    char *rest = NULL;
    for (char *file = strtok_r(copy, ",", &rest); file && !status;
         file = strtok_r(NULL, ",", &rest)) {
        char *slash = strrchr(file, '/');
        const char *name = slash ? slash + 1 : file;
        char *folder =
            slash ? memory_format("%.*s/", (int)(slash - file), file) : memory_copy_string("./");
        if (!is_perf_map_name(name))
            status = command_usage_error(
                self, "-perf-map-file %s: the file has to be named perf-PID.map.", file);
        else if (access(file, R_OK) != 0)
            status = command_usage_error(self, "-perf-map-file %s cannot be read: %s.", file,
                                         strerror(errno));
        else if (*directory && strcmp(*directory, folder) != 0)
            status =
                command_usage_error(self, "-perf-map-file: all files have to lie in one folder.");
        free(*directory);
        *directory = folder;
    }
    free(copy);
    return status;
}

/* ---- options ---- */

static int take_perf_maps(const struct option_spec *option, const struct command *self,
                          void *target, const char *value)
{
    return find_perf_maps(self, value, &((struct decode_request *)target)->perf_map_directory);
}

static bool decoder_at(size_t index, struct option_value *value)
{
    static const struct option_value decoders[] = {
        {"native", FLOW_DECODER_NATIVE, "magic-trace itself (default)", NULL},
        {"perf", FLOW_DECODER_PERF, "stock perf script, which takes longer",
         "Stock perf-script(1), found in $PATH; see PERF AS THE DECODER."},
    };
    return option_value_of_table(decoders, sizeof decoders / sizeof *decoders, index, value);
}

/* Accepted without effect. */
static int ignore(const struct option_spec *option, const struct command *self, void *target,
                  const char *value)
{
    return 0;
}

static const struct option_spec decode_options[] = {
    {.name = "perf-map-file",
     .argument = "FILE[,FILE]",
     .help = "names of JIT code: files called perf-PID.map, all\nin one folder",
     .manual = "Names of code that a JIT compiler made: files called `perf-PID.map`, all in one "
               "folder. By default those in the recording and in /tmp are used.",
     .apply = take_perf_maps},
    {.name = "working-directory",
     .argument = "DIR",
     .help = "the recording, as for Jane Street's magic-trace; the\nsame as the operand",
     .manual = "The recording, for command lines of Jane Street's magic-trace.",
     .apply = option_set_text,
     .field = offsetof(struct decode_request, recording)},
    {.name = "executable",
     .argument = "FILE",
     .help = "accepted as by Jane Street's magic-trace; the\nrecording itself names its programs",
     .manual =
         "Accepted for command lines of Jane Street's magic-trace; the recording itself names "
         "its programs.",
     .apply = ignore},
    /* What a recording says itself, for command lines of Jane Street's magic-trace. */
    {.name = &FLAG_SAMPLING[1], .apply = ignore},
    {.name = &FLAG_INCLUDE_KERNEL[1], .apply = ignore},
    {.name = &FLAG_KERNEL_ONLY[1], .apply = ignore},
    {.name = &FLAG_MULTI_THREAD[1], .apply = ignore},
    {.name = &FLAG_FULL_EXECUTION[1], .apply = ignore},
    {.name = &FLAG_CALLGRAPH_MODE[1], .argument = "MODE", .apply = ignore},
    {.name = &FLAG_TIMER_RESOLUTION[1], .argument = "RESOLUTION", .apply = ignore},
    {.name = &FLAG_EVENTS[1], .argument = "LIST", .apply = ignore},
    {.name = "stats",
     .help = "print what was decoded, counted, as JSON on standard\noutput",
     .manual = "Also print what was decoded as a JSON object on standard output (see STATISTICS).",
     .apply = option_set_flag,
     .field = offsetof(struct decode_request, trace.print_statistics)},
    {.name = "decoder",
     .argument = "DECODER",
     .help = "who decodes the packets:",
     .values = decoder_at,
     .apply = option_set_value,
     .field = offsetof(struct decode_request, trace.decoder)},
    {.name = "z-print-events", .unavailable = PERF_PRINTS},
    {.name = "z-print-perf-commands", .unavailable = NO_PERF_COMMANDS},
    {0},
};

static const struct option_group decode_groups[] = {
    {trace_file_option_specs, offsetof(struct decode_request, trace)},
    {decode_options, 0},
    {trace_showing_options, offsetof(struct decode_request, showing)},
    {0},
};

static int take_recording(const struct command *self, void *context, const char *operand)
{
    struct decode_request *request = context;
    if (request->recording)
        return command_usage_error(self, "one recording at a time, and there is `%s` too.",
                                   operand);
    request->recording = operand;
    return 0;
}

static int check_request(const struct command *self, const struct decode_request *request)
{
    if (request->recording)
        return trace_showing_check(&request->showing, self, &request->trace);
    return command_usage_error(self, "no recording was given: a folder (see -working-directory of "
                                     "`magic-trace run`), a perf.data file, or text by perf "
                                     "script.");
}

static bool write_and_show(struct decode_request *request, struct error *error)
{
    struct trace_file_options *trace = &request->trace;
    trace->perf_map_directory = request->perf_map_directory;
    if (!trace_showing_begin(&request->showing, trace, error) ||
        !trace_file_check_output(trace, error) || !salvage(request->recording, error))
        return false;
    log_status("Decoding, this takes a while...");
    return trace_file_write(request->recording, trace, error) &&
           trace_showing_carry_out(&request->showing, trace, error);
}

static int decode(struct decode_request *request)
{
    struct error error = {0};
    bool ok = write_and_show(request, &error);
    trace_showing_end(&request->showing);
    return ok ? 0 : command_fail(&error);
}

static int run_decode(const struct command *self, int argc, char **argv)
{
    struct decode_request request = {0};
    int status = command_read_options(self, argc, argv, &request, take_recording);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0)
        status = decode(&request);
    free(request.perf_map_directory);
    span_filter_names_free(&request.trace.filter);
    return status;
}

const struct command decode_command = {
    .name = "decode",
    .summary = "write the trace of a recording made earlier",
    .operands = "DIR|PERF.DATA|TEXT",
    .description =
        "Decodes a recording and writes its trace. DIR is a folder kept by `magic-trace\n"
        "run -working-directory DIR`, or left by a magic-trace that was killed; PERF.DATA\n"
        "is a file or folder by `perf record -e intel_pt//`, or - for what comes from\n"
        "`perf record -e intel_pt// -o -`; TEXT is what perf script printed of one, or of\n"
        "samples with call stacks, a file or - for standard input:\n"
        "perf script --ns --itrace=bep -F "
        "pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period\n",
    .options = decode_groups,
    .run = run_decode,
};
