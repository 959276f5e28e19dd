/* Messages to the user, on stderr.
 *
 * Three kinds: a status line in the style of Jane Street's magic-trace, "[ Snapshot taken. ]"; a
 * warning "Warning: ..."; and a transient progress line that appears only on a terminal and only
 * when something takes more than a second. Modules below cli/ may warn; errors travel in `struct
 * error` instead.
 */
#ifndef MAGIC_TRACE_BASE_LOG_H
#define MAGIC_TRACE_BASE_LOG_H

#include <stdint.h>

__attribute__((format(printf, 1, 2))) void log_status(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);

/* Shows how far a long task has come. Called as often as is convenient from one thread; draws at
 * most ten times a second. `what` is a short verb phrase ("Decoding"); `total` 0 means unknown. */
void log_progress(const char *what, uint64_t done, uint64_t total);

/* Removes the progress line, if one is shown. */
void log_progress_end(void);

#endif
