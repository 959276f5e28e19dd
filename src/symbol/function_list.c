#include "symbol/function_list.h"

#include "base/short_name.h"
#include "symbol/code_symbol.h"
#include "symbol/cold_part.h"
#include "symbol/demangle/demangle.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/object.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *left, const void *right)
{
    const struct listed_function *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return strcmp(a->symbol, b->symbol);
}

/* .symtab and .dynsym often say the same twice. */
static void remove_repeated(struct array *functions)
{
    struct listed_function *all = functions->elements;
    size_t kept = 0;
    for (size_t i = 0; i < functions->count; i++)
        if (kept == 0 || by_address(&all[kept - 1], &all[i]) != 0)
            all[kept++] = all[i];
    functions->count = kept;
}

static const char *readable(const char *symbol, struct arena *names)
{
    char *name = demangle(symbol);
    const char *kept = strcmp(name, symbol) == 0 ? symbol : arena_copy_string(names, name);
    free(name);
    return kept;
}

static void add_function(struct function_list *list, const struct image_file *file,
                         const struct code_symbol *symbol)
{
    uint64_t offset;
    if (symbol->kind != CODE_FUNCTION || !image_file_offset(file, symbol->start, &offset, NULL))
        return;
    const char *name = arena_copy_string(&list->names, symbol->name);
    *(struct listed_function *)array_add(&list->functions) = (struct listed_function){
        .symbol = name,
        .name = readable(name, &list->names),
        .address = symbol->start,
        .file_offset = offset,
        .size = symbol->end - symbol->start,
    };
}

static void read_functions(struct function_list *list, const struct image_file *file)
{
    struct object *object = object_open(file);
    struct array symbols = array_of(sizeof(struct code_symbol));
    if (object->module)
        elf_symbols_read(object->module, file, &object->names, &symbols);
    if (object->go)
        pclntab_add_symbols(object->go, &object->names, &symbols);
    for (size_t i = 0; i < symbols.count; i++)
        add_function(list, file, array_at(&symbols, i));
    array_free(&symbols);
    object_close(object);
    if (list->functions.count > 1)
        qsort(list->functions.elements, list->functions.count, sizeof(struct listed_function),
              by_address);
    remove_repeated(&list->functions);
}

bool function_list_open(struct function_list *list, const char *path, struct error *error)
{
    *list = (struct function_list){.functions = array_of(sizeof(struct listed_function))};
    struct arena memory = {0};
    struct image_file file = {.path = path, .local_path = path};
    bool ok = image_file_open(&file, &memory, error);
    if (ok && !file.elf)
        ok = error_set(error, ERROR_FORMAT, "%s is not a program or library for x86-64.", path);
    if (ok)
        read_functions(list, &file);
    image_file_close(&file);
    arena_free(&memory);
    return ok;
}

void function_list_close(struct function_list *list)
{
    array_free(&list->functions);
    arena_free(&list->names);
}

static bool is_named(const struct listed_function *function, const char *text)
{
    return strcmp(function->symbol, text) == 0 || strcmp(function->name, text) == 0;
}

bool listed_function_is(const struct listed_function *function, const char *text)
{
    return is_named(function, text) || name_means(function->name, text);
}

bool function_symbol_is(const char *symbol, const char *text)
{
    char *name = demangle(symbol);
    struct listed_function function = {.symbol = symbol, .name = name};
    bool is = listed_function_is(&function, text);
    free(name);
    return is;
}

/* ---- parts and clones ---- */

static const char clone[] = " [clone ";

bool listed_function_is_cold(const struct listed_function *function)
{
    return cold_part_main_length(function->symbol, strlen(function->symbol)) > 0;
}

/* Whether the last clone is what a compiler made of a coroutine: GCC's coroutines.cc and LLVM's CoroSplit.cpp. */
static bool is_coroutine_part(const char *name)
{
    static const char *const parts[] = {".actor]", ".destroy]", ".resume]", ".cleanup]"};
    const char *last = strrchr(name, ' ');
    for (size_t i = 0; last && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(last + 1, parts[i]) == 0)
            return true;
    return false;
}

/* Whether the list has what `function` is a clone of, where `text` means both. */
static bool has_cloned(const struct function_list *list, const struct listed_function *function,
                       const char *text)
{
    const char *suffix = strstr(function->name, clone);
    size_t length = suffix ? (size_t)(suffix - function->name) : 0;
    bool is_part = suffix && is_coroutine_part(function->name);
    for (size_t i = 0; suffix && i < list->functions.count; i++) {
        const struct listed_function *other = array_at(&list->functions, i);
        bool is_main =
            strncmp(other->name, function->name, length) == 0 && other->name[length] == 0;
        if (is_main || (is_part && listed_function_is(other, text) && !strstr(other->name, clone)))
            return true;
    }
    return false;
}

bool function_list_means(const struct function_list *list, const struct listed_function *function,
                         const char *text)
{
    if (is_named(function, text))
        return true;
    return listed_function_is(function, text) && !listed_function_is_cold(function) &&
           !has_cloned(list, function, text);
}

/* ---- names to suggest ---- */

void listed_function_offer(const struct listed_function *function, struct closest_names *closest,
                           struct arena *names)
{
    char *plain = plain_name(function->name);
    if (closest_names_would_take(closest, function->name))
        closest_names_offer(closest, arena_copy_string(names, function->name));
    else if (closest_names_would_take(closest, plain))
        closest_names_offer(closest, arena_copy_string(names, plain));
    free(plain);
}
