#include "index/trace_index.h"

#include "base/memory.h"
#include "index/file/index_reader.h"

#include <stdlib.h>
#include <string.h>

static const size_t ELEMENT_SIZES[INDEX_SECTIONS] = {
    [SECTION_CHUNK_BYTES] = 1,
    [SECTION_CHUNKS] = sizeof(struct index_chunk),
    [SECTION_SIEVES] = sizeof(struct index_sieve),
    [SECTION_LEVELS] = sizeof(struct index_level),
    [SECTION_TRACKS] = sizeof(struct track_record),
    [SECTION_FUNCTIONS] = sizeof(struct function_record),
    [SECTION_CROSSING] = sizeof(struct crossing_span),
    [SECTION_MARKS] = sizeof(struct mark_record),
    [SECTION_HITS] = sizeof(struct hit_record),
    [SECTION_COUNTERS] = sizeof(struct counter_record),
    [SECTION_SAMPLES] = sizeof(struct sample_record),
    [SECTION_VALUED] = sizeof(struct valued_record),
    [SECTION_VALUES] = sizeof(struct value_record),
    [SECTION_VALUE_TEXTS] = 1,
    [SECTION_SWITCHES] = sizeof(struct switch_record),
    [SECTION_STACKS] = sizeof(struct stack_record),
    [SECTION_PARTS] = sizeof(struct stack_part),
    [SECTION_BUCKETS] = sizeof(struct bucket_record),
    [SECTION_BUCKET_BYTES] = 1,
    [SECTION_STRINGS] = 1,
};

bool index_damaged(const struct trace_index *index, struct error *error)
{
    return error_set(error, ERROR_FORMAT,
                     "the index %s is damaged. Remove it: it is built again from the trace",
                     index->path);
}

/* ---- checks ---- */

static uint64_t count_of(const struct trace_index *index, enum index_section section)
{
    return index->header->sections[section].count;
}

/* Packed bytes are read ahead. */
static bool is_padded(const struct trace_index *index, enum index_section section)
{
    const struct section_place *bytes = &index->header->sections[section];
    return index->view.size - bytes->offset - bytes->count >= INDEX_PADDING;
}

static bool check_places(const struct trace_index *index)
{
    uint64_t size = index->view.size;
    for (int i = 0; i < INDEX_SECTIONS; i++) {
        const struct section_place *place = &index->header->sections[i];
        if (place->offset % 8 != 0 || place->offset > size ||
            place->count > (size - place->offset) / ELEMENT_SIZES[i])
            return false;
    }
    return is_padded(index, SECTION_CHUNK_BYTES) && is_padded(index, SECTION_BUCKET_BYTES) &&
           count_of(index, SECTION_SIEVES) <= count_of(index, SECTION_CHUNKS) &&
           count_of(index, SECTION_TRACKS) <= UINT32_MAX &&
           count_of(index, SECTION_FUNCTIONS) <= UINT32_MAX &&
           count_of(index, SECTION_CROSSING) <= UINT32_MAX &&
           count_of(index, SECTION_MARKS) <= UINT32_MAX &&
           count_of(index, SECTION_HITS) <= UINT32_MAX &&
           count_of(index, SECTION_COUNTERS) <= UINT32_MAX;
}

static const void *section(const struct trace_index *index, enum index_section which)
{
    return index->view.bytes + index->header->sections[which].offset;
}

static void find_sections(struct trace_index *index)
{
    index->chunk_bytes = section(index, SECTION_CHUNK_BYTES);
    index->chunks = section(index, SECTION_CHUNKS);
    index->sieves = section(index, SECTION_SIEVES);
    index->levels = section(index, SECTION_LEVELS);
    index->tracks = section(index, SECTION_TRACKS);
    index->functions = section(index, SECTION_FUNCTIONS);
    index->crossing = section(index, SECTION_CROSSING);
    index->marks = section(index, SECTION_MARKS);
    index->hits = section(index, SECTION_HITS);
    index->counters = section(index, SECTION_COUNTERS);
    index->samples = section(index, SECTION_SAMPLES);
    index->valued = section(index, SECTION_VALUED);
    index->values = section(index, SECTION_VALUES);
    index->value_texts = section(index, SECTION_VALUE_TEXTS);
    index->switches = section(index, SECTION_SWITCHES);
    index->stacks = section(index, SECTION_STACKS);
    index->parts = section(index, SECTION_PARTS);
    index->buckets = section(index, SECTION_BUCKETS);
    index->bucket_bytes = section(index, SECTION_BUCKET_BYTES);
    index->strings = section(index, SECTION_STRINGS);
}

static bool is_string(const struct trace_index *index, uint32_t offset)
{
    return offset < count_of(index, SECTION_STRINGS);
}

static bool is_string_or_none(const struct trace_index *index, uint32_t offset)
{
    return offset == INDEX_NO_STRING || is_string(index, offset);
}

/* The last string ends where the section does, so every string ends. */
static bool check_strings(const struct trace_index *index)
{
    uint64_t count = count_of(index, SECTION_STRINGS);
    return count > 0 && index->strings[count - 1] == 0 &&
           is_string_or_none(index, index->header->recorded) &&
           is_string_or_none(index, index->header->damage);
}

static bool check_chunks(const struct trace_index *index, uint64_t first, uint64_t count,
                         uint64_t *items)
{
    uint64_t end = 0, bytes = count_of(index, SECTION_CHUNK_BYTES);
    *items = 0;
    for (uint64_t i = first; i < first + count; i++) {
        const struct index_chunk *chunk = &index->chunks[i];
        if (chunk->offset > bytes || chunk->size > bytes - chunk->offset || chunk->count == 0 ||
            chunk->count > INDEX_CHUNK_ITEMS || chunk->size < chunk->count ||
            chunk->first_end < end || chunk->last_end < chunk->first_end ||
            (chunk->crossing != INDEX_NO_CROSSING &&
             chunk->crossing >= count_of(index, SECTION_CROSSING)))
            return false;
        end = chunk->last_end;
        *items += chunk->count;
    }
    return end <= index->header->duration;
}

static bool is_within(uint64_t first, uint64_t count, uint64_t all)
{
    return first <= all && count <= all - first;
}

static bool check_levels(const struct trace_index *index, const struct track_record *track)
{
    unsigned shift = 0;
    for (uint32_t i = 0; i < track->level_count; i++) {
        const struct index_level *level = &index->levels[track->first_level + i];
        uint64_t items;
        if (level->shift <= shift || level->shift > INDEX_SHIFT_MAX ||
            !is_within(level->first_chunk, level->chunk_count, count_of(index, SECTION_CHUNKS)) ||
            !check_chunks(index, level->first_chunk, level->chunk_count, &items))
            return false;
        shift = level->shift;
    }
    return true;
}

/* A depth needs a span, so memory for all depths of a track is bounded by the file's size. */
static bool check_track(const struct trace_index *index, const struct track_record *track)
{
    uint64_t spans;
    return is_string(index, track->process) && is_string(index, track->thread) &&
           is_within(track->first_chunk, track->chunk_count, count_of(index, SECTION_SIEVES)) &&
           check_chunks(index, track->first_chunk, track->chunk_count, &spans) &&
           spans == track->spans && track->depth <= spans && track->first <= track->last &&
           track->last <= index->header->duration &&
           is_within(track->first_level, track->level_count, count_of(index, SECTION_LEVELS)) &&
           check_levels(index, track);
}

/* A chunk belongs to one run, so that there is no more to check than the file has. */
static bool check_tracks(const struct trace_index *index)
{
    uint64_t spans = 0, chunk = 0, level = 0;
    uint64_t level_chunk = count_of(index, SECTION_SIEVES);
    for (uint64_t i = 0; i < count_of(index, SECTION_TRACKS); i++) {
        const struct track_record *track = &index->tracks[i];
        if (track->first_chunk != chunk || track->first_level != level ||
            !check_track(index, track))
            return false;
        for (uint32_t j = 0; j < track->level_count; j++) {
            if (index->levels[level + j].first_chunk != level_chunk)
                return false;
            level_chunk += index->levels[level + j].chunk_count;
        }
        chunk += track->chunk_count;
        level += track->level_count;
        spans += track->spans;
    }
    return spans == index->header->spans && index->header->duration <= INDEX_TIME_MAX;
}

static bool check_functions(const struct trace_index *index)
{
    for (uint64_t i = 0; i < count_of(index, SECTION_FUNCTIONS); i++) {
        const struct function_record *function = &index->functions[i];
        if (!is_string(index, function->name) || !is_string_or_none(index, function->symbol) ||
            !is_string_or_none(index, function->file) || function->colour > INDEX_SPECIAL ||
            function->group > i || index->functions[function->group].group != function->group)
            return false;
    }
    return true;
}

static bool check_marks(const struct trace_index *index)
{
    for (uint64_t i = 0; i < count_of(index, SECTION_MARKS); i++)
        if (!is_string(index, index->marks[i].text) ||
            index->marks[i].track >= count_of(index, SECTION_TRACKS))
            return false;
    for (uint64_t i = 0; i < count_of(index, SECTION_HITS); i++)
        if (!is_string(index, index->hits[i].name) ||
            index->hits[i].track >= count_of(index, SECTION_TRACKS) ||
            index->hits[i].thread >= count_of(index, SECTION_TRACKS))
            return false;
    for (uint64_t i = 0; i < count_of(index, SECTION_COUNTERS); i++) {
        const struct counter_record *counter = &index->counters[i];
        if (!is_string(index, counter->name) ||
            !is_within(counter->first_sample, counter->sample_count,
                       count_of(index, SECTION_SAMPLES)))
            return false;
    }
    return true;
}

/* Like strings, texts end where their section does at the latest. What else the records say is checked
 * when they are read (valued_calls.c). */
static bool check_values(const struct trace_index *index)
{
    uint64_t texts = count_of(index, SECTION_VALUE_TEXTS);
    return texts == 0 || index->value_texts[texts - 1] == 0;
}

static bool check_switches(const struct trace_index *index)
{
    uint64_t time = 0;
    for (uint64_t i = 0; i < count_of(index, SECTION_SWITCHES); i++) {
        const struct switch_record *record = &index->switches[i];
        if (record->from_track >= count_of(index, SECTION_TRACKS) ||
            record->to_track >= count_of(index, SECTION_TRACKS) ||
            record->from_time > record->to_time || record->to_time < time)
            return false;
        time = record->to_time;
    }
    return time <= index->header->duration;
}

static bool check_stacks(const struct trace_index *index)
{
    uint64_t tracks = count_of(index, SECTION_TRACKS), stacks = count_of(index, SECTION_STACKS);
    if (stacks > UINT32_MAX)
        return false;
    for (uint64_t i = 0; i < stacks; i++) {
        const struct stack_record *stack = &index->stacks[i];
        if (!is_string(index, stack->name) || stack->track >= tracks || stack->first > stack->last)
            return false;
    }
    uint32_t stack = 0;
    uint64_t time = 0;
    for (uint64_t i = 0; i < count_of(index, SECTION_PARTS); i++) {
        const struct stack_part *part = &index->parts[i];
        if (part->stack != stack)
            time = 0;
        if (part->stack < stack || part->stack >= stacks || part->track >= tracks ||
            part->from < time || part->from > part->to)
            return false;
        stack = part->stack;
        time = part->to;
    }
    return true;
}

/* The counts are checked when they are read (call_buckets.c). */
static bool check_buckets(const struct trace_index *index)
{
    uint64_t time = 0, byte = 0;
    for (uint64_t i = 0; i < count_of(index, SECTION_BUCKETS); i++) {
        const struct bucket_record *bucket = &index->buckets[i];
        if (bucket->from < time || bucket->first_byte < byte)
            return false;
        time = bucket->from;
        byte = bucket->first_byte;
    }
    return time <= index->header->duration && byte <= count_of(index, SECTION_BUCKET_BYTES);
}

static bool check_header(const struct trace_index *index)
{
    const struct index_header *header = index->header;
    return index->view.size >= sizeof *header &&
           memcmp(header->magic, INDEX_MAGIC, sizeof header->magic) == 0 &&
           header->version == INDEX_VERSION && header->file_size == index->view.size;
}

/* ---- opening ---- */

static void gather_groups(struct trace_index *index)
{
    uint32_t count = (uint32_t)count_of(index, SECTION_FUNCTIONS);
    index->members = memory_allocate((count + 1) * sizeof *index->members);
    index->first_members = memory_allocate_zeroed((count + 2) * sizeof *index->first_members);
    index->group_calls = memory_allocate_zeroed((count + 1) * sizeof *index->group_calls);
    uint32_t *next = index->first_members + 1; /* of each group, shifted into its place below */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = index->functions[i].group;
        next[group]++;
        index->group_calls[group] += index->functions[i].calls;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t members = next[i];
        next[i] = first;
        first += members;
    }
    for (uint32_t i = 0; i < count; i++)
        index->members[next[index->functions[i].group]++] = i;
}

static void fill_facts(struct trace_index *index)
{
    const struct index_header *header = index->header;
    index->facts = (struct index_facts){
        .id = header->id,
        .spans = header->spans,
        .duration = header->duration,
        .wall_clock = header->wall_clock,
        .tracks = (uint32_t)count_of(index, SECTION_TRACKS),
        .functions = (uint32_t)count_of(index, SECTION_FUNCTIONS),
        .marks = (uint32_t)count_of(index, SECTION_MARKS),
        .hits = (uint32_t)count_of(index, SECTION_HITS),
        .counters = (uint32_t)count_of(index, SECTION_COUNTERS),
        .valued_calls = count_of(index, SECTION_VALUED),
        .values = count_of(index, SECTION_VALUES),
        .switches = count_of(index, SECTION_SWITCHES),
        .stacks = (uint32_t)count_of(index, SECTION_STACKS),
        .stack_parts = count_of(index, SECTION_PARTS),
        .sampled = header->sampled,
        .recorded = header->recorded == INDEX_NO_STRING ? NULL : index->strings + header->recorded,
        .damage = header->damage == INDEX_NO_STRING ? NULL : index->strings + header->damage,
    };
}

static bool check(struct trace_index *index)
{
    index->header = (const struct index_header *)index->view.bytes;
    if (!check_header(index) || !check_places(index))
        return false;
    find_sections(index);
    return check_strings(index) && check_functions(index) && check_tracks(index) &&
           check_marks(index) && check_values(index) && check_switches(index) &&
           check_stacks(index) && check_buckets(index);
}

struct trace_index *trace_index_open(const char *path, struct error *error)
{
    struct trace_index *index = memory_allocate_zeroed(sizeof *index);
    index->path = memory_copy_string(path);
    if (!file_map(&index->view, path, error)) {
        trace_index_close(index);
        return NULL;
    }
    if (!check(index)) {
        error_set(error, ERROR_FORMAT,
                  "%s is no index that this version of magic-trace knows, or it is damaged. Remove "
                  "it: it is built again from the trace",
                  path);
        trace_index_close(index);
        return NULL;
    }
    gather_groups(index);
    fill_facts(index);
    return index;
}

void trace_index_close(struct trace_index *index)
{
    file_unmap(&index->view);
    free(index->path);
    free(index->members);
    free(index->first_members);
    free(index->group_calls);
    free(index);
}

/* ---- facts ---- */

const struct index_facts *trace_index_facts(const struct trace_index *index)
{
    return &index->facts;
}

struct index_track trace_index_track(const struct trace_index *index, uint32_t track)
{
    const struct track_record *record = &index->tracks[track];
    return (struct index_track){
        .pid = record->pid,
        .tid = record->tid,
        .process = index->strings + record->process,
        .thread = index->strings + record->thread,
        .spans = record->spans,
        .depth = record->depth,
        .first = record->first,
        .last = record->last,
        .is_hits = record->is_hits != 0,
    };
}

static const char *string_or_null(const struct trace_index *index, uint32_t offset)
{
    return offset == INDEX_NO_STRING ? NULL : index->strings + offset;
}

struct index_function trace_index_function(const struct trace_index *index, uint32_t function)
{
    const struct function_record *record = &index->functions[function];
    return (struct index_function){
        .name = index->strings + record->name,
        .symbol = string_or_null(index, record->symbol),
        .file = string_or_null(index, record->file),
        .line = record->line,
        .address = record->address,
        .group = record->group,
        .calls = record->calls,
        .colour = (enum index_colour)record->colour,
    };
}

uint64_t trace_index_group_calls(const struct trace_index *index, uint32_t group)
{
    return index->group_calls[group];
}
