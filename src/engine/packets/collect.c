#include "engine/packets/collect.h"

#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/packets/kept_parts.h"
#include "engine/packets/log_reader.h"
#include "engine/packets/ring.h"
#include "engine/packets/sideband_log.h"
#include "engine/packets/thread_end.h"
#include "engine/perf_map_copy.h"
#include "engine/pt_packets_setup.h"
#include "process/processes.h"
#include "recording/flags.h"
#include "recording/perf_data/perf_data_writer.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- sideband records ---- */

/* A process's first record is its name, or its creation. */
static void keep_perf_map(const struct collection *collection, struct sideband_log *log,
                          const struct logged_record *record)
{
    if (record->pid != record->tid || (record->kind != LOGGED_NAME && record->kind != LOGGED_FORK))
        return;
    perf_map_keep(&(struct perf_map_copy){
        .from = "/tmp",
        .seen_by = collection->recorded.seen ? seen_files_of(collection->recorded.seen, record->pid)
                                             : NULL,
        .directory = collection->recorded.directory,
        .pid = record->pid,
        .recorded_pid = sideband_log_number(log, record->pid),
        .begun = collection->recorded.started,
    });
}

static void add_record(const struct collection *collection, struct sideband_log *log,
                       const struct logged_record *record)
{
    const struct recorded *recorded = &collection->recorded;
    if (!recorded->time_of) {
        sideband_log_add(log, record);
        return;
    }
    struct logged_record *copy = memory_allocate(record->size);
    memcpy(copy, record, record->size);
    copy->time = recorded->time_of(recorded->time_context, record);
    sideband_log_add(log, copy);
    free(copy);
}

static void read_log(const struct collection *collection, struct sideband_log *log)
{
    struct log_reader reader = {.log = collection->recorded.log,
                                .size = collection->recorded.log_size};
    for (const struct logged_record *record; (record = log_reader_next(&reader));) {
        add_record(collection, log, record);
        keep_perf_map(collection, log, record);
    }
}

/* What the kernel's PMU driver would say of a ring when it starts: ITRACE_START. */
static void add_start(struct sideband_log *log, const struct ring *ring)
{
    *(struct sideband_record *)array_add(&log->records) = (struct sideband_record){
        .kind = SIDEBAND_TRACE_START,
        .time = clock_to_nanoseconds(&log->clock, (struct ticks){ring->header->first_time}),
        .pid = sideband_log_number(log, ring->header->pid),
        .tid = sideband_log_number(log, ring->header->tid),
        .cpu = UINT32_MAX,
    };
}

/* And when it has written some packets: AUX. */
static void add_written(struct sideband_log *log, const struct ring *ring,
                        const struct ring_packets *packets)
{
    *(struct sideband_record *)array_add(&log->records) = (struct sideband_record){
        .kind = SIDEBAND_AUX,
        .time = clock_to_nanoseconds(&log->clock, (struct ticks){ring->encoder.last_time}),
        .pid = sideband_log_number(log, ring->header->pid),
        .tid = sideband_log_number(log, ring->header->tid),
        .cpu = UINT32_MAX,
        .aux.offset = packets->offset,
        .aux.size = packets->size,
        .aux.flags = packets->offset > 0 ? PERF_AUX_FLAG_OVERWRITE : 0,
    };
}

static bool write_records(struct perf_data_writer *writer, const struct sideband_log *log,
                          struct error *error)
{
    const struct sideband_record **sorted = sideband_log_sorted(log);
    bool ok = true;
    for (size_t i = 0; ok && i < log->records.count; i++)
        ok = perf_data_write_record(writer, sorted[i], error);
    free(sorted);
    return ok;
}

struct switch_writer {
    struct perf_data_writer *writer;
    struct sideband_log *log;
    struct error *error;
};

static bool write_switch(const struct switch_writer *writer, const struct off_cpu_period *period,
                         bool out)
{
    const struct sideband_record record = {
        .kind = SIDEBAND_CONTEXT_SWITCH,
        .time = clock_to_nanoseconds(&writer->log->clock,
                                     (struct ticks){out ? period->out : period->in}),
        .pid = sideband_log_number(writer->log, period->pid),
        .tid = sideband_log_number(writer->log, period->tid),
        .cpu = out ? period->out_cpu : period->in_cpu,
        .context_switch = {.out = out, .preempted = out && period->preempted},
    };
    return perf_data_write_record(writer->writer, &record, writer->error);
}

static bool write_period(void *context, const struct off_cpu_period *period)
{
    return write_switch(context, period, true) && write_switch(context, period, false);
}

/* Readers put records in the order of time. */
static bool write_switches(const struct collection *collection, struct sideband_log *log,
                           struct perf_data_writer *writer, struct error *error)
{
    struct switch_writer switches = {writer, log, error};
    return !collection->recorded.off_cpu ||
           off_cpu_log_walk(collection->recorded.off_cpu, write_period, &switches);
}

/* ---- packets ---- */

static bool write_part(struct sideband_log *log, const struct ring *ring,
                       const struct kept_part *part, struct perf_data_writer *writer,
                       struct error *error)
{
    struct ring_packets packets;
    ring_packets(&packets, ring, part->begin, part->end);
    if (packets.size == 0)
        return true;
    struct aux_chunk chunk = {
        .tid = sideband_log_number(log, ring->header->tid),
        .cpu = UINT32_MAX,
        .index = part->serial,
        .offset = packets.offset,
        /* perf 6.1 crashes on a reference of 0. */
        .reference = {ring->encoder.last_time ? ring->encoder.last_time : 1},
    };
    return perf_data_write_aux(writer, &chunk, packets.parts, packets.part_count, error);
}

static bool write_ring(const struct collection *collection, struct sideband_log *log,
                       uint32_t serial, struct perf_data_writer *writer, struct error *error)
{
    struct ring ring;
    if (!ring_open(&ring, collection->recorded.folder, serial, error))
        return false;
    struct array parts = array_of(sizeof(struct kept_part));
    kept_parts(&parts, &collection->recorded, &ring, &log->kept);
    bool ok = true;
    perf_data_set_source(writer, &ring.file, ring.descriptor);
    for (size_t i = 0; ok && i < parts.count; i++)
        ok = write_part(log, &ring, array_at(&parts, i), writer, error);
    perf_data_set_source(writer, NULL, -1);
    array_free(&parts);
    ring_close(&ring);
    return ok;
}

static bool write_packets(const struct collection *collection, struct sideband_log *log,
                          struct perf_data_writer *writer, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < collection->rings.count; i++) {
        log_progress("Collecting", i, collection->rings.count);
        ok = write_ring(collection, log, *(uint32_t *)array_at(&collection->rings, i), writer,
                        error);
    }
    log_progress_end();
    return ok;
}

/* ---- the whole ---- */

static bool write_perf_data(struct collection *collection, struct sideband_log *log,
                            struct error *error)
{
    struct pt_setup setup = pt_packets_setup(&collection->clock, collection->recorded.bus_ratio,
                                             &collection->recorded.packets);
    setup.own_switches = collection->recorded.off_cpu != NULL;
    char *path = memory_format("%s/perf.data", collection->recorded.directory);
    struct perf_data_writer *writer =
        perf_data_writer_open(path, &setup, collection->command_line, error);
    free(path);
    if (!writer)
        return false;
    if (write_records(writer, log, error) && write_switches(collection, log, writer, error) &&
        write_packets(collection, log, writer, error))
        return perf_data_writer_close(writer, error);
    perf_data_writer_abandon(writer);
    return false;
}

/* Adds one ring to the totals and the sideband. Returns whether its recording ended for lack of
 * space. */
static bool survey_ring(struct collection *collection, struct sideband_log *log,
                        const struct ring *ring, uint32_t serial)
{
    struct array parts = array_of(sizeof(struct kept_part));
    kept_parts(&parts, &collection->recorded, ring, &log->kept);
    uint64_t bytes = 0;
    for (size_t i = 0; i < parts.count; i++) {
        const struct kept_part *part = array_at(&parts, i);
        struct ring_packets packets;
        ring_packets(&packets, ring, part->begin, part->end);
        if (packets.size == 0)
            continue;
        if (bytes == 0)
            add_start(log, ring);
        bytes += packets.size;
        add_written(log, ring, &packets);
    }
    array_free(&parts);
    collection->instructions += pt_encoder_instructions(&ring->encoder);
    collection->bytes += bytes;
    if (bytes > 0) {
        *(uint32_t *)array_add(&collection->rings) = serial;
        thread_end_add(log, ring, &collection->recorded);
    }
    return atomic_load(&ring->header->out_of_space) != 0;
}

/* Why the plugin, which has the program's rights and limits, could not write. */
static const char why_not_written[] = "the disk was full, or the program has given up the right to "
                                      "write there (setuid, chroot, ulimit)";

static void survey_rings(struct collection *collection, struct sideband_log *log)
{
    uint32_t out_of_space = 0;
    struct array serials = ring_list(collection->recorded.folder);
    for (size_t i = 0; i < serials.count; i++) {
        uint32_t serial = *(uint32_t *)array_at(&serials, i);
        struct ring ring;
        struct error error = {0};
        if (ring_open(&ring, collection->recorded.folder, serial, &error)) {
            out_of_space += survey_ring(collection, log, &ring, serial);
            ring_close(&ring);
        } else if (error.code != ERROR_NOT_FOUND) {
            log_warning("%s. The recording goes without it.", error.text);
        }
    }
    array_free(&serials);
    if (out_of_space)
        log_warning("the recording of %u thread%s in %s ends before the program did: %s. Free some "
                    "space, or "
                    "record less with " FLAG_SNAPSHOT_SIZE ".",
                    out_of_space, out_of_space == 1 ? "" : "s", collection->recorded.directory,
                    why_not_written);
}

static void warn_of_losses(const struct collection *collection)
{
    uint64_t rings = collection->recorded.lost_rings;
    uint64_t records = collection->recorded.lost_records;
    if (collection->recorded.surplus_threads)
        log_warning("%llu thread(s) ran unrecorded: no more than %u threads and %u processes are "
                    "recorded at a time. Attach to those that matter: magic-trace attach.",
                    (unsigned long long)collection->recorded.surplus_threads,
                    collection->recorded.most_threads, collection->recorded.most_processes);
    if (rings)
        log_warning("%llu thread(s) ran unrecorded, without place for their packets in %s: %s.",
                    (unsigned long long)rings, collection->recorded.directory, why_not_written);
    if (records)
        log_warning("%llu record(s) of mappings, names or threads could not be written to "
                    "%s: %s. Code mapped by them cannot be decoded.",
                    (unsigned long long)records, collection->recorded.directory, why_not_written);
    if (collection->recorded.lost_switches)
        log_warning(
            "%llu record(s) of context switches found no room: there were more of them than "
            "magic-trace could read. Where they are missing, time in which a thread waited "
            "for a processor, or slept, can count as its own. Leave a processor to "
            "magic-trace (taskset), or trace fewer threads; as root it reads before "
            "others run.",
            (unsigned long long)collection->recorded.lost_switches);
}

static void *keep(struct arena *memory, const struct array *array)
{
    size_t size = array->count * array->element_size;
    void *copy = arena_allocate(memory, size);
    return size > 0 ? memcpy(copy, array->elements, size) : copy;
}

static int hit_by_time(const void *left, const void *right)
{
    const struct session_hit *a = left, *b = right;
    return (a->time > b->time) - (a->time < b->time);
}

bool collect(struct collection *collection, struct error *error)
{
    const struct recorded *recorded = &collection->recorded;
    struct sideband_log log;
    sideband_log_begin(&log, recorded->directory, &collection->clock,
                       recorded->clock == RECORD_CLOCK_INSTRUCTIONS);
    collection->rings = array_of(sizeof(uint32_t));
    read_log(collection, &log);
    survey_rings(collection, &log);
    warn_of_losses(collection);
    bool ok = collection->rings.count > 0
                  ? write_perf_data(collection, &log, error)
                  : error_set(error, ERROR_NOT_FOUND, "nothing was recorded into %s",
                              recorded->directory);
    collection->memory = log.memory;
    collection->untraced_count = log.untraced.count;
    collection->untraced = keep(&collection->memory, &log.untraced);
    collection->death_count = log.deaths.count;
    collection->deaths = keep(&collection->memory, &log.deaths);
    if (log.hits.count > 1)
        qsort(log.hits.elements, log.hits.count, sizeof(struct session_hit), hit_by_time);
    collection->hit_count = log.hits.count;
    collection->hits = keep(&collection->memory, &log.hits);
    sideband_log_free(&log);
    return ok;
}

void collection_describe(const struct collection *collection, struct session *session)
{
    session->instructions = collection->instructions;
    session->untraced = collection->untraced;
    session->untraced_count = collection->untraced_count;
    session->deaths = collection->deaths;
    session->death_count = collection->death_count;
    session->hits = collection->hits;
    session->hit_count = collection->hit_count;
}

void collection_withdraw(struct session *session)
{
    collection_describe(&(struct collection){.instructions = session->instructions}, session);
}

void collection_explain_kept(struct error *error, const char *directory, const char *folder)
{
    size_t used = strlen(error->text);
    bool is_sentence = used > 0 && error->text[used - 1] == '.';
    if (error->code == ERROR_IO)
        snprintf(error->text + used, sizeof error->text - used,
                 "%s What was recorded is kept in %s/%s: magic-trace decode %s finishes it.",
                 is_sentence ? "" : ".", directory, folder, directory);
}

void collection_free(struct collection *collection)
{
    arena_free(&collection->memory);
    array_free(&collection->rings);
}

/* Waits while the ring's thread may be writing: for no more than `rounds` milliseconds, of which it
 * returns those that are left. */
static int ring_settle(struct ring *ring, int rounds)
{
    enum { ENOUGH_NS = 200 * 1000 * 1000 };
    const struct timespec millisecond = {.tv_nsec = 1000000};
    pid_t pid = (pid_t)ring->header->pid, tid = (pid_t)ring->header->tid;
    uint64_t begin = thread_processor_time(pid, tid);
    while (rounds > 0 && !atomic_load(&ring->header->ended) && thread_state(pid, tid) == 'R' &&
           thread_processor_time(pid, tid) - begin < ENOUGH_NS) {
        nanosleep(&millisecond, NULL);
        rounds--;
    }
    return rounds;
}

void rings_settle(const char *folder)
{
    int rounds = 60 * 1000;
    struct array serials = ring_list(folder);
    for (size_t i = 0; i < serials.count; i++) {
        struct ring ring;
        if (!ring_open(&ring, folder, *(uint32_t *)array_at(&serials, i), NULL))
            continue;
        rounds = ring_settle(&ring, rounds);
        ring_close(&ring);
    }
    array_free(&serials);
}
