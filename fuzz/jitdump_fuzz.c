/* Whatever bytes a jit-PID.dump has: reading it ends, and all code that is reported lies in it. */
#include "image/jitdump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Keeps the reading of the result from being optimised away. */
static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct file_view view = {bytes, size};
    struct jitdump dump;
    if (!jitdump_read(&dump, &view))
        return 0;
    for (size_t i = 0; i < dump.codes.count; i++) {
        const struct jitdump_code *code = array_at(&dump.codes, i);
        if (code->size == 0 || code->file_offset > size || code->size > size - code->file_offset ||
            code->address > UINT64_MAX - code->size)
            abort();
        sink += strlen(code->name) + bytes[code->file_offset + code->size - 1];
    }
    jitdump_free(&dump);
    return 0;
}
