/* Stock perf, the program: where it is, and what it says when it fails.
 *
 * Used by recording/perf_script/perf_script.c, which decodes with it, and by engine/perf/, which records with
 * it.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_PROGRAM_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_PROGRAM_H

/* The path of perf: what MAGIC_TRACE_PERF_PATH says (a path, or a name that is looked for in PATH),
 * else of `perf` in PATH. The caller frees; NULL if not found. */
char *perf_program_find(void);

/* The end of perf's output in the file `messages` (where it says why it failed), without trailing
 * line ends; may be "". The caller frees. */
char *perf_program_last_words(int messages);

#endif
