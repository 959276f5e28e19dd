#include "decode/text/text_functions.h"

#include "base/arena.h"
#include "base/memory.h"
#include "symbol/cold_part.h"
#include "symbol/demangle/demangle.h"

#include <stdlib.h>
#include <uthash.h>

enum {
    PAGE_MASK = 0xfff,
    ANYWHERE = PAGE_MASK + 1, /* stands for the position in a page of a function that is known by
                               * name only */
};

struct named_function {
    function_id id;
    bool begins_anywhere; /* of an ANYWHERE entry: made before its begin was known */
    UT_hash_handle hh;
};

struct text_functions {
    struct symbols *symbols; /* borrowed */
    struct named_function *by_key;
    struct arena memory; /* the entries and their keys */
    char *key;           /* owned; key of a lookup: symbol, object and position in the page */
    size_t key_size, key_capacity;
};

struct text_functions *text_functions_open(struct symbols *symbols)
{
    struct text_functions *functions = memory_allocate_zeroed(sizeof(*functions));
    functions->symbols = symbols;
    return functions;
}

void text_functions_close(struct text_functions *functions)
{
    HASH_CLEAR(hh, functions->by_key);
    arena_free(&functions->memory);
    free(functions->key);
    free(functions);
}

/* ---- the table ---- */

static void append_to_key(struct text_functions *functions, const void *bytes, size_t size)
{
    if (functions->key_size + size > functions->key_capacity) {
        functions->key_capacity = 2 * (functions->key_size + size);
        functions->key = memory_resize(functions->key, functions->key_capacity);
    }
    if (size > 0)
        memcpy(functions->key + functions->key_size, bytes, size);
    functions->key_size += size;
}

/* Sizes are part of the key, so that different pairs of symbol and object never have the same key.
 */
static void set_key(struct text_functions *functions, struct text_slice symbol,
                    struct text_slice object, unsigned position)
{
    functions->key_size = 0;
    append_to_key(functions, &position, sizeof position);
    append_to_key(functions, &symbol.size, sizeof symbol.size);
    append_to_key(functions, symbol.at, symbol.size);
    append_to_key(functions, object.at, object.size);
}

static struct named_function *find(struct text_functions *functions, struct text_slice symbol,
                                   struct text_slice object, unsigned position)
{
    struct named_function *found;
    set_key(functions, symbol, object, position);
    HASH_FIND(hh, functions->by_key, functions->key, functions->key_size, found);
    return found;
}

static struct named_function *add(struct text_functions *functions, struct text_slice symbol,
                                  struct text_slice object, unsigned position, function_id id)
{
    set_key(functions, symbol, object, position);
    struct named_function *added = arena_allocate(&functions->memory, sizeof(*added));
    char *key = arena_allocate(&functions->memory, functions->key_size);
    memcpy(key, functions->key, functions->key_size);
    *added = (struct named_function){.id = id, .begins_anywhere = position == ANYWHERE};
    HASH_ADD_KEYPTR(hh, functions->by_key, key, functions->key_size, added);
    return added;
}

/* ---- names ---- */

char *text_copy_name(struct text_slice name)
{
    char *copy = memory_allocate(name.size + 1);
    for (size_t i = 0; i < name.size; i++)
        copy[i] = (unsigned char)name.at[i] < ' ' || name.at[i] == 127 ? '?' : name.at[i];
    copy[name.size] = 0;
    return copy;
}

/* "read" of "read@@GLIBC_2.2.5", as in symbol tables; "read@plt" is another function. */
static struct text_slice without_version(struct text_slice symbol)
{
    size_t at = text_slice_last(symbol, '@');
    if (at + 1 >= symbol.size || symbol.at[at + 1] < 'A' || symbol.at[at + 1] > 'Z')
        return symbol;
    while (at > 0 && symbol.at[at - 1] == '@')
        at--;
    return at > 0 ? (struct text_slice){symbol.at, at} : symbol;
}

/* The function that a split-off part belongs to; the symbol itself if it is not a part. */
static struct text_slice without_part(struct text_slice symbol)
{
    size_t length = cold_part_main_length(symbol.at, symbol.size);
    return length > 0 ? (struct text_slice){symbol.at, length} : symbol;
}

static function_id make(struct text_functions *functions, struct text_slice symbol,
                        struct text_slice object)
{
    char *symbol_text = text_copy_name(symbol), *object_text = text_copy_name(object);
    char *name = demangle(symbol_text);
    function_id id =
        symbols_add(functions->symbols, name, symbol_text, object.size > 0 ? object_text : NULL);
    free(name);
    free(symbol_text);
    free(object_text);
    return id;
}

/* ---- functions with a symbol ---- */

static struct named_function *get_anywhere(struct text_functions *functions,
                                           struct text_slice symbol, struct text_slice object)
{
    struct named_function *found = find(functions, symbol, object, ANYWHERE);
    return found ? found
                 : add(functions, symbol, object, ANYWHERE, make(functions, symbol, object));
}

/* Where only the name is known, the first function of that name is meant. */
static function_id get_at(struct text_functions *functions, struct text_slice symbol,
                          struct text_slice object, unsigned position)
{
    struct named_function *found = find(functions, symbol, object, position);
    if (found)
        return found->id;
    struct named_function *named = get_anywhere(functions, symbol, object);
    function_id id = named->begins_anywhere ? named->id : make(functions, symbol, object);
    named->begins_anywhere = false;
    return add(functions, symbol, object, position, id)->id;
}

/* ---- code without a symbol ---- */

/* Memory to which a program has written code. */
static bool is_generated(struct text_slice object)
{
    static const char *const beginnings[] = {"//anon", "/memfd:", "/dev/zero", "/tmp/perf-",
                                             "[heap]", "/SYSV",   "[stack]"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct text_cursor cursor = text_cursor_of(object);
        if (text_take(&cursor, beginnings[i]))
            return true;
    }
    return false;
}

static struct text_slice base_name(struct text_slice path)
{
    size_t slash = text_slice_last(path, '/');
    if (slash + 1 >= path.size)
        return path;
    return (struct text_slice){path.at + slash + 1, path.size - slash - 1};
}

static function_id make_object(struct text_functions *functions, struct text_slice object)
{
    char *text = text_copy_name(object), *base = text_copy_name(base_name(object));
    char *name = is_generated(object) ? memory_copy_string("[JIT code]")
                 : *base == '['       ? memory_copy_string(base)
                                      : memory_format("[%s]", base);
    function_id id = symbols_add(functions->symbols, name, NULL, text);
    free(name);
    free(base);
    free(text);
    return id;
}

static function_id get_object(struct text_functions *functions, struct text_slice object)
{
    static const struct text_slice none = {"", 0};
    if (object.size == 0)
        return FUNCTION_UNKNOWN;
    struct named_function *found = find(functions, none, object, ANYWHERE);
    if (!found)
        found = add(functions, none, object, ANYWHERE, make_object(functions, object));
    return found->id;
}

function_id text_functions_get(struct text_functions *functions,
                               const struct perf_text_place *place)
{
    if (place->symbol.size == 0)
        return get_object(functions, place->object);
    struct text_slice whole = without_version(place->symbol), symbol = without_part(whole);
    if (symbol.size < whole.size || !place->has_offset)
        return get_anywhere(functions, symbol, place->object)->id;
    return get_at(functions, symbol, place->object,
                  (unsigned)((place->address - place->offset) & PAGE_MASK));
}
