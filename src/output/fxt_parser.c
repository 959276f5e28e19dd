#include "output/fxt_parser.h"

#include "base/memory.h"
#include "output/fxt_dictionary.h"
#include "output/trace_input.h"
#include "output/wall_clock.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t NANOSECONDS_PER_SECOND = 1000000000;

struct thread_ids {
    uint32_t pid, tid;
};

/* Names that mean something to us, from the dictionary, to be compared by address. */
struct known_names {
    const char *address, *symbol, *file, *line, *start_inferred, *end_inferred, *across_gap,
        *true_text, *end, *process, *special, *library, *kernel, *inlined, *syscall, *untraced,
        *stack, *timestamp, *pid, *tid, *ip, *passed, *argument;
    const char *ends[SPAN_END_LAST + 1]; /* texts of enum span_end; NULL for a plain return */
};

struct fxt_parser {
    struct trace_input *input;
    struct fxt_dictionary dictionary;
    struct known_names known;
    uint64_t ticks_per_second;
    uint64_t wall_clock;
    const char *strings[FXT_STRING_INDEX_MAX + 1]; /* NULL: not defined */
    struct thread_ids threads[FXT_THREAD_INDEX_MAX + 1];
    uint32_t tracks[FXT_THREAD_INDEX_MAX + 1]; /* of threads[]; NO_TRACK: not asked for yet */
    /* The function last seen with the name of this number: nearly always the next one too. */
    struct recent_function {
        struct fxt_function_key key;
        const struct span_function *function;
    } recent[FXT_STRING_INDEX_MAX + 1];
};

static const uint32_t NO_TRACK = UINT32_MAX;

/* A record in memory, and how far it has been read. */
struct cursor {
    const uint8_t *next, *end;
};

static uint64_t load_word(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

static bool take_word(struct cursor *cursor, uint64_t *word)
{
    if (cursor->end - cursor->next < FXT_WORD)
        return false;
    *word = load_word(cursor->next);
    cursor->next += FXT_WORD;
    return true;
}

/* `length` bytes, padded to whole words. */
static const char *take_bytes(struct cursor *cursor, size_t length)
{
    size_t padded = fxt_words(length) * FXT_WORD;
    if ((size_t)(cursor->end - cursor->next) < padded)
        return NULL;
    const char *bytes = (const char *)cursor->next;
    cursor->next += padded;
    return bytes;
}

/* The text of a string reference, whose inline form takes bytes of the record. NULL: undefined or
 * cut off. */
static const char *take_string(struct fxt_parser *parser, struct cursor *cursor, uint32_t reference)
{
    if (!(reference & FXT_STRING_INLINE))
        return parser->strings[reference];
    size_t length = reference & ~(uint32_t)FXT_STRING_INLINE;
    const char *bytes = take_bytes(cursor, length);
    return bytes ? fxt_dictionary_text(&parser->dictionary, bytes, length) : NULL;
}

static uint64_t to_nanoseconds(const struct fxt_parser *parser, uint64_t ticks)
{
    if (parser->ticks_per_second == NANOSECONDS_PER_SECOND)
        return ticks;
    unsigned __int128 product = (unsigned __int128)ticks * NANOSECONDS_PER_SECOND;
    return (uint64_t)(product / parser->ticks_per_second);
}

/* ------------------------------------------------------------------ arguments */

struct argument {
    const char *name;
    uint8_t type;
    uint64_t number;  /* of the numeric types */
    const char *text; /* of FXT_ARGUMENT_STRING */
};

static bool take_argument(struct fxt_parser *parser, struct cursor *cursor,
                          struct argument *argument)
{
    uint64_t header;
    const uint8_t *start = cursor->next;
    if (!take_word(cursor, &header))
        return false;
    size_t size = (size_t)fxt_bits(header, 4, 15) * FXT_WORD;
    if (size == 0 || size > (size_t)(cursor->end - start))
        return false;
    struct cursor inside = {cursor->next, start + size};
    cursor->next = start + size;

    *argument = (struct argument){.type = (uint8_t)fxt_bits(header, 0, 3)};
    argument->name = take_string(parser, &inside, fxt_bits(header, 16, 31));
    if (!argument->name)
        return false;
    switch (argument->type) {
    case FXT_ARGUMENT_INT32:
    case FXT_ARGUMENT_UINT32:
        argument->number = header >> 32;
        return true;
    case FXT_ARGUMENT_INT64:
    case FXT_ARGUMENT_UINT64:
    case FXT_ARGUMENT_POINTER:
    case FXT_ARGUMENT_KOID:
        return take_word(&inside, &argument->number);
    case FXT_ARGUMENT_STRING:
        argument->text = take_string(parser, &inside, fxt_bits(header, 32, 47));
        return argument->text != NULL;
    default:
        return true;
    }
}

/* ------------------------------------------------------------------ names and clocks */

static bool parse_initialization(struct fxt_parser *parser, struct cursor record)
{
    uint64_t base_ticks, base_time;
    if (!take_word(&record, &parser->ticks_per_second) || parser->ticks_per_second == 0)
        return false;
    /* Jane Street's extension: the moment of a tick in Unix nanoseconds. Times in events are not
     * shifted. */
    if (take_word(&record, &base_ticks) && take_word(&record, &base_time))
        parser->wall_clock = base_time - to_nanoseconds(parser, base_ticks);
    return true;
}

static bool parse_string(struct fxt_parser *parser, uint64_t header, struct cursor record)
{
    uint32_t index = fxt_bits(header, 16, 30);
    size_t length = fxt_bits(header, 32, 46);
    const char *bytes = take_bytes(&record, length);
    if (!bytes)
        return false;
    if (index != 0)
        parser->strings[index] = fxt_dictionary_text(&parser->dictionary, bytes, length);
    return true;
}

static bool parse_thread(struct fxt_parser *parser, uint64_t header, struct cursor record)
{
    uint64_t pid, tid;
    uint32_t index = fxt_bits(header, 16, 23);
    if (!take_word(&record, &pid) || !take_word(&record, &tid))
        return false;
    parser->threads[index] = (struct thread_ids){(uint32_t)pid, (uint32_t)tid};
    parser->tracks[index] = NO_TRACK;
    return true;
}

static bool parse_kernel_object(struct fxt_parser *parser, uint64_t header, struct cursor record)
{
    uint64_t id;
    if (!take_word(&record, &id))
        return false;
    const char *name = take_string(parser, &record, fxt_bits(header, 24, 39));
    if (!name)
        return false;
    uint32_t type = fxt_bits(header, 16, 23);
    if (type == FXT_OBJECT_PROCESS) {
        fxt_dictionary_name_process(&parser->dictionary, (uint32_t)id, name);
    } else if (type == FXT_OBJECT_THREAD) {
        struct argument argument;
        for (uint32_t i = fxt_bits(header, 40, 43); i > 0; i--) {
            if (!take_argument(parser, &record, &argument))
                return false;
            if (argument.type == FXT_ARGUMENT_KOID && argument.name == parser->known.process)
                fxt_dictionary_name_thread(&parser->dictionary, (uint32_t)argument.number,
                                           (uint32_t)id, name);
        }
    }
    return true;
}

/* A blob of other making than the writer's is passed over. */
static void parse_blob(struct fxt_parser *parser, uint64_t header, struct cursor record)
{
    size_t length = fxt_bits(header, 32, 46);
    if (take_string(parser, &record, fxt_bits(header, 16, 31)) &&
        fxt_bits(header, 48, 55) == FXT_BLOB_PERFETTO &&
        length <= (size_t)(record.end - record.next))
        wall_clock_decode(record.next, length, &parser->wall_clock);
}

/* ------------------------------------------------------------------ events */

static uint32_t track_of(struct fxt_parser *parser, uint32_t index)
{
    if (parser->tracks[index] == NO_TRACK)
        parser->tracks[index] = fxt_dictionary_track(
            &parser->dictionary, parser->threads[index].pid, parser->threads[index].tid);
    return parser->tracks[index];
}

static bool take_track(struct fxt_parser *parser, struct cursor *record, uint32_t reference,
                       uint32_t *track)
{
    uint64_t pid, tid;
    if (reference != 0) {
        *track = track_of(parser, reference);
        return true;
    }
    if (!take_word(record, &pid) || !take_word(record, &tid))
        return false;
    *track = fxt_dictionary_track(&parser->dictionary, (uint32_t)pid, (uint32_t)tid);
    return true;
}

static enum span_end end_of_text(const struct known_names *known, const char *text)
{
    for (int end = 0; end <= SPAN_END_LAST; end++)
        if (known->ends[end] == text)
            return (enum span_end)end;
    return SPAN_END_RETURN;
}

/* What only a hit of the trigger has. */
struct hit_arguments {
    struct span_hit hit;
    bool has_time, has_tid, has_address;
};

static bool is_number(const struct argument *argument)
{
    return argument->type >= FXT_ARGUMENT_INT32 && argument->type <= FXT_ARGUMENT_UINT64;
}

static void apply_hit_argument(const struct known_names *known, const struct argument *argument,
                               struct hit_arguments *hit)
{
    const char *name = argument->name;
    uint64_t number = argument->number;
    if (!is_number(argument)) {
        if (argument->type == FXT_ARGUMENT_POINTER && name == known->ip) {
            hit->hit.address = number;
            hit->has_address = true;
        }
    } else if (name == known->timestamp) {
        hit->hit.time.value = number;
        hit->has_time = true;
    } else if (name == known->tid) {
        hit->hit.tid = (uint32_t)number;
        hit->has_tid = true;
    } else if (name == known->pid) {
        hit->hit.pid = (uint32_t)number;
    } else if (name == known->passed) {
        hit->hit.passed.value = number;
        hit->hit.has_passed = true;
    } else if (name == known->argument) {
        hit->hit.argument =
            argument->type == FXT_ARGUMENT_INT32 ? (int32_t)number : (int64_t)number;
        hit->hit.has_argument = true;
    }
}

/* NULL when the arguments were not those of a hit. */
static const struct span_hit *keep_hit(struct fxt_parser *parser, const struct hit_arguments *hit)
{
    if (!hit->has_time || !hit->has_tid || !hit->has_address)
        return NULL;
    struct span_hit *kept = arena_allocate(&parser->dictionary.arena, sizeof *kept);
    *kept = hit->hit;
    return kept;
}

static void apply_argument(const struct known_names *known, const struct argument *argument,
                           struct fxt_raw_event *event, struct fxt_function_key *key,
                           struct hit_arguments *hit)
{
    if (argument->type == FXT_ARGUMENT_STRING) {
        if (argument->name == known->symbol)
            key->symbol = argument->text;
        else if (argument->name == known->file)
            key->file = argument->text;
        else if (argument->name == known->end)
            event->end = (uint8_t)end_of_text(known, argument->text);
        else if (argument->name == known->start_inferred && argument->text == known->true_text)
            event->flags |= SPAN_START_INFERRED;
        else if (argument->name == known->end_inferred && argument->text == known->true_text)
            event->flags |= SPAN_END_INFERRED;
        else if (argument->name == known->across_gap && argument->text == known->true_text)
            event->flags |= SPAN_ACROSS_GAP;
    } else if (argument->type == FXT_ARGUMENT_POINTER && argument->name == known->address) {
        event->address = argument->number;
    } else if (argument->type == FXT_ARGUMENT_INT32 && argument->name == known->line) {
        key->line = (uint32_t)argument->number;
    } else if (argument->type == FXT_ARGUMENT_UINT32 && argument->name == known->stack) {
        event->stack = (uint32_t)argument->number;
    } else {
        apply_hit_argument(known, argument, hit);
    }
}

/* The original's traces have no category; these two names of theirs stand for what is no code of
 * the program. Other names in brackets ("[unknown]", "[JIT code]") do. */
static bool is_special(const struct known_names *known, const char *category, const char *name)
{
    return category == known->special || name == known->syscall || name == known->untraced;
}

/* Traces of others do not say which code is the kernel's, but where it lies tells. */
static enum span_origin origin_of(const struct known_names *known, const char *category,
                                  uint64_t address)
{
    enum { KERNEL_BIT = 63 }; /* the upper half of the addresses is the kernel's */
    if (category == known->library)
        return SPAN_LIBRARY;
    if (category == known->inlined)
        return SPAN_INLINED;
    return category == known->kernel || address >> KERNEL_BIT ? SPAN_KERNEL : SPAN_OWN;
}

static const struct span_function *function_of(struct fxt_parser *parser, uint32_t name_reference,
                                               const struct fxt_function_key *key)
{
    if (name_reference & FXT_STRING_INLINE)
        return fxt_dictionary_function(&parser->dictionary, key);
    struct recent_function *recent = &parser->recent[name_reference];
    if (!recent->function || memcmp(&recent->key, key, sizeof *key) != 0)
        *recent = (struct recent_function){*key, fxt_dictionary_function(&parser->dictionary, key)};
    return recent->function;
}

enum parsed {
    PARSED_EVENT,
    PARSED_NOTHING, /* a record of a kind that is not for us */
    PARSED_DAMAGE,
};

static enum parsed parse_event(struct fxt_parser *parser, uint64_t header, struct cursor record,
                               struct fxt_raw_event *event)
{
    uint32_t type = fxt_bits(header, 16, 19);
    if (type != FXT_EVENT_INSTANT && type != FXT_EVENT_BEGIN && type != FXT_EVENT_END &&
        type != FXT_EVENT_COMPLETE)
        return PARSED_NOTHING;
    *event = (struct fxt_raw_event){.type = (uint8_t)type};
    uint32_t name_reference = fxt_bits(header, 48, 63);
    uint64_t ticks;
    if (!take_word(&record, &ticks) ||
        !take_track(parser, &record, fxt_bits(header, 24, 31), &event->track))
        return PARSED_DAMAGE;
    const char *category = take_string(parser, &record, fxt_bits(header, 32, 47));
    struct fxt_function_key key;
    memset(&key, 0, sizeof key); /* compared as bytes */
    key.name = take_string(parser, &record, name_reference);
    if (!category || !key.name)
        return PARSED_DAMAGE;
    struct hit_arguments hit = {0};
    for (uint32_t i = fxt_bits(header, 20, 23); i > 0; i--) {
        struct argument argument;
        if (!take_argument(parser, &record, &argument))
            return PARSED_DAMAGE;
        apply_argument(&parser->known, &argument, event, &key, &hit);
    }
    event->time = to_nanoseconds(parser, ticks);
    if (type == FXT_EVENT_COMPLETE) {
        if (!take_word(&record, &ticks))
            return PARSED_DAMAGE;
        event->end_time = to_nanoseconds(parser, ticks);
        if (event->end_time < event->time)
            return PARSED_DAMAGE;
    }
    if (type != FXT_EVENT_END) {
        key.special = is_special(&parser->known, category, key.name);
        key.origin = (uint16_t)origin_of(&parser->known, category, event->address);
        event->function = function_of(parser, name_reference, &key);
        event->hit = type == FXT_EVENT_INSTANT ? NULL : keep_hit(parser, &hit);
    }
    return PARSED_EVENT;
}

/* ------------------------------------------------------------------ records */

static enum parsed parse_record(struct fxt_parser *parser, uint64_t header, struct cursor record,
                                struct fxt_raw_event *event)
{
    bool whole = true;
    switch (fxt_bits(header, 0, 3)) {
    case FXT_RECORD_EVENT:
        return parse_event(parser, header, record, event);
    case FXT_RECORD_INITIALIZATION:
        whole = parse_initialization(parser, record);
        break;
    case FXT_RECORD_STRING:
        whole = parse_string(parser, header, record);
        break;
    case FXT_RECORD_THREAD:
        whole = parse_thread(parser, header, record);
        break;
    case FXT_RECORD_BLOB:
        parse_blob(parser, header, record);
        break;
    case FXT_RECORD_KERNEL_OBJECT:
        whole = parse_kernel_object(parser, header, record);
        break;
    default:
        break;
    }
    return whole ? PARSED_NOTHING : PARSED_DAMAGE;
}

static bool damaged(const struct fxt_parser *parser, uint64_t offset, const char *why,
                    struct error *error)
{
    return error_set(error, ERROR_FORMAT,
                     "%s is damaged at byte %llu of the uncompressed trace: %s",
                     trace_input_path(parser->input), (unsigned long long)offset, why);
}

/* Takes the next `size` bytes; NULL at the end of the trace (error->code ERROR_NONE) or when it is
 * cut off. */
static const uint8_t *take(struct fxt_parser *parser, size_t size, bool within_record,
                           struct error *error)
{
    size_t got;
    struct error reason = {0};
    const uint8_t *bytes = trace_input_take(parser->input, size, &got, &reason);
    if (bytes)
        return bytes;
    if (reason.code == ERROR_NONE && (got > 0 || within_record))
        damaged(parser, trace_input_offset(parser->input),
                "the file ends in the middle of a record", &reason);
    if (error)
        *error = reason;
    return NULL;
}

static bool skip(struct fxt_parser *parser, uint64_t size, struct error *error)
{
    enum { STEP = 32 << 10 };
    for (; size > STEP; size -= STEP)
        if (!take(parser, STEP, true, error))
            return false;
    return size == 0 || take(parser, size, true, error);
}

bool fxt_parser_next(struct fxt_parser *parser, struct fxt_raw_event *event, struct error *error)
{
    if (error)
        *error = (struct error){0};
    for (;;) {
        uint64_t offset = trace_input_offset(parser->input);
        const uint8_t *bytes = take(parser, FXT_WORD, false, error);
        if (!bytes)
            return false;
        uint64_t header = load_word(bytes);
        bool large = fxt_bits(header, 0, 3) == FXT_RECORD_LARGE;
        uint64_t words = large ? fxt_bits(header, 4, 35) : fxt_bits(header, 4, 15);
        if (words == 0)
            return damaged(parser, offset, "a record of size 0", error);
        size_t size = (size_t)(words - 1) * FXT_WORD;
        if (large) {
            if (!skip(parser, size, error))
                return false;
            continue;
        }
        const uint8_t *body = take(parser, size, true, error);
        if (!body)
            return false;
        switch (parse_record(parser, header, (struct cursor){body, body + size}, event)) {
        case PARSED_EVENT:
            return true;
        case PARSED_NOTHING:
            break;
        case PARSED_DAMAGE:
            return damaged(parser, offset,
                           "a record that contradicts itself or names what does not exist", error);
        }
    }
}

/* ------------------------------------------------------------------ beginning and end */

static const char *known_text(struct fxt_parser *parser, const char *text)
{
    return fxt_dictionary_text(&parser->dictionary, text, strlen(text));
}

static void learn_names(struct fxt_parser *parser)
{
    parser->known = (struct known_names){
        .address = known_text(parser, FXT_NAME_ADDRESS),
        .symbol = known_text(parser, FXT_NAME_SYMBOL),
        .file = known_text(parser, FXT_NAME_FILE),
        .line = known_text(parser, FXT_NAME_LINE),
        .start_inferred = known_text(parser, FXT_NAME_START_INFERRED),
        .end_inferred = known_text(parser, FXT_NAME_END_INFERRED),
        .across_gap = known_text(parser, FXT_NAME_ACROSS_GAP),
        .true_text = known_text(parser, FXT_NAME_TRUE),
        .end = known_text(parser, FXT_NAME_END),
        .process = known_text(parser, FXT_NAME_PROCESS),
        .special = known_text(parser, FXT_NAME_SPECIAL),
        .library = known_text(parser, FXT_NAME_LIBRARY),
        .kernel = known_text(parser, FXT_NAME_KERNEL),
        .inlined = known_text(parser, FXT_NAME_INLINED),
        .syscall = known_text(parser, "[syscall]"),
        .untraced = known_text(parser, "[untraced]"),
        .stack = known_text(parser, FXT_NAME_STACK),
        .timestamp = known_text(parser, FXT_NAME_TIMESTAMP),
        .pid = known_text(parser, FXT_NAME_PID),
        .tid = known_text(parser, FXT_NAME_TID),
        .ip = known_text(parser, FXT_NAME_IP),
        .passed = known_text(parser, FXT_NAME_PASSED),
        .argument = known_text(parser, FXT_NAME_ARGUMENT),
        .ends =
            {
                [SPAN_END_TAIL_CALL] = known_text(parser, FXT_NAME_TAIL_CALL),
                [SPAN_END_UNWOUND] = known_text(parser, FXT_NAME_UNWOUND),
                [SPAN_END_GAP] = known_text(parser, FXT_NAME_GAP),
                [SPAN_END_OF_TRACE] = known_text(parser, FXT_NAME_END_OF_TRACE),
                [SPAN_END_EXEC] = known_text(parser, FXT_NAME_EXEC),
                [SPAN_END_FILTER] = known_text(parser, FXT_NAME_FILTER),
                [SPAN_END_SWITCH] = known_text(parser, FXT_NAME_SWITCH),
            },
    };
}

/* Forgets what records have defined, and reads the magic number. */
static bool start(struct fxt_parser *parser, struct error *error)
{
    memset(parser->strings, 0, sizeof parser->strings);
    parser->strings[0] = known_text(parser, "");
    memset(parser->threads, 0, sizeof parser->threads);
    memset(parser->tracks, 0xff, sizeof parser->tracks);
    memset(parser->recent, 0, sizeof parser->recent);
    parser->ticks_per_second = NANOSECONDS_PER_SECOND;
    size_t got;
    struct error reason = {0};
    const uint8_t *bytes = trace_input_take(parser->input, FXT_WORD, &got, &reason);
    if (bytes && load_word(bytes) == FXT_MAGIC)
        return true;
    if (reason.code == ERROR_NONE)
        error_set(
            &reason, ERROR_FORMAT,
            "%s is not a trace: it does not begin like the Fuchsia trace format. Name a file that "
            "magic-trace wrote (trace.fxt.gz) or a recording folder",
            trace_input_path(parser->input));
    if (error)
        *error = reason;
    return false;
}

struct fxt_parser *fxt_parser_open(const char *path, struct error *error)
{
    struct trace_input *input = trace_input_open(path, error);
    if (!input)
        return NULL;
    struct fxt_parser *parser = memory_allocate_zeroed(sizeof *parser);
    parser->input = input;
    fxt_dictionary_init(&parser->dictionary);
    learn_names(parser);
    if (!start(parser, error)) {
        fxt_parser_close(parser);
        return NULL;
    }
    return parser;
}

bool fxt_parser_rewind(struct fxt_parser *parser, struct error *error)
{
    return trace_input_rewind(parser->input, error) && start(parser, error);
}

void fxt_parser_close(struct fxt_parser *parser)
{
    trace_input_close(parser->input);
    fxt_dictionary_free(&parser->dictionary);
    free(parser);
}

const struct span_track *fxt_parser_tracks(struct fxt_parser *parser, size_t *count)
{
    return fxt_dictionary_tracks(&parser->dictionary, count);
}

size_t fxt_parser_function_count(const struct fxt_parser *parser)
{
    return parser->dictionary.function_count;
}

uint64_t fxt_parser_wall_clock(const struct fxt_parser *parser)
{
    return parser->wall_clock;
}
