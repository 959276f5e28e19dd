#include "image/kernel_changes.h"

/* Where `address` lies in the kernel; NULL when it does not. */
static const struct mapping *find_code(const struct kernel_space *space, uint64_t address,
                                       size_t size)
{
    for (size_t i = 0; i < space->mapping_count; i++) {
        const struct mapping *mapping = &space->mappings[i];
        if (address >= mapping->start && address < mapping->end && size <= mapping->end - address)
            return mapping;
    }
    return NULL;
}

static void add_change(struct array *changes, struct ticks time, const struct mapping *code,
                       uint64_t address, const struct image_file *file)
{
    *(struct address_space_change *)array_add(changes) = (struct address_space_change){
        .time = time,
        .kind = ADDRESS_SPACE_MAP,
        .mapping =
            {
                .start = address,
                .end = address + file->view.size,
                .file = file,
                .patched = code->file,
                .patched_offset = code->file_offset + (address - code->start),
            },
    };
}

static bool was_changed_before(const struct array *changes, uint64_t address)
{
    for (size_t i = 0; i < changes->count; i++)
        if (((const struct address_space_change *)array_at(changes, i))->mapping.start == address)
            return true;
    return false;
}

static void add_record(const struct sideband_record *record, const struct mapping *code,
                       const struct perf_data *data, struct file_table *files, struct array *before,
                       struct array *changes)
{
    uint64_t address = record->code_change.address;
    if (record->code_change.old_size > 0 && !was_changed_before(before, address))
        add_change(before, (struct ticks){0}, code, address,
                   file_table_add_bytes(files, code->file->path, record->code_change.old_bytes,
                                        record->code_change.old_size));
    if (record->code_change.size > 0)
        add_change(changes, clock_to_ticks(&data->setup.clock, record->time), code, address,
                   file_table_add_bytes(files, code->file->path, record->code_change.bytes,
                                        record->code_change.size));
}

struct array kernel_changes_find(const struct perf_data *data, const struct kernel_space *space,
                                 struct file_table *files)
{
    /* A kernel flips some hundred keys a second at most; a damaged recording must not cost hours.
     */
    enum { CHANGES_MAX = 10000 };
    struct array before = array_of(sizeof(struct address_space_change));
    struct array changes = array_of(sizeof(struct address_space_change));
    for (size_t i = 0; i < data->record_count && changes.count < CHANGES_MAX; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind != SIDEBAND_CODE_CHANGE)
            continue;
        size_t size = record->code_change.size, old_size = record->code_change.old_size;
        const struct mapping *code =
            find_code(space, record->code_change.address, size > old_size ? size : old_size);
        if (code)
            add_record(record, code, data, files, &before, &changes);
    }
    array_add_all(&before, changes.elements, changes.count);
    array_free(&changes);
    return before;
}

void kernel_changes_add(struct array *changes, const struct array *kernel_changes)
{
    /* Far more than real recordings have: many processes that each execute many programs. */
    enum { TOTAL_MAX = 1 << 22 };
    struct array merged = array_of(sizeof(struct address_space_change));
    size_t next = 0;
    for (size_t i = 0; i < changes->count; i++) {
        const struct address_space_change *change = array_at(changes, i);
        for (; next < kernel_changes->count; next++) {
            const struct address_space_change *of_kernel = array_at(kernel_changes, next);
            if (of_kernel->time.value > change->time.value)
                break;
            array_add_all(&merged, of_kernel, 1);
        }
        array_add_all(&merged, change, 1);
        size_t again = change->kind == ADDRESS_SPACE_CLEAR && merged.count < TOTAL_MAX ? next : 0;
        for (size_t j = 0; j < again; j++) {
            struct address_space_change *repeated = array_add(&merged);
            *repeated = *(struct address_space_change *)array_at(kernel_changes, j);
            repeated->time = change->time;
        }
    }
    array_add_all(&merged, array_at(kernel_changes, next), kernel_changes->count - next);
    array_free(changes);
    *changes = merged;
}
