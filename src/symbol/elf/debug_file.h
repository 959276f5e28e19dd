/* Where the debug information of an object lies when it is in a file of its own.
 *
 * A callback of libdwfl, given to it by object.c. The search is libdwfl's own, but where no server
 * of debuginfod is named in DEBUGINFOD_URLS it does not end with loading that client's twenty
 * libraries for each process, which takes longer than all the rest of the search.
 *
 * A recording has copies of the objects, but not of their debug files: of a copy, the debug file of
 * the object that it was made of is looked for first. It counts only if its build id, or its checksum,
 * is that of the copy.
 */
#ifndef MAGIC_TRACE_SYMBOL_DEBUG_FILE_H
#define MAGIC_TRACE_SYMBOL_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* As dwfl_standard_find_debuginfo, in elfutils/libdwfl.h, without a path of one's own. `name` is where
 * the object was when it ran, `object` where it is now. */
int debug_file_find(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr start,
                    const char *object, const char *link, GElf_Word link_crc, char **found);

#endif
