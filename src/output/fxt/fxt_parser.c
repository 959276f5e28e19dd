#include "output/fxt/fxt_parser.h"

#include "base/log.h"
#include "base/memory.h"
#include "output/fxt/fxt_records.h"

#include <stdlib.h>

enum {
    /* What is parsed at a time: it stays in the nearest cache until it is used. */
    BATCH = 256,
    /* Records between two looks at the progress line. */
    RECORDS_PER_LOOK = 1 << 16,
};

struct fxt_parser {
    bool keeps_values; /* of events that were taken: they are not in the order of time */
    struct trace_input *input;
    struct fxt_records records;
    struct fxt_definitions definitions;
    struct fxt_events *events;
    struct error ended_by; /* of what has been parsed; valid if ended */
    bool ended;
    struct fxt_raw_event batch[BATCH + FXT_EVENTS_PER_RECORD];
};

/* ------------------------------------------------------------------ beginning and end */

/* Forgets what records have defined, and reads the magic number. */
static bool start(struct fxt_parser *parser, struct error *error)
{
    struct fxt_record magic;
    parser->records = fxt_records_of(parser->input);
    parser->ended = false;
    parser->ended_by = (struct error){0};
    fxt_definitions_restart(&parser->definitions);
    fxt_events_restart(parser->events);
    if (fxt_records_next(&parser->records, &magic, error) && magic.header == FXT_MAGIC)
        return true;
    *error = *trace_input_ended_by(parser->input);
    if (error->code == ERROR_NONE)
        error_set(
            error, ERROR_FORMAT,
            "%s is not a trace: it does not begin like the Fuchsia trace format. Name a file that "
            "magic-trace wrote (trace.fxt.gz) or a recording folder",
            trace_input_path(parser->input));
    return false;
}

struct fxt_parser *fxt_parser_open(const char *path, struct error *error)
{
    struct error reason = {0};
    struct trace_input *input = trace_input_open(path, error);
    if (!input)
        return NULL;
    struct fxt_parser *parser = memory_allocate_zeroed(sizeof *parser);
    parser->input = input;
    fxt_definitions_init(&parser->definitions);
    parser->events = fxt_events_new(&parser->definitions);
    if (start(parser, &reason))
        return parser;
    if (error)
        *error = reason;
    fxt_parser_close(parser);
    return NULL;
}

void fxt_parser_close(struct fxt_parser *parser)
{
    trace_input_close(parser->input);
    fxt_events_free(parser->events);
    fxt_definitions_free(&parser->definitions);
    free(parser);
}

/* ------------------------------------------------------------------ the two ways through */

struct survey {
    uint64_t last_time;
    bool in_order;
};

/* Of an event only whose it is and when. False where the parser would find damage, too. */
static bool survey_event(struct fxt_definitions *definitions, struct fxt_record record,
                         struct survey *survey)
{
    uint64_t ticks;
    uint32_t track;
    if (!fxt_event_is_for_us(record.header))
        return true;
    if (!fxt_take_word(&record, &ticks) ||
        !fxt_take_track(definitions, &record, fxt_bits(record.header, 24, 31), &track))
        return false;
    uint64_t time = fxt_nanoseconds(definitions, ticks);
    /* A complete event in order may still end after what comes next, which is no trouble. */
    survey->in_order = survey->in_order && time >= survey->last_time;
    survey->last_time = time;
    return true;
}

static bool is_event(const struct fxt_record *record)
{
    return fxt_bits(record->header, 0, 3) == FXT_RECORD_EVENT;
}

bool fxt_parser_survey(struct fxt_parser *parser, bool *in_order, struct error *error)
{
    struct fxt_definitions *definitions = &parser->definitions;
    struct survey survey = {.in_order = true};
    struct fxt_record record;
    struct error ignored = {0}; /* damage is found again, and reported, when the events are read */
    bool sound = true;
    for (uint64_t count = 0; sound && fxt_records_next(&parser->records, &record, &ignored);
         count++) {
        if (count % RECORDS_PER_LOOK == 0)
            log_progress("Looking through the trace", count, 0);
        sound = is_event(&record) ? survey_event(definitions, record, &survey)
                                  : fxt_define(definitions, record);
    }
    log_progress_end();
    *in_order = survey.in_order;
    parser->keeps_values = !survey.in_order;
    struct error reason = {0};
    if (trace_input_rewind(parser->input, &reason) && start(parser, &reason))
        return true;
    if (error)
        *error = reason;
    return false;
}

/* Events of the next record, added to the batch; false at the end. */
static bool parse_record(struct fxt_parser *parser, size_t *count)
{
    struct fxt_record record;
    int parsed;
    if (!fxt_records_next(&parser->records, &record, &parser->ended_by))
        return false;
    if (is_event(&record))
        parsed = fxt_events_parse(parser->events, record, parser->batch + *count);
    else
        parsed = fxt_define(&parser->definitions, record) ? 0 : -1;
    if (parsed < 0)
        return fxt_records_damaged(&parser->records, &record,
                                   "a record that contradicts itself or names what does not exist",
                                   &parser->ended_by);
    *count += (size_t)parsed;
    return true;
}

size_t fxt_parser_take(struct fxt_parser *parser, const struct fxt_raw_event **events,
                       struct error *error)
{
    size_t count = 0;
    if (!parser->keeps_values)
        fxt_events_forget_values(parser->events);
    while (!parser->ended && count < BATCH)
        parser->ended = !parse_record(parser, &count);
    *events = parser->batch;
    if (count == 0 && error)
        *error = parser->ended_by;
    return count;
}

/* ------------------------------------------------------------------ what is known */

const struct span_track *fxt_parser_tracks(struct fxt_parser *parser, size_t *count)
{
    return fxt_dictionary_tracks(&parser->definitions.dictionary, count);
}

size_t fxt_parser_function_count(const struct fxt_parser *parser)
{
    return parser->definitions.dictionary.function_count;
}

bool fxt_parser_is_sampled(const struct fxt_parser *parser)
{
    return parser->definitions.sampled;
}

const char *fxt_parser_recorded(const struct fxt_parser *parser)
{
    return parser->definitions.recorded;
}

uint64_t fxt_parser_wall_clock(const struct fxt_parser *parser)
{
    return parser->definitions.wall_clock;
}
