/* magic-trace decode: write the trace of a recording made earlier. */
#include "base/log.h"
#include "base/memory.h"
#include "cli/options/common_arguments.h"
#include "cli/salvage.h"
#include "cli/serve/trace_showing.h"
#include "cli/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum decode_option {
    DECODE_OUTPUT,
    DECODE_FORMAT,
    DECODE_PERF_MAP_FILE,
    DECODE_WORKING_DIRECTORY,
    DECODE_EXECUTABLE,
    DECODE_FILTER,
    DECODE_STATISTICS,
    DECODE_DECODER,
    DECODE_UNAVAILABLE,
    DECODE_SHOW, /* and, from here on, those of enum show_option */
};

static const struct option_spec decode_options[] = {
    {"output", "o", DECODE_OUTPUT, "FILE",
     "where to write the trace (default trace.fxt.gz;\n"
     "gzip when it ends in .gz); an existing one\n"
     "becomes FILE.old",
     NULL},
    {"format", NULL, DECODE_FORMAT, "FORMAT",
     "fxt (for Perfetto, default) or folded (stacks for\nflame graphs)", NULL},
    {"perf-map-file", NULL, DECODE_PERF_MAP_FILE, "FILE[,FILE]",
     "names of JIT code: files called perf-PID.map, all\nin one folder", NULL},
    {"working-directory", NULL, DECODE_WORKING_DIRECTORY, "DIR",
     "the recording, as in the original; the same as the\noperand", NULL},
    {"executable", NULL, DECODE_EXECUTABLE, "FILE",
     "accepted as in the original; the recording itself\nnames its programs", NULL},
    {"filter", NULL, DECODE_FILTER, "\"(A B)\"",
     "show only what ran between a call of A and the\nnext call of B", NULL},
    {"stats", NULL, DECODE_STATISTICS, NULL,
     "print what was decoded, counted, as JSON on standard\noutput", NULL},
    {"decoder", NULL, DECODE_DECODER, "DECODER",
     "who decodes the packets: native (default) or perf,\nstock perf script, which takes longer",
     NULL},
    SHOW_OPTIONS(DECODE_SHOW),
    {"z-print-events", NULL, DECODE_UNAVAILABLE, NULL, NULL, PERF_PRINTS},
    {"z-print-perf-commands", NULL, DECODE_UNAVAILABLE, NULL, NULL, NO_PERF_COMMANDS},
    {0},
};

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

static bool parse_decoder(const char *name, enum flow_decoder *decoder)
{
    *decoder = strcmp(name, "perf") == 0 ? FLOW_DECODER_PERF : FLOW_DECODER_NATIVE;
    return *decoder == FLOW_DECODER_PERF || strcmp(name, "native") == 0;
}

static int apply_option(const struct command *self, struct decode_request *request, int option,
                        const char *value)
{
    if (option >= DECODE_SHOW)
        return trace_showing_option(&request->showing, self,
                                    (enum show_option)(option - DECODE_SHOW), value);
    switch (option) {
    case DECODE_OUTPUT:
        request->trace.output = value;
        break;
    case DECODE_FORMAT:
        if (!trace_format_parse(value, &request->trace.format))
            return command_usage_error(self, "-format is fxt or folded, not `%s`.", value);
        break;
    case DECODE_PERF_MAP_FILE:
        return find_perf_maps(self, value, &request->perf_map_directory);
    case DECODE_WORKING_DIRECTORY:
        request->recording = value;
        break;
    case DECODE_FILTER:
        return take_filter(self, &request->trace.filter, value);
    case DECODE_STATISTICS:
        request->trace.print_statistics = true;
        break;
    case DECODE_DECODER:
        if (!parse_decoder(value, &request->trace.decoder))
            return command_usage_error(self, "-decoder is native or perf, not `%s`.", value);
        break;
    default:
        break;
    }
    return 0;
}

/* 0 with a complete request, -1 after help, or the exit status after a message. */
static int read_request(const struct command *self, int argc, char **argv,
                        struct decode_request *request)
{
    struct option_reader reader;
    option_reader_open(&reader, decode_options, NULL, argc, argv);
    int option = OPTION_END, status = 0;
    while (status == 0 && (option = option_reader_next_or_operand(&reader)) != OPTION_END) {
        if (option == OPTION_HELP || option == OPTION_ERROR)
            break;
        if (option != OPTION_OPERAND)
            status = apply_option(self, request, option, reader.value);
        else if (request->recording)
            status = command_usage_error(self, "one recording at a time, and there is `%s` too.",
                                         reader.value);
        else
            request->recording = reader.value;
    }
    option_reader_close(&reader);
    if (option == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (option == OPTION_HELP) {
        command_print_help(self);
        return -1;
    }
    if (!status && !request->recording)
        status =
            command_usage_error(self, "no recording was given: a folder (see -working-directory "
                                      "of `magic-trace run`), a perf.data file, or text by perf "
                                      "script.");
    return status ? status : trace_showing_check(&request->showing, self, &request->trace);
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
    int status = read_request(self, argc, argv, &request);
    if (status == 0)
        status = decode(&request);
    else if (status < 0)
        status = 0;
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
    .options = decode_options,
    .run = run_decode,
};
