/* The value of -callgraph-mode: lbr, lbr-no-stitch, dwarf, fp, or the s-expressions of
 * Jane Street's magic-trace: Dwarf, Frame_pointers, (Last_branch_record((stitched true))).
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_CALLGRAPH_MODE_H
#define MAGIC_TRACE_CLI_OPTIONS_CALLGRAPH_MODE_H

#include "cli/options/options.h"
#include "engine/processor_options.h"

/* The names without s-expressions. */
option_value_at callgraph_mode_at;

bool callgraph_mode_parse(enum callgraph_mode *mode, const char *text);

#endif
