#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

#include "base/file.h"
#include "base/memory.h"
#include "decode/perf/perf_decoder.h"
#include "decode/pt/decode_jobs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* PROGRAM and PATCHED, paths of the shared objects, come from meson.build. */

struct object {
    void *handle;
    uint64_t base;
};

static uint64_t address_in(const char *path, const char *symbol)
{
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    void *found = dlsym(handle, symbol);
    if (!found)
        fail_msg("%s has no symbol %s", path, symbol);
    Dl_info info;
    assert_int_not_equal(dladdr(found, &info), 0);
    return (uint64_t)((char *)found - (char *)info.dli_fbase);
}

uint64_t at(const char *symbol)
{
    return PROGRAM_BASE + address_in(PROGRAM, symbol);
}

struct sideband_record *fixture_add_record(struct fixture *fixture, enum sideband_kind kind,
                                           uint64_t time, uint32_t tid)
{
    struct sideband_record *record = array_add(&fixture->records);
    record->kind = kind;
    record->time.value = time;
    record->pid = PROGRAM_PID;
    record->tid = tid;
    record->cpu = UINT32_MAX;
    return record;
}

static void add_mapping(struct fixture *fixture, uint64_t time, const char *path, uint64_t start,
                        uint64_t offset, uint64_t length)
{
    struct sideband_record *record =
        fixture_add_record(fixture, SIDEBAND_MAPPING, time, PROGRAM_TID);
    record->mapping.start = start;
    record->mapping.length = length;
    record->mapping.file_offset = offset;
    record->mapping.protection = PROT_READ | PROT_EXEC;
    record->mapping.flags = MAP_PRIVATE;
    record->mapping.executable = true;
    record->mapping.path = path;
}

void fixture_begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    packets_begin(&fixture->packets);
    fixture->records = array_of(sizeof(struct sideband_record));
    fixture->chunks = array_of(sizeof(struct aux_chunk));
    fixture->threads = array_of(sizeof(struct decoded_thread *));
    fixture->setup = (struct pt_setup){.clock = {.mult = 1},
                                       .has_clock = true,
                                       .config = 0x2403,
                                       .tsc_bit = 0x400,
                                       .cyc_bit = 2,
                                       .no_return_compression_bit = 0x800,
                                       .max_nonturbo_ratio = 26};
    struct sideband_record *name = fixture_add_record(fixture, SIDEBAND_NAME, 0, PROGRAM_TID);
    name->name.name = "program";
    /* The text of both objects begins at a page, and its offset in the file is its address. */
    uint64_t text = address_in(PROGRAM, "caller") & ~(uint64_t)4095;
    add_mapping(fixture, 0, PROGRAM, PROGRAM_BASE + text, text, 3 * 4096);
}

void fixture_add_copy(struct fixture *fixture)
{
    uint64_t text = address_in(PROGRAM, "caller") & ~(uint64_t)4095;
    add_mapping(fixture, 0, PROGRAM, PROGRAM_COPY_BASE + text, text, 3 * 4096);
}

void fixture_patch(struct fixture *fixture, uint64_t time)
{
    add_mapping(fixture, time, PATCHED, at("patched"), address_in(PATCHED, "patched_replacement"),
                4096);
}

static void *sink_begin(void *context, const struct thread *thread)
{
    struct fixture *fixture = context;
    struct decoded_thread *decoded = memory_allocate_zeroed(sizeof(*decoded));
    decoded->tid = thread->tid;
    decoded->events = array_of(sizeof(struct flow_event));
    *(struct decoded_thread **)array_add(&fixture->threads) = decoded;
    return decoded;
}

static void sink_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct decoded_thread *decoded = thread_object;
    assert_int_equal(decoded->ended, 0);
    array_add_all(&decoded->events, events, count);
}

static void sink_end(void *thread_object)
{
    ((struct decoded_thread *)thread_object)->ended++;
}

static void check_times(struct fixture *fixture)
{
    for (size_t i = 0; i < fixture->threads.count; i++) {
        struct decoded_thread *thread = *(struct decoded_thread **)array_at(&fixture->threads, i);
        const struct flow_event *events = thread->events.elements;
        assert_int_equal(thread->ended, 1);
        for (size_t j = 1; j < thread->events.count; j++)
            assert_true(events[j].time.value >= events[j - 1].time.value);
    }
}

/* Makes data, spaces and symbols of what was added. */
static void prepare(struct fixture *fixture)
{
    if (!fixture->chunks.count) {
        struct aux_chunk *chunk = array_add(&fixture->chunks);
        *chunk = (struct aux_chunk){.tid = PROGRAM_TID,
                                    .cpu = UINT32_MAX,
                                    .bytes = fixture->packets.bytes,
                                    .size = packets_size(&fixture->packets)};
    }
    fixture->data = (struct perf_data){.path = (char *)"made up",
                                       .setup = fixture->setup,
                                       .has_setup = true,
                                       .cpu = fixture->cpu,
                                       .records = fixture->records.elements,
                                       .record_count = fixture->records.count,
                                       .chunks = fixture->chunks.elements,
                                       .chunk_count = fixture->chunks.count};
    struct error error;
    assert_true(address_spaces_build(&fixture->spaces, &fixture->data, NULL, &error));
    fixture->symbols = symbols_open(&fixture->spaces, NULL);
}

void fixture_decode(struct fixture *fixture)
{
    prepare(fixture);
    struct trace_streams streams;
    trace_streams_cut(&streams, &fixture->data);
    struct decoder_shared *shared = decoder_shared_open(&fixture->data, fixture->symbols);
    assert_non_null(shared);
    struct flow_sink sink = {
        .context = fixture, .begin = sink_begin, .events = sink_events, .end = sink_end};
    struct flow_options options = {.cores = fixture->cores};
    struct decode_request request = {.data = &fixture->data,
                                     .spaces = &fixture->spaces,
                                     .streams = &streams,
                                     .shared = shared,
                                     .sink = &sink,
                                     .options = &options,
                                     .observer = fixture->observer};
    decode_all(&request, &fixture->statistics);
    decoder_shared_close(shared);
    trace_streams_free(&streams);
    check_times(fixture);
}

void fixture_decode_stream(struct fixture *fixture, const struct array *stream,
                           struct error *damage)
{
    prepare(fixture);
    struct trace_streams streams;
    trace_streams_cut(&streams, &fixture->data);
    struct flow_sink sink = {
        .context = fixture, .begin = sink_begin, .events = sink_events, .end = sink_end};
    struct flow_options options = {.cores = 1};
    struct perf_decode_request request = {.data = &fixture->data,
                                          .spaces = &fixture->spaces,
                                          .streams = &streams,
                                          .symbols = fixture->symbols,
                                          .sink = &sink,
                                          .options = &options};
    int descriptor = memfd_create("stream", MFD_CLOEXEC);
    assert_true(file_write_all(descriptor, stream->elements, stream->count, "stream", NULL));
    assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
    perf_decode_stream(&request, descriptor, &fixture->statistics, damage);
    close(descriptor);
    trace_streams_free(&streams);
    check_times(fixture);
}

void fixture_free(struct fixture *fixture)
{
    if (fixture->symbols) {
        symbols_close(fixture->symbols);
        address_spaces_free(&fixture->spaces);
    }
    for (size_t i = 0; i < fixture->threads.count; i++) {
        struct decoded_thread *thread = *(struct decoded_thread **)array_at(&fixture->threads, i);
        array_free(&thread->events);
        free(thread);
    }
    array_free(&fixture->threads);
    array_free(&fixture->chunks);
    array_free(&fixture->records);
    packets_free(&fixture->packets);
}

struct decoded_thread *fixture_thread(struct fixture *fixture, uint32_t tid)
{
    for (size_t i = 0; i < fixture->threads.count; i++) {
        struct decoded_thread *thread = *(struct decoded_thread **)array_at(&fixture->threads, i);
        if (thread->tid == tid)
            return thread;
    }
    fail_msg("thread %u was not decoded", tid);
    return NULL;
}

size_t fixture_event_count(struct fixture *fixture)
{
    return fixture_thread(fixture, PROGRAM_TID)->events.count;
}

const struct flow_event *fixture_event(struct fixture *fixture, size_t index)
{
    struct array *events = &fixture_thread(fixture, PROGRAM_TID)->events;
    if (index >= events->count)
        fail_msg("event %zu was expected, but there are only %zu", index, events->count);
    return array_at(events, index);
}

static const char *const kind_names[] = {
    "CALL",          "RETURN", "JUMP",      "SYSCALL",  "INTERRUPT", "RESUME",
    "KERNEL_RETURN", "STOP",   "TRAP_PUSH", "TRAP_POP", "GAP"};

void expect_event(struct fixture *fixture, size_t index, enum flow_kind kind, uint64_t from,
                  uint64_t to)
{
    const struct flow_event *event = fixture_event(fixture, index);
    if (event->kind != kind || event->from != from || event->to != to)
        fail_msg("event %zu is %s %#lx -> %#lx, expected was %s %#lx -> %#lx", index,
                 kind_names[event->kind], event->from, event->to, kind_names[kind], from, to);
}

void expect_function(struct fixture *fixture, size_t index, const char *name)
{
    const struct flow_event *event = fixture_event(fixture, index);
    assert_string_equal(symbols_function(fixture->symbols, event->function)->name, name);
}
