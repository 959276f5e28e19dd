/* Whatever bytes an index file has: every question is answered or refused, and what answers name is
 * readable.
 *
 * The first 8 bytes choose the questions. The magic number and the version are corrected, so that
 * the rest is read.
 */
#include "ask_everything.h"
#include "index/file/index_format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct index_header header;
    uint64_t seed;
    if (size < sizeof seed + sizeof header)
        return 0;
    memcpy(&seed, bytes, sizeof seed);
    size -= sizeof seed;
    uint8_t *index = malloc(size);
    memcpy(index, bytes + sizeof seed, size);
    memcpy(&header, index, sizeof header);
    memcpy(header.magic, INDEX_MAGIC, sizeof header.magic);
    header.version = INDEX_VERSION;
    header.file_size = size;
    memcpy(index, &header, sizeof header);
    ask_everything(index, size, seed);
    free(index);
    return 0;
}
