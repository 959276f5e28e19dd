/* The time at which each instruction ran, for every place of one thread's log.
 *
 * The log has the time at some places; between two of them it is interpolated by the instructions
 * that ran. With RECORD_CLOCK_INSTRUCTIONS the time is the count of instructions plus a fixed price
 * for each system call, and the times in the log are not used. All times in ticks; they never go back.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_TIMELINE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct timeline {
    bool counts_instructions;
    uint64_t from, from_instructions; /* an instant, and the instructions that had run then */
    uint64_t until;                   /* the time stays below this until it is set again */
    uint64_t rate;                    /* ticks per instruction, in units of 2^-24 */
    uint64_t latest;                  /* time given out */
    uint64_t logged;                  /* the newest time in the log, by whatever clock */
};

/* `start`: of the thread's first instruction, by the clock that is used; 0: not known. */
void timeline_begin(struct timeline *timeline, bool counts_instructions, uint64_t start);

/* `time` is when `instructions` will have run: it passes evenly until then. */
void timeline_pass(struct timeline *timeline, uint64_t time, uint64_t instructions);

/* The same for a part of what was passed last: `time` is an estimate. */
void timeline_pass_part(struct timeline *timeline, uint64_t time, uint64_t instructions);

/* Of what was passed, the time stays below `time` until it is set again: something else happens then. Whether it would have
 * reached it when `instructions` have run. */
void timeline_limit(struct timeline *timeline, uint64_t time);
bool timeline_reaches(const struct timeline *timeline, uint64_t time, uint64_t instructions);

/* The end of what follows is unknown: time goes on at the same rate. */
void timeline_pass_unknown(struct timeline *timeline);

/* `instructions` have run, and it is `time`, whatever was interpolated before; but no earlier than a time that was given out. */
void timeline_set(struct timeline *timeline, uint64_t time, uint64_t instructions);

/* The same at the end of a pause, which packets have: that time is given out. */
void timeline_pause(struct timeline *timeline, uint64_t until, uint64_t instructions);

/* A system call: what comes after it is not at the same time, either. */
void timeline_system_call(struct timeline *timeline);

/* The time when `instructions` have run; never less than before. */
uint64_t timeline_at(struct timeline *timeline, uint64_t instructions);

/* Code is new when `instructions` have run: what comes after it is not at the same time. The next instruction takes no time for
 * that, so that times still count instructions; before the first one the beginning moves. */
void timeline_new_code(struct timeline *timeline, uint64_t instructions);

#endif
