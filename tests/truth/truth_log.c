#include "truth_log.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_zero(const char *entry, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (entry[i])
            return false;
    return true;
}

/* Entries in use are followed by zero ones. */
static uint64_t count_entries(const struct truth_file *file, size_t entry_size)
{
    const char *entries = (const char *)(file->header + 1);
    uint64_t low = 0, high = (file->size - sizeof *file->header) / entry_size;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_zero(entries + middle * entry_size, entry_size))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Takes `path`. */
static bool open_file(struct truth_file *file, char *path, uint64_t magic, size_t entry_size)
{
    struct stat status;
    *file = (struct truth_file){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &status) == 0 && (size_t)status.st_size > sizeof *file->header) {
        file->size = (size_t)status.st_size;
        void *mapped = mmap(NULL, file->size, PROT_READ, MAP_SHARED, descriptor, 0);
        file->header = mapped == MAP_FAILED ? NULL : mapped;
    }
    close(descriptor);
    if (!file->header || file->header->magic != magic)
        return false;
    file->count = count_entries(file, entry_size);
    return true;
}

static void close_file(struct truth_file *file)
{
    if (file->header)
        munmap((void *)(uintptr_t)file->header, file->size);
    file->header = NULL;
}

bool truth_log_open(struct truth_log *log, const char *directory, uint32_t pid, uint32_t tid,
                    uint32_t generation)
{
    *log = (struct truth_log){0};
    if (!open_file(&log->record_file, memory_format("%s/%u.%u.%u", directory, pid, tid, generation),
                   TRUTH_RECORDS_MAGIC, sizeof *log->records) ||
        !open_file(&log->block_file, memory_format("%s/%u.%u.blocks", directory, pid, generation),
                   TRUTH_BLOCKS_MAGIC, sizeof *log->blocks)) {
        truth_log_close(log);
        return false;
    }
    log->records = (const struct truth_record *)(log->record_file.header + 1);
    log->blocks = (const struct truth_block *)(log->block_file.header + 1);
    log->record_count = log->record_file.count;
    log->block_count = log->block_file.count;
    for (uint64_t i = 0; i < log->record_count; i++)
        if (log->records[i].block > log->block_count)
            log->record_count = i;
    return true;
}

void truth_log_close(struct truth_log *log)
{
    close_file(&log->record_file);
    close_file(&log->block_file);
}
