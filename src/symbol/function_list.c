#include "symbol/function_list.h"

#include "symbol/code_symbol.h"
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

bool listed_function_is(const struct listed_function *function, const char *text)
{
    size_t length = strlen(text);
    return strcmp(function->symbol, text) == 0 || strcmp(function->name, text) == 0 ||
           (length > 0 && strncmp(function->name, text, length) == 0 &&
            function->name[length] == '(');
}

bool function_symbol_is(const char *symbol, const char *text)
{
    char *name = demangle(symbol);
    struct listed_function function = {.symbol = symbol, .name = name};
    bool is = listed_function_is(&function, text);
    free(name);
    return is;
}
