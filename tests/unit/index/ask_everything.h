/* Makes every query of an index that may be damaged: whatever its bytes are, the queries return
 * answers or errors, and the answers refer to readable data. Called by damage_test.c and by
 * fuzz/index_fuzz.c.
 */
#ifndef MAGIC_TRACE_TESTS_ASK_EVERYTHING_H
#define MAGIC_TRACE_TESTS_ASK_EVERYTHING_H

#include <stddef.h>
#include <stdint.h>

/* Opens the index in these bytes, when it is one, and asks. `seed` chooses the questions. */
void ask_everything(const uint8_t *bytes, size_t size, uint64_t seed);

#endif
