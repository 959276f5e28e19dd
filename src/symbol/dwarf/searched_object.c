#include "symbol/dwarf/searched_object.h"

#include <elfutils/libdw.h>
#include <stdlib.h>

bool searched_object_open(struct searched_object *searched, const char *path, struct error *error)
{
    *searched = (struct searched_object){.file = {.path = path, .local_path = path}};
    bool ok = image_file_open(&searched->file, &searched->memory, error);
    if (ok && !searched->file.elf)
        ok = error_set(error, ERROR_FORMAT, "%s is not a program or library for x86-64.", path);
    GElf_Addr dwarf_bias = 0;
    if (ok) {
        searched->object = object_open(&searched->file);
        if (searched->object->module)
            searched->debug = dwfl_module_getdwarf(searched->object->module, &dwarf_bias);
        if (searched->debug)
            searched->bias = dwarf_bias - searched->object->bias;
        if (!searched->debug && !searched->object->go)
            ok = error_set(error, ERROR_NOT_FOUND,
                           "%s has no debug information, so its lines are not known. Compile it "
                           "with -g, or name a function.",
                           path);
    }
    if (!ok)
        searched_object_close(searched);
    return ok;
}

void searched_object_close(struct searched_object *searched)
{
    object_close(searched->object);
    image_file_close(&searched->file);
    arena_free(&searched->memory);
}

void searched_object_add(const struct searched_object *searched, uint64_t address,
                         struct array *places)
{
    uint64_t offset;
    bool code;
    if (image_file_offset(&searched->file, address, &offset, &code) && code)
        *(struct code_place *)array_add(places) = (struct code_place){address, offset};
}

static int by_address(const void *left, const void *right)
{
    const struct code_place *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

void code_places_sort(struct array *places)
{
    if (places->count > 1)
        qsort(places->elements, places->count, sizeof(struct code_place), by_address);
}
