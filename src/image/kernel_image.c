#include "image/kernel_image.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/build_id_cache.h"
#include "image/kallsyms.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

struct kernel_search {
    const struct perf_data *data;
    const char *directory;
    struct file_table *files;
    struct arena *memory;
    struct array mappings; /* struct mapping */
};

static const char kernel_name[] = "[kernel.kallsyms]";

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* ---- kcore ---- */

static void add_segment(struct kernel_search *search, const struct image_file *file,
                        const struct image_segment *segment, uint64_t shift)
{
    if (segment->file_size == 0)
        return;
    *(struct mapping *)array_add(&search->mappings) = (struct mapping){
        .start = segment->address + shift,
        .end = segment->address + shift + segment->file_size,
        .file_offset = segment->file_offset,
        .file = file,
    };
}

static void add_record_symbols(const struct perf_data *data, struct arena *memory,
                               struct array *symbols)
{
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind == SIDEBAND_KERNEL_SYMBOL && !record->kernel_symbol.gone &&
            record->kernel_symbol.start <= UINT64_MAX - record->kernel_symbol.length)
            *(struct image_symbol *)array_add(symbols) = (struct image_symbol){
                .name = arena_copy_string(memory, record->kernel_symbol.name),
                .start = record->kernel_symbol.start,
                .size = record->kernel_symbol.length,
            };
    }
}

/* Adds to `symbols` those of eBPF programs and the like. */
static void give_names(struct kernel_search *search, struct image_file *file, struct array *symbols)
{
    add_record_symbols(search->data, search->memory, symbols);
    size_t size = symbols->count * sizeof(struct image_symbol);
    struct image_symbol *kept = arena_allocate(search->memory, size ? size : 1);
    if (size)
        memcpy(kept, symbols->elements, size);
    file->symbols = kept;
    file->symbol_count = symbols->count;
}

static void name_kernel(struct kernel_search *search, struct image_file *file, const char *path)
{
    struct array symbols = array_of(sizeof(struct image_symbol));
    kallsyms_read(path, search->memory, &symbols);
    give_names(search, file, &symbols);
    array_free(&symbols);
}

static bool take_kcore(struct kernel_search *search, const char *folder)
{
    char *path = memory_format("%s/%s/kcore", search->directory, folder);
    char *names = memory_format("%s/%s/kallsyms", search->directory, folder);
    struct image_file *file =
        is_file(path) ? file_table_add(search->files, kernel_name, path, NULL) : NULL;
    if (file) {
        for (uint32_t i = 0; i < file->segment_count; i++)
            add_segment(search, file, &file->segments[i], 0);
        name_kernel(search, file, names);
    }
    free(path);
    free(names);
    return file;
}

/* ---- vmlinux ---- */

/* perf records the position of the kernel as a mapping, whose name ends with the name of a symbol
 * at its beginning (perf_event__synthesize_kernel_mmap). NULL without one. */
static const struct sideband_record *find_kernel_mapping(const struct perf_data *data)
{
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind == SIDEBAND_MAPPING && record->mapping.kernel &&
            strncmp(record->mapping.path, kernel_name, strlen(kernel_name)) == 0)
            return record;
    }
    return NULL;
}

static struct build_id kernel_build_id(const struct perf_data *data)
{
    for (size_t i = 0; i < data->build_id_count; i++)
        if (data->build_ids[i].kernel && strcmp(data->build_ids[i].path, kernel_name) == 0)
            return build_id_of(data->build_ids[i].id, data->build_ids[i].size);
    return (struct build_id){.size = 0};
}

/* Its first code begins where the recording says that the kernel begins. */
static bool place_vmlinux(struct kernel_search *search, const struct image_file *file,
                          const struct sideband_record *where)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].executable && file->segments[i].address < first)
            first = file->segments[i].address;
    if (first == UINT64_MAX)
        return false;
    /* The file offset is the address of the symbol, which of "_text" is the beginning. */
    bool is_text = strcmp(where->mapping.path + strlen(kernel_name), "_text") == 0;
    uint64_t start = is_text ? where->mapping.file_offset : where->mapping.start;
    for (uint32_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].executable &&
            file->segments[i].address + (start - first) <= UINT64_MAX - file->segments[i].file_size)
            add_segment(search, file, &file->segments[i], start - first);
    return true;
}

/* Takes the file at `path`, which is freed. */
static bool try_vmlinux(struct kernel_search *search, char *path, const struct build_id *wanted,
                        const struct sideband_record *where)
{
    const struct image_file *file =
        path && is_file(path) ? file_table_add(search->files, kernel_name, path, wanted) : NULL;
    free(path);
    return file && place_vmlinux(search, file, where);
}

static bool take_vmlinux(struct kernel_search *search)
{
    static const char *const places[] = {
        "/usr/lib/debug/boot/vmlinux-%s",
        "/usr/lib/debug/lib/modules/%s/vmlinux",
        "/lib/modules/%s/build/vmlinux",
        "/boot/vmlinux-%s",
    };
    const struct sideband_record *where = find_kernel_mapping(search->data);
    const char *release = search->data->kernel_release;
    const struct build_id id = kernel_build_id(search->data);
    if (!where)
        return false;
    if (search->directory &&
        try_vmlinux(search, memory_format("%s/images/vmlinux", search->directory), NULL, where))
        return true;
    if (id.size == 0)
        return false; /* any other would be a guess */
    bool found = try_vmlinux(search, build_id_cache_find(&id), &id, where);
    for (size_t i = 0; !found && release && i < sizeof places / sizeof *places; i++) {
        const char *gap = strstr(places[i], "%s");
        found =
            !strchr(release, '/') && try_vmlinux(search,
                                                 memory_format("%.*s%s%s", (int)(gap - places[i]),
                                                               places[i], release, gap + 2),
                                                 &id, where);
    }
    return found;
}

/* ---- names alone ---- */

/* Whether the kernel that runs is the recorded one, and lies where that lay. */
static bool is_running_kernel(const struct perf_data *data, const struct array *symbols)
{
    struct utsname running;
    const struct sideband_record *where = find_kernel_mapping(data);
    if (!where || !data->kernel_release || uname(&running) != 0 ||
        strcmp(running.release, data->kernel_release) != 0)
        return false;
    const char *first = where->mapping.path + strlen(kernel_name);
    for (size_t i = 0; i < symbols->count; i++) {
        const struct image_symbol *symbol = array_at(symbols, i);
        if (strcmp(symbol->name, first) == 0)
            return symbol->start == where->mapping.file_offset;
    }
    return false;
}

/* The bounds of what is named: the last function is taken to be on one page. */
static void add_named_kernel(struct kernel_search *search, struct array *symbols)
{
    enum { LAST_FUNCTION = 4096 };
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct image_symbol *symbol = array_at(symbols, i);
        if (symbol->start >> 63 == 0)
            continue; /* relative to a processor's own memory */
        first = symbol->start < first ? symbol->start : first;
        last = symbol->start > last ? symbol->start : last;
    }
    if (first > last || last > UINT64_MAX - LAST_FUNCTION)
        return;
    struct image_file *file =
        file_table_add_names(search->files, kernel_name, first, last + LAST_FUNCTION - first);
    add_segment(search, file, &file->segments[0], 0);
    give_names(search, file, symbols);
}

/* Samples need no code: a copy of /proc/kallsyms in the recording's folder, or that of the kernel
 * that runs, if it is the same. */
static bool take_names(struct kernel_search *search)
{
    struct array symbols = array_of(sizeof(struct image_symbol));
    if (search->data->has_setup)
        return false;
    if (search->directory) {
        char *path = memory_format("%s/images/kallsyms", search->directory);
        kallsyms_read(path, search->memory, &symbols);
        free(path);
    }
    if (symbols.count == 0) {
        kallsyms_read("/proc/kallsyms", search->memory, &symbols);
        if (!is_running_kernel(search->data, &symbols))
            symbols.count = 0;
    }
    if (symbols.count > 0)
        add_named_kernel(search, &symbols);
    array_free(&symbols);
    return search->mappings.count > 0;
}

/* ---- all ---- */

static int compare_mappings(const void *left, const void *right)
{
    const struct mapping *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Sorted, and where a damaged file has overlapping segments, the earlier ones cut. */
static void hand_over(struct kernel_search *search, struct kernel_space *space)
{
    struct mapping *mappings = search->mappings.elements;
    size_t count = search->mappings.count;
    if (count > 0)
        qsort(mappings, count, sizeof *mappings, compare_mappings);
    for (size_t i = 0; i + 1 < count; i++)
        if (mappings[i].end > mappings[i + 1].start)
            mappings[i].end = mappings[i + 1].start;
    *space = (struct kernel_space){mappings, count};
}

void kernel_image_find(struct kernel_space *space, const struct perf_data *data,
                       const char *directory, struct file_table *files, struct arena *memory)
{
    struct kernel_search search = {.data = data,
                                   .directory = directory,
                                   .files = files,
                                   .memory = memory,
                                   .mappings = array_of(sizeof(struct mapping))};
    bool found = (directory &&
                  (take_kcore(&search, "kcore_dir") || take_kcore(&search, "perf.data/kcore_dir") ||
                   take_kcore(&search, "images"))) ||
                 take_vmlinux(&search) || take_names(&search);
    hand_over(&search, space);
    if (!found && !data->has_setup)
        log_warning("samples of the kernel (%s) are in %s, but the names of its functions are not "
                    "here: they show as [kernel]. Decode as root on the machine where it was "
                    "recorded, or put a copy of its /proc/kallsyms as images/kallsyms beside "
                    "perf.data.",
                    data->kernel_release ? data->kernel_release : "of a release that is not known",
                    data->path);
    else if (!found)
        log_warning("the kernel (%s) was traced, too, but its code is not here. Record with perf "
                    "record --kcore, or put its vmlinux as images/vmlinux beside perf.data.",
                    data->kernel_release ? data->kernel_release : "of a release that is not known");
}
