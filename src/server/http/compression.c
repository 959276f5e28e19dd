#include "server/http/compression.h"

#include "base/memory.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    WORTH_COMPRESSING = 1400, /* about what one packet of a network holds */
    LEVEL = 1,
};

/* `gzip;q=0` forbids what `gzip` alone allows. */
static bool is_forbidden(const char *parameters, size_t length)
{
    const char *quality = memmem(parameters, length, "q=", 2);
    if (!quality)
        return false;
    const char *digits = quality + 2;
    return strspn(digits, "0.") >= strcspn(digits, ", \t;");
}

bool compression_takes_gzip(const char *accept_encoding)
{
    static const char name[] = "gzip";
    for (const char *at = accept_encoding; at && *at; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ",");
        if (length < strlen(name) || strncasecmp(at, name, strlen(name)) != 0)
            continue;
        const char *after = at + strlen(name);
        if (strchr(",; \t", *after))
            return !is_forbidden(after, length - strlen(name));
    }
    return false;
}

bool compression_pays(const char *type, size_t size)
{
    return size >= WORTH_COMPRESSING && type &&
           (strncmp(type, "text/", 5) == 0 || strncmp(type, "image/svg", 9) == 0 ||
            strcmp(type, "application/json") == 0);
}

char *compression_gzip(const char *bytes, size_t size, size_t *compressed)
{
    if (size > UINT32_MAX)
        return NULL;
    struct isal_zstream *stream = memory_allocate(sizeof *stream);
    uint8_t *level_buffer = memory_allocate(ISAL_DEF_LVL1_DEFAULT);
    char *output = memory_allocate(size);
    isal_deflate_init(stream);
    stream->level = LEVEL;
    stream->level_buf = level_buffer;
    stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    stream->gzip_flag = IGZIP_GZIP;
    stream->next_in = (uint8_t *)bytes; /* read only, though isa-l's type does not say so */
    stream->avail_in = (uint32_t)size;
    stream->next_out = (uint8_t *)output;
    stream->avail_out = (uint32_t)size;
    stream->end_of_stream = 1;
    bool ok = isal_deflate(stream) == COMP_OK && stream->internal_state.state == ZSTATE_END;
    *compressed = size - stream->avail_out;
    free(level_buffer);
    free(stream);
    if (ok && *compressed < size)
        return output;
    free(output);
    return NULL;
}
