/* A stream of branches (recording/perf_script/branch_stream.h), record by record, as an array of bytes. */
#ifndef MAGIC_TRACE_TESTS_MADE_STREAM_H
#define MAGIC_TRACE_TESTS_MADE_STREAM_H

#include "base/array.h"

void made_stream_begin(struct array *stream, uint32_t version);
void made_stream_thread(struct array *stream, uint32_t pid, uint32_t tid, uint32_t processor);
void made_stream_time(struct array *stream, uint64_t nanoseconds);
void made_stream_branch(struct array *stream, uint32_t flags, uint64_t from, uint64_t to);
void made_stream_stack(struct array *stream, uint64_t address, uint64_t value);
void made_stream_end(struct array *stream, uint64_t records);
/* What perf prints itself. */
void made_stream_line(struct array *stream, const char *line);

#endif
