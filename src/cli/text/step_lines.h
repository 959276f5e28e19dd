/* The branches or the instructions of a recording as they are decoded, one line each: `dump
 * -branches`, `dump -instructions`.
 *
 *     tid 1234 401000 401020 call    from, to, kind; 0: not known, or not traced
 *     tid 1234 401000                an instruction
 *     tid 1234 401000 0 error 1f3c the code is in no known file
 *                                    where it was noticed, the packet's offset in its ring, why
 *     tid 1234 0 0 overflow          and `lost`: packets are missing
 *
 * With symbols a tab follows, and `from => to` or the one place, each as FUNCTION+0xOFFSET. A
 * conditional jump that is not taken is no branch.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_STEP_LINES_H
#define MAGIC_TRACE_CLI_TEXT_STEP_LINES_H

#include "base/error.h"

#include <stdio.h>

struct step_lines_options {
    bool instructions; /* not branches */
    bool symbols;
};

/* Decodes `recording`, as flow_open takes it. False also when it is damaged: everything before the
 * damage is printed then. Errors of writing stay with `stream`. */
bool step_lines_print(const char *recording, const struct step_lines_options *options, FILE *stream,
                      struct error *error);

#endif
