/* How fast spans become a trace file, and how much each compressor would make of it.
 *
 *     trace_write [SPANS]             spans per second of fxt_write, plain and gzip; default 10
 *                                     million
 *     trace_write --compressors FILE  size and speed of zlib, libdeflate and isa-l on a trace that
 *                                     is not compressed
 *
 * The spans are made up (made_up_spans.h). The time to make them is measured alone and printed too.
 */
#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "made_up_spans.h"
#include "output/fxt/fxt_writer.h"

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double measure_walk(uint64_t spans)
{
    struct span_source *source = made_up_spans(spans);
    struct span_event event;
    struct error error;
    double start = thread_seconds();
    while (source->next(source, &event, &error))
        ;
    double taken = thread_seconds() - start;
    source->close(source);
    return taken;
}

static bool measure_path(const char *path, uint64_t spans, double made_up)
{
    struct span_source *source = made_up_spans(spans);
    struct error error = {0};
    double wall = seconds_now(), own = thread_seconds();
    bool ok = fxt_write(source, path, NULL, &error);
    wall = seconds_now() - wall;
    own = thread_seconds() - own;
    source->close(source);
    if (!ok) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    struct stat status = {0};
    stat(path, &status);
    double millions = (double)spans / 1e6;
    printf("%-40s %10.1f %10.1f %14.1f %10.1f\n", path, millions / wall, millions / own,
           millions / (own - made_up), (double)status.st_size / 1e6);
    return true;
}

static int measure_writing(uint64_t spans)
{
    char folder[] = "/tmp/trace_write-XXXXXX";
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    char plain[64], gzip[64];
    snprintf(plain, sizeof plain, "%s/trace.fxt", folder);
    snprintf(gzip, sizeof gzip, "%s/trace.fxt.gz", folder);
    const char *const paths[] = {"/dev/null", plain, gzip};
    bool ok = true;
    double made_up = measure_walk(spans);
    printf("%-40s %10s %10s %14s %10s\n", "million spans per second", "wall", "CPU, own",
           "CPU, own - walk", "MB");
    for (size_t i = 0; ok && i < sizeof paths / sizeof paths[0]; i++)
        ok = measure_path(paths[i], spans, made_up);
    file_remove_tree(folder, NULL);
    return !ok;
}

static size_t zlib_compress(int level, const uint8_t *in, size_t size, uint8_t *out, size_t room)
{
    z_stream stream = {0};
    deflateInit2(&stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = (uint8_t *)in;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    deflate(&stream, Z_FINISH);
    size_t used = stream.total_out;
    deflateEnd(&stream);
    return used;
}

static size_t libdeflate_compress(int level, const uint8_t *in, size_t size, uint8_t *out,
                                  size_t room)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    size_t used = libdeflate_gzip_compress(compressor, in, size, out, room);
    libdeflate_free_compressor(compressor);
    return used;
}

static size_t isal_compress(int level, const uint8_t *in, size_t size, uint8_t *out, size_t room)
{
    static const uint32_t ROOM[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT,
                                    ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
    struct isal_zstream stream;
    isal_deflate_init(&stream);
    stream.level = (uint32_t)level;
    stream.level_buf_size = ROOM[level];
    stream.level_buf = memory_allocate(ROOM[level] + 1);
    stream.gzip_flag = IGZIP_GZIP;
    stream.end_of_stream = 1;
    stream.next_in = (uint8_t *)in;
    stream.avail_in = (uint32_t)size;
    stream.next_out = out;
    stream.avail_out = (uint32_t)room;
    isal_deflate(&stream);
    free(stream.level_buf);
    return room - stream.avail_out;
}

static int measure_compressors(const char *path)
{
    static const struct {
        const char *name;
        size_t (*compress)(int level, const uint8_t *in, size_t size, uint8_t *out, size_t room);
        int level;
    } COMPRESSORS[] = {
        {"zlib", zlib_compress, 1},
        {"zlib", zlib_compress, 6},
        {"libdeflate", libdeflate_compress, 1},
        {"libdeflate", libdeflate_compress, 6},
        {"isa-l", isal_compress, 0},
        {"isa-l", isal_compress, 1},
        {"isa-l", isal_compress, 2},
        {"isa-l", isal_compress, 3},
    };
    struct file_view view;
    struct error error;
    if (!file_map(&view, path, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    size_t room = view.size + view.size / 8 + 4096;
    uint8_t *out = memory_allocate(room);
    memset(out, 0, room);
    printf("%s: %.1f MB\n%-12s %6s %10s %8s %10s\n", path, (double)view.size / 1e6, "compressor",
           "level", "MB", "share", "MB/s");
    for (size_t i = 0; i < sizeof COMPRESSORS / sizeof COMPRESSORS[0]; i++) {
        double start = thread_seconds();
        size_t used =
            COMPRESSORS[i].compress(COMPRESSORS[i].level, view.bytes, view.size, out, room);
        double taken = thread_seconds() - start;
        printf("%-12s %6d %10.2f %7.1f%% %10.0f\n", COMPRESSORS[i].name, COMPRESSORS[i].level,
               (double)used / 1e6, 100.0 * (double)used / (double)view.size,
               (double)view.size / 1e6 / taken);
    }
    free(out);
    file_unmap(&view);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--compressors") == 0)
        return measure_compressors(argv[2]);
    return measure_writing(argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000);
}
