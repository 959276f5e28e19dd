#include "output/export/track_spool.h"

#include "base/file.h"
#include "base/memory.h"
#include "output/text_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Thousands of tracks have to fit memory. */
enum { BUFFER_SIZE = 16 << 10 };

struct extent {
    uint64_t offset, size;
};

struct spooled_track {
    char *buffer; /* BUFFER_SIZE bytes; NULL: the track is empty. Owned */
    size_t used;
    struct array extents; /* of struct extent: where in the file what came before lies */
};

void track_spool_init(struct track_spool *spool, size_t track_count)
{
    *spool = (struct track_spool){.track_count = track_count};
    spool->tracks = memory_allocate_zeroed((track_count + 1) * sizeof *spool->tracks);
    for (size_t i = 0; i < track_count; i++)
        spool->tracks[i].extents = array_of(sizeof(struct extent));
}

void track_spool_free(struct track_spool *spool)
{
    for (size_t i = 0; i < spool->track_count; i++) {
        free(spool->tracks[i].buffer);
        array_free(&spool->tracks[i].extents);
    }
    free(spool->tracks);
    if (spool->file)
        fclose(spool->file);
}

static bool write_buffer(struct track_spool *spool, const struct spooled_track *track)
{
    if (!spool->file && !(spool->file = tmpfile()))
        return error_set_errno(&spool->error, ERROR_IO, errno,
                               "cannot make a temporary file in /tmp");
    return file_write_all(fileno(spool->file), track->buffer, track->used,
                          "a temporary file in /tmp", &spool->error);
}

static void empty_buffer(struct track_spool *spool, struct spooled_track *track)
{
    if (!spool->failed && !write_buffer(spool, track))
        spool->failed = true;
    struct extent *last =
        track->extents.count ? array_at(&track->extents, track->extents.count - 1) : NULL;
    if (last && last->offset + last->size == spool->size)
        last->size += track->used;
    else
        *(struct extent *)array_add(&track->extents) = (struct extent){spool->size, track->used};
    spool->size += track->used;
    track->used = 0;
}

void track_spool_put(struct track_spool *spool, uint32_t track, const void *bytes, size_t size)
{
    struct spooled_track *spooled = &spool->tracks[track];
    if (!spooled->buffer)
        spooled->buffer = memory_allocate(BUFFER_SIZE);
    while (size > 0) {
        size_t room = BUFFER_SIZE - spooled->used;
        size_t part = size < room ? size : room;
        memcpy(spooled->buffer + spooled->used, bytes, part);
        spooled->used += part;
        bytes = (const char *)bytes + part;
        size -= part;
        if (spooled->used == BUFFER_SIZE)
            empty_buffer(spool, spooled);
    }
}

static bool copy_extent(const struct track_spool *spool, const struct extent *extent,
                        struct block_writer *out, struct error *error)
{
    char part[BUFFER_SIZE];
    for (uint64_t done = 0; done < extent->size;) {
        uint64_t left = extent->size - done;
        ssize_t got = pread(fileno(spool->file), part, left < sizeof part ? left : sizeof part,
                            (off_t)(extent->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set_errno(error, ERROR_IO, got < 0 ? errno : EIO,
                                   "cannot read back a temporary file in /tmp");
        text_put_bytes(out, part, (size_t)got);
        done += (uint64_t)got;
    }
    return true;
}

bool track_spool_copy(struct track_spool *spool, uint32_t track, struct block_writer *out,
                      struct error *error)
{
    if (spool->failed) {
        if (error)
            *error = spool->error;
        return false;
    }
    const struct spooled_track *spooled = &spool->tracks[track];
    for (size_t i = 0; i < spooled->extents.count; i++)
        if (!copy_extent(spool, array_at(&spooled->extents, i), out, error))
            return false;
    text_put_bytes(out, spooled->buffer, spooled->used);
    return true;
}
