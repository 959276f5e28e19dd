#include "index/build/index_sections.h"

static void begin(struct index_file *file, struct index_header *header, enum index_section section,
                  uint64_t count)
{
    header->sections[section] = (struct section_place){index_file_align(file), count};
}

static void write_array(struct index_file *file, struct index_header *header,
                        enum index_section section, const struct array *array)
{
    begin(file, header, section, array->count);
    index_file_append(file, array->elements, array->count * array->element_size);
}

static void write_spill(struct index_file *file, struct index_header *header,
                        enum index_section section, const struct spill *spill)
{
    begin(file, header, section, spill->count);
    index_file_append(file, spill->elements, spill->count * spill->element_size);
}

static void append_chunks(struct index_file *file, const struct array *chunks)
{
    index_file_append(file, chunks->elements, chunks->count * chunks->element_size);
}

static void write_chunks(const struct gathered_index *gathered, struct index_file *file,
                         struct index_header *header)
{
    begin(file, header, SECTION_CHUNKS, 0);
    size_t tracks = gathered->source->track_count;
    for (size_t i = 0; i < tracks; i++)
        append_chunks(file, &gathered->tracks[i].builder.writer.chunks);
    for (size_t i = 0; i < tracks; i++) {
        const struct array *levels = &gathered->tracks[i].levels;
        for (size_t level = 0; level < levels->count; level++)
            append_chunks(file, &((struct made_level *)array_at(levels, level))->chunks);
    }
    struct section_place *place = &header->sections[SECTION_CHUNKS];
    place->count = (file->size - place->offset) / sizeof(struct index_chunk);
}

static void write_sieves(const struct gathered_index *gathered, struct index_file *file,
                         struct index_header *header)
{
    begin(file, header, SECTION_SIEVES, 0);
    for (size_t i = 0; i < gathered->source->track_count; i++) {
        const struct array *sieves = &gathered->tracks[i].builder.sieves;
        index_file_append(file, sieves->elements, sieves->count * sieves->element_size);
        header->sections[SECTION_SIEVES].count += sieves->count;
    }
}

static void write_levels(const struct gathered_index *gathered, struct index_file *file,
                         struct index_header *header)
{
    uint64_t chunk = header->sections[SECTION_SIEVES].count;
    begin(file, header, SECTION_LEVELS, 0);
    for (size_t i = 0; i < gathered->source->track_count; i++) {
        const struct array *levels = &gathered->tracks[i].levels;
        for (size_t j = 0; j < levels->count; j++) {
            const struct made_level *made = array_at(levels, j);
            const struct index_level level = {made->shift, (uint32_t)made->chunks.count, chunk};
            index_file_append(file, &level, sizeof level);
            chunk += made->chunks.count;
        }
        header->sections[SECTION_LEVELS].count += levels->count;
    }
}

static void write_tracks(const struct gathered_index *gathered, struct index_file *file,
                         struct index_header *header)
{
    begin(file, header, SECTION_TRACKS, gathered->source->track_count);
    uint64_t chunk = 0;
    uint32_t level = 0;
    for (size_t i = 0; i < gathered->source->track_count; i++) {
        const struct span_track *track = &gathered->source->tracks[i];
        const struct track_builder *builder = &gathered->tracks[i].builder;
        const struct track_record record = {
            .pid = track->pid,
            .tid = track->tid,
            .process = string_pool_add_name(gathered->strings, track->process_name),
            .thread = string_pool_add_name(gathered->strings, track->thread_name),
            .spans = builder->spans,
            .first = builder->first,
            .last = builder->last,
            .depth = (uint32_t)builder->deepest,
            .is_hits = builder->is_hits,
            .first_chunk = chunk,
            .chunk_count = builder->writer.chunks.count,
            .first_level = level,
            .level_count = (uint32_t)gathered->tracks[i].levels.count,
        };
        index_file_append(file, &record, sizeof record);
        header->spans += record.spans;
        chunk += record.chunk_count;
        level += record.level_count;
    }
}

void write_index_sections(const struct gathered_index *gathered, struct index_file *file,
                          struct index_header *header)
{
    static const uint8_t PADDING[INDEX_PADDING];
    header->sections[SECTION_CHUNK_BYTES] =
        (struct section_place){sizeof *header, index_file_chunk_bytes(file)};
    write_chunks(gathered, file, header);
    write_sieves(gathered, file, header);
    write_levels(gathered, file, header);
    write_tracks(gathered, file, header);
    begin(file, header, SECTION_FUNCTIONS, gathered->functions->functions.count);
    function_catalog_write(gathered->functions, gathered->strings, file);
    write_spill(file, header, SECTION_CROSSING, gathered->crossing);
    write_spill(file, header, SECTION_MARKS, &gathered->marks->marks);
    write_spill(file, header, SECTION_HITS, &gathered->marks->hits);
    write_array(file, header, SECTION_COUNTERS, &gathered->marks->counters);
    write_spill(file, header, SECTION_SAMPLES, &gathered->marks->samples);
    write_spill(file, header, SECTION_VALUED, &gathered->values->calls);
    write_spill(file, header, SECTION_VALUES, &gathered->values->values);
    write_spill(file, header, SECTION_VALUE_TEXTS, &gathered->values->texts);
    write_spill(file, header, SECTION_SWITCHES, gathered->switches);
    write_array(file, header, SECTION_STACKS, &gathered->stacks->records);
    write_spill(file, header, SECTION_PARTS, &gathered->stacks->parts);
    write_array(file, header, SECTION_BUCKETS, &gathered->buckets->buckets);
    write_array(file, header, SECTION_BUCKET_BYTES, &gathered->buckets->bytes);
    write_array(file, header, SECTION_STRINGS, &gathered->strings->bytes);
    index_file_append(file, PADDING, sizeof PADDING);
    header->file_size = file->size;
}
