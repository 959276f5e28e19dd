/* /api/tiles: what is drawn, as columns of little-endian numbers. */
#include "base/memory.h"
#include "index/tiles.h"
#include "server/answers/query.h"

#include <stdlib.h>
#include <string.h>

enum {
    TILES_MAX = 200000,
    TILES_MAGIC = 0x3150544d, /* "MTP1" */
    HEADER_SIZE = 16,
    TILE_SIZE = 2 * 8 + 4 * 4,
};

static bool read_request(const struct query *query, struct tiles_request *request,
                         struct error *error)
{
    const struct parameters *parameters = query->parameters;
    const uint64_t coarsest = UINT64_C(1) << 62;
    uint64_t depth, rows;
    *request = (struct tiles_request){.limit = TILES_MAX};
    if (!query_track(query, &request->track, error) ||
        !query_range(query, &request->range, error) ||
        !parameter_number(parameters, "resolution", 1, 1, coarsest, &request->resolution, error) ||
        !parameter_number(parameters, "depth", 0, 0, UINT32_MAX, &depth, error) ||
        !parameter_number(parameters, "rows", UINT32_MAX, 1, UINT32_MAX, &rows, error))
        return false;
    if (request->resolution & (request->resolution - 1))
        return error_set(error, ERROR_USAGE, "`resolution` is a power of two.");
    request->depth = (uint32_t)depth;
    request->rows = (uint32_t)(rows < UINT32_MAX - depth ? rows : UINT32_MAX - depth);
    return true;
}

static uint32_t tile_flags(const struct index_tile *tile)
{
    return tile->flags | (uint32_t)tile->ending << 8;
}

/* x86 is little-endian, so numbers are copied as they are. */
static char *write_columns(const struct array *tiles, bool more, size_t *size)
{
    size_t count = tiles->count;
    *size = HEADER_SIZE + count * TILE_SIZE;
    char *bytes = memory_allocate(*size);
    const uint32_t header[] = {TILES_MAGIC, (uint32_t)count, more, 0};
    memcpy(bytes, header, sizeof header);
    double *start = (double *)(bytes + HEADER_SIZE), *end = start + count;
    uint32_t *depth = (uint32_t *)(end + count), *function = depth + count;
    uint32_t *spans = function + count, *flags = spans + count;
    for (size_t i = 0; i < count; i++) {
        const struct index_tile *tile = array_at(tiles, i);
        start[i] = (double)tile->start;
        end[i] = (double)tile->end;
        depth[i] = tile->depth;
        function[i] = tile->function;
        spans[i] = tile->spans;
        flags[i] = tile_flags(tile);
    }
    return bytes;
}

bool answer_tiles(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct tiles_request request;
    if (!read_request(query, &request, error))
        return false;
    struct array tiles = array_of(sizeof(struct index_tile));
    bool more = false;
    bool ok = index_tiles(query->index, &request, &tiles, &more, error);
    if (ok) {
        answer->type = "application/octet-stream";
        answer->bytes = write_columns(&tiles, more, &answer->size);
    }
    array_free(&tiles);
    return ok;
}
