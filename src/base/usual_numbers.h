/* Which number usually comes with a pair of keys, learned from those that come.
 *
 *     struct array numbers = usual_numbers_none();
 *     bool usual = usual_numbers_see(&numbers, first, second, number);
 *     array_free(&numbers);
 *
 * For the distance between the places where a stack is left and continues, which depends on the code at both
 * (stack_pointer_switch.c, suspended_calls.c). A few pairs are known at a time.
 */
#ifndef MAGIC_TRACE_BASE_USUAL_NUMBERS_H
#define MAGIC_TRACE_BASE_USUAL_NUMBERS_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

struct array usual_numbers_none(void);

/* The pair came with `number`. False: some others have come before, all the same. */
bool usual_numbers_see(struct array *numbers, uint64_t first, uint64_t second, uint64_t number);

/* Whether some have come before, all of them `number`. */
bool usual_numbers_is_sure(const struct array *numbers, uint64_t first, uint64_t second,
                           uint64_t number);

#endif
