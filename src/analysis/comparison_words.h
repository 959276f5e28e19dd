/* What is said of a difference between two parts, in the words of `magic-trace compare`.
 *
 * Called by the command and the page's panel.
 */
#ifndef MAGIC_TRACE_ANALYSIS_COMPARISON_WORDS_H
#define MAGIC_TRACE_ANALYSIS_COMPARISON_WORDS_H

#include "analysis/comparison.h"

#include <stdio.h>

/* Of a function, or of what stands for all threads. */
const char *comparison_name(const struct comparison *comparison, uint32_t id);

/* The name of a cause's function; of CAUSE_OUTSIDE, of the one that left the program, or "[preempted]" where other
 * threads had the processor. Not of CAUSE_REST. The comparison's. */
const char *comparison_cause_name(const struct comparison *comparison, const struct cause *cause);
/* The node of the function that is named: of CAUSE_OUTSIDE, the one that left the program. */
uint32_t comparison_cause_node(const struct comparison *comparison, const struct cause *cause);

/* The difference in words, without its size and place. */
void comparison_cause_print(FILE *stream, const struct comparison *comparison,
                            const struct cause *cause);

/* Whether both make the same calls, or after how many they part: a sentence without its end. */
void comparison_parting_print(FILE *stream, const struct divergence *divergence);
/* What `side`, CONTEXT_A or CONTEXT_B, does where they part: "insert (a.c:3) calls rehash (a.c:9)
 * at 1.2us". */
void comparison_next_call_print(FILE *stream, const struct comparison *comparison, int side,
                                const struct divergence_side *next);

#endif
