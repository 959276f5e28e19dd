/* Functions whose arguments and results are recorded: -args.
 *
 * chosen_functions_find turns names into places in files, as engine/trigger/trigger.h does for triggers, and says for each how to
 * get its values: a list of steps, each of which gives some 64-bit words, and what these mean
 * (recording/call_values.h). Engines that can read registers carry the steps out.
 */
#ifndef MAGIC_TRACE_ENGINE_FUNCTIONS_CHOSEN_FUNCTIONS_H
#define MAGIC_TRACE_ENGINE_FUNCTIONS_CHOSEN_FUNCTIONS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "recording/call_values.h"

#include <stdbool.h>
#include <stdint.h>

/* At most so many places and steps. */
enum { CHOSEN_PLACES = 1024, CHOSEN_STEPS = 8192, CHOSEN_STEPS_OF_CALL = 64 };

enum value_source {
    VALUE_OF_REGISTER, /* general register `number`: one word */
    VALUE_OF_VECTOR,   /* the low `size` bytes, 8 or 16, of xmm register `number` */
    VALUE_OF_STACK,    /* `size` bytes at `offset` above the return address */
    VALUE_OF_MEMORY, /* `size` bytes at the address in the first word of step `number` of the same list: a word with
                        * how many could be read, then these */
    VALUE_OF_STRING, /* likewise, up to a 0; plus VALUE_CUT when no 0 came */
};

struct value_step {
    enum value_source source;
    uint8_t number;
    uint16_t size; /* bytes */
    int32_t offset;
};

struct chosen_place {
    char *path;           /* of the object, absolute, links resolved */
    uint64_t file_offset; /* of the function's first instruction */
    uint32_t first;       /* of the steps of its arguments; those of its result follow */
    uint32_t arguments, results;
};

struct chosen_functions {
    struct array places; /* struct chosen_place, by file_offset; function i of `values` */
    struct array steps;  /* struct value_step */
    struct call_values values;
    bool without_types; /* of some there is no debug information: their registers are recorded */
    struct arena memory;
};

/* `patterns`: names as -trigger takes them, or shell patterns, separated by commas; NULL: none. `file`: of source, whose
 * functions are chosen, too; its path, or the end of it; NULL: none. `objects`: paths of the executable, then of its
 * libraries: each pattern, and the file, stands for functions of the first of them that has any. */
bool chosen_functions_find(struct chosen_functions *chosen, const char *patterns, const char *file,
                           const char *const *objects, size_t object_count, struct error *error);
void chosen_functions_free(struct chosen_functions *chosen);

#endif
