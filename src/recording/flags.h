/* The names of a recording's options, as users type them.
 *
 * The option tables of cli/ name their options by these; messages of the engines, and session.json
 * (struct session_untraced), use them too.
 */
#ifndef MAGIC_TRACE_RECORDING_FLAGS_H
#define MAGIC_TRACE_RECORDING_FLAGS_H

#define FLAG_CALLGRAPH_MODE "-callgraph-mode"
#define FLAG_CLOCK "-clock"
#define FLAG_DELAY_THRESHOLD "-delay-thresh"
#define FLAG_DURATION_THRESHOLD "-duration-thresh"
#define FLAG_ENGINE "-engine"
#define FLAG_EVENTS "-events"
#define FLAG_FOLLOW "-follow"
#define FLAG_FULL_EXECUTION "-full-execution"
#define FLAG_IMMEDIATE_STOP "-immediate-stop"
#define FLAG_INCLUDE_KERNEL "-trace-include-kernel"
#define FLAG_KERNEL_ONLY "-trace-kernel-only"
#define FLAG_ARGS "-args"
#define FLAG_LONGER_THAN "-longer-than"
#define FLAG_MULTI_SNAPSHOT "-multi-snapshot"
#define FLAG_MULTI_THREAD "-multi-thread"
#define FLAG_ON_CPU "-on-cpu"
#define FLAG_ONLY "-only"
#define FLAG_RECORD_FROM "-record-from"
#define FLAG_RECORD_UNTIL "-record-until"
#define FLAG_SAMPLING "-sampling"
#define FLAG_SNAPSHOT_SIZE "-snapshot-size"
#define FLAG_TIMER_RESOLUTION "-timer-resolution"
#define FLAG_TRIGGER "-trigger"
#define FLAG_WORKING_DIRECTORY "-working-directory"

#endif
