/* All functions that an object file names, as a list for users to choose from.
 *
 * Called by engine/trigger/trigger.c and the command line, before a program runs. Unlike symbols.h it keeps
 * every name of an address (aliases), and the address of a function is its first instruction in the
 * object. PLT slots are left out: they are no function's code.
 */
#ifndef MAGIC_TRACE_SYMBOL_FUNCTION_LIST_H
#define MAGIC_TRACE_SYMBOL_FUNCTION_LIST_H

#include "base/arena.h"
#include "base/array.h"
#include "base/edit_distance.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct listed_function {
    const char *symbol;   /* as in the symbol table */
    const char *name;     /* readable */
    uint64_t address;     /* the object's own (p_vaddr based) */
    uint64_t file_offset; /* of its first byte */
    uint64_t size;        /* bytes; 0: unknown */
};

struct function_list {
    struct array functions; /* of struct listed_function, by address, then symbol */
    struct arena names;
};

/* An object without symbols gives an empty list; what is no ELF object of x86-64 an error. */
bool function_list_open(struct function_list *list, const char *path, struct error *error);
void function_list_close(struct function_list *list);

/* Whether `text`, which a user typed, means this function: it is its symbol, or means its readable
 * name (base/short_name.h). */
bool listed_function_is(const struct listed_function *function, const char *text);

/* The same of a function of which only the symbol is known. */
bool function_symbol_is(const char *symbol, const char *text);

/* Whether it is no function but the cold part of one (cold_part.h). */
bool listed_function_is_cold(const struct listed_function *function);

/* Whether `text` means this function of the list. What means `f(int)` does not mean its cold part, nor a clone of it, like
 * `f(int) [clone .constprop.0]`, unless the list has no f(int); their whole names and symbols do. */
bool function_list_means(const struct function_list *list, const struct listed_function *function,
                         const char *text);

/* Offers its readable name as one that a user may have meant, or the plain one, if that is close; in `names`. */
void listed_function_offer(const struct listed_function *function, struct closest_names *closest,
                           struct arena *names);

#endif
