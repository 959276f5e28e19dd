#include "symbol/go/go_inlined.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    TREE_DATA = 3,        /* FUNCDATA_InlTree */
    CALLS_MOST = 1 << 16, /* of one function */
    DEPTH_MOST = 200,     /* of calls in each other */
};

/* A call as the tree has it; offsets of its fields in bytes. */
struct tree_layout {
    size_t size, parent, file, line, name, parent_pc;
};
static const struct tree_layout since_1_16 = {20, 0, 4, 8, 12, 16};
static const struct tree_layout since_1_20 = {.size = 16, .name = 4, .parent_pc = 8};

struct reading {
    struct pclntab *table;
    struct pclntab_function function;
    const struct tree_layout *layout;
    const uint8_t *tree;
    size_t tree_size;
    struct array places;     /* struct pclntab_value: numbers of calls in the tree */
    struct array lines;      /* struct pclntab_value, since 1.20 */
    struct array files;      /* likewise */
    inlined_index *index_of; /* by number in the tree; 0: not added yet */
    size_t count;            /* of numbers */
    struct inlined_code *code;
    bool damaged;
};

static struct array read_values(const struct reading *reading, uint32_t offset)
{
    struct array found = array_of(sizeof(struct pclntab_value));
    struct pclntab_values values = pclntab_values(reading->table, &reading->function, offset);
    struct pclntab_value value;
    while (pclntab_values_next(&values, &value))
        if (value.start < value.end)
            *(struct pclntab_value *)array_add(&found) = value;
    return found;
}

/* -1: there is no value at `address`. */
static int32_t value_at(const struct array *values, uint64_t address)
{
    size_t low = 0, high = values->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pclntab_value *value = array_at(values, middle);
        if (value->end > address)
            high = middle;
        else
            low = middle + 1;
    }
    const struct pclntab_value *value = low < values->count ? array_at(values, low) : NULL;
    return value && value->start <= address ? value->value : -1;
}

static int32_t tree_field(const struct reading *reading, size_t number, size_t field)
{
    int32_t value;
    memcpy(&value, reading->tree + number * reading->layout->size + field, sizeof value);
    return value;
}

/* The address of an instruction of the calling line. */
static uint64_t caller_address(const struct reading *reading, size_t number)
{
    uint32_t distance = (uint32_t)tree_field(reading, number, reading->layout->parent_pc);
    return reading->function.entry + distance;
}

static int32_t parent_of(const struct reading *reading, size_t number)
{
    if (reading->layout == &since_1_20)
        return value_at(&reading->places, caller_address(reading, number));
    int16_t parent;
    memcpy(&parent, reading->tree + number * reading->layout->size + reading->layout->parent,
           sizeof parent);
    return parent;
}

static struct source_line calling_line(const struct reading *reading, size_t number)
{
    int32_t file, line;
    if (reading->layout == &since_1_20) {
        uint64_t address = caller_address(reading, number);
        file = value_at(&reading->files, address);
        line = value_at(&reading->lines, address);
    } else {
        file = tree_field(reading, number, reading->layout->file);
        line = tree_field(reading, number, reading->layout->line);
    }
    return (struct source_line){pclntab_file(reading->table, &reading->function, file),
                                line > 0 ? (uint32_t)line : 0};
}

/* The index of call `number`, which is added after those that it is inlined into. */
static inlined_index add_call(struct reading *reading, int32_t number, unsigned depth)
{
    if (number < 0)
        return 0;
    if ((size_t)number >= reading->count || depth > DEPTH_MOST) {
        reading->damaged = true;
        return 0;
    }
    if (reading->index_of[number] != 0)
        return reading->index_of[number];
    struct source_line line = calling_line(reading, (size_t)number);
    const char *name = pclntab_name_at(
        reading->table, (uint32_t)tree_field(reading, (size_t)number, reading->layout->name));
    inlined_index parent = add_call(reading, parent_of(reading, (size_t)number), depth + 1);
    if (!name || reading->damaged) {
        reading->damaged = true;
        return 0;
    }
    struct inlined_code *code = reading->code;
    uint32_t outer = ((struct inlined_nesting *)array_at(&code->nesting, parent))->depth;
    inlined_index index = (inlined_index)code->nesting.count;
    *(struct inlined_nesting *)array_add(&code->nesting) =
        (struct inlined_nesting){parent, outer + 1, UINT64_MAX};
    *(struct inlined_call *)array_add(&code->calls) =
        (struct inlined_call){.symbol = name, .file = line.file, .line = line.line};
    reading->index_of[number] = index;
    return index;
}

static void add_run(struct array *runs, uint64_t start, uint64_t end, inlined_index innermost)
{
    struct inlined_run *last = runs->count > 0 ? array_at(runs, runs->count - 1) : NULL;
    if (start >= end)
        return;
    if (last && last->innermost == innermost)
        last->end = end;
    else
        *(struct inlined_run *)array_add(runs) =
            (struct inlined_run){.start = start, .end = end, .innermost = innermost};
}

/* Notes that [start, end) is code of a call, and so of those that it is inlined into. */
static void note_code(struct inlined_code *code, inlined_index index, uint64_t start, uint64_t end)
{
    while (index != 0) {
        struct inlined_nesting *nesting = array_at(&code->nesting, index);
        struct inlined_call *call = array_at(&code->calls, index);
        if (start < nesting->entry)
            nesting->entry = start;
        call->size += end - start;
        index = nesting->parent;
    }
}

/* Adds all calls of the function, and the runs of [start, end). */
static void read_places(struct reading *reading, uint64_t start, uint64_t end)
{
    struct inlined_code *code = reading->code;
    uint64_t at = start;
    for (size_t i = 0; i < reading->places.count; i++) {
        const struct pclntab_value *place = array_at(&reading->places, i);
        inlined_index index = add_call(reading, place->value, 0);
        if (reading->damaged)
            break;
        note_code(code, index, place->start, place->end);
        uint64_t from = place->start > at ? place->start : at;
        uint64_t to = place->end < end ? place->end : end;
        if (from >= to)
            continue;
        add_run(&code->runs, at, from, 0);
        add_run(&code->runs, from, to, index);
        at = to;
    }
    add_run(&code->runs, at, end, 0);
}

/* Finds the tree, as far as the numbers in `places` go; false: it has no inlined calls, or the tree is damaged. */
static bool find_tree(struct reading *reading)
{
    int32_t greatest = -1;
    for (size_t i = 0; i < reading->places.count; i++) {
        int32_t number = ((struct pclntab_value *)array_at(&reading->places, i))->value;
        if (number > greatest)
            greatest = number;
    }
    if (greatest < 0)
        return false;
    uint64_t address = pclntab_function_data(reading->table, &reading->function, TREE_DATA);
    reading->tree =
        address ? go_image_bytes(&reading->table->image, address, &reading->tree_size) : NULL;
    reading->count = (size_t)greatest + 1;
    bool fits = reading->tree && greatest < CALLS_MOST &&
                reading->count <= reading->tree_size / reading->layout->size;
    reading->damaged |= !fits;
    return fits;
}

static void read_function(struct reading *reading, uint64_t start, uint64_t end)
{
    if (!find_tree(reading))
        return;
    const struct pclntab_function *function = &reading->function;
    reading->index_of = memory_allocate_zeroed(reading->count * sizeof *reading->index_of);
    if (reading->layout == &since_1_20) {
        reading->lines =
            read_values(reading, pclntab_field(reading->table, function, PCLNTAB_LINE));
        reading->files =
            read_values(reading, pclntab_field(reading->table, function, PCLNTAB_FILE));
    }
    array_add(&reading->code->nesting);
    array_add(&reading->code->calls);
    read_places(reading, start, end);
    array_free(&reading->lines);
    array_free(&reading->files);
    free(reading->index_of);
}

struct inlined_code go_inlined_read(struct pclntab *table, uint64_t start, uint64_t end,
                                    bool *damaged)
{
    struct inlined_code code = {
        .nesting = array_of(sizeof(struct inlined_nesting)),
        .calls = array_of(sizeof(struct inlined_call)),
        .runs = array_of(sizeof(struct inlined_run)),
    };
    struct reading reading = {
        .table = table,
        .layout = table->version >= PCLNTAB_GO_1_20 ? &since_1_20 : &since_1_16,
        .code = &code,
    };
    if (table->version == PCLNTAB_GO_1_2 || !pclntab_find(table, start, &reading.function))
        return code;
    reading.places =
        read_values(&reading, pclntab_value_table(table, &reading.function, PCLNTAB_INLINED_INDEX));
    read_function(&reading, start, end);
    array_free(&reading.places);
    if (reading.damaged)
        inlined_code_free(&code);
    *damaged |= reading.damaged;
    return code;
}
