#include "output/fxt/fxt_events.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names with a meaning in our traces, from the dictionary, to be compared by address. */
struct known_names {
    const char *address, *symbol, *file, *line, *start_inferred, *end_inferred, *across_gap,
        *true_text, *end, *special, *library, *kernel, *inlined, *syscall, *untraced, *stack,
        *timestamp, *pid, *tid, *ip, *passed, *argument;
    const char *ends[SPAN_END_LAST + 1]; /* texts of enum span_end; NULL for a plain return */
};

enum {
    /* Arguments of more words are taken apart each time. The writer's longest call has 6. */
    TEMPLATE_WORDS = 8,
    TEMPLATE_BITS = 13,
};

/* The meaning of records with these words, for any thread and time. */
struct event_template {
    uint64_t header; /* without the thread; 0: empty */
    uint64_t words[TEMPLATE_WORDS];
    const struct span_function *function;
    uint64_t address;
    uint32_t redefinitions; /* of references, when this was remembered */
    uint32_t stack;
    uint8_t flags, end;
};

struct fxt_events {
    struct fxt_definitions *definitions;
    struct arena values; /* of events */
    struct known_names known;
    struct event_template templates[1 << TEMPLATE_BITS];
    /* The function last seen with the name of this number: nearly always the next one too. */
    struct recent_function {
        struct fxt_function_key key;
        const struct span_function *function;
    } recent[FXT_STRING_INDEX_MAX + 1];
};

/* ------------------------------------------------------------------ what is remembered */

static const uint64_t THREAD_BITS = UINT64_C(0xff) << 24;

static inline struct event_template *template_of(struct fxt_events *events, uint64_t header,
                                                 const uint8_t *arguments, size_t words)
{
    /* The first argument distinguishes functions of the same name: it is the address, of two words,
     * or else it fits in one. The multiplier is 2^64 divided by the golden ratio. */
    uint64_t reporting = words >= 2  ? fxt_load(arguments + FXT_WORD)
                         : words > 0 ? fxt_load(arguments)
                                     : 0;
    uint64_t hash = (header ^ reporting << 11 ^ reporting >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return &events->templates[hash >> (64 - TEMPLATE_BITS)];
}

static inline bool matches(const struct event_template *template, uint64_t header,
                           const uint8_t *arguments, size_t words)
{
    if (template->header != header)
        return false;
    for (size_t i = 0; i < words; i++)
        if (fxt_load(arguments + i * FXT_WORD) != template->words[i])
            return false;
    return true;
}

static void remember(const struct fxt_events *events, struct event_template *template,
                     uint64_t header, const uint8_t *arguments, size_t words,
                     const struct fxt_raw_event *event)
{
    *template = (struct event_template){
        .header = header,
        .function = event->function,
        .address = event->address,
        .redefinitions = events->definitions->redefinitions,
        .flags = event->flags,
        .end = event->end,
        .stack = event->stack,
    };
    memcpy(template->words, arguments, words * FXT_WORD);
}

/* ------------------------------------------------------------------ arguments */

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

static bool is_whole_number(const struct fxt_argument *argument)
{
    return argument->type >= FXT_ARGUMENT_INT32 && argument->type <= FXT_ARGUMENT_UINT64;
}

static void apply_hit_argument(const struct known_names *known, const struct fxt_argument *argument,
                               struct hit_arguments *hit)
{
    const char *name = argument->name;
    uint64_t number = argument->number;
    if (!is_whole_number(argument)) {
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
static const struct span_hit *keep_hit(struct fxt_events *events, const struct hit_arguments *hit)
{
    if (!hit->has_time || !hit->has_tid || !hit->has_address)
        return NULL;
    struct span_hit *kept = arena_allocate(&events->definitions->dictionary.arena, sizeof *kept);
    *kept = hit->hit;
    return kept;
}

static void apply_text(const struct known_names *known, const struct fxt_argument *argument,
                       struct fxt_raw_event *event, struct fxt_function_key *key)
{
    bool is_true = argument->text == known->true_text;
    if (argument->name == known->symbol)
        key->symbol = argument->text;
    else if (argument->name == known->file)
        key->file = argument->text;
    else if (argument->name == known->end)
        event->end = (uint8_t)end_of_text(known, argument->text);
    else if (argument->name == known->start_inferred && is_true)
        event->flags |= SPAN_START_INFERRED;
    else if (argument->name == known->end_inferred && is_true)
        event->flags |= SPAN_END_INFERRED;
    else if (argument->name == known->across_gap && is_true)
        event->flags |= SPAN_ACROSS_GAP;
}

/* ---- arguments and results of calls ---- */

struct call_values_read {
    struct named_value values[FXT_ARGUMENTS_MAX];
    size_t count;
    bool has_result;
};

static const char *number_text(struct arena *memory, const struct fxt_argument *argument)
{
    char text[NAMED_FLOAT_SIZE];
    double real;
    memcpy(&real, &argument->number, sizeof real);
    if (argument->type == FXT_ARGUMENT_DOUBLE)
        named_value_print_float(text, real, false);
    else if (argument->type == FXT_ARGUMENT_POINTER)
        snprintf(text, sizeof text, "0x%" PRIx64, argument->number);
    else
        snprintf(text, sizeof text, "%" PRId64, (int64_t)argument->number);
    return arena_copy_string(memory, text);
}

/* False: it is neither an argument of a call nor its result. */
static bool take_value(struct fxt_events *events, const struct fxt_argument *argument,
                       struct call_values_read *read)
{
    static const enum named_value_kind kinds[] = {[FXT_ARGUMENT_INT64] = NAMED_SIGNED,
                                                  [FXT_ARGUMENT_DOUBLE] = NAMED_FLOAT,
                                                  [FXT_ARGUMENT_STRING] = NAMED_TEXT,
                                                  [FXT_ARGUMENT_POINTER] = NAMED_UNSIGNED};
    bool is_result = strcmp(argument->name, FXT_NAME_RESULT) == 0;
    bool is_known = argument->type == FXT_ARGUMENT_INT64 || argument->type == FXT_ARGUMENT_DOUBLE ||
                    argument->type == FXT_ARGUMENT_STRING || argument->type == FXT_ARGUMENT_POINTER;
    size_t prefix = strlen(FXT_VALUE_PREFIX);
    if (!is_known || read->count == FXT_ARGUMENTS_MAX ||
        (!is_result && strncmp(argument->name, FXT_VALUE_PREFIX, prefix) != 0))
        return false;
    struct named_value *value = &read->values[read->count++];
    *value = (struct named_value){
        .name = is_result ? argument->name : argument->name + prefix,
        .kind = kinds[argument->type],
        .text = argument->type == FXT_ARGUMENT_STRING ? argument->text
                                                      : number_text(&events->values, argument),
    };
    if (argument->type == FXT_ARGUMENT_STRING)
        value->string = named_value_string(&events->values, argument->text);
    else
        value->unsigned_number = argument->number;
    if (argument->type == FXT_ARGUMENT_STRING)
        named_value_read_number(value);
    read->has_result = is_result;
    return true;
}

static const struct named_values *keep_values(struct fxt_events *events,
                                              const struct call_values_read *read)
{
    if (read->count == 0)
        return NULL;
    const struct named_values values = {
        .count = read->count, .values = read->values, .has_result = read->has_result, .text = ""};
    struct named_values *kept = named_values_copy(&events->values, &values);
    kept->text = named_values_join(&events->values, kept);
    return kept;
}

void fxt_events_forget_values(struct fxt_events *events)
{
    arena_free(&events->values);
}

static void apply_argument(const struct known_names *known, const struct fxt_argument *argument,
                           struct fxt_raw_event *event, struct fxt_function_key *key,
                           struct hit_arguments *hit)
{
    if (argument->type == FXT_ARGUMENT_STRING)
        apply_text(known, argument, event, key);
    else if (argument->type == FXT_ARGUMENT_POINTER && argument->name == known->address)
        event->address = argument->number;
    else if (argument->type == FXT_ARGUMENT_INT32 && argument->name == known->line)
        key->line = (uint32_t)argument->number;
    else if (argument->type == FXT_ARGUMENT_UINT32 && argument->name == known->stack)
        event->stack = (uint32_t)argument->number;
    else
        apply_hit_argument(known, argument, hit);
}

/* ------------------------------------------------------------------ functions */

/* Traces of Jane Street's magic-trace have no category; these two names in them mean spans that are
 * no code of the program. Other names in brackets ("[unknown]", "[JIT code]") are code. */
static bool is_special(const struct known_names *known, const char *category, const char *name)
{
    return category == known->special || name == known->syscall || name == known->untraced;
}

/* Other programs' traces do not mark the kernel's code, but its address shows it. */
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

static const struct span_function *function_of(struct fxt_events *events, uint32_t name_reference,
                                               const struct fxt_function_key *key)
{
    struct fxt_dictionary *dictionary = &events->definitions->dictionary;
    if (name_reference & FXT_STRING_INLINE)
        return fxt_dictionary_function(dictionary, key);
    struct recent_function *recent = &events->recent[name_reference];
    if (!recent->function || memcmp(&recent->key, key, sizeof *key) != 0)
        *recent = (struct recent_function){*key, fxt_dictionary_function(dictionary, key)};
    return recent->function;
}

/* ------------------------------------------------------------------ records */

/* The contents of the header and of the words up to the arguments. */
struct event_head {
    uint32_t type, argument_count, name_reference;
    const char *category, *name;
};

static bool take_head(struct fxt_definitions *definitions, struct fxt_record *record,
                      struct event_head *head, struct fxt_raw_event *event)
{
    uint64_t header = record->header, ticks;
    *head = (struct event_head){
        .type = fxt_bits(header, 16, 19),
        .argument_count = fxt_bits(header, 20, 23),
        .name_reference = fxt_bits(header, 48, 63),
    };
    *event = (struct fxt_raw_event){.type = (uint8_t)head->type};
    if (!fxt_take_word(record, &ticks) ||
        !fxt_take_track(definitions, record, fxt_bits(header, 24, 31), &event->track))
        return false;
    event->time = fxt_nanoseconds(definitions, ticks);
    head->category = fxt_take_string(definitions, record, fxt_bits(header, 32, 47));
    head->name = fxt_take_string(definitions, record, head->name_reference);
    return head->category && head->name;
}

static bool number_of(const struct fxt_argument *argument, double *number)
{
    switch (argument->type) {
    case FXT_ARGUMENT_INT32:
        *number = (int32_t)argument->number;
        return true;
    case FXT_ARGUMENT_INT64:
        *number = (double)(int64_t)argument->number;
        return true;
    case FXT_ARGUMENT_UINT32:
    case FXT_ARGUMENT_UINT64:
        *number = (double)argument->number;
        return true;
    case FXT_ARGUMENT_DOUBLE:
        memcpy(number, &argument->number, sizeof *number);
        return true;
    default:
        return false;
    }
}

/* Each number among its arguments is a counter of its own. The name is complete when the id is
 * known, which comes last. */
static int parse_counter(struct fxt_events *events, struct fxt_record *record,
                         const struct event_head *head, struct fxt_raw_event *parsed)
{
    struct fxt_definitions *definitions = events->definitions;
    const struct fxt_raw_event event = *parsed;
    const char *arguments[FXT_ARGUMENTS_MAX];
    int count = 0;
    for (uint32_t i = head->argument_count; i > 0; i--) {
        struct fxt_argument argument;
        double value;
        if (!fxt_take_argument(definitions, record, &argument))
            return -1;
        if (!number_of(&argument, &value))
            continue;
        parsed[count] = event;
        parsed[count].value = value;
        arguments[count++] = argument.name;
    }
    uint64_t id;
    if (!fxt_take_word(record, &id))
        return -1;
    for (int i = 0; i < count; i++)
        parsed[i].counter =
            fxt_dictionary_counter(&definitions->dictionary, head->name, id, arguments[i]);
    return count;
}

/* A hit's beginning is the only event whose meaning is more than its words but for thread and
 * time. */
static bool parse_span(struct fxt_events *events, struct fxt_record *record,
                       const struct event_head *head, struct fxt_raw_event *event)
{
    struct fxt_definitions *definitions = events->definitions;
    struct fxt_function_key key;
    memset(&key, 0, sizeof key); /* compared as bytes */
    key.name = head->name;
    struct hit_arguments hit = {0};
    struct call_values_read values = {.count = 0};
    bool ends = head->type == FXT_EVENT_END;
    for (uint32_t i = head->argument_count; i > 0; i--) {
        struct fxt_argument argument;
        if (!fxt_take_argument(definitions, record, &argument))
            return false;
        if (!ends || !take_value(events, &argument, &values))
            apply_argument(&events->known, &argument, event, &key, &hit);
    }
    event->values = keep_values(events, &values);
    if (head->type == FXT_EVENT_COMPLETE) {
        uint64_t ticks;
        if (!fxt_take_word(record, &ticks))
            return false;
        event->end_time = fxt_nanoseconds(definitions, ticks);
        if (event->end_time < event->time)
            return false;
    }
    if (head->type == FXT_EVENT_END)
        return true;
    key.special = is_special(&events->known, head->category, head->name);
    key.origin = (uint16_t)origin_of(&events->known, head->category, event->address);
    event->function = function_of(events, head->name_reference, &key);
    event->hit = head->type == FXT_EVENT_INSTANT ? NULL : keep_hit(events, &hit);
    return true;
}

/* As fxt_events_parse, but always takes the record apart. */
static int parse(struct fxt_events *events, struct fxt_record *record, struct fxt_raw_event *parsed)
{
    struct event_head head;
    if (!fxt_event_is_for_us(record->header))
        return 0;
    if (!take_head(events->definitions, record, &head, parsed))
        return -1;
    if (head.type == FXT_EVENT_COUNTER)
        return parse_counter(events, record, &head, parsed);
    return parse_span(events, record, &head, parsed) ? 1 : -1;
}

static bool can_be_remembered(uint32_t type, uint32_t thread, size_t words)
{
    return (type == FXT_EVENT_BEGIN || type == FXT_EVENT_END || type == FXT_EVENT_INSTANT) &&
           thread != 0 && words <= TEMPLATE_WORDS;
}

int fxt_events_parse(struct fxt_events *events, struct fxt_record record,
                     struct fxt_raw_event *parsed)
{
    const struct fxt_definitions *definitions = events->definitions;
    uint32_t type = fxt_bits(record.header, 16, 19), thread = fxt_bits(record.header, 24, 31);
    const uint8_t *time = record.at;
    if (time == record.end)
        return fxt_event_is_for_us(record.header) ? -1 : 0;
    const uint8_t *arguments = time + FXT_WORD;
    size_t words = (size_t)(record.end - arguments) / FXT_WORD;
    if (!can_be_remembered(type, thread, words))
        return parse(events, &record, parsed);
    uint64_t header = record.header & ~THREAD_BITS;
    struct event_template *template = template_of(events, header, arguments, words);
    uint32_t track = definitions->tracks[thread];
    if (!matches(template, header, arguments, words) ||
        template->redefinitions != definitions->redefinitions || track == FXT_NO_TRACK) {
        int count = parse(events, &record, parsed);
        if (count == 1 && !parsed->hit && !parsed->values)
            remember(events, template, header, arguments, words, parsed);
        return count;
    }
    *parsed = (struct fxt_raw_event){
        .time = fxt_nanoseconds(definitions, fxt_load(time)),
        .address = template->address,
        .function = template->function,
        .track = track,
        .type = (uint8_t)type,
        .flags = template->flags,
        .end = template->end,
        .stack = template->stack,
    };
    return 1;
}

/* ------------------------------------------------------------------ beginning and end */

struct fxt_events *fxt_events_new(struct fxt_definitions *definitions)
{
    struct fxt_events *events = memory_allocate_zeroed(sizeof *events);
    events->definitions = definitions;
    events->known = (struct known_names){
        .address = fxt_known_text(definitions, FXT_NAME_ADDRESS),
        .symbol = fxt_known_text(definitions, FXT_NAME_SYMBOL),
        .file = fxt_known_text(definitions, FXT_NAME_FILE),
        .line = fxt_known_text(definitions, FXT_NAME_LINE),
        .start_inferred = fxt_known_text(definitions, FXT_NAME_START_INFERRED),
        .end_inferred = fxt_known_text(definitions, FXT_NAME_END_INFERRED),
        .across_gap = fxt_known_text(definitions, FXT_NAME_ACROSS_GAP),
        .true_text = fxt_known_text(definitions, FXT_NAME_TRUE),
        .end = fxt_known_text(definitions, FXT_NAME_END),
        .special = fxt_known_text(definitions, FXT_NAME_SPECIAL),
        .library = fxt_known_text(definitions, FXT_NAME_LIBRARY),
        .kernel = fxt_known_text(definitions, FXT_NAME_KERNEL),
        .inlined = fxt_known_text(definitions, FXT_NAME_INLINED),
        .syscall = fxt_known_text(definitions, "[syscall]"),
        .untraced = fxt_known_text(definitions, "[untraced]"),
        .stack = fxt_known_text(definitions, FXT_NAME_STACK),
        .timestamp = fxt_known_text(definitions, FXT_NAME_TIMESTAMP),
        .pid = fxt_known_text(definitions, FXT_NAME_PID),
        .tid = fxt_known_text(definitions, FXT_NAME_TID),
        .ip = fxt_known_text(definitions, FXT_NAME_IP),
        .passed = fxt_known_text(definitions, FXT_NAME_PASSED),
        .argument = fxt_known_text(definitions, FXT_NAME_ARGUMENT),
        .ends =
            {
                [SPAN_END_TAIL_CALL] = fxt_known_text(definitions, FXT_NAME_TAIL_CALL),
                [SPAN_END_UNWOUND] = fxt_known_text(definitions, FXT_NAME_UNWOUND),
                [SPAN_END_GAP] = fxt_known_text(definitions, FXT_NAME_GAP),
                [SPAN_END_OF_TRACE] = fxt_known_text(definitions, FXT_NAME_END_OF_TRACE),
                [SPAN_END_EXEC] = fxt_known_text(definitions, FXT_NAME_EXEC),
                [SPAN_END_FILTER] = fxt_known_text(definitions, FXT_NAME_FILTER),
                [SPAN_END_SWITCH] = fxt_known_text(definitions, FXT_NAME_SWITCH),
            },
    };
    return events;
}

void fxt_events_free(struct fxt_events *events)
{
    arena_free(&events->values);
    free(events);
}

void fxt_events_restart(struct fxt_events *events)
{
    memset(events->templates, 0, sizeof events->templates);
}
