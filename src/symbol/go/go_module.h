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

/* The address of the moduledata that refers to the table of functions at `table`, of which the first function begins at
 * `first_entry` relative to the program's code. 0: not found. Slow: reads all data of the object. */
uint64_t go_module_find(const struct go_image *image, uint64_t table, uint32_t first_entry);

/* Where the program's code begins; 0: `module` is 0. */
uint64_t go_module_text(const struct go_image *image, uint64_t module);

/* What the functions' data are relative to ("go:func.*"); 0: `module` is 0. `since_1_20`: of that Go or a later one, else
 * of 1.18 or 1.19. */
uint64_t go_module_function_data(const struct go_image *image, uint64_t module, bool since_1_20);

#endif
