/* A recording as judges and peers of the flow decoder need it: its packets, and who had which code
 * where. Shares with src/flow only the cutting of rings. Used by tests/judge/ and bench/.
 */
#ifndef MAGIC_TRACE_TESTS_JUDGE_JUDGED_RECORDING_H
#define MAGIC_TRACE_TESTS_JUDGE_JUDGED_RECORDING_H

#include "decode/pt/trace_stream.h"
#include "image/address_space.h"
#include "recording/perf_data/perf_data_reader.h"

#include <intel-pt.h>

struct judged_recording {
    struct perf_data data;
    struct address_spaces spaces;
    struct trace_streams streams;
};

/* `path`: a recording's folder or a perf.data file. On false there is nothing to close. */
bool judged_recording_open(struct judged_recording *recording, const char *path,
                           struct error *error);
void judged_recording_close(struct judged_recording *recording);

/* The process that a thread's stream belongs to. NULL, of a processor's stream or when the
 * recording does not know the thread. */
const struct process *judged_recording_process(const struct judged_recording *recording,
                                               const struct trace_stream *stream);

/* What libipt has to know of the recording and of `size` bytes of its packets, borrowed. */
void judged_recording_config(const struct judged_recording *recording, struct pt_config *config,
                             const uint8_t *bytes, uint64_t size);

#endif
