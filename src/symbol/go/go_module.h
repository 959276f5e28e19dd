/* What Go's runtime knows of a program or library as a whole: its moduledata.
 *
 * Asked by pclntab.c for what the tables refer to. It has no section or symbol of its own in a
 * stripped file: it is the place in the data that begins with the address of the table of functions
 * and has the first function's address where it is to be.
 *
 * Source: Go's runtime/symtab.go, type moduledata, of 1.18 to 1.26.
 */
#ifndef MAGIC_TRACE_SYMBOL_GO_MODULE_H
#define MAGIC_TRACE_SYMBOL_GO_MODULE_H

#include "symbol/go/go_image.h"

/* The table of functions that a moduledata refers to. */
struct go_module_table {
    uint64_t address;
    uint32_t first_entry; /* of the first function, relative to the program's code */
    bool since_1_20;      /* else of Go 1.18 or 1.19 */
};

/* Where the program's code begins; 0: not found. */
uint64_t go_module_text(const struct go_image *image, const struct go_module_table *table);

/* What the functions' data are relative to ("go:func.*"); 0: not found. */
uint64_t go_module_function_data(const struct go_image *image, const struct go_module_table *table);

#endif
