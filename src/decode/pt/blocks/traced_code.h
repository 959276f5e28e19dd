/* Which code is traced, where a recording was made with address filters (perf record --filter).
 *
 * Processors may end tracing in a jump or call out of it without telling where that led (SKL014);
 * then the filters tell which jump it was. Asked by the decoder, read-only once read.
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

/* `filters`: as the recording tells them, NULL: it has none. What is not understood, in whole or in
 * part, is taken for no filters. Keeps no pointers to what it reads. */
struct traced_code traced_code_read(const char *filters);
void traced_code_free(struct traced_code *code);

/* Whether a branch to `address` stays in what is traced; always true without filters. */
bool traced_code_holds(const struct traced_code *code, struct code_space *space, uint64_t address);

#endif
