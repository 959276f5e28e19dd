/* How far apart the time stamps of a path log are, and how much is cleared ahead at each, in bytes of log: for log.c and
 * enter.S. Definitions alone, because the
 * assembler reads this, too.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_STAMP_INTERVAL_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_STAMP_INTERVAL_H

/* Where the pace is not known: at the beginning, after system calls. */
#define TR_FIRST_INTERVAL 256
/* More, after a stamp that came early. */
#define TR_INTERVAL_STEP 32
#define TR_LARGEST_INTERVAL 2048
/* What is logged after a check before the next one, though stamps come late: four entries of fragments. */
#define TR_LEAST_STEP 16
/* TR_CLEARED of layout.h. */
#define TR_CLEARED_AHEAD 0x2000

#endif
