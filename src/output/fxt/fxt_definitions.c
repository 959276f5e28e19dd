#include "output/fxt/fxt_definitions.h"

#include "output/fxt/wall_clock.h"

#include <string.h>

static const uint64_t NANOSECONDS_PER_SECOND = 1000000000;

void fxt_definitions_init(struct fxt_definitions *definitions)
{
    fxt_dictionary_init(&definitions->dictionary);
    definitions->wall_clock = 0;
    definitions->process = fxt_known_text(definitions, FXT_NAME_PROCESS);
    fxt_definitions_restart(definitions);
}

void fxt_definitions_free(struct fxt_definitions *definitions)
{
    fxt_dictionary_free(&definitions->dictionary);
}

void fxt_definitions_restart(struct fxt_definitions *definitions)
{
    memset(definitions->strings, 0, sizeof definitions->strings);
    definitions->strings[0] = fxt_known_text(definitions, "");
    memset(definitions->threads, 0, sizeof definitions->threads);
    memset(definitions->tracks, 0xff, sizeof definitions->tracks);
    definitions->ticks_per_second = NANOSECONDS_PER_SECOND;
    definitions->redefinitions = 0;
}

const char *fxt_known_text(struct fxt_definitions *definitions, const char *text)
{
    return fxt_dictionary_text(&definitions->dictionary, text, strlen(text));
}

/* ------------------------------------------------------------------ references */

const char *fxt_take_inline_string(struct fxt_definitions *definitions, struct fxt_record *record,
                                   uint32_t reference)
{
    size_t length = reference & ~(uint32_t)FXT_STRING_INLINE;
    const char *bytes = fxt_take_bytes(record, length);
    return bytes ? fxt_dictionary_text(&definitions->dictionary, bytes, length) : NULL;
}

bool fxt_take_other_track(struct fxt_definitions *definitions, struct fxt_record *record,
                          uint32_t reference, uint32_t *track)
{
    uint64_t pid, tid;
    if (reference != 0) {
        const struct fxt_thread_ids *ids = &definitions->threads[reference];
        *track = fxt_dictionary_track(&definitions->dictionary, ids->pid, ids->tid);
        definitions->tracks[reference] = *track;
        return true;
    }
    if (!fxt_take_word(record, &pid) || !fxt_take_word(record, &tid))
        return false;
    *track = fxt_dictionary_track(&definitions->dictionary, (uint32_t)pid, (uint32_t)tid);
    return true;
}

uint64_t fxt_ticks_to_nanoseconds(const struct fxt_definitions *definitions, uint64_t ticks)
{
    unsigned __int128 product = (unsigned __int128)ticks * NANOSECONDS_PER_SECOND;
    return (uint64_t)(product / definitions->ticks_per_second);
}

bool fxt_take_argument(struct fxt_definitions *definitions, struct fxt_record *record,
                       struct fxt_argument *argument)
{
    uint64_t header;
    const uint8_t *start = record->at;
    if (!fxt_take_word(record, &header))
        return false;
    size_t size = (size_t)fxt_bits(header, 4, 15) * FXT_WORD;
    if (size == 0 || size > (size_t)(record->end - start))
        return false;
    struct fxt_record inside = {header, record->at, start + size};
    record->at = start + size;

    *argument = (struct fxt_argument){.type = (uint8_t)fxt_bits(header, 0, 3)};
    argument->name = fxt_take_string(definitions, &inside, fxt_bits(header, 16, 31));
    if (!argument->name)
        return false;
    switch (argument->type) {
    case FXT_ARGUMENT_INT32:
    case FXT_ARGUMENT_UINT32:
        argument->number = header >> 32;
        return true;
    case FXT_ARGUMENT_INT64:
    case FXT_ARGUMENT_UINT64:
    case FXT_ARGUMENT_DOUBLE:
    case FXT_ARGUMENT_POINTER:
    case FXT_ARGUMENT_KOID:
        return fxt_take_word(&inside, &argument->number);
    case FXT_ARGUMENT_STRING:
        argument->text = fxt_take_string(definitions, &inside, fxt_bits(header, 32, 47));
        return argument->text != NULL;
    default:
        return true;
    }
}

/* ------------------------------------------------------------------ records */

static bool define_clock(struct fxt_definitions *definitions, struct fxt_record record)
{
    uint64_t base_ticks, base_time;
    if (!fxt_take_word(&record, &definitions->ticks_per_second) ||
        definitions->ticks_per_second == 0)
        return false;
    /* Jane Street's extension: the moment of a tick in Unix nanoseconds. Times in events are not
     * shifted. */
    if (fxt_take_word(&record, &base_ticks) && fxt_take_word(&record, &base_time))
        definitions->wall_clock = base_time - fxt_nanoseconds(definitions, base_ticks);
    return true;
}

static bool define_string(struct fxt_definitions *definitions, struct fxt_record record)
{
    uint32_t index = fxt_bits(record.header, 16, 30);
    size_t length = fxt_bits(record.header, 32, 46);
    const char *bytes = fxt_take_bytes(&record, length);
    if (!bytes)
        return false;
    if (index == 0)
        return true;
    if (definitions->strings[index])
        definitions->redefinitions++;
    definitions->strings[index] = fxt_dictionary_text(&definitions->dictionary, bytes, length);
    definitions->sampled |=
        index == FXT_STRING_INDEX_MAX && strcmp(definitions->strings[index], FXT_SAMPLES_MARK) == 0;
    static const char RECORDED[] = FXT_RECORDED_MARK;
    if (index == FXT_RECORDED_INDEX && !definitions->recorded &&
        strncmp(definitions->strings[index], RECORDED, sizeof RECORDED - 1) == 0)
        definitions->recorded = definitions->strings[index] + sizeof RECORDED - 1;
    return true;
}

static bool define_thread(struct fxt_definitions *definitions, struct fxt_record record)
{
    uint64_t pid, tid;
    uint32_t index = fxt_bits(record.header, 16, 23);
    if (!fxt_take_word(&record, &pid) || !fxt_take_word(&record, &tid))
        return false;
    if (index == 0)
        return true; /* stands for inline ids */
    definitions->threads[index] = (struct fxt_thread_ids){(uint32_t)pid, (uint32_t)tid};
    definitions->tracks[index] = FXT_NO_TRACK;
    return true;
}

static bool name_thread(struct fxt_definitions *definitions, struct fxt_record *record,
                        uint32_t tid, const char *name)
{
    struct fxt_argument argument;
    for (uint32_t i = fxt_bits(record->header, 40, 43); i > 0; i--) {
        if (!fxt_take_argument(definitions, record, &argument))
            return false;
        if (argument.type == FXT_ARGUMENT_KOID && argument.name == definitions->process)
            fxt_dictionary_name_thread(&definitions->dictionary, (uint32_t)argument.number, tid,
                                       name);
    }
    return true;
}

static bool name_object(struct fxt_definitions *definitions, struct fxt_record record)
{
    uint64_t id;
    if (!fxt_take_word(&record, &id))
        return false;
    const char *name = fxt_take_string(definitions, &record, fxt_bits(record.header, 24, 39));
    if (!name)
        return false;
    uint32_t type = fxt_bits(record.header, 16, 23);
    if (type == FXT_OBJECT_THREAD)
        return name_thread(definitions, &record, (uint32_t)id, name);
    if (type == FXT_OBJECT_PROCESS)
        fxt_dictionary_name_process(&definitions->dictionary, (uint32_t)id, name);
    return true;
}

/* A blob of other making than the writer's is passed over. */
static void take_blob(struct fxt_definitions *definitions, struct fxt_record record)
{
    size_t length = fxt_bits(record.header, 32, 46);
    if (fxt_take_string(definitions, &record, fxt_bits(record.header, 16, 31)) &&
        fxt_bits(record.header, 48, 55) == FXT_BLOB_PERFETTO &&
        length <= (size_t)(record.end - record.at))
        wall_clock_decode(record.at, length, &definitions->wall_clock);
}

bool fxt_define(struct fxt_definitions *definitions, struct fxt_record record)
{
    switch (fxt_bits(record.header, 0, 3)) {
    case FXT_RECORD_INITIALIZATION:
        return define_clock(definitions, record);
    case FXT_RECORD_STRING:
        return define_string(definitions, record);
    case FXT_RECORD_THREAD:
        return define_thread(definitions, record);
    case FXT_RECORD_BLOB:
        take_blob(definitions, record);
        return true;
    case FXT_RECORD_KERNEL_OBJECT:
        return name_object(definitions, record);
    default:
        return true;
    }
}
