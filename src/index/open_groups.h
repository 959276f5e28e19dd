/* The groups of the active calls, while spans are read from callers to callees (span_scan.h).
 *
 * Called by the statistics, to distinguish a recursive call from the outermost one.
 */
#ifndef MAGIC_TRACE_INDEX_OPEN_GROUPS_H
#define MAGIC_TRACE_INDEX_OPEN_GROUPS_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define NO_GROUP UINT32_MAX

struct open_groups {
    uint32_t *path;  /* by depth; owned */
    uint32_t *count; /* of a group's calls on the path; owned */
    uint32_t depth;  /* of the path */
    size_t capacity;
};

static inline struct open_groups open_groups_new(uint32_t functions)
{
    return (struct open_groups){
        .count = memory_allocate_zeroed(((size_t)functions + 1) * sizeof(uint32_t)),
    };
}

static inline void open_groups_free(struct open_groups *open)
{
    free(open->path);
    free(open->count);
}

static inline void open_groups_leave(struct open_groups *open, uint32_t depth)
{
    while (open->depth > depth) {
        uint32_t group = open->path[--open->depth];
        if (group != NO_GROUP)
            open->count[group]--;
    }
}

static inline void open_groups_clear(struct open_groups *open)
{
    open_groups_leave(open, 0);
}

/* Takes the next span, at `depth`: it replaces the path from there on by `group`. Returns whether
 * that is not yet on the path. */
static inline bool open_groups_enter(struct open_groups *open, uint32_t depth, uint32_t group)
{
    open_groups_leave(open, depth);
    if (depth >= open->capacity) {
        open->capacity = 2 * (size_t)depth + 16;
        open->path = memory_resize(open->path, open->capacity * sizeof *open->path);
    }
    while (open->depth < depth) /* callers are missing in a damaged index alone */
        open->path[open->depth++] = NO_GROUP;
    open->path[open->depth++] = group;
    return open->count[group]++ == 0;
}

/* The group that called the span at `depth`; NO_GROUP: it is an outermost one. */
static inline uint32_t open_groups_caller(const struct open_groups *open, uint32_t depth)
{
    return depth > 0 ? open->path[depth - 1] : NO_GROUP;
}

#endif
