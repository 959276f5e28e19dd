/* Finishing the recording of a magic-trace that was killed, so that it can be decoded. */
#ifndef MAGIC_TRACE_CLI_SALVAGE_H
#define MAGIC_TRACE_CLI_SALVAGE_H

#include "base/error.h"

/* Asks every engine to finish what it left in `recording`, and completes a perf.data whose writing
 * was cut off. Nothing to do (a whole recording, a lone
 * perf.data file) is success. */
bool salvage(const char *recording, struct error *error);

#endif
