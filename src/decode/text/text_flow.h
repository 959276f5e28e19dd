/* The flow events of perf script's text (recording/perf_script/perf_text.h), for all its threads.
 *
 * The text is read twice: the first time to learn where returns go (text_code.h). The whole file is
 * mapped; other memory grows with the number of distinct addresses in the text, not with its
 * length.
 *
 * Called by flow.c, which gives it the same interface as a recording. Times of events are
 * nanoseconds.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_FLOW_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_FLOW_H

#include "base/file.h"
#include "decode/flow_options.h"
#include "decode/flow_sink.h"

struct text_flow;

/* Whether `path` may be text: "-" (standard input) or a pipe, whose contents are known only when
 * they are read, or a file with a record of text near its beginning. */
bool text_flow_recognizes(const char *path);

/* `view` is the text, which is owned from now on, and `path` its name. `symbols` is borrowed and
 * receives the functions; `perf_map_directory` is borrowed, too, and may be NULL. */
struct text_flow *text_flow_open(struct file_view view, const char *path, struct symbols *symbols,
                                 const char *perf_map_directory);
void text_flow_close(struct text_flow *text);

/* False if the text has nothing that can be shown. */
bool text_flow_decode(struct text_flow *text, const struct flow_options *options,
                      const struct flow_sink *sink, struct flow_statistics *statistics,
                      struct error *error);

/* NULL for a process that is not in the text. Valid until text_flow_close. */
const struct text_code *text_flow_code(const struct text_flow *text, uint32_t pid);

/* Appends the marks that text_flow_decode has found, as trace_marks_find does. */
void text_flow_marks(const struct text_flow *text, struct array *marks);

#endif
