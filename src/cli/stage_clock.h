/* How long the stages of a command take, for `decode -stats`. */
#ifndef MAGIC_TRACE_CLI_STAGE_CLOCK_H
#define MAGIC_TRACE_CLI_STAGE_CLOCK_H

struct stage_seconds {
    double elapsed;
    double processor; /* of all cores together */
};

/* Since some moment; what a stage took is the difference of two. */
struct stage_seconds stage_clock_read(void);

static inline struct stage_seconds stage_clock_since(struct stage_seconds start)
{
    struct stage_seconds now = stage_clock_read();
    return (struct stage_seconds){now.elapsed - start.elapsed, now.processor - start.processor};
}

#endif
