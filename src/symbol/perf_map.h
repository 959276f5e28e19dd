/* Names of JIT code that a program wrote for perf: the file perf-PID.map.
 *
 * One line per function, "START SIZE NAME", both numbers hexadecimal (an 0x is tolerated), the name
 * anything up to the end of the line. Addresses are those in the process. Code is compiled
 * repeatedly: a later line replaces earlier ones at the same addresses. Lines that are not of this
 * form are skipped: the file may be cut off anywhere.
 *
 * Source: tools/perf/Documentation/jit-interface.txt of Linux.
 */
#ifndef MAGIC_TRACE_SYMBOL_PERF_MAP_H
#define MAGIC_TRACE_SYMBOL_PERF_MAP_H

#include "image/address_space.h"
#include "symbol/symbol_table.h"

struct perf_map {
    struct symbol_table table; /* addresses in the process */
    char *text;                /* the file, into which names point; NULL: of a dump */
};

/* Looks for perf-PID.map in `folder`. NULL if not found. With `owner_must_match`, symbolic
 * links are refused, and files that belong neither to this user nor to root: in /tmp any user can
 * create one. */
struct perf_map *perf_map_open(const char *folder, uint32_t pid, bool owner_must_match);

/* The same of what the process's JIT compiler dumped (jitdump.h): for pages that the recorder
 * dumped over it. NULL if not found. `process` must outlive it. */
struct perf_map *perf_map_of_dump(const struct process *process);
void perf_map_close(struct perf_map *map);

#endif
