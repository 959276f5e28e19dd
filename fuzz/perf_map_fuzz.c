/* Fuzz target: any bytes as a perf-PID.map. Its symbols are named, in order, and do not overlap. */
#include "symbol/perf_map.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PID = 7 };

static char *new_folder(void)
{
    char *folder = memory_copy_string("/tmp/magic-trace-perf-map-fuzz.XXXXXX");
    if (!mkdtemp(folder))
        abort();
    return folder;
}

static void check(const struct symbol_table *table)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < table->range_count; i++) {
        const struct table_range *range = &table->ranges[i];
        if (range->start < end || range->end <= range->start ||
            range->function >= table->function_count || !table->functions[range->function].symbol)
            abort();
        end = range->end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char *folder;
    if (!folder)
        folder = new_folder();
    char *path = memory_format("%s/perf-%d.map", folder, PID);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0)
        abort();
    struct perf_map *map = perf_map_open(folder, PID, true);
    if (map) {
        check(&map->table);
        perf_map_close(map);
    }
    unlink(path);
    free(path);
    return 0;
}
