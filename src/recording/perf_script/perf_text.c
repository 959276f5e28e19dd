#include "recording/perf_script/perf_text.h"

#include <stdio.h>

/* What a line is. */
enum line_kind {
    LINE_RECORD,
    LINE_QUIET, /* a known record that does not matter for stacks */
    LINE_OTHER, /* a record of another event */
    LINE_UNREADABLE,
};

static bool is_one_of(struct text_slice word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_slice_is(word, names[i]))
            return true;
    return false;
}

#define IS_ONE_OF(word, names) is_one_of(word, names, sizeof(names) / sizeof *(names))

/* ---- lines ---- */

static struct text_cursor take_line(struct perf_text *text)
{
    struct text_cursor line = text->rest;
    const char *newline = memchr(line.at, '\n', text_left(&line));
    if (newline)
        line.end = newline;
    text->rest.at = newline ? newline + 1 : line.end;
    text->line++;
    return line;
}

static bool is_frame_line(const struct text_cursor *rest)
{
    return rest->at < rest->end && *rest->at == '\t';
}

static bool is_empty(struct text_cursor line)
{
    text_skip_spaces(&line);
    return line.at == line.end;
}

/* The frames in the lines after that of a sample. */
static void take_frames(struct perf_text *text)
{
    struct perf_text_place place;
    while (is_frame_line(&text->rest)) {
        struct text_cursor line = take_line(text);
        if (text->frames.count < PERF_TEXT_FRAMES_MAX && perf_text_place_parse(line, &place))
            *(struct perf_text_place *)array_add(&text->frames) = place;
    }
}

/* ---- the beginning of a record ---- */

/* "1234.000000567:"; fewer digits than nine are the first ones. */
static bool parse_time(struct text_slice word, struct nanoseconds *time)
{
    struct text_cursor text = text_cursor_of(word);
    uint64_t seconds, fraction = 0, unit = 100000000;
    if (!text_take_number(&text, 10, &seconds) || !text_take(&text, "."))
        return false;
    if (text.at == text.end || !text_is_digit(*text.at))
        return false;
    for (; text.at < text.end && text_is_digit(*text.at); text.at++, unit /= 10)
        fraction += unit * text_digit_value(*text.at);
    text_take(&text, ":");
    if (text.at < text.end || __builtin_mul_overflow(seconds, UINT64_C(1000000000), &seconds))
        return false;
    return !__builtin_add_overflow(seconds, fraction, &time->value);
}

static bool take_id(struct text_cursor *text, uint32_t *id)
{
    uint64_t number;
    if (text_take(text, "-1")) {
        *id = PERF_TEXT_NOBODY;
        return true;
    }
    if (!text_take_number(text, 10, &number) || number > UINT32_MAX)
        return false;
    *id = (uint32_t)number;
    return true;
}

/* "12/34", or the thread alone, which is then taken for its process too. */
static bool parse_ids(struct text_slice word, struct perf_text_record *record)
{
    struct text_cursor text = text_cursor_of(word);
    if (!take_id(&text, &record->pid))
        return false;
    record->tid = record->pid;
    if (text_take(&text, "/") && !take_id(&text, &record->tid))
        return false;
    return text.at == text.end;
}

static bool is_processor(struct text_slice word)
{
    return word.size > 2 && word.at[0] == '[' && word.at[word.size - 1] == ']';
}

/* Matches "program name  12/34 [001] 5.000000001:". A program's name may contain anything, so a
 * header is recognized by ids followed by a time. */
static bool take_header(struct text_cursor *line, struct perf_text_record *record)
{
    struct text_slice word, ids = {line->at, 0};
    const char *begin = line->at;
    while ((word = text_take_word(line)).size > 0) {
        if (word.at[word.size - 1] == ':' && parse_time(word, &record->time) &&
            parse_ids(ids, record)) {
            record->program = text_slice_trim((struct text_slice){begin, (size_t)(ids.at - begin)});
            return record->has_time = true;
        }
        if (!is_processor(word))
            ids = word;
    }
    return false;
}

/* "cycles" of "cycles:ppp:", of "cpu/cycles/u:" and of "cpu_core/cycles/u:". */
static struct text_slice event_name(struct text_slice word)
{
    size_t size = 0;
    while (size < word.size && word.at[size] != ':' && word.at[size] != '/')
        size++;
    bool processor_event =
        size < word.size && word.at[size] == '/' && size >= 3 && memcmp(word.at, "cpu", 3) == 0;
    if (!processor_event)
        return (struct text_slice){word.at, size};
    struct text_slice inner = {word.at + size + 1, word.size - size - 1};
    return inner.size > 0 ? event_name(inner) : inner;
}

static bool is_number(struct text_slice word)
{
    struct text_cursor text = text_cursor_of(word);
    uint64_t number;
    return text_take_number(&text, 10, &number) && text.at == text.end;
}

/* The event's name, without the period before it; empty when neither was printed. */
static struct text_slice take_event(struct text_cursor *line)
{
    struct text_cursor copy = *line;
    struct text_slice word = text_take_word(&copy);
    if (is_number(word))
        word = text_take_word(&copy);
    if (word.size < 2 || word.at[word.size - 1] != ':')
        return (struct text_slice){word.at, 0};
    *line = copy;
    return event_name(word);
}

/* ---- kinds of records ---- */

/* The last " =>" that an address follows, because symbols can contain one too; NULL when there is
 * none.
 */
static const char *find_arrow(struct text_cursor line)
{
    static const char arrow[] = " =>";
    size_t size = strlen(arrow);
    uint64_t address;
    for (size_t i = text_left(&line); i >= size; i--) {
        const char *at = line.at + i - size;
        struct text_cursor after = {at + size, line.end};
        if (memcmp(at, arrow, size) == 0 && text_take_address(&after, &address))
            return at;
    }
    return NULL;
}

static void note_other_event(struct perf_text *text, struct text_slice event)
{
    char *name = text->statistics.other_event;
    size_t room = sizeof text->statistics.other_event - 1;
    if (name[0] != 0)
        return;
    for (size_t i = 0; i < event.size && i < room; i++)
        name[i] = event.at[i] > ' ' && event.at[i] < 127 ? event.at[i] : '?';
}

static enum line_kind parse_branch(struct perf_text *text, struct text_cursor line,
                                   struct perf_text_record *record)
{
    const char *arrow = find_arrow(line);
    if (!arrow)
        return LINE_UNREADABLE;
    struct text_cursor from = {line.at, arrow}, to = {arrow + strlen(" =>"), line.end};
    if (!perf_text_branch_take(&from, &record->branch)) {
        note_other_event(text, text_take_word(&from));
        return LINE_OTHER;
    }
    if (!perf_text_place_parse(from, &record->from) || !perf_text_place_parse(to, &record->to))
        return LINE_UNREADABLE;
    record->kind = PERF_TEXT_BRANCH;
    return LINE_RECORD;
}

/* The place of the sample is in its line, or in the lines after it with the callers. */
static enum line_kind parse_sample(struct perf_text *text, struct text_cursor line,
                                   struct perf_text_record *record)
{
    struct perf_text_place place;
    text->frames.count = 0;
    if (perf_text_place_parse(line, &place))
        *(struct perf_text_place *)array_add(&text->frames) = place;
    else if (!is_empty(line))
        return LINE_UNREADABLE;
    else
        take_frames(text);
    record->kind = PERF_TEXT_SAMPLE;
    record->frames = text->frames.elements;
    record->frame_count = text->frames.count;
    return record->frame_count > 0 ? LINE_RECORD : LINE_UNREADABLE;
}

/* One "NAME VALUE" of a decode error's line; true when it has none of that name. */
static bool parse_error_field(struct text_slice name, struct text_slice value,
                              struct perf_text_record *record)
{
    struct text_cursor text = text_cursor_of(value);
    if (text_slice_is(name, "pid"))
        return take_id(&text, &record->pid);
    if (text_slice_is(name, "tid"))
        return take_id(&text, &record->tid);
    if (text_slice_is(name, "cpu"))
        return take_id(&text, &record->processor);
    if (text_slice_is(name, "ip")) {
        text_take(&text, "0x");
        return text_take_number(&text, 16, &record->from.address);
    }
    if (text_slice_is(name, "time"))
        return record->has_time = parse_time(value, &record->time);
    return true;
}

/* "type 1 time 1.000000002 cpu 0 pid 3 tid 3 ip 0x4 code 5: Failed to get instruction". */
static enum line_kind parse_error(struct text_cursor line, struct perf_text_record *record)
{
    record->kind = PERF_TEXT_DECODE_ERROR;
    record->pid = record->tid = record->processor = PERF_TEXT_NOBODY;
    struct text_slice name, value;
    while ((name = text_take_word(&line)).size > 0 && (value = text_take_word(&line)).size > 0) {
        if (!parse_error_field(name, value, record))
            return LINE_UNREADABLE;
        if (value.at[value.size - 1] != ':')
            continue;
        text_skip_spaces(&line);
        record->message = text_slice_trim((struct text_slice){line.at, text_left(&line)});
        return LINE_RECORD;
    }
    return LINE_UNREADABLE;
}

/* "cbr: 42 freq: 4219 MHz (162%)", the latter two as far as perf knows them: the ratio of core and
 * bus, whose 100 MHz are exact enough then. */
static enum line_kind parse_frequency(struct text_cursor line, struct perf_text_record *record)
{
    enum { MHZ_PER_RATIO = 100, RATIO_MAX = 255 };
    uint64_t ratio;
    text_skip_spaces(&line);
    if (!text_take(&line, "cbr:"))
        return LINE_QUIET;
    text_skip_spaces(&line);
    if (!text_take_number(&line, 10, &ratio) || ratio == 0 || ratio > RATIO_MAX)
        return LINE_QUIET;
    record->kind = PERF_TEXT_FREQUENCY;
    record->megahertz = ratio * MHZ_PER_RATIO;
    text_skip_spaces(&line);
    if (text_take(&line, "freq:")) {
        text_skip_spaces(&line);
        uint64_t megahertz;
        if (text_take_number(&line, 10, &megahertz) && megahertz > 0)
            record->megahertz = megahertz;
    }
    return LINE_RECORD;
}

static enum line_kind parse_record(struct perf_text *text, struct text_cursor line,
                                   struct perf_text_record *record)
{
    static const char *const sampled[] = {"cycles",    "cpu-cycles", "ref-cycles", "instructions",
                                          "cpu-clock", "task-clock", "bus-cycles"};
    /* Of intel_pt itself perf prints where tracing of a thread began. */
    static const char *const quiet[] = {"psb", "intel_pt"};
    struct text_cursor copy = line;
    text_skip_spaces(&copy);
    if (text_take(&copy, "instruction trace error"))
        return parse_error(copy, record);
    if (!take_header(&line, record))
        return LINE_UNREADABLE;
    struct text_slice event = take_event(&line);
    bool unnamed = event.size == 0;
    if (text_slice_is(event, "branches") || (unnamed && find_arrow(line)))
        return parse_branch(text, line, record);
    if (unnamed || IS_ONE_OF(event, sampled))
        return parse_sample(text, line, record);
    if (text_slice_is(event, "cbr"))
        return parse_frequency(line, record);
    if (IS_ONE_OF(event, quiet))
        return LINE_QUIET;
    note_other_event(text, event);
    return LINE_OTHER;
}

static void count_record(struct perf_text *text, const struct perf_text_record *record)
{
    struct perf_text_statistics *statistics = &text->statistics;
    statistics->branches += record->kind == PERF_TEXT_BRANCH;
    statistics->samples += record->kind == PERF_TEXT_SAMPLE;
    statistics->errors += record->kind == PERF_TEXT_DECODE_ERROR;
}

static void count_unreadable(struct perf_text *text, uint64_t line)
{
    if (text->statistics.unreadable++ == 0)
        text->statistics.first_unreadable = line;
}

void perf_text_open(struct perf_text *text, struct text_slice bytes)
{
    *text = (struct perf_text){
        .rest = text_cursor_of(bytes),
        .frames = array_of(sizeof(struct perf_text_place)),
    };
}

void perf_text_close(struct perf_text *text)
{
    array_free(&text->frames);
}

bool perf_text_next(struct perf_text *text, struct perf_text_record *record)
{
    while (text->rest.at < text->rest.end) {
        bool frame = is_frame_line(&text->rest);
        struct text_cursor line = take_line(text);
        /* Frames of records whose frames are not used, notes of perf script --header. */
        if (frame || is_empty(line) || *line.at == '#')
            continue;
        *record = (struct perf_text_record){.line = text->line};
        switch (parse_record(text, line, record)) {
        case LINE_RECORD:
            count_record(text, record);
            return true;
        case LINE_QUIET:
            break;
        case LINE_OTHER:
            text->statistics.other++;
            break;
        case LINE_UNREADABLE:
            count_unreadable(text, record->line);
            break;
        }
    }
    return false;
}
