/* Plays a recording of the qemu engine to the pt engine, on a kernel that stands in for one with
 * Intel PT, and leaves what the pt engine records of it.
 *
 *     pt_replay FROM TO SIZE SKIP [full]
 *
 * FROM: a recording folder; only its first ring is played. TO: an empty folder. SIZE: bytes of the
 * area that is overwritten, a power of two. SKIP: so many bytes (of PAD packets) have been written
 * before, which moves where the area ends. full: everything is kept (-full-execution).
 */
#include "stand_in.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/pt/pt.h"
#include "perf_event/sideband.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/perf_data/record_encoder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct replay {
    struct perf_data from;
    pid_t process; /* stands in for the recorded one */
    uint32_t pid;  /* the recorded one's */
    size_t skip;
    bool played;
};

static uint32_t replace_pid(const struct replay *replay, uint32_t pid)
{
    return pid == replay->pid ? (uint32_t)replay->process : pid;
}

static void play_records(const struct replay *replay, struct stand_in_event *event)
{
    struct record_encoder encoder = {
        .event_id = 100, .sample_type = SIDEBAND_SAMPLE_TYPE, .bytes = array_of(1)};
    for (size_t i = 0; i < replay->from.record_count; i++) {
        struct sideband_record record = replay->from.records[i];
        /* Which the stand-in writes itself. */
        if (record.kind == SIDEBAND_AUX || !record_can_be_encoded(&record))
            continue;
        record.pid = replace_pid(replay, record.pid);
        record.tid = replace_pid(replay, record.tid);
        if (record.kind == SIDEBAND_FORK || record.kind == SIDEBAND_EXIT) {
            record.fork.parent_pid = replace_pid(replay, record.fork.parent_pid);
            record.fork.parent_tid = replace_pid(replay, record.fork.parent_tid);
        }
        record_encode(&encoder, &record);
        const struct array *bytes = record_end(&encoder);
        stand_in_write_record(event, bytes->elements, bytes->count);
    }
    array_free(&encoder.bytes);
}

static void play_packets(const struct replay *replay, struct stand_in *kernel,
                         struct stand_in_event *event)
{
    uint8_t *pads = memory_allocate_zeroed(replay->skip + 1);
    stand_in_write_packets(kernel, event, pads, replay->skip);
    free(pads);
    for (size_t i = 0; i < replay->from.chunk_count; i++) {
        const struct aux_chunk *chunk = &replay->from.chunks[i];
        if (chunk->index == replay->from.chunks[0].index)
            stand_in_write_packets(kernel, event, chunk->bytes, chunk->size);
    }
}

/* When tracing starts, all packets are written at once, and the process ends. */
static void play(struct stand_in *kernel, struct stand_in_event *event)
{
    struct replay *replay = kernel->context;
    if (event->attributes.type != STAND_IN_UNIT || replay->played)
        return;
    replay->played = true;
    play_records(replay, stand_in_side_band_event(kernel));
    play_packets(replay, kernel, event);
    kill(replay->process, SIGKILL);
    waitpid(replay->process, NULL, 0);
}

static pid_t start_process(void)
{
    pid_t process = fork();
    if (process == 0)
        for (;;)
            pause();
    return process;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: pt_replay FROM TO SIZE SKIP [full]\n");
        return 2;
    }
    struct error error = {0};
    struct replay replay = {.skip = strtoul(argv[4], NULL, 0)};
    char *path = memory_format("%s/perf.data", argv[1]);
    if (!perf_data_open(&replay.from, path, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    replay.pid = replay.from.chunks[0].tid;
    replay.process = start_process();
    struct stand_in kernel;
    stand_in_begin(&kernel);
    kernel.enabled = play;
    kernel.context = &replay;
    kernel.clock = replay.from.setup.clock;
    char *ratio = memory_format("%u\n", replay.from.setup.max_nonturbo_ratio);
    stand_in_put(&kernel, "max_nonturbo_ratio", ratio);
    stand_in_put(&kernel, "caps/ptwrite",
                 NULL); /* such packets of the recording are of the stack */
    free(ratio);
    struct record_options options = {
        .pids = &replay.process,
        .pid_count = 1,
        .directory = argv[2],
        .snapshot_size = strtoul(argv[3], NULL, 0),
        .sized = true,
        .full_execution = argc > 5,
        .magic_trace_command = argv,
    };
    struct record_result result;
    bool ok = pt_attach(&kernel.kernel, &options, &result, &error);
    if (!ok)
        fprintf(stderr, "%s\n", error.text);
    if (stand_in_left_over(&kernel)) {
        fprintf(stderr, "%zu descriptors or mappings are left\n", stand_in_left_over(&kernel));
        ok = false;
    }
    kill(replay.process, SIGKILL);
    stand_in_end(&kernel);
    perf_data_close(&replay.from);
    free(path);
    return !ok;
}
