/* A place in a program as perf script prints it: "4002821819 _dl_start+0xa9 (/usr/lib/ld.so)".
 *
 * Symbol, offset and object may each be missing, depending on the fields that were asked for and on
 * what perf knew. Symbols are demangled C++ names and may hold spaces, parentheses and "=>".
 *
 * Called by perf_text.c. Source: sample__fprintf_sym and sample__fprintf_callchain of
 * tools/perf/util/evsel_fprintf.c, Linux 6.1.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_TEXT_PLACE_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_TEXT_PLACE_H

#include "recording/perf_script/text_cursor.h"

struct perf_text_place {
    uint64_t address;
    struct text_slice symbol; /* empty: perf knew none, "[unknown]" */
    struct text_slice object; /* file; empty: unknown, or not printed */
    uint64_t offset;          /* of `address` in the symbol */
    bool has_offset;
};

/* False when `text` does not begin with an address. */
bool perf_text_place_parse(struct text_cursor text, struct perf_text_place *place);

#endif
