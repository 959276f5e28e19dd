/* Where the index of a trace lies, and whether it is still that trace's (index_builder.h). */
#include "base/file.h"
#include "base/memory.h"
#include "output/fxt_reader.h"
#include "view/index_builder.h"
#include "view/index_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char SUFFIX[] = ".magic-trace-index";

/* ---- which trace it is ---- */

/* Bytes at either end of a trace that are looked at: the rest is too much to read each time. */
enum { LOOKED_AT = 64 << 10 };

/* FNV-1a. */
static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool hash_end(int descriptor, uint64_t offset, uint64_t *hash)
{
    char *bytes = memory_allocate(LOOKED_AT);
    ssize_t got = pread(descriptor, bytes, LOOKED_AT, (off_t)offset);
    if (got >= 0)
        *hash = add_to_hash(*hash, bytes, (size_t)got);
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
    *id = add_to_hash(UINT64_C(0xcbf29ce484222325), facts, sizeof facts);
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

/* In the cache a trace goes by its whole path, which its own name would not tell apart. */
static char *path_in_cache(const char *trace, struct error *error)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_cache = cache && *cache == '/';
    if (!has_cache && (!home || *home != '/')) {
        error_set(error, ERROR_IO,
                  "there is no folder for the index of %s: HOME is not set. Set XDG_CACHE_HOME",
                  trace);
        return NULL;
    }
    char *folder = has_cache ? memory_format("%s/magic-trace", cache)
                             : memory_format("%s/.cache/magic-trace", home);
    char *whole = realpath(trace, NULL);
    const char *named = whole ? whole : trace;
    char *path = NULL;
    if (file_make_directories(folder, error)) {
        uint64_t hash = add_to_hash(UINT64_C(0xcbf29ce484222325), named, strlen(named));
        path = memory_format("%s/%016llx%s", folder, (unsigned long long)hash, SUFFIX);
    }
    free(whole);
    free(folder);
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

static struct trace_index *build(const char *trace, const char *path, uint64_t id,
                                 struct error *error)
{
    struct span_source *source = fxt_read(trace, error);
    if (!source)
        return NULL;
    bool ok = index_build(source, path, id, error);
    source->close(source);
    return ok ? trace_index_open(path, error) : NULL;
}

/* The folder of a trace may belong to someone else, or be full. */
static struct trace_index *open_or_build(const char *trace, const char *beside, uint64_t id,
                                         struct error *error)
{
    struct trace_index *index = open_if_current(beside, id);
    if (index)
        return index;
    struct error ignored = {0};
    char *cached = path_in_cache(trace, &ignored);
    if (cached)
        index = open_if_current(cached, id);
    if (!index)
        index = build(trace, beside, id, error);
    if (!index && cached && error->code == ERROR_IO)
        index = build(trace, cached, id, error);
    free(cached);
    return index;
}

struct trace_index *index_of_trace(const char *path, struct error *error)
{
    uint64_t id;
    struct error reason = {0};
    if (!identify(path, &id, error))
        return NULL;
    char *beside = memory_format("%s%s", path, SUFFIX);
    struct trace_index *index = open_or_build(path, beside, id, &reason);
    free(beside);
    if (!index && error)
        *error = reason;
    return index;
}
