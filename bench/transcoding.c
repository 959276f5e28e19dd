/* What turning a translator's log into packets costs.
 *
 *     transcoding DIR [ROUNDS [hurry]]     of a recording that was not finished: kill -9 magic-trace while it runs
 *
 * Transcodes all rings of DIR/translator/arena, ROUNDS times (5), into packet files in /dev/shm, and prints the least
 * processor time per word of log and per byte of packets, and as a share of the time that the threads took to write
 * the log. Fragments and ways are new in each round, as in a recording. With `hurry`: as while the program waits.
 */
#include "base/file.h"
#include "base/memory.h"
#include "bench_clock.h"
#include "engine/translator/transcode/transcoder.h"

#include <stdio.h>
#include <stdlib.h>

struct totals {
    uint64_t words, packets, instructions, ticks;
    double seconds;
};

static bool transcode_slot(const struct transcoder_shared *shared, const struct tr_slot *slot,
                           bool hurry, struct totals *totals)
{
    struct transcoder transcoder;
    struct error error;
    if (!transcoder_begin(&transcoder, shared, slot, slot->first_time, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    transcoder_begin_ring(&transcoder);
    transcoder_hurry(&transcoder, hurry);
    uint64_t begin = transcoder.cursor.position, first = transcoder.coder.timeline.from;
    double started = bench_cpu_seconds();
    transcoder_read(&transcoder);
    transcoder_finish(&transcoder);
    totals->seconds += bench_cpu_seconds() - started;
    totals->words += (transcoder.cursor.position - begin) / sizeof(uint32_t);
    totals->packets += transcoder.coder.encoder->head;
    totals->instructions += pt_encoder_instructions(transcoder.coder.encoder);
    first = transcoder.coder.file.header->first_time > first
                ? transcoder.coder.file.header->first_time
                : first;
    totals->ticks +=
        transcoder.coder.timeline.latest - (first ? first : transcoder.coder.timeline.from);
    if (transcoder.damage.code != ERROR_NONE)
        fprintf(stderr, "%s\n", transcoder.damage.text);
    transcoder_close(&transcoder);
    return true;
}

static bool transcode_all(const struct translator_arena *arena, const char *folder, bool hurry,
                          struct totals *totals)
{
    struct transcoder_shared shared = {
        .arena = arena,
        .folder = folder,
        .fragments = fragments_open(arena),
        .ways = ways_open(),
    };
    bool ok = true;
    *totals = (struct totals){0};
    for (uint32_t serial = 0; ok && serial < translator_arena_slots(arena); serial++) {
        const struct tr_slot *slot = translator_arena_slot(arena, serial, NULL);
        ok = !slot || transcode_slot(&shared, slot, hurry, totals);
    }
    fragments_close(shared.fragments);
    ways_close(shared.ways);
    return ok;
}

static void print(const struct totals *best, const struct translator_arena *arena)
{
    double words = (double)best->words, taken = (double)best->ticks / (double)arena->options.tsc_hz;
    printf("%.1f M words of log, %.2f instructions and %.2f bytes of packets each\n", words / 1e6,
           (double)best->instructions / words, (double)best->packets / words);
    printf("%.2f ns a word, %.2f ns a byte of packets; %.2f of the program's time\n",
           best->seconds * 1e9 / words, best->seconds * 1e9 / (double)best->packets,
           best->seconds / taken);
}

int main(int argument_count, char **arguments)
{
    int rounds = argument_count > 2 ? atoi(arguments[2]) : 5;
    struct translator_arena arena;
    struct error error;
    if (argument_count < 2 || !translator_arena_open(&arena, arguments[1], &error)) {
        fprintf(stderr, "%s\n",
                argument_count < 2 ? "transcoding DIR [ROUNDS [hurry]]" : error.text);
        return 1;
    }
    char folder[] = "/dev/shm/transcoding.XXXXXX";
    struct totals best = {0}, now;
    bool ok = mkdtemp(folder) != NULL;
    for (int i = 0; ok && i < rounds; i++) {
        ok = transcode_all(&arena, folder, argument_count > 3, &now);
        if (i == 0 || now.seconds < best.seconds)
            best = now;
    }
    file_remove_tree(folder, NULL);
    if (ok)
        print(&best, &arena);
    translator_arena_close(&arena);
    return !ok;
}
