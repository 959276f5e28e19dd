#include "cli/recording_request.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/interrupted_decode.h"
#include "cli/options/common_arguments.h"
#include "cli/options/processor_arguments.h"
#include "cli/options/quantity.h"
#include "cli/options/shell_word.h"
#include "cli/options/trigger_choice.h"
#include "cli/recording_folder.h"
#include "output/duration.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_SNAPSHOT_SIZE = 4 << 20,
    SMALLEST_SNAPSHOT_SIZE = 4096,
};
static const uint64_t largest_snapshot_size = UINT64_C(1) << 40;

enum common_option {
    COMMON_TRIGGER = COMMON_OPTION_FIRST,
    COMMON_SYMBOL,
    COMMON_DURATION_THRESHOLD,
    COMMON_DELAY_THRESHOLD,
    COMMON_MULTI_SNAPSHOT,
    COMMON_IMMEDIATE_STOP,
    COMMON_OUTPUT,
    COMMON_FORMAT,
    COMMON_FILTER,
    COMMON_ENGINE,
    COMMON_CLOCK,
    COMMON_MULTI_THREAD,
    COMMON_FULL_EXECUTION,
    COMMON_SNAPSHOT_SIZE,
    COMMON_WORKING_DIRECTORY,
    COMMON_NO_DECODE,
    COMMON_UNAVAILABLE,
    COMMON_PROCESSOR,                      /* and, from here on, those of enum processor_argument */
    COMMON_SHOW = COMMON_PROCESSOR + 1000, /* and, from here on, those of enum show_option */
};

#define NOT_NEEDED "it is not needed: a recording names the files of its code itself. Leave it out."

const struct option_spec recording_options[] = {
    {"trigger", NULL, COMMON_TRIGGER, "PLACE",
     "take the snapshot when this runs: a function,\n"
     "FILE:LINE[:COLUMN], addr:0xADDRESS, or . for the\n"
     "calls of libmagic_trace; ?, symbol:? and line:?\n"
     "let you choose",
     NULL},
    {"symbol", NULL, COMMON_SYMBOL, "PART",
     "like -trigger, with a part of the function's name\n('' offers all functions)", NULL},
    {"duration-thresh", NULL, COMMON_DURATION_THRESHOLD, "SPAN",
     "only at hits that come later than SPAN (5ms, 20us)\n"
     "after mark_start; without -trigger: -trigger .",
     NULL},
    {"delay-thresh", NULL, COMMON_DELAY_THRESHOLD, "SPAN",
     "only at hits that come later than SPAN after the\nhit before", NULL},
    {"multi-snapshot", NULL, COMMON_MULTI_SNAPSHOT, NULL,
     "a snapshot at every hit, not only the first", NULL},
    {"immediate-stop", NULL, COMMON_IMMEDIATE_STOP, NULL,
     "keep nothing behind the hit, not even microseconds", NULL},
    {"filter", NULL, COMMON_FILTER, "\"(A B)\"",
     "show only what ran between a call of A and the\nnext call of B", NULL},
    {"multi-thread", NULL, COMMON_MULTI_THREAD, NULL, "trace all threads, not only the first",
     NULL},
    {"full-execution", NULL, COMMON_FULL_EXECUTION, NULL,
     "keep everything from beginning to end, not only\nthe last moments", NULL},
    {"snapshot-size", NULL, COMMON_SNAPSHOT_SIZE, "SIZE",
     "packets kept per thread: a power of two with K, M\nor G (default 4M)", NULL},
    {"output", "o", COMMON_OUTPUT, "FILE",
     "where to write the trace (default trace.fxt.gz;\n"
     "gzip when it ends in .gz); an existing one\n"
     "becomes FILE.old",
     NULL},
    {"format", NULL, COMMON_FORMAT, "FORMAT",
     "fxt (for Perfetto, default) or folded (stacks for\nflame graphs)", NULL},
    {"working-directory", NULL, COMMON_WORKING_DIRECTORY, "DIR",
     "keep the recording in DIR, for `magic-trace decode`\n"
     "(default: a temporary folder, removed at the end)",
     NULL},
    {"no-decode", NULL, COMMON_NO_DECODE, NULL,
     "only record; `magic-trace decode` can follow later", NULL},
    {"engine", NULL, COMMON_ENGINE, "NAME",
     "how to record: auto (default) or one that\n`magic-trace doctor` lists", NULL},
    {"clock", NULL, COMMON_CLOCK, "CLOCK",
     "default (time without the cost of translation),\n"
     "host (the raw clock) or instructions (one\n"
     "instruction, one nanosecond: repeatable)",
     NULL},
    {"sampling", NULL, COMMON_PROCESSOR + ARGUMENT_SAMPLING, NULL,
     "look at the stack many times a second instead of\nrecording every branch", NULL},
    {"callgraph-mode", NULL, COMMON_PROCESSOR + ARGUMENT_CALLGRAPH_MODE, "MODE",
     "how -sampling finds the stack: lbr, lbr-no-stitch,\ndwarf or fp", NULL},
    {"timer-resolution", NULL, COMMON_PROCESSOR + ARGUMENT_TIMER_RESOLUTION, "RESOLUTION",
     "Low, Normal or High, of Intel PT and of -sampling", NULL},
    {"trace-include-kernel", NULL, COMMON_PROCESSOR + ARGUMENT_INCLUDE_KERNEL, NULL,
     "record what the kernel does for the program, too", NULL},
    {"trace-kernel-only", NULL, COMMON_PROCESSOR + ARGUMENT_KERNEL_ONLY, NULL,
     "record only what the kernel does for the program", NULL},
    {"events", NULL, COMMON_PROCESSOR + ARGUMENT_EVENTS, "LIST",
     "show these events too: branch-misses, cache-misses,\npage-faults, context-switches, "
     "cpu-migrations",
     NULL},
    {"record-dir", NULL, COMMON_WORKING_DIRECTORY, "DIR", NULL, NULL},
    SHOW_OPTIONS(COMMON_SHOW),
    {"executable-override", NULL, COMMON_UNAVAILABLE, "FILE", NULL, NOT_NEEDED},
    {"verbose", NULL, COMMON_UNAVAILABLE, NULL, NULL, PERF_PRINTS},
    {"z-print-events", NULL, COMMON_UNAVAILABLE, NULL, NULL, PERF_PRINTS},
    {"z-print-perf-commands", NULL, COMMON_UNAVAILABLE, NULL, NULL, NO_PERF_COMMANDS},
    {0},
};

struct recording_request recording_request_new(char **magic_trace_command)
{
    return (struct recording_request){
        .engine = "auto",
        .record = {.snapshot_size = DEFAULT_SNAPSHOT_SIZE,
                   .magic_trace_command = magic_trace_command},
    };
}

void recording_request_free(struct recording_request *request)
{
    trigger_free(&request->record.trigger);
    span_filter_names_free(&request->trace.filter);
}

/* ---- options ---- */

static bool parse_clock(const char *name, enum record_clock *clock)
{
    static const struct {
        const char *name;
        enum record_clock clock;
    } clocks[] = {
        {"default", RECORD_CLOCK_DEFAULT},
        {"host", RECORD_CLOCK_HOST},
        {"instructions", RECORD_CLOCK_INSTRUCTIONS},
    };
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (strcmp(name, clocks[i].name) != 0)
            continue;
        *clock = clocks[i].clock;
        return true;
    }
    return false;
}

/* Packets are kept in rings whose size is a power of two of whole pages: round up, and say so. */
static bool parse_snapshot_size(const char *text, uint64_t *size)
{
    uint64_t wanted;
    if (!quantity_parse_bytes(text, &wanted) || wanted == 0 || wanted > largest_snapshot_size)
        return false;
    *size =
        quantity_power_of_two(wanted < SMALLEST_SNAPSHOT_SIZE ? SMALLEST_SNAPSHOT_SIZE : wanted);
    if (*size != wanted)
        log_warning("-snapshot-size %s is rounded up to %s bytes, the next power of two that is at "
                    "least a page.",
                    text, quantity_count(*size).text);
    return true;
}

static int parse_span(const struct command *self, const char *option, const char *text,
                      uint64_t *nanoseconds)
{
    if (duration_parse(text, nanoseconds) && *nanoseconds > 0)
        return 0;
    return command_usage_error(self, "-%s is a length of time like 5ms, 200us or 1.5s, not `%s`.",
                               option, text);
}

static int apply_trigger_option(struct recording_request *request, const struct command *self,
                                int option, const char *value)
{
    struct trigger *trigger = &request->record.trigger;
    switch (option) {
    case COMMON_TRIGGER:
        request->trigger = value;
        return *value ? 0 : command_usage_error(self, "-trigger needs the name of a place.");
    case COMMON_SYMBOL:
        request->symbol_part = value;
        return 0;
    case COMMON_DURATION_THRESHOLD:
        return parse_span(self, "duration-thresh", value, &trigger->duration_threshold_ns);
    case COMMON_DELAY_THRESHOLD:
        return parse_span(self, "delay-thresh", value, &trigger->delay_threshold_ns);
    case COMMON_MULTI_SNAPSHOT:
        trigger->multi_snapshot = true;
        return 0;
    default: /* COMMON_IMMEDIATE_STOP */
        trigger->immediate_stop = true;
        return 0;
    }
}

static int apply_output_option(struct recording_request *request, const struct command *self,
                               int option, const char *value)
{
    switch (option) {
    case COMMON_OUTPUT:
        request->trace.output = value;
        request->formatted = true;
        return 0;
    case COMMON_FORMAT:
        request->formatted = true;
        if (!trace_format_parse(value, &request->trace.format))
            return command_usage_error(self, "-format is fxt or folded, not `%s`.", value);
        return 0;
    default: /* COMMON_FILTER */
        return take_filter(self, &request->trace.filter, value);
    }
}

int recording_request_option(struct recording_request *request, const struct command *self,
                             int option, const char *value)
{
    if (option >= COMMON_SHOW)
        return trace_showing_option(&request->showing, self,
                                    (enum show_option)(option - COMMON_SHOW), value);
    if (option >= COMMON_PROCESSOR)
        return processor_argument_apply(&request->record.processor, self,
                                        (enum processor_argument)(option - COMMON_PROCESSOR),
                                        value);
    switch (option) {
    case COMMON_OUTPUT:
    case COMMON_FORMAT:
    case COMMON_FILTER:
        return apply_output_option(request, self, option, value);
    case COMMON_ENGINE:
        request->engine = value;
        if (strcmp(value, "sample") == 0)
            request->record.processor.sampling = true;
        return 0;
    case COMMON_CLOCK:
        if (!parse_clock(value, &request->record.clock))
            return command_usage_error(self, "-clock is default, host or instructions, not `%s`.",
                                       value);
        return 0;
    case COMMON_MULTI_THREAD:
        request->record.multi_thread = true;
        return 0;
    case COMMON_FULL_EXECUTION:
        request->record.full_execution = true;
        return 0;
    case COMMON_SNAPSHOT_SIZE:
        request->record.sized = true;
        if (!parse_snapshot_size(value, &request->record.snapshot_size))
            return command_usage_error(
                self,
                "-snapshot-size is a number of bytes like 256K, 4M or 1G (up to 1024G), not `%s`.",
                value);
        return 0;
    case COMMON_WORKING_DIRECTORY:
        request->working_directory = value;
        return 0;
    case COMMON_NO_DECODE:
        request->no_decode = true;
        return 0;
    default:
        return apply_trigger_option(request, self, option, value);
    }
}

static int check_trigger(struct recording_request *request, const struct command *self)
{
    struct trigger *trigger = &request->record.trigger;
    if (request->trigger && request->symbol_part)
        return command_usage_error(self, "-trigger and -symbol both say when to take the snapshot: "
                                         "give one.");
    bool named = request->trigger || request->symbol_part;
    if (trigger->duration_threshold_ns && !named) {
        request->trigger = ".";
        named = true;
    }
    if (trigger->delay_threshold_ns && !named)
        return command_usage_error(self, "-delay-thresh needs a function whose calls it counts: "
                                         "name it with -trigger.");
    if (trigger->multi_snapshot && !named)
        return command_usage_error(self, "-multi-snapshot needs a place to take snapshots at: name "
                                         "it with -trigger.");
    if (trigger->immediate_stop && !named)
        return command_usage_error(self, "-immediate-stop needs a place to stop at: name it with "
                                         "-trigger.");
    if (request->record.clock == RECORD_CLOCK_INSTRUCTIONS &&
        (trigger->duration_threshold_ns || trigger->delay_threshold_ns))
        return command_usage_error(self, "-duration-thresh and -delay-thresh compare times, and "
                                         "-clock instructions has none. Leave out one of them.");
    return 0;
}

int recording_request_check(struct recording_request *request, const struct command *self)
{
    int status = check_trigger(request, self);
    if (!status)
        status = processor_arguments_check(&request->record.processor, self);
    if (!status)
        status = trace_showing_check(&request->showing, self, &request->trace);
    if (!status && request->no_decode && (request->showing.serve || request->showing.share))
        status = command_usage_error(self, "-no-decode writes no trace that -serve or -share could "
                                           "show.");
    if (status)
        return status;
    request->record.triggered = request->trigger || request->symbol_part;
    /* Forked children would inherit a breakpoint, too. */
    if (request->record.multi_thread && request->record.triggered)
        request->record.follow = true;
    if ((request->formatted || request->trace.filter.from) && request->no_decode)
        log_warning("-output, -format and -filter have no effect with -no-decode, which writes no "
                    "trace. Give them to `magic-trace decode`.");
    if (request->record.sized && request->record.full_execution)
        log_warning(
            "-snapshot-size does not limit what is kept with -full-execution: everything is.");
    return 0;
}

const struct engine *recording_request_choose_engine(const struct recording_request *request,
                                                     enum engine_use use, struct error *error)
{
    struct engine_choice choice;
    if (!engine_choose(&choice, request->engine, use, &request->record, error))
        return NULL;
    if (strcmp(request->engine, "auto") == 0)
        log_status("Recording with the %s engine: %s", choice.engine->name, choice.why);
    return choice.engine;
}

/* ---- the trigger ---- */

/* The time that a program passes is known of the stop indicator alone. */
static bool check_passes_time(const struct trigger *trigger, struct error *error)
{
    if (!trigger->name || !trigger->duration_threshold_ns || trigger->passes_time)
        return true;
    return error_set(error, ERROR_USAGE,
                     "-duration-thresh counts from mark_start of libmagic_trace, which %s knows "
                     "nothing of: use it with -trigger . (or -delay-thresh with %s).",
                     trigger->name, trigger->name);
}

bool recording_request_find_trigger(struct recording_request *request,
                                    const struct objects *objects, struct error *error)
{
    struct trigger *trigger = &request->record.trigger;
    bool ok = request->trigger
                  ? trigger_choose(trigger, request->trigger, objects, error)
                  : trigger_choose_by_part(trigger, request->symbol_part, objects, error);
    if (!ok || !check_passes_time(trigger, error))
        return false;
    if (trigger->name)
        log_status("Attaching to %s @ 0x%016llx", trigger->name,
                   (unsigned long long)trigger->places[0].address);
    return true;
}

/* ---- recording and decoding ---- */

static void say_where_recording_is(const struct recording_folder *folder)
{
    char *path = shell_word(folder->path);
    log_status("The recording is kept: magic-trace decode %s", path);
    free(path);
}

static bool decode_recording(const struct recording_request *request,
                             struct recording_folder *folder, struct error *error)
{
    log_status("Decoding, this takes a while...");
    interrupted_decode_begin(folder->path);
    bool ok = trace_file_write(folder->path, &request->trace, error);
    interrupted_decode_end();
    if (ok)
        recording_folder_remove(folder);
    return ok;
}

static void say_what_hits_came(const struct record_options *options,
                               const struct record_result *result)
{
    const struct trigger *trigger = &options->trigger;
    if (!trigger->name)
        return;
    if (result->unseen_hits)
        log_warning("%s ran %s times in threads or processes that were not traced, which did not "
                    "count. Give -multi-thread to trace them.",
                    trigger->name, quantity_count(result->unseen_hits).text);
    if (result->snapshots == 0 && !result->interrupted && result->hits == 0)
        log_status("%s was not hit; the trace shows the end.", trigger->name);
    else if (result->snapshots == 0 && !result->interrupted)
        log_status("%s was hit %s times, never beyond the threshold; the trace shows the end.",
                   trigger->name, quantity_count(result->hits).text);
    else if (trigger->multi_snapshot)
        log_status("%s snapshots of %s hits.", quantity_count(result->snapshots).text,
                   quantity_count(result->hits).text);
}

static int keep_after_failure(struct recording_folder *folder, const struct error *error)
{
    int status = command_fail(error);
    if (recording_folder_holds_data(folder)) {
        say_where_recording_is(folder);
        recording_folder_keep(folder);
    } else {
        recording_folder_remove(folder);
    }
    return status;
}

/* The recording is done: its trace, and what is to be shown of it. */
static int finish(struct recording_request *request, struct recording_folder *folder)
{
    struct error error = {0};
    int status = 0;
    if (!request->no_decode) {
        if (decode_recording(request, folder, &error))
            return trace_showing_carry_out(&request->showing, &request->trace, &error)
                       ? 0
                       : command_fail(&error);
        status = command_fail(&error);
    }
    say_where_recording_is(folder);
    recording_folder_keep(folder);
    return status;
}

struct recording_outcome recording_request_carry_out(
    struct recording_request *request, const struct engine *engine, enum engine_use use,
    void (*say_end)(const struct record_options *, const struct record_result *))
{
    struct recording_outcome outcome = {.result = {.exit_status = -1}};
    struct error error = {0};
    struct recording_folder folder;
    if (!trace_showing_begin(&request->showing, &request->trace, &error) ||
        (!request->no_decode && !trace_file_check_output(&request->trace, &error)) ||
        !recording_folder_make(&folder, request->working_directory, &error)) {
        outcome.status = command_fail(&error);
        trace_showing_end(&request->showing);
        return outcome;
    }
    request->record.directory = folder.path;
    bool (*record)(const struct record_options *, struct record_result *, struct error *) =
        use == ENGINE_TO_ATTACH ? engine->attach : engine->record;
    if (!record(&request->record, &outcome.result, &error)) {
        outcome.status = keep_after_failure(&folder, &error);
        trace_showing_end(&request->showing);
        return outcome;
    }
    if (outcome.result.interrupted && !request->record.full_execution)
        log_status("Snapshot taken.");
    log_status("Finished recording.");
    if (say_end)
        say_end(&request->record, &outcome.result);
    say_what_hits_came(&request->record, &outcome.result);
    outcome.status = finish(request, &folder);
    trace_showing_end(&request->showing);
    return outcome;
}
