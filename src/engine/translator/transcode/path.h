/* Which blocks ran: the log's fragment entries -> steps.
 *
 * An entry says where a fragment began, and the next record how it was left: the path keeps the fragment entered last
 * until that is known, and then adds the blocks that ran to its steps. transcoder.c, which reads the log, adds events
 * between them, and takes the steps when it knows the time.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PATH_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PATH_H

#include "base/array.h"
#include "engine/translator/transcode/call_stack.h"
#include "engine/translator/transcode/fragments.h"
#include "engine/translator/transcode/log_cursor.h"
#include "engine/translator/transcode/pace.h"
#include "engine/translator/transcode/way_chains.h"
#include "engine/translator/transcode/ways.h"

enum path_step_kind {
    PATH_RUN,  /* blocks `first` to `last` ran */
    PATH_LOAD, /* block `first` ran, which loads the stack pointer: `load` says with what */
    PATH_CUT,  /* block `first` ran up to the instruction at `pc` */
    PATH_WAYS, /* so many ways were taken, from one fragment's first block to another's, which began */
    PATH_EVENT,
};

/* Elements of path.ways, and of path.parts, which they are cut into. */
struct path_ways {
    size_t first, count;
    size_t first_part, parts;
};

struct path_step {
    enum path_step_kind kind;
    uint16_t first, last;
    bool begun; /* PATH_LOAD, PATH_CUT: a step before has begun the block */
    const struct fragment *fragment;
    union {
        struct log_record event;
        struct stack_load load;
        struct path_ways ways;
        uint64_t pc;
    };
};

enum {
    PATH_LOADS = 16
}; /* loads of the stack pointer in one run of a fragment that are reported */

struct path {
    const struct fragment *fragment; /* entered last, not left; NULL: none */
    uint32_t entry;                  /* the word that said so */
    unsigned next;                   /* its first block that is not among the steps yet */
    bool
        begun; /* the block before that one was begun by path_reach: what it loads is not known yet */
    unsigned exit; /* the block by whose branch it was left; UINT_MAX: not known */
    struct stack_load loads[PATH_LOADS];
    unsigned load_count;
    struct array steps;    /* of struct path_step */
    struct array ways;     /* of const struct pt_block_run *: struct way_run */
    struct array parts;    /* of struct pace_part */
    bool hurries;          /* less precise times will do: PACE_QUICK, and long chains */
    uint64_t instructions; /* of the steps */
};

void path_init(struct path *path);
void path_free(struct path *path);

/* Execution comes to `fragment`, as `entry` says. False: the fragment before
 * cannot have led there; then nothing changes. */
bool path_enter(struct path *path, const struct fragment *fragment, uint32_t entry,
                struct error *error);

/* The same by ways, for as long as the `count` words, entries and TR_EXIT, lead from fragment to fragment and nothing
 * but a time stamp can be known of their beginnings. Returns how many were used. */
size_t path_follow(struct path *path, struct fragments *fragments, struct way_table *ways,
                   uint32_t table, const uint32_t *words, size_t count);

/* TR_EXIT and TR_STACK, of the fragment entered last. */
bool path_exit(struct path *path, uint32_t block, struct error *error);
void path_load(struct path *path, const struct stack_load *load);

/* TR_COPIED, of the newest load, unless that was among steps that were taken. */
void path_number(struct path *path, struct stack_numbers numbers);

/* The fragment entered last, if any, ran to its end: a system call, or what TR_EXIT said. */
void path_finish(struct path *path);

/* It ran up to the instruction at `pc`, which did not run. `block`: payload of TR_PARTIAL. */
bool path_cut(struct path *path, uint64_t pc, uint32_t block, struct error *error);

/* How it went on is unknown. Its first block is taken as begun. */
void path_abandon(struct path *path);

/* The fragment entered last has come as far as `block`, which runs. */
void path_reach(struct path *path, unsigned block);

/* The path begins with `block` of the fragment entered last, whatever ran before. */
void path_begin(struct path *path, unsigned block);

/* Something else happens after all steps so far. */
void path_event(struct path *path, const struct log_record *record);

/* Ways that were taken as a chain become single ones again, as path_split and whoever looks at ways wants them. */
void path_expand_chains(struct path *path);

/* A place among the steps where a fragment begins to run: before step `step`; of PATH_WAYS, before the last block of its way
 * `way`. As many as there are steps: at their end. */
struct path_place {
    size_t step, way;
};

/* What path_split has taken away. */
struct path_rest {
    struct array steps;
    uint64_t instructions;
    const struct fragment *fragment;
    size_t ways, parts;
};

/* Leaves the steps before `place`; path_join brings back the others when these were taken and cleared. */
void path_split(struct path *path, struct path_place place, struct path_rest *rest);
void path_join(struct path *path, struct path_rest *rest);

/* The block that a rest begins with; NULL: none is known. */
const struct pt_code_block *path_rest_first(const struct path_rest *rest);

/* The ways that are among the steps, in order; `*sum`: all of them together. */
const struct pt_block_run *const *path_all_ways(const struct path *path, struct pace_part *sum);

/* Instructions of the block that is among the steps and has just begun. */
uint32_t path_begun(const struct path *path);

/* All steps were taken. */
void path_clear(struct path *path);

#endif
