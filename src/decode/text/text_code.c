#include "decode/text/text_code.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/memory.h"
#include "symbol/perf_map.h"

#include <stdlib.h>
#include <uthash.h>

enum {
    /* "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2: the shortest
     * call is 2 bytes long (ff /2), no instruction longer than 15. */
    CALL_LENGTH_MIN = 2,
    CALL_LENGTH_MAX = 15,
    CALL_LENGTH_COMMON = 5,
};

struct known_place {
    struct text_location location; /* its address is the key */
    bool located;                  /* false: found only by its address so far */
    UT_hash_handle hh;
};

struct return_target {
    uint64_t address;
    UT_hash_handle hh;
};

struct text_code {
    struct text_functions *functions;
    struct perf_map *perf_map; /* owned; NULL: none */
    struct known_place *places;
    struct return_target *return_targets;
    struct arena memory;          /* of both tables */
    struct array program_changes; /* struct ticks */
};

struct text_code *text_code_open(struct text_functions *functions, uint32_t pid,
                                 const char *perf_map_directory)
{
    struct text_code *code = memory_allocate_zeroed(sizeof(*code));
    code->functions = functions;
    if (perf_map_directory)
        code->perf_map = perf_map_open(perf_map_directory, pid, false);
    code->program_changes = array_of(sizeof(struct ticks));
    return code;
}

void text_code_close(struct text_code *code)
{
    if (code->perf_map)
        perf_map_close(code->perf_map);
    HASH_CLEAR(hh, code->places);
    HASH_CLEAR(hh, code->return_targets);
    arena_free(&code->memory);
    array_free(&code->program_changes);
    free(code);
}

static struct known_place *find_place(const struct text_code *code, uint64_t address)
{
    struct known_place *found;
    HASH_FIND(hh, code->places, &address, sizeof address, found);
    return found;
}

/* False where a JIT compiler has written other code to the same address. */
static bool is_same(const struct text_location *location, const struct perf_text_place *place)
{
    return text_slices_equal(location->symbol, place->symbol) &&
           text_slices_equal(location->object, place->object);
}

static struct known_place *get_place(struct text_code *code, uint64_t address)
{
    struct known_place *known = find_place(code, address);
    if (known)
        return known;
    known = arena_allocate(&code->memory, sizeof(*known));
    *known = (struct known_place){.location = {.address = address}};
    HASH_ADD(hh, code->places, location.address, sizeof known->location.address, known);
    return known;
}

/* The place with the perf map's symbol, if perf has none for it; unchanged if the map has none
 * either. */
static struct perf_text_place name_by_map(const struct text_code *code,
                                          const struct perf_text_place *place)
{
    static const char object[] = FUNCTION_JIT_OBJECT;
    struct perf_text_place named = *place;
    uint64_t gap_start, gap_end;
    if (place->symbol.size > 0 || !code->perf_map)
        return named;
    const struct symbol_table *table = &code->perf_map->table;
    const struct table_range *range =
        symbol_table_find(table, place->address, &gap_start, &gap_end);
    if (!range)
        return named;
    const char *symbol = table->functions[range->function].symbol;
    if (!symbol)
        return named;
    named.symbol = (struct text_slice){symbol, strlen(symbol)};
    named.object = (struct text_slice){object, strlen(object)};
    named.offset = place->address - range->start;
    named.has_offset = true;
    return named;
}

struct text_location text_code_locate(struct text_code *code, const struct perf_text_place *place)
{
    struct known_place *known = get_place(code, place->address);
    if (is_same(&known->location, place) && known->located)
        return known->location;
    struct perf_text_place named = name_by_map(code, place);
    known->located = true;
    known->location = (struct text_location){
        .function = text_functions_get(code->functions, &named),
        .address = place->address,
        .start = named.has_offset ? place->address - named.offset : 0,
        .symbol = place->symbol,
        .object = place->object,
    };
    return known->location;
}

bool text_code_is_same_function(const struct text_code *code, const struct text_location *location,
                                const struct perf_text_place *place)
{
    bool only_map_knows = place->symbol.size == 0 && code->perf_map;
    return !only_map_knows && is_same(location, place) &&
           location->start == (place->has_offset ? place->address - place->offset : 0);
}

void text_code_note_call(struct text_code *code, const struct text_location *to)
{
    struct known_place *known = to->start == 0 ? find_place(code, to->address) : NULL;
    if (known)
        known->location.start = to->address;
}

void text_code_note_start(struct text_code *code, const struct text_location *inside)
{
    struct known_place *known = get_place(code, inside->start);
    known->location = *inside;
    known->location.address = inside->start;
    known->located = true;
}

void text_code_note_return(struct text_code *code, uint64_t address)
{
    struct return_target *target;
    HASH_FIND(hh, code->return_targets, &address, sizeof address, target);
    if (target)
        return;
    target = arena_allocate(&code->memory, sizeof(*target));
    target->address = address;
    HASH_ADD(hh, code->return_targets, address, sizeof target->address, target);
}

uint64_t text_code_return_address(const struct text_code *code, uint64_t address)
{
    for (uint64_t length = CALL_LENGTH_MIN; length <= CALL_LENGTH_MAX; length++) {
        uint64_t after = address + length;
        struct return_target *target;
        HASH_FIND(hh, code->return_targets, &after, sizeof after, target);
        if (target)
            return after;
    }
    return address + CALL_LENGTH_COMMON;
}

void text_code_note_program(struct text_code *code, struct ticks time)
{
    *(struct ticks *)array_add(&code->program_changes) = time;
}

uint64_t text_code_function_start(const struct text_code *code, uint64_t address)
{
    const struct known_place *known = find_place(code, address);
    return known ? known->location.start : 0;
}

uint32_t text_code_program_changes(const struct text_code *code, struct ticks time)
{
    size_t count = code->program_changes.count;
    while (count > 0 &&
           ((struct ticks *)array_at(&code->program_changes, count - 1))->value > time.value)
        count--;
    return (uint32_t)count;
}
