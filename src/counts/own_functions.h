/* The functions of the program and of the libraries that are its own, whether they ran or not.
 *
 * Of the objects of which some code ran. What never ran of them is a part of coverage, too.
 * Called by line_counts.c and export_lcov.c.
 */
#ifndef MAGIC_TRACE_COUNTS_OWN_FUNCTIONS_H
#define MAGIC_TRACE_COUNTS_OWN_FUNCTIONS_H

#include "counts/code_counts.h"
#include "x86/decode.h"

/* A range of a function's code: a function that was split has several. */
struct own_function {
    struct code_place_key start;
    uint64_t end; /* offset in the file, exclusive */
    function_id function;
    bool begins; /* the function begins here */
};

/* An array of struct own_function, by place; objects in the order of the counts. The caller frees it. */
struct array own_functions_find(const struct code_counts *counts);

/* The instruction at `offset`, which is in a range of the file. False: the bytes are none. */
bool own_functions_decode(const struct image_file *file, uint64_t offset,
                          struct x86_instruction *decoded);

#endif
