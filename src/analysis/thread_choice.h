/* The threads of a trace that the user names.
 *
 * Called by `magic-trace report` for -thread.
 */
#ifndef MAGIC_TRACE_ANALYSIS_THREAD_CHOICE_H
#define MAGIC_TRACE_ANALYSIS_THREAD_CHOICE_H

#include "base/array.h"
#include "index/trace_index.h"

/* Appends the tracks (uint32_t) of the threads that have this number, or all that have this name. ERROR_NOT_FOUND: there is
 * none; the error names some. */
bool threads_choose(const struct trace_index *index, const char *text, struct array *tracks,
                    struct error *error);

#endif
