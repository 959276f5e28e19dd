#include "cli/recording_request.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/interrupted_decode.h"
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/options/processor_arguments.h"
#include "cli/options/quantity.h"
#include "cli/options/shell_word.h"
#include "cli/options/trigger_choice.h"
#include "cli/recording_folder.h"
#include "output/duration.h"
#include "recording/flags.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    DEFAULT_SNAPSHOT_SIZE = 4 << 20,
    SMALLEST_SNAPSHOT_SIZE = 4096,
};
static const uint64_t largest_snapshot_size = UINT64_C(1) << 40;

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
    trigger_free(&request->record.from);
    trigger_free(&request->record.until);
    trigger_free(&request->record.start);
    selected_functions_free(&request->record.selected);
    chosen_functions_free(&request->record.chosen);
    span_filter_names_free(&request->trace.filter);
}

/* ---- options ---- */

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

static int take_snapshot_size(const struct option_spec *option, const struct command *self,
                              void *target, const char *value)
{
    struct record_options *record = &((struct recording_request *)target)->record;
    record->sized = true;
    if (parse_snapshot_size(value, &record->snapshot_size))
        return 0;
    return command_usage_error(
        self, "-%s is a number of bytes like 256K, 4M or 1G (up to 1024G), not `%s`.", option->name,
        value);
}

/* The uint64_t at option->field in nanoseconds. */
static int take_span(const struct option_spec *option, const struct command *self, void *target,
                     const char *value)
{
    uint64_t *nanoseconds = (void *)((char *)target + option->field);
    if (duration_has_unit(value) && duration_parse(value, nanoseconds) && *nanoseconds > 0)
        return 0;
    return command_usage_error(self, "-%s is a length of time like 5ms, 200us or 1.5s, not `%s`.",
                               option->name, value);
}

static int take_args(const struct option_spec *option, const struct command *self, void *target,
                     const char *value)
{
    struct recording_request *request = target;
    request->args = value;
    request->record.wants_values = true;
    return *value ? 0
                  : command_usage_error(self, "-%s needs the name of a function.", option->name);
}

static int take_args_file(const struct option_spec *option, const struct command *self,
                          void *target, const char *value)
{
    struct recording_request *request = target;
    request->args_file = value;
    request->record.wants_values = true;
    return *value ? 0 : command_usage_error(self, "-%s needs a source file.", option->name);
}

static bool engine_value_at(size_t index, struct option_value *value)
{
    static const struct option_value automatic = {"auto", 0, "the best that works here (default)",
                                                  NULL};
    const struct engine *engine = index > 0 ? engine_at(index - 1) : NULL;
    if (index == 0)
        *value = automatic;
    else if (engine)
        *value = (struct option_value){engine->name, 0, engine->description, engine->manual};
    return index == 0 || engine;
}

/* An unknown name is refused when the engine is chosen. */
static int take_engine(const struct option_spec *option, const struct command *self, void *target,
                       const char *value)
{
    struct recording_request *request = target;
    const struct engine *engine = engine_find(value);
    request->engine = value;
    request->record.processor.sampling |= engine && engine->samples_alone;
    return 0;
}

static bool clock_at(size_t index, struct option_value *value)
{
    static const struct option_value clocks[] = {
        {"default", RECORD_CLOCK_DEFAULT, "time without the cost of translation",
         "Without what translating the program's code takes, which only new code needs."},
        {"host", RECORD_CLOCK_HOST, "the raw clock of the machine", NULL},
        {"instructions", RECORD_CLOCK_INSTRUCTIONS, "one instruction, one nanosecond: repeatable",
         "Each instruction takes one nanosecond; two runs of a deterministic program give the "
         "same trace."},
    };
    return option_value_of_table(clocks, sizeof clocks / sizeof *clocks, index, value);
}

#define NOT_NEEDED "it is not needed: a recording names the files of its code itself. Leave it out."

static const struct option_spec recording_specs[] = {
    {.name = &FLAG_TRIGGER[1],
     .argument = "PLACE",
     .help = "take the snapshot when this runs: a function,\n"
             "FILE:LINE[:COLUMN], addr:0xADDRESS, or . for the\n"
             "calls of libmagic_trace; ?, symbol:? and line:?\n"
             "let you choose",
     .manual =
         "Take the snapshot when this runs. A PLACE is a function of the program or of a library "
         "that it needs, by its readable name or its symbol; of a name of C++ the parameters, the "
         "type before a template's name and all template arguments may be left out, which means "
         "all "
         "instances; one that is inlined everywhere is hit "
         "where it is inlined "
         "(nothing is called there; `inlined:FUNCTION` says so of one that is also called); "
         "`FILE:LINE` or `FILE:LINE:COLUMN`; "
         "`addr:0xADDRESS` of an instruction, as nm(1) and objdump(1) number them; or `.`, the "
         "snapshots that the program takes by itself with libmagic_trace. The prefixes `symbol:`, "
         "`inlined:` "
         "and `line:` say which is meant when a name could be either. `?`, `symbol:?` and "
         "`line:?` let you choose: with fzf(1) where it is installed, else from a numbered list. "
         "Hits are marked on a track of their own.",
     .apply = option_set_place,
     .field = offsetof(struct recording_request, trigger)},
    {.name = "symbol",
     .argument = "PART",
     .help = "like -trigger, with a part of the function's name\n('' offers all functions)",
     .manual = "The same as -trigger with a part of a function's name. When several functions have "
               "it you choose one; the empty part offers all. When none has it the snapshot is "
               "taken at the end.",
     .apply = option_set_text,
     .field = offsetof(struct recording_request, symbol_part)},
    {.name = &FLAG_DURATION_THRESHOLD[1],
     .argument = "SPAN",
     .help = "only at hits that come later than SPAN (5ms, 20us)\n"
             "after mark_start; without -trigger: -trigger .",
     .manual = "Only hits that come later than SPAN (like 5ms, 200us, 1.5s) after the thread's "
               "last mark_start of libmagic_trace count. Without -trigger it means `-trigger .`.",
     .apply = take_span,
     .field = offsetof(struct recording_request, record.trigger.duration_threshold_ns)},
    {.name = &FLAG_DELAY_THRESHOLD[1],
     .argument = "SPAN",
     .help = "only at hits that come later than SPAN after the\nhit before",
     .manual = "Only hits that come later than SPAN after the hit before count: for a function "
               "that an event loop calls in every cycle. Every five seconds the longest delay is "
               "printed.",
     .apply = take_span,
     .field = offsetof(struct recording_request, record.trigger.delay_threshold_ns)},
    {.name = &FLAG_LONGER_THAN[1],
     .argument = "SPAN",
     .help = "only when a call of the function that -trigger\nnames lasts longer than SPAN, and "
             "then at its end",
     .manual = "Take the snapshot when a call of the function that -trigger names ends after more "
               "than SPAN. The "
               "program needs neither to be rebuilt nor to be linked with libmagic_trace. Needs "
               "the translator "
               "engine.",
     .apply = take_span,
     .field = offsetof(struct recording_request, record.trigger.longer_than_ns)},
    {.name = &FLAG_ON_CPU[1],
     .help = "with -longer-than or -duration-thresh: only the time\nthat the thread spends on a "
             "processor counts",
     .manual = "With -longer-than and -duration-thresh only the time that the thread spends on a "
               "processor counts: what it sleeps, waits, or is kept from running by other programs "
               "does not. With -duration-thresh this is so of time since the thread's own "
               "mark_start; a time that another thread has noted counts as a whole. Needs the "
               "translator engine.",
     .apply = option_set_flag,
     .field = offsetof(struct recording_request, record.trigger.on_cpu)},
    {.name = &FLAG_ARGS[1],
     .argument = "NAMES",
     .help = "record arguments and results of these functions,\nseparated by commas; * stands for "
             "any text",
     .manual =
         "Record the arguments and the result of each call of these functions: names as "
         "-trigger takes them, separated by commas, or patterns in which `*` stands for any "
         "text. Debug information gives names and types: integers, floating-point "
         "numbers, enumerators, pointers, strings (their first 128 bytes), and structures of up "
         "to 256 bytes. Without it the six registers in which integers are passed are "
         "recorded, and rax; of Go 1.18 or later the nine of its own convention and rax, of older "
         "Go "
         "nothing. `report -tree`, CSV, the page and traces show them with the call; the "
         "page's search box finds calls by them, `parse(size>4096)`, and magic-trace-query(1) has "
         "them in a table. "
         "Needs the translator engine.",
     .apply = take_args},
    {.name = "args-all-of",
     .argument = "FILE",
     .help = "record those of all functions of a source file",
     .manual = "As -args, of all functions that are defined in this source file: its path as debug "
               "information has it, or the end of that, such as `parser.c`. At most 1024.",
     .apply = take_args_file},
    {.name = &FLAG_MULTI_SNAPSHOT[1],
     .help = "a snapshot at every hit, not only the first",
     .manual = "Take a snapshot at every hit that counts. They all go into one trace, with gaps "
               "between what belongs to none.",
     .apply = option_set_flag,
     .field = offsetof(struct recording_request, record.trigger.multi_snapshot)},
    {.name = &FLAG_IMMEDIATE_STOP[1],
     .help = "keep nothing after the hit, not even microseconds",
     .manual = "Keep nothing after the hit. Without it some ten microseconds follow. With Intel PT "
               "this needs Linux 6.13 or later, and the first hit must count: it does not go "
               "together with -multi-snapshot and thresholds; a warning says when it has no "
               "effect.",
     .apply = option_set_flag,
     .field = offsetof(struct recording_request, record.trigger.immediate_stop)},
    {.name = &FLAG_MULTI_THREAD[1],
     .help = "trace all threads, not only the first",
     .manual = "Trace all threads, not only the first. With -trigger hits in all of them count, "
               "also in those created later, and in forked children, which are traced too.",
     .apply = option_set_flag,
     .field = offsetof(struct recording_request, record.multi_thread)},
    {.name = &FLAG_FULL_EXECUTION[1],
     .help = "keep everything from beginning to end, not only\nthe last moments",
     .manual = "Keep everything from beginning to end. Packets are written to disk as the program "
               "runs. Recording ends, with a warning, before the disk is full: 5 % of it or 1 GB, "
               "whichever is less, stays free, and so much more as finishing the recording takes.",
     .apply = option_set_flag,
     .field = offsetof(struct recording_request, record.full_execution)},
    {.name = &FLAG_SNAPSHOT_SIZE[1],
     .argument = "SIZE",
     .help = "packets kept per thread: a power of two with K, M\nor G (default 4M)",
     .manual =
         "Bytes of packets kept per thread, with suffix K, M or G (default 4M). Rounded up "
         "to a power of two, with a warning. The translator engine keeps a log of eight times "
         "the size instead, at least 1M, which holds about as much. With -sampling bytes of "
         "samples, by default 32M "
         "where stacks are saved (`-callgraph-mode dwarf`), which is some 4,000 of them; so "
         "much per processor where all threads or child processes are sampled.",
     .apply = take_snapshot_size},
    {.name = &FLAG_WORKING_DIRECTORY[1],
     .argument = "DIR",
     .help = "keep the recording in DIR, for `magic-trace decode`\n"
             "(default: a temporary folder, removed at the end)",
     .manual = "Make the recording in DIR and keep it. The folder is made when it is missing; an "
               "older recording in it is replaced. Without this option the recording lies in a "
               "temporary folder, which is removed after the trace was written, and kept and named "
               "when something failed.",
     .apply = option_set_text,
     .field = offsetof(struct recording_request, working_directory)},
    {.name = "no-decode",
     .help = "only record; `magic-trace decode` can follow later",
     .manual = "Only record. magic-trace-decode(1) can follow at any time.",
     .apply = option_set_flag,
     .field = offsetof(struct recording_request, no_decode)},
    {.name = &FLAG_ENGINE[1],
     .argument = "NAME",
     .help = "how to record:",
     .manual = "How to record. magic-trace-doctor(1) lists the engines that work here.",
     .values = engine_value_at,
     .apply = take_engine},
    {.name = &FLAG_CLOCK[1],
     .argument = "CLOCK",
     .help = "what a nanosecond is:",
     .values = clock_at,
     .apply = option_set_value,
     .field = offsetof(struct recording_request, record.clock)},
    {.name = "record-dir",
     .argument = "DIR",
     .apply = option_set_text,
     .field = offsetof(struct recording_request, working_directory)},
    {.name = "executable-override", .argument = "FILE", .unavailable = NOT_NEEDED},
    {.name = "verbose", .unavailable = PERF_PRINTS},
    {.name = "z-print-events", .unavailable = PERF_PRINTS},
    {.name = "z-print-perf-commands", .unavailable = NO_PERF_COMMANDS},
    {0},
};

const struct option_group recording_options[] = {
    {recording_specs, 0},
    {processor_option_specs, offsetof(struct recording_request, record.processor)},
    {trace_file_option_specs, offsetof(struct recording_request, trace)},
    {trace_showing_options, offsetof(struct recording_request, showing)},
    {0},
};

/* ---- whether they go together ---- */

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
    if (trigger->longer_than_ns && !named)
        return command_usage_error(self, "-longer-than needs a function whose calls it times: name "
                                         "it with -trigger.");
    if (trigger->longer_than_ns && trigger->duration_threshold_ns)
        return command_usage_error(self, "-longer-than counts from a call's beginning, and "
                                         "-duration-thresh from mark_start: give one.");
    if (trigger->on_cpu && !trigger->longer_than_ns && !trigger->duration_threshold_ns)
        return command_usage_error(self, "-on-cpu says what time -longer-than and -duration-thresh "
                                         "count: give one of them, too.");
    if (trigger->multi_snapshot && !named)
        return command_usage_error(self, "-multi-snapshot needs a place to take snapshots at: name "
                                         "it with -trigger.");
    if (trigger->immediate_stop && !named)
        return command_usage_error(self, "-immediate-stop needs a place to stop at: name it with "
                                         "-trigger.");
    if (request->record.clock == RECORD_CLOCK_INSTRUCTIONS &&
        (trigger->duration_threshold_ns || trigger->delay_threshold_ns || trigger->longer_than_ns))
        return command_usage_error(self, "-duration-thresh, -delay-thresh and -longer-than compare "
                                         "times, and -clock instructions has none. Leave out one "
                                         "of them.");
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
    request->record.bounded = request->from || request->until;
    request->record.selective = request->only != NULL;
    /* Forked children would inherit a breakpoint, too. */
    if (request->record.follow_required ||
        (request->record.multi_thread && request->record.triggered))
        request->record.follow = true;
    const struct trace_file_options *trace = &request->trace;
    if ((trace->output || trace->format || trace->filter.from) && request->no_decode)
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
    bool chosen = strcmp(request->engine, "auto") == 0;
    if (chosen && use == ENGINE_TO_ATTACH && *choice.passed_over)
        log_status("%s", choice.passed_over);
    if (chosen)
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

/* What a thread had spent on processors at its mark_start is read there. */
static bool find_start(struct trigger *start, const struct objects *objects, struct error *error)
{
    struct error reason;
    return trigger_find(start, "magic_trace_mark_start",
                        (const char *const *)objects->paths.elements, objects->paths.count,
                        &reason) ||
           error_set(error, reason.code,
                     "-on-cpu with -duration-thresh needs libmagic_trace's function "
                     "magic_trace_mark_start: %s",
                     reason.text);
}

static bool check_is_function(const struct trigger *trigger, struct error *error)
{
    if (!trigger->name || !trigger->longer_than_ns || trigger->is_function)
        return true;
    return error_set(error, ERROR_USAGE,
                     "-longer-than times the calls of a function, and %s is code within one: "
                     "name the function with -trigger.",
                     trigger->name);
}

bool recording_request_find_trigger(struct recording_request *request,
                                    const struct objects *objects, struct error *error)
{
    struct trigger *trigger = &request->record.trigger;
    bool ok = request->trigger
                  ? trigger_choose(trigger, request->trigger, objects, error)
                  : trigger_choose_by_part(trigger, request->symbol_part, objects, error);
    if (!ok || !check_passes_time(trigger, error) || !check_is_function(trigger, error))
        return false;
    if (trigger->on_cpu && trigger->duration_threshold_ns &&
        !find_start(&request->record.start, objects, error))
        return false;
    if (trigger->name)
        log_status("Attaching to %s @ 0x%016llx", trigger->name,
                   (unsigned long long)trigger->places[0].address);
    return true;
}

static bool find_bound(struct trigger *bound, const char *text, const struct objects *objects,
                       struct error *error)
{
    return !text || trigger_find(bound, text, (const char *const *)objects->paths.elements,
                                 objects->paths.count, error);
}

bool recording_request_find_bounds(struct recording_request *request, const struct objects *objects,
                                   struct error *error)
{
    struct record_options *record = &request->record;
    return find_bound(&record->from, request->from, objects, error) &&
           find_bound(&record->until, request->until, objects, error);
}

bool recording_request_find_selected(struct recording_request *request,
                                     const struct objects *objects, struct error *error)
{
    return !request->only || selected_functions_find(&request->record.selected, request->only,
                                                     (const char *const *)objects->paths.elements,
                                                     objects->paths.count, error);
}

bool recording_request_find_chosen(struct recording_request *request, const struct objects *objects,
                                   struct error *error)
{
    struct chosen_functions *chosen = &request->record.chosen;
    if (!request->record.wants_values)
        return true;
    if (!chosen_functions_find(chosen, request->args, request->args_file,
                               (const char *const *)objects->paths.elements, objects->paths.count,
                               error))
        return false;
    if (chosen->without_types)
        log_warning("There is no debug information of some functions that -args names: their "
                    "registers are recorded as numbers. Compile them with -g.");
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
    if (result->snapshots == 0 && result->hits == 0)
        log_status("%s was not hit%s; the trace shows the end.", trigger->name,
                   options->selective ? " within the calls that -only names, where alone it counts"
                                      : "");
    else if (result->snapshots == 0)
        log_status("%s was hit %s times, never beyond the threshold%s; the trace shows the end.",
                   trigger->name, quantity_count(result->hits).text,
                   trigger->on_cpu ? " of time on a processor" : "");
    else if (trigger->multi_snapshot)
        log_status("%s snapshot%s of %s hit%s.", quantity_count(result->snapshots).text,
                   result->snapshots == 1 ? "" : "s", quantity_count(result->hits).text,
                   result->hits == 1 ? "" : "s");
}

static void say_what_was_suspended(const struct record_options *options,
                                   const struct record_result *result)
{
    if (result->suspended_calls == 0)
        return;
    log_status("Calls of functions given to -only changed to another stack %s time%s (fibers, "
               "goroutines) before they returned. What else ran until then was recorded, too.",
               quantity_count(result->suspended_calls).text,
               result->suspended_calls == 1 ? "" : "s");
    if (!options->multi_thread)
        log_status(
            "What of them ran in other threads than the first is missing. Give -multi-thread "
            "to record it.");
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

static void explain_death(const struct engine *engine, const struct record_result *result)
{
    int status = result->exit_status;
    bool killed = engine->explain_signal && status != -1 && WIFSIGNALED(status);
    const char *why = killed ? engine->explain_signal(WTERMSIG(status)) : NULL;
    if (why)
        log_warning("%s", why);
}

/* The program may have ended with an error for it, or may have gone another way. */
static void explain_refusal(const struct record_result *result)
{
    if (result->refused)
        log_warning("%s", result->refused);
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
    log_status("Recording into %s", folder.path);
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
    explain_death(engine, &outcome.result);
    explain_refusal(&outcome.result);
    say_what_hits_came(&request->record, &outcome.result);
    say_what_was_suspended(&request->record, &outcome.result);
    outcome.status = finish(request, &folder);
    trace_showing_end(&request->showing);
    return outcome;
}
