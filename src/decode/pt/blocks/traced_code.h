/* Which code is traced, where a recording was made with address filters (perf record --filter).
 *
 * Processors may end tracing in a jump or call out of that code without its target (SKL014); then
 * the filters determine which jump it was. Used by the decoder; read-only once read.
 *
 * Source: addr_filter__to_str and parse_addr_filter of tools/perf/util/auxtrace.c, Linux 6.1, and
 * intel_pt_match_pgd_ip of intel-pt.c there.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_TRACED_CODE_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_TRACED_CODE_H

#include "base/array.h"
#include "decode/pt/blocks/code_space.h"

struct traced_code {
    struct array ranges; /* private */
};

/* `filters`: from the recording, NULL: it has none. Filters that cannot be parsed completely count
 * as none. Keeps no pointers to the text. */
struct traced_code traced_code_read(const char *filters);
void traced_code_free(struct traced_code *code);

/* Whether a branch to `address` stays in the traced code; always true without filters. */
bool traced_code_holds(const struct traced_code *code, struct code_space *space, uint64_t address);

#endif
