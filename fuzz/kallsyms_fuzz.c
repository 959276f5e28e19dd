/* Fuzz target: any bytes as a copy of /proc/kallsyms. Each symbol has a name. */
#include "image/kallsyms.h"

#include "base/memory.h"
#include "image/image_file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int file = memfd_create("kallsyms", MFD_CLOEXEC);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    char *path = memory_format("/proc/self/fd/%d", file);
    struct array symbols = array_of(sizeof(struct image_symbol));
    struct arena memory = {0};
    kallsyms_read(path, &memory, &symbols);
    for (size_t i = 0; i < symbols.count; i++)
        if (!*((const struct image_symbol *)array_at(&symbols, i))->name)
            abort();
    array_free(&symbols);
    arena_free(&memory);
    free(path);
    close(file);
    return 0;
}
