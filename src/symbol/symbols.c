/* Decoding threads look up addresses millions of times; new functions and objects are rare. So
 * lookups of known addresses take no lock: objects, perf maps and the function ids in their tables
 * are published by atomic stores after they are complete. Code that adds an entry holds `lock`.
 * Objects are opened in parallel, because that takes long: each with a libdw session of its own,
 * which no other thread can see yet; afterwards libdw, which is not thread-safe, is called under
 * `lock`.
 */
#include "symbol/symbols.h"

#include "base/arena.h"
#include "base/memory.h"
#include "image/image_search.h"
#include "symbol/demangle/demangle.h"
#include "symbol/dwarf/inlined_table.h"
#include "symbol/object.h"
#include "symbol/perf_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct function_record {
    struct function function;
    /* Where debug information comes from; NULL for JIT code and special functions. */
    struct object *object;
    struct source_line line;
    bool line_known;
    uint64_t origin; /* of inlined functions: see struct inlined_call */
};

/* Records never move: a chunk at a time is allocated. 2^26 functions are more than an address space
 * of executables can hold in practice; beyond it functions are unknown. */
enum { CHUNK_RECORDS = 4096, CHUNK_COUNT = 16384 };

/* What is known of an image file. */
struct file_slot {
    pthread_mutex_t opening;
    struct object *_Atomic object; /* NULL: not asked for yet */
    _Atomic function_id whole;     /* the one function that an image without symbols is taken for */
};

/* What is known of a process's JIT code. */
struct process_slot {
    atomic_bool looked_for_map;
    struct perf_map *own_map;    /* owned */
    struct perf_map *map;        /* its own or that of the process it was forked from; NULL: none */
    _Atomic function_id unnamed; /* "[JIT code]" */
};

struct symbols {
    const struct address_spaces *spaces;
    char *perf_map_directory;
    struct file_slot *files;        /* by image_file.id */
    struct process_slot *processes; /* parallel to spaces->processes */
    pthread_mutex_t lock;
    struct arena names;
    function_id function_count;
    struct function_record *_Atomic chunks[CHUNK_COUNT];
    bool finds_inlined;
    struct inlined_table inlined;
    const char *damaged; /* see symbols_damaged_debug_information */
};

/* Who a function belongs to that is in `file`; NULL: JIT code. */
static struct function function_in(const struct image_file *file)
{
    if (!file)
        return (struct function){.object = FUNCTION_JIT_OBJECT, .owner = CODE_OF_PROGRAM};
    return (struct function){.object = file->path, .owner = code_owner_of_file(file)};
}

static struct function_record *record_of(const struct symbols *symbols, function_id id)
{
    struct function_record *chunk =
        atomic_load_explicit(&symbols->chunks[id / CHUNK_RECORDS], memory_order_acquire);
    return &chunk[id % CHUNK_RECORDS];
}

/* Under the lock. The record is complete before its id is published. */
static function_id add_function(struct symbols *symbols, const struct function *function,
                                struct object *object)
{
    function_id id = symbols->function_count;
    if (id / CHUNK_RECORDS >= CHUNK_COUNT)
        return FUNCTION_UNKNOWN;
    if (id % CHUNK_RECORDS == 0)
        atomic_store_explicit(
            &symbols->chunks[id / CHUNK_RECORDS],
            memory_allocate_zeroed(CHUNK_RECORDS * sizeof(struct function_record)),
            memory_order_release);
    *record_of(symbols, id) = (struct function_record){.function = *function, .object = object};
    symbols->function_count++;
    return id;
}

static void add_special_functions(struct symbols *symbols)
{
    static const char *const names[FUNCTION_FIRST] = {
        [FUNCTION_UNKNOWN] = "[unknown]",
        [FUNCTION_UNTRACED] = "[untraced]",
        [FUNCTION_SYSCALL] = "[syscall]",
        [FUNCTION_INTERRUPT] = "[interrupt]",
    };
    for (size_t i = 0; i < FUNCTION_FIRST; i++)
        add_function(symbols, &(struct function){.name = names[i]}, NULL);
}

struct symbols *symbols_open(const struct address_spaces *spaces, const char *perf_map_directory)
{
    struct symbols *symbols = memory_allocate_zeroed(sizeof *symbols);
    symbols->spaces = spaces;
    symbols->perf_map_directory =
        perf_map_directory ? memory_copy_string(perf_map_directory) : NULL;
    symbols->files = memory_allocate_zeroed(spaces->file_count * sizeof *symbols->files);
    symbols->processes = memory_allocate_zeroed(spaces->process_count * sizeof *symbols->processes);
    pthread_mutex_init(&symbols->lock, NULL);
    for (size_t i = 0; i < spaces->file_count; i++)
        pthread_mutex_init(&symbols->files[i].opening, NULL);
    add_special_functions(symbols);
    return symbols;
}

void symbols_close(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->spaces->file_count; i++) {
        object_close(symbols->files[i].object);
        pthread_mutex_destroy(&symbols->files[i].opening);
    }
    for (size_t i = 0; i < symbols->spaces->process_count; i++)
        perf_map_close(symbols->processes[i].own_map);
    for (size_t i = 0; i < CHUNK_COUNT && symbols->chunks[i]; i++)
        free(symbols->chunks[i]);
    pthread_mutex_destroy(&symbols->lock);
    inlined_table_free(&symbols->inlined);
    arena_free(&symbols->names);
    free(symbols->files);
    free(symbols->processes);
    free(symbols->perf_map_directory);
    free(symbols);
}

/* Tables: the object's own, and that of a process's JIT code. */

static struct object *get_object(struct symbols *symbols, const struct image_file *file)
{
    struct file_slot *slot = &symbols->files[file->id];
    struct object *object = atomic_load_explicit(&slot->object, memory_order_acquire);
    if (object)
        return object;
    pthread_mutex_lock(&slot->opening);
    object = atomic_load_explicit(&slot->object, memory_order_relaxed);
    if (!object) {
        object = object_open(file);
        atomic_store_explicit(&slot->object, object, memory_order_release);
    }
    pthread_mutex_unlock(&slot->opening);
    return object;
}

static struct perf_map *open_perf_map(const struct symbols *symbols, const struct process *process)
{
    uint32_t pid = process->pid;
    if (symbols->perf_map_directory)
        return perf_map_open(symbols->perf_map_directory, pid, false);
    struct perf_map *map = NULL;
    const char *directory = address_spaces_directory(symbols->spaces);
    if (directory) {
        char *images = memory_format("%s/images", directory);
        map = perf_map_open(images, pid, false);
        free(images);
    }
    if (!map)
        map = perf_map_of_dump(process);
    return map ? map : perf_map_open("/tmp", pid, true);
}

static bool was_executed(const struct process *process)
{
    for (size_t i = 0; i < process->change_count; i++)
        if (process->changes[i].kind == ADDRESS_SPACE_CLEAR)
            return true;
    return false;
}

/* Under the lock. A forked child that stays in the same program runs its parent's JIT code, but
 * writes no map of its own for it. */
static struct perf_map *find_perf_map(struct symbols *symbols, const struct process *process)
{
    const struct address_spaces *spaces = symbols->spaces;
    /* Damaged parent links could form a ring. */
    enum { MAX_GENERATIONS = 64 };
    for (int i = 0; process && i < MAX_GENERATIONS; i++) {
        struct process_slot *slot = &symbols->processes[process - spaces->processes];
        if (!slot->own_map && !atomic_load_explicit(&slot->looked_for_map, memory_order_relaxed))
            slot->own_map = open_perf_map(symbols, process);
        if (slot->own_map || was_executed(process))
            return slot->own_map;
        process = address_spaces_process(spaces, process->parent_pid);
    }
    return NULL;
}

/* NULL for a process that the recording does not know. */
static struct process_slot *get_process(struct symbols *symbols, uint32_t pid)
{
    const struct process *process = address_spaces_process(symbols->spaces, pid);
    if (!process)
        return NULL;
    struct process_slot *slot = &symbols->processes[process - symbols->spaces->processes];
    if (atomic_load_explicit(&slot->looked_for_map, memory_order_acquire))
        return slot;
    pthread_mutex_lock(&symbols->lock);
    if (!atomic_load_explicit(&slot->looked_for_map, memory_order_relaxed)) {
        slot->map = find_perf_map(symbols, process);
        atomic_store_explicit(&slot->looked_for_map, true, memory_order_release);
    }
    pthread_mutex_unlock(&symbols->lock);
    return slot;
}

/* Ids. Each getter asks the place where the id is kept, and makes the function at the first
 * question. */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Under the lock. */
static char *make_name(struct symbols *symbols, char *name)
{
    char *kept = arena_copy_string(&symbols->names, name);
    free(name);
    return kept;
}

static function_id get_table_function(struct symbols *symbols, struct table_function *entry,
                                      const struct image_file *file, struct object *object)
{
    function_id id = atomic_load_explicit(&entry->id, memory_order_acquire);
    if (id != FUNCTION_UNKNOWN)
        return id;
    pthread_mutex_lock(&symbols->lock);
    id = atomic_load_explicit(&entry->id, memory_order_relaxed);
    if (id == FUNCTION_UNKNOWN) {
        struct function function = function_in(file);
        char *name = entry->symbol ? demangle(entry->symbol)
                                   : memory_format("%s+0x%llx", base_name(function.object),
                                                   (unsigned long long)entry->start);
        function.name = make_name(symbols, name);
        function.symbol = entry->symbol;
        function.start = entry->start;
        function.end = entry->end;
        id = add_function(symbols, &function, object);
        atomic_store_explicit(&entry->id, id, memory_order_release);
    }
    pthread_mutex_unlock(&symbols->lock);
    return id;
}

/* The function of `slot`, called `name` (in brackets on request). */
static function_id get_whole_function(struct symbols *symbols, _Atomic function_id *slot,
                                      const char *name, bool brackets,
                                      const struct image_file *file)
{
    function_id id = atomic_load_explicit(slot, memory_order_acquire);
    if (id != FUNCTION_UNKNOWN)
        return id;
    pthread_mutex_lock(&symbols->lock);
    id = atomic_load_explicit(slot, memory_order_relaxed);
    if (id == FUNCTION_UNKNOWN) {
        struct function function = function_in(file);
        function.name = make_name(symbols, memory_format(brackets ? "[%s]" : "%s", name));
        function.end = UINT64_MAX;
        id = add_function(symbols, &function, NULL);
        atomic_store_explicit(slot, id, memory_order_release);
    }
    pthread_mutex_unlock(&symbols->lock);
    return id;
}

/* An image without ELF inside: a missing or foreign file, "[vdso]". */
static function_id get_file_function(struct symbols *symbols, const struct image_file *file)
{
    const char *name = base_name(file->path);
    return get_whole_function(symbols, &symbols->files[file->id].whole, name, *name != '[', file);
}

/* Inlined functions. */

/* Functions of one name are one, also if they were declared in several places: the line is that of
 * the first one in the file, whichever thread meets which first. */
static void keep_first_origin(struct function_record *record, uint64_t origin)
{
    if (origin != 0 && (origin < record->origin || record->origin == 0))
        record->origin = origin;
}

/* Under the lock. */
static function_id get_inlined_function(struct symbols *symbols, struct object *object,
                                        const struct image_file *file,
                                        const struct inlined_call *call)
{
    function_id *known = inlined_table_function(&symbols->inlined, object, call->symbol);
    if (*known != FUNCTION_UNKNOWN) {
        keep_first_origin(record_of(symbols, *known), call->origin);
        return *known;
    }
    struct function function = function_in(file);
    function.name = make_name(symbols, demangle(call->symbol));
    function.symbol = call->symbol;
    function.inlined = true;
    *known = add_function(symbols, &function, object);
    if (*known != FUNCTION_UNKNOWN)
        record_of(symbols, *known)->origin = call->origin;
    return *known;
}

/* Under the lock. The number of call `index` of `code`; `ids` holds those that have one. */
static inlined_id get_inlined_id(struct symbols *symbols, struct object *object,
                                 const struct image_file *file, const struct inlined_code *code,
                                 inlined_id *ids, inlined_index index)
{
    if (index == 0 || ids[index] != INLINED_NONE)
        return index == 0 ? INLINED_NONE : ids[index];
    const struct inlined_nesting *nesting = array_at(&code->nesting, index);
    const struct inlined_call *call = array_at(&code->calls, index);
    struct inlined inlined = {
        .function = get_inlined_function(symbols, object, file, call),
        .outer = get_inlined_id(symbols, object, file, code, ids, nesting->parent),
        .call = {call->file, call->line},
    };
    inlined.depth = inlined_table_at(&symbols->inlined, inlined.outer)->depth + 1;
    ids[index] = inlined_table_add(&symbols->inlined, &inlined);
    return ids[index];
}

/* Under the lock. */
static struct inlined_map *make_inlined_map(struct symbols *symbols, struct object *object,
                                            const struct image_file *file,
                                            struct inlined_code *code)
{
    size_t count = code->runs.count;
    if (count == 1 && ((struct inlined_run *)code->runs.elements)->innermost == 0)
        count = 0;
    struct inlined_map *map = memory_allocate(sizeof *map + count * sizeof *map->runs);
    inlined_id *ids = memory_allocate_zeroed((code->nesting.count + 1) * sizeof *ids);
    map->count = count;
    for (size_t i = 0; i < count; i++) {
        map->runs[i] = *(struct inlined_run *)array_at(&code->runs, i);
        map->runs[i].innermost =
            get_inlined_id(symbols, object, file, code, ids, map->runs[i].innermost);
    }
    free(ids);
    return map;
}

static void merge_runs(const struct image_file *file, const struct table_range *range,
                       struct inlined_code *code)
{
    if (code->runs.count == 0)
        return;
    inlined_code_leave_out_short(code);
    struct code_flow flow = code_flow_read(file, range->start, range->end);
    inlined_runs_merge(&code->runs, code->nesting.elements, &flow);
    code_flow_free(&flow);
}

static const struct inlined_map *get_inlined(struct symbols *symbols, struct object *object,
                                             const struct image_file *file,
                                             const struct table_range *range)
{
    struct inlined_map *_Atomic *slot = &object->inlined[range - object->table.ranges];
    struct inlined_map *map = atomic_load_explicit(slot, memory_order_acquire);
    if (map)
        return map;
    pthread_mutex_lock(&symbols->lock);
    map = atomic_load_explicit(slot, memory_order_relaxed);
    if (!map) {
        struct inlined_code code = object_inlined_code(object, range->start, range->end);
        merge_runs(file, range, &code);
        map = make_inlined_map(symbols, object, file, &code);
        if (object->inlined_units.damaged && !symbols->damaged)
            symbols->damaged = file->path;
        inlined_code_free(&code);
        atomic_store_explicit(slot, map, memory_order_release);
    }
    pthread_mutex_unlock(&symbols->lock);
    return map;
}

/* Finding. */

/* Bounds around `address` that reach `below` bytes down and `above` bytes up, but not beyond the
 * mapping. */
static struct function_bounds bounds_around(const struct mapping *mapping, uint64_t address,
                                            uint64_t below, uint64_t above, function_id function)
{
    uint64_t most_below = address - mapping->start, most_above = mapping->end - address;
    return (struct function_bounds){
        .function = function,
        .start = address - (below < most_below ? below : most_below),
        .end = address + (above < most_above ? above : most_above),
    };
}

/* `file_offset` is where in `file` the start of the mapping lies. */
static struct function_bounds find_in_object(struct symbols *symbols, const struct mapping *mapping,
                                             const struct image_file *file, uint64_t file_offset,
                                             uint64_t address)
{
    uint64_t object_address, gap_start, gap_end;
    if (image_file_address(file, file_offset + (address - mapping->start), &object_address)) {
        struct object *object = get_object(symbols, file);
        const struct table_range *range =
            symbol_table_find(&object->table, object_address, &gap_start, &gap_end);
        if (range) {
            struct function_bounds bounds = bounds_around(
                mapping, address, object_address - range->start, range->end - object_address,
                get_table_function(symbols, &object->table.functions[range->function], file,
                                   object));
            bounds.ocaml = object->ocaml.present;
            bounds.inlined =
                symbols->finds_inlined && get_inlined(symbols, object, file, range)->count > 0;
            return bounds;
        }
    }
    /* Mapped as code, but not by the object's own headers: only the file is known. */
    return bounds_around(mapping, address, 0, 1, get_file_function(symbols, file));
}

/* The mapping is one function, or what is left of it: the compiler dumped it. */
static struct function_bounds find_dumped_code(struct symbols *symbols,
                                               const struct mapping *mapping, uint64_t address)
{
    const struct image_file *file = mapping->file;
    function_id function =
        get_whole_function(symbols, &symbols->files[file->id].whole, file->code_name, false, NULL);
    return bounds_around(mapping, address, address - mapping->start, mapping->end - address,
                         function);
}

static struct function_bounds find_in_jit_code(struct symbols *symbols,
                                               const struct mapping *mapping, uint64_t address)
{
    struct process_slot *process = get_process(symbols, mapping->pid);
    uint64_t start = mapping->start, end = mapping->end;
    if (process && process->map) {
        const struct symbol_table *table = &process->map->table;
        const struct table_range *range = symbol_table_find(table, address, &start, &end);
        if (range)
            return bounds_around(
                mapping, address, address - range->start, range->end - address,
                get_table_function(symbols, &table->functions[range->function], NULL, NULL));
    }
    bool memory = mapping->file->jit || image_path_is_anonymous(mapping->file->path);
    bool named = *mapping->file->path == '[';
    function_id function =
        process && memory && !named
            ? get_whole_function(symbols, &process->unnamed, "JIT code", true, NULL)
            : get_file_function(symbols, mapping->file);
    return bounds_around(mapping, address, address - start, end - address, function);
}

struct function_bounds symbols_find(struct symbols *symbols, const struct mapping *mapping,
                                    uint64_t address)
{
    if (!mapping)
        return (struct function_bounds){.function = FUNCTION_UNKNOWN,
                                        .start = address,
                                        .end = address == UINT64_MAX ? address : address + 1};
    if (mapping->patched)
        return find_in_object(symbols, mapping, mapping->patched, mapping->patched_offset, address);
    if (mapping->file->elf && !mapping->file->jit)
        return find_in_object(symbols, mapping, mapping->file, mapping->file_offset, address);
    if (mapping->file->code_name)
        return find_dumped_code(symbols, mapping, address);
    return find_in_jit_code(symbols, mapping, address);
}

static const char *copy_text(struct symbols *symbols, const char *text)
{
    return text ? arena_copy_string(&symbols->names, text) : NULL;
}

function_id symbols_add(struct symbols *symbols, const char *name, const char *symbol,
                        const char *object)
{
    pthread_mutex_lock(&symbols->lock);
    struct function function = {
        .name = copy_text(symbols, name),
        .symbol = copy_text(symbols, symbol),
        .object = copy_text(symbols, object),
        .owner = code_owner_of_path(object),
    };
    function_id id = add_function(symbols, &function, NULL);
    pthread_mutex_unlock(&symbols->lock);
    return id;
}

const struct function *symbols_function(const struct symbols *symbols, function_id function)
{
    return &record_of(symbols, function)->function;
}

struct source_line symbols_line(struct symbols *symbols, function_id function)
{
    struct function_record *record = record_of(symbols, function);
    pthread_mutex_lock(&symbols->lock);
    if (!record->line_known && record->object)
        record->line = record->function.inlined
                           ? object_inlined_line(record->object, record->origin, &symbols->names)
                           : object_line(record->object, record->function.start, SOURCE_ROW_FIRST,
                                         &symbols->names);
    record->line_known = true;
    struct source_line line = record->line;
    pthread_mutex_unlock(&symbols->lock);
    return line;
}

struct declared_function symbols_declared(struct symbols *symbols, function_id function)
{
    struct function_record *record = record_of(symbols, function);
    struct declared_function declared = {0};
    pthread_mutex_lock(&symbols->lock);
    if (record->object && !record->function.inlined)
        declared = object_declared(record->object, record->function.start, &symbols->names);
    pthread_mutex_unlock(&symbols->lock);
    return declared;
}

/* The object that the code at `address` of `mapping` comes from, and the object's own address of
 * it. NULL when it comes from none. */
static struct object *find_object(struct symbols *symbols, const struct mapping *mapping,
                                  uint64_t address, uint64_t *object_address)
{
    if (!mapping)
        return NULL;
    const struct image_file *file = mapping->patched ? mapping->patched : mapping->file;
    uint64_t offset = mapping->patched ? mapping->patched_offset : mapping->file_offset;
    if (!file->elf || file->jit ||
        !image_file_address(file, offset + (address - mapping->start), object_address))
        return NULL;
    return get_object(symbols, file);
}

uint64_t symbols_landing_pad(struct symbols *symbols, const struct mapping *mapping,
                             uint64_t return_address)
{
    /* A call that never returns may be the last instruction of the mapping. */
    uint64_t object_address;
    struct object *object = find_object(symbols, mapping, return_address - 1, &object_address);
    if (!object)
        return 0;
    uint64_t pad = landing_pads_find(&object->landing_pads, object_address + 1);
    return pad ? pad + (return_address - 1 - object_address) : 0;
}

const struct ocaml_code *symbols_ocaml_code(struct symbols *symbols, const struct mapping *mapping,
                                            uint64_t address, uint64_t *bias)
{
    uint64_t object_address;
    const struct object *object = find_object(symbols, mapping, address, &object_address);
    if (!object || !object->ocaml.present)
        return NULL;
    *bias = address - object_address;
    return &object->ocaml;
}

struct source_line symbols_line_at(struct symbols *symbols, const struct mapping *mapping,
                                   uint64_t address)
{
    uint64_t object_address;
    struct object *object = find_object(symbols, mapping, address, &object_address);
    if (!object)
        return (struct source_line){0};
    pthread_mutex_lock(&symbols->lock);
    struct source_line line = object_line(object, object_address, SOURCE_ROW_LAST, &symbols->names);
    pthread_mutex_unlock(&symbols->lock);
    return line;
}

void symbols_find_inlined(struct symbols *symbols)
{
    symbols->finds_inlined = true;
}

/* The run around the object's own `address`, in a range whose map has been made; NULL: no function is
 * inlined there. */
static const struct inlined_run *run_in_object(const struct object *object, uint64_t address)
{
    uint64_t gap_start, gap_end;
    const struct table_range *range =
        symbol_table_find(&object->table, address, &gap_start, &gap_end);
    const struct inlined_map *map =
        range ? atomic_load_explicit(&object->inlined[range - object->table.ranges],
                                     memory_order_acquire)
              : NULL;
    return map ? inlined_runs_find(map->runs, map->count, address) : NULL;
}

struct inlined_place symbols_inlined_at(struct symbols *symbols, const struct mapping *mapping,
                                        uint64_t address)
{
    uint64_t object_address;
    const struct object *object = find_object(symbols, mapping, address, &object_address);
    const struct inlined_run *run = object ? run_in_object(object, object_address) : NULL;
    if (!run)
        return (struct inlined_place){INLINED_NONE, address, address + 1};
    uint64_t bias = address - object_address;
    return (struct inlined_place){run->innermost, run->start + bias, run->end + bias};
}

enum { PAGE_SIZE = 4096 };

/* Whether the object's own `address` is in `function`, if addresses in the process are greater by
 * `bias`. Objects are loaded page by page. */
static bool is_of_function(const struct object *object, function_id function, uint64_t bias,
                           uint64_t address)
{
    uint64_t gap_start, gap_end;
    const struct table_range *range =
        symbol_table_find(&object->table, address, &gap_start, &gap_end);
    return bias % PAGE_SIZE == 0 && range &&
           object->table.functions[range->function].id == function;
}

/* The start may be that of any part of the function: its cold part, for instance. */
static bool find_bias(const struct object *object, const struct function *function, function_id id,
                      uint64_t start, uint64_t address, uint64_t *bias)
{
    *bias = start - function->start;
    if (is_of_function(object, id, *bias, address - *bias))
        return true;
    for (uint32_t i = 0; i < object->table.range_count; i++) {
        const struct table_range *range = &object->table.ranges[i];
        *bias = start - range->start;
        if (object->table.functions[range->function].id == id &&
            is_of_function(object, id, *bias, address - *bias))
            return true;
    }
    return false;
}

bool symbols_inlined_in(struct symbols *symbols, function_id function, uint64_t start,
                        uint64_t address, inlined_id *inlined)
{
    const struct function_record *record = record_of(symbols, function);
    uint64_t bias;
    if (!record->object || !symbols->finds_inlined ||
        !find_bias(record->object, &record->function, function, start, address, &bias))
        return false;
    const struct inlined_run *run = run_in_object(record->object, address - bias);
    if (run)
        *inlined = run->innermost;
    return run != NULL;
}

const struct inlined_table *symbols_inlined_calls(const struct symbols *symbols)
{
    return &symbols->inlined;
}

const struct inlined *symbols_inlined(const struct symbols *symbols, inlined_id inlined)
{
    return inlined_table_at(&symbols->inlined, inlined);
}

const char *symbols_damaged_debug_information(const struct symbols *symbols)
{
    return symbols->damaged;
}

/* What is nameless in an object that has its symbols, as stubs of the linker are, is not counted. */
static size_t unnamed_functions(const struct object *object)
{
    size_t named = 0, unnamed = 0;
    for (uint32_t i = 0; i < object->table.function_count; i++) {
        const struct table_function *function = &object->table.functions[i];
        if (atomic_load(&function->id) == FUNCTION_UNKNOWN)
            continue;
        *(function->symbol ? &named : &unnamed) += 1;
    }
    return unnamed > named ? unnamed : 0;
}

void symbols_unnamed_code(const struct symbols *symbols, struct array *list)
{
    const struct address_spaces *spaces = symbols->spaces;
    for (size_t i = 0; i < spaces->file_count; i++) {
        const struct object *object = atomic_load(&symbols->files[i].object);
        size_t functions = object ? unnamed_functions(object) : 0;
        if (functions > 0)
            *(struct unnamed_code *)array_add(list) =
                (struct unnamed_code){.file = spaces->files[i], .functions = functions};
    }
    for (size_t i = 0; i < spaces->process_count; i++) {
        const struct process_slot *slot = &symbols->processes[i];
        if (!slot->map && atomic_load(&slot->unnamed) != FUNCTION_UNKNOWN)
            *(struct unnamed_code *)array_add(list) =
                (struct unnamed_code){.process = &spaces->processes[i]};
    }
}
