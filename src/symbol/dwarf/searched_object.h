/* An object whose debug information, or Go's own table, is searched for what a user named, before a
 * program runs.
 *
 * Shared by line_search.c and inlined_search.c.
 */
#ifndef MAGIC_TRACE_SYMBOL_SEARCHED_OBJECT_H
#define MAGIC_TRACE_SYMBOL_SEARCHED_OBJECT_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "symbol/object.h"

#include <stdbool.h>
#include <stdint.h>

struct searched_object {
    struct arena memory;
    struct image_file file;
    struct object *object;
    Dwarf *debug;   /* NULL: it is a Go program, of which object->go has the lines */
    GElf_Addr bias; /* what to add to an address of DWARF to get the object's own */
};

/* An instruction that was found. */
struct code_place {
    uint64_t address;     /* the object's own (p_vaddr based) */
    uint64_t file_offset; /* of the instruction */
};

/* On an error it is closed already. */
bool searched_object_open(struct searched_object *searched, const char *path, struct error *error);
void searched_object_close(struct searched_object *searched);

/* Appends the instruction at `address`, the object's own, if there is code. */
void searched_object_add(const struct searched_object *searched, uint64_t address,
                         struct array *places);

/* Orders places by address. */
void code_places_sort(struct array *places);

#endif
