#include "cli/call_command.h"

#include "base/memory.h"
#include "cli/options/shell_word.h"
#include "output/duration.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 80 };

char *call_command(const char *function, uint64_t ordinal, const struct index_span *span,
                   const char *trace)
{
    static const char report[] = "magic-trace report -tree -fold";
    char from[DURATION_TEXT_SIZE], to[DURATION_TEXT_SIZE];
    char *call = memory_format("%s#%" PRIu64, function, ordinal);
    char *call_word = shell_word(call), *trace_word = shell_word(trace);
    char *command = strlen(function) <= NAME_MAX_LENGTH
                        ? memory_format("%s -around %s %s", report, call_word, trace_word)
                        : memory_format("%s -from '%s' -to '%s' %s", report,
                                        duration_format_exact(from, span->start),
                                        duration_format_exact(to, span->end), trace_word);
    free(call);
    free(call_word);
    free(trace_word);
    return command;
}
