/* Where the index of a trace lies, and whether it is still that trace's (index_builder.h). */
#include "base/file.h"
#include "base/memory.h"
#include "index/build/index_builder.h"
#include "index/file/index_format.h"
#include "output/fxt/fxt_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char SUFFIX[] = ".magic-trace-index";

/* ---- which trace it is ---- */

/* Bytes at either end of a trace that are looked at: the rest is too much to read each time. */
enum { LOOKED_AT = 64 << 10 };

static bool hash_end(int descriptor, uint64_t offset, uint64_t *hash)
{
    char *bytes = memory_allocate(LOOKED_AT);
    ssize_t got = pread(descriptor, bytes, LOOKED_AT, (off_t)offset);
    if (got >= 0)
        *hash = XXH3_64bits_withSeed(bytes, (size_t)got, *hash);
    free(bytes);
    return got >= 0;
}

static bool hash_trace(int descriptor, const struct stat *status, uint64_t *id)
{
    const uint64_t facts[] = {
        INDEX_VERSION,
        (uint64_t)status->st_size,
        (uint64_t)status->st_ino,
        (uint64_t)status->st_mtim.tv_sec,
        (uint64_t)status->st_mtim.tv_nsec,
    };
    *id = XXH3_64bits(facts, sizeof facts);
    uint64_t size = (uint64_t)status->st_size;
    return hash_end(descriptor, 0, id) &&
           (size <= LOOKED_AT || hash_end(descriptor, size - LOOKED_AT, id));
}

/* The number that names the trace as it is now. */
static bool identify(const char *path, uint64_t *id, struct error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                               "cannot open %s", path);
    struct stat status;
    bool ok = fstat(descriptor, &status) == 0;
    if (ok && !S_ISREG(status.st_mode))
        ok = error_set(error, ERROR_USAGE,
                       "%s is no regular file, so no index can be kept for it. Save it to a file",
                       path);
    else if (!ok || !hash_trace(descriptor, &status, id))
        ok = error_set_errno(error, ERROR_IO, errno, "cannot read %s", path);
    close(descriptor);
    return ok;
}

bool index_is_current(const char *path, uint64_t id)
{
    uint64_t now;
    return identify(path, &now, NULL) && now == id;
}

/* ---- where it lies ---- */

/* NULL when there is no place for one. */
static char *cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return memory_format("%s/magic-trace", cache);
    return home && *home == '/' ? memory_format("%s/.cache/magic-trace", home) : NULL;
}

/* The cache stores the index under the trace's whole path, because traces of different folders may
 * have the same name. */
static char *path_in_cache(const char *folder, const char *trace)
{
    char *whole = realpath(trace, NULL);
    const char *named = whole ? whole : trace;
    uint64_t hash = XXH3_64bits(named, strlen(named));
    char *path = memory_format("%s/%016llx%s", folder, (unsigned long long)hash, SUFFIX);
    free(whole);
    return path;
}

/* The index at `path`, if it is the trace's. */
static struct trace_index *open_if_current(const char *path, uint64_t id)
{
    struct trace_index *index = trace_index_open(path, NULL);
    if (!index || trace_index_facts(index)->id == id)
        return index;
    trace_index_close(index);
    return NULL;
}

static bool index_trace(void *context, const char *index, uint64_t id, struct error *error)
{
    struct span_source *source = fxt_read(context, error);
    if (!source)
        return false;
    bool ok = index_build(source, index, id, error);
    source->close(source);
    return ok;
}

static struct trace_index *build(const struct index_maker *maker, const char *path, uint64_t id,
                                 struct error *error)
{
    return maker->make(maker->context, path, id, error) ? trace_index_open(path, error) : NULL;
}

/* The places where an index of the trace may be; owned. */
struct index_places {
    char *beside;
    char *folder, *cached; /* NULL: there is no cache */
};

static struct index_places places_of(const char *trace)
{
    char *folder = cache_folder();
    return (struct index_places){
        .beside = memory_format("%s%s", trace, SUFFIX),
        .folder = folder,
        .cached = folder ? path_in_cache(folder, trace) : NULL,
    };
}

static void places_free(struct index_places *places)
{
    free(places->beside);
    free(places->folder);
    free(places->cached);
}

static struct trace_index *open_in(const struct index_places *places, uint64_t id)
{
    struct trace_index *index = open_if_current(places->beside, id);
    return index || !places->cached ? index : open_if_current(places->cached, id);
}

/* The folder of a trace may belong to someone else, or be full. */
static struct trace_index *open_or_build(const struct index_maker *maker,
                                         const struct index_places *places, uint64_t id,
                                         struct error *error)
{
    struct trace_index *index = open_in(places, id);
    if (!index)
        index = build(maker, places->beside, id, error);
    if (!index && places->folder && error->code == ERROR_IO) {
        *error = (struct error){0};
        if (file_make_directories(places->folder, error))
            index = build(maker, places->cached, id, error);
    }
    return index;
}

struct trace_index *index_of_file(const char *path, const struct index_maker *maker,
                                  struct error *error)
{
    uint64_t id;
    struct error reason = {0};
    if (!identify(path, &id, error))
        return NULL;
    struct index_places places = places_of(path);
    struct trace_index *index = open_or_build(maker, &places, id, &reason);
    places_free(&places);
    if (!index && error)
        *error = reason;
    return index;
}

struct trace_index *index_of_trace(const char *path, struct error *error)
{
    const struct index_maker maker = {.make = index_trace, .context = (char *)path};
    return index_of_file(path, &maker, error);
}

struct trace_index *index_made_before(const char *path)
{
    uint64_t id;
    if (!identify(path, &id, NULL))
        return NULL;
    struct index_places places = places_of(path);
    struct trace_index *index = open_in(&places, id);
    places_free(&places);
    return index;
}
