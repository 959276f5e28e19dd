/* The sentences of an explanation: what the calls are, how much longer the slow ones took, and each cause.
 *
 * Called by `magic-trace explain` and by the viewer's server. Names are short (base/short_name.h).
 */
#ifndef MAGIC_TRACE_ANALYSIS_EXPLANATION_WORDS_H
#define MAGIC_TRACE_ANALYSIS_EXPLANATION_WORDS_H

#include "analysis/explanation.h"

#include <stdio.h>

/* The function whose calls are explained. */
const char *explanation_subject(const struct explanation *explanation);

/* ns of its longest slow call, without that in which it was preempted where that does not count. */
uint64_t explanation_longest(const struct explanation *explanation);

/* ns in which the explained calls were preempted, where that does not count. */
uint64_t explanation_preempted(const struct explanation *explanation);

/* Up to three sentences, a line each: how many calls there are, which of them are slow, and how many
 * only took so long because they were preempted. */
void explanation_print_heading(FILE *stream, const struct explanation *explanation);

/* A line: how much longer they took; its causes follow, if there are any. */
void explanation_print_extra(FILE *stream, const struct explanation *explanation);

/* Without a line's end. */
void explained_cause_print(FILE *stream, const struct explanation *explanation,
                           const struct explained_cause *explained);

#endif
