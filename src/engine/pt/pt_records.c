#include "engine/pt/pt_records.h"

#include "perf_event/record_layouts.h"

/* Of packets that are all kept all switches matter. */
static void begin_switches(struct pt_records *records)
{
    const struct tracing *tracing = records->tracing;
    records->switches = array_of(sizeof(struct recent_records));
    if (tracing->options->full_execution)
        return;
    for (size_t i = 0; i < tracing->sideband.rings.count; i++)
        recent_records_begin(array_add(&records->switches));
}

static void begin_untraced(struct pt_records *records)
{
    const struct tracing *tracing = records->tracing;
    untraced_begin(&records->untraced, tracing_per_cpu(tracing),
                   tracing->options->follow || tracing->children_too);
    for (size_t i = 0; i < tracing->untraced.count; i++)
        untraced_add_thread(&records->untraced, *(pid_t *)array_at(&tracing->untraced, i));
}

void pt_records_begin(struct pt_records *records, struct tracing *tracing,
                      struct raw_perf_data_writer *writer)
{
    *records = (struct pt_records){.tracing = tracing, .writer = writer};
    begin_untraced(records);
    begin_switches(records);
}

void pt_records_free(struct pt_records *records)
{
    untraced_free(&records->untraced);
    for (size_t i = 0; i < records->switches.count; i++)
        recent_records_free(array_at(&records->switches, i));
    array_free(&records->switches);
}

/* The time is the third word from the end, of a sample the fourth: SIDEBAND_SAMPLE_TYPE. */
static void note_time(struct pt_records *records, const struct perf_event_header *record)
{
    enum { FROM_END = 3, OF_SAMPLE = 3 };
    size_t words = record_words(record);
    if (words < FROM_END)
        return;
    uint64_t time =
        record_word(record, record->type == PERF_RECORD_SAMPLE ? OF_SAMPLE : words - FROM_END);
    if (!records->first.value || time < records->first.value)
        records->first.value = time;
    if (time > records->last.value)
        records->last.value = time;
}

/* Counts losses. Returns whether to write the record: not those of overwritten packets that only
 * give the position at which a thread stopped. */
static bool is_worth_keeping(struct pt_records *records, const struct perf_event_header *record)
{
    enum { AUX_FLAGS = 2 };
    records->lost_records += record_lost(record);
    if (record->type != PERF_RECORD_AUX)
        return true;
    uint64_t flags = record_word(record, AUX_FLAGS);
    if (flags & PERF_AUX_FLAG_TRUNCATED) {
        records->lost_packets++;
        records->must_go_on = true;
    }
    return flags != PERF_AUX_FLAG_OVERWRITE;
}

/* `switches`: where those of threads wait until it is known whether they matter; NULL: they do. */
static bool take_record(struct pt_records *records, const struct perf_event_header *record,
                        struct recent_records *switches, struct error *error)
{
    note_time(records, record);
    untraced_handle(&records->untraced, record);
    if (record->type == PERF_RECORD_SWITCH && switches) {
        recent_records_add(switches, record);
        return true;
    }
    return !is_worth_keeping(records, record) ||
           raw_perf_data_write_records(records->writer, record, record->size, error);
}

static bool drain_ring(struct pt_records *records, struct perf_ring *ring,
                       struct recent_records *switches, struct error *error)
{
    bool ok = true;
    perf_ring_begin(ring);
    for (const struct perf_event_header *record; ok && (record = perf_ring_next(ring));)
        ok = take_record(records, record, switches, error);
    perf_ring_release(ring);
    return ok;
}

static bool drain_sideband(struct pt_records *records, struct error *error)
{
    const struct event_rings *rings = &records->tracing->sideband;
    bool ok = true;
    for (size_t i = 0; ok && i < rings->rings.count; i++)
        ok =
            drain_ring(records, &event_ring_at(rings, i)->records,
                       i < records->switches.count ? array_at(&records->switches, i) : NULL, error);
    return ok;
}

bool pt_records_write_switches(struct pt_records *records, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < records->switches.count; i++) {
        struct recent_records *switches = array_at(&records->switches, i);
        ok = raw_perf_data_write_records(records->writer, switches->older.elements,
                                         switches->older.count, error) &&
             raw_perf_data_write_records(records->writer, switches->newer.elements,
                                         switches->newer.count, error);
        recent_records_clear(switches);
    }
    return ok;
}

static bool drain_records(struct pt_records *records, struct event_rings *rings,
                          struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < rings->rings.count; i++)
        ok = drain_ring(records, &event_ring_at(rings, i)->records, NULL, error);
    return ok;
}

bool pt_records_drain(struct pt_records *records, struct error *error)
{
    struct tracing *tracing = records->tracing;
    event_rings_handle(&tracing->sideband);
    event_rings_handle(&tracing->packets);
    event_rings_handle(&tracing->kernel_sideband);
    event_rings_handle(&tracing->extras);
    return drain_sideband(records, error) &&
           drain_records(records, &tracing->kernel_sideband, error) &&
           drain_records(records, &tracing->extras, error) &&
           drain_records(records, &tracing->packets, error);
}
