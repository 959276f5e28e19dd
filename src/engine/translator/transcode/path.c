#include "engine/translator/transcode/path.h"

#include <limits.h>
#include <string.h>

enum {
    NOT_KNOWN = UINT_MAX,
    LINE = 64, /* of a processor's cache */
};

void path_init(struct path *path)
{
    *path = (struct path){
        .exit = NOT_KNOWN,
        .steps = array_of(sizeof(struct path_step)),
        .ways = array_of(sizeof(struct pt_block_run *)),
        .parts = array_of(sizeof(struct pace_part)),
    };
}

void path_free(struct path *path)
{
    array_free(&path->steps);
    array_free(&path->ways);
    array_free(&path->parts);
}

void path_clear(struct path *path)
{
    path->steps.count = path->ways.count = path->parts.count = 0;
    path->instructions = 0;
}

/* ---- steps ---- */

/* Not cleared: the caller sets all that its kind has. */
static struct path_step *add_step(struct path *path)
{
    if (path->steps.count == path->steps.capacity)
        array_reserve(&path->steps, path->steps.count + 1);
    return array_at(&path->steps, path->steps.count++);
}

static void add_run(struct path *path, unsigned first, unsigned last)
{
    *add_step(path) = (struct path_step){
        .kind = PATH_RUN,
        .first = (uint16_t)first,
        .last = (uint16_t)last,
        .fragment = path->fragment,
    };
    path->instructions += fragment_instructions(path->fragment, first, last);
}

static void add_load(struct path *path, unsigned block, const struct stack_load *load)
{
    *add_step(path) = (struct path_step){
        .kind = PATH_LOAD,
        .first = (uint16_t)block,
        .last = (uint16_t)block,
        .fragment = path->fragment,
        .load = *load,
    };
    path->instructions += fragment_instructions(path->fragment, block, block);
}

/* Blocks from path->next to `last`, of which those that loaded the stack pointer have a record each,
 * in order. */
static void add_loading_run(struct path *path, unsigned last)
{
    unsigned begun = path->next, loads = 0;
    for (unsigned i = begun; i <= last && loads < path->load_count; i++) {
        if (!path->fragment->blocks[i].code->loads_stack)
            continue;
        if (i > begun)
            add_run(path, begun, i - 1);
        add_load(path, i, &path->loads[loads++]);
        begun = i + 1;
    }
    if (begun <= last)
        add_run(path, begun, last);
}

/* The first load of the stack pointer is that of the block that has begun. */
static void add_begun_load(struct path *path)
{
    unsigned block = path->next - 1;
    if (path->load_count == 0 || !path->fragment->blocks[block].code->loads_stack)
        return;
    *add_step(path) = (struct path_step){
        .kind = PATH_LOAD,
        .first = (uint16_t)block,
        .last = (uint16_t)block,
        .begun = true,
        .fragment = path->fragment,
        .load = path->loads[0],
    };
    path->load_count--;
    memmove(path->loads, path->loads + 1, path->load_count * sizeof *path->loads);
}

static void run_to(struct path *path, unsigned last)
{
    if (path->begun)
        add_begun_load(path);
    path->begun = false;
    if (path->next > last)
        return;
    if (path->fragment->loads_stack && path->load_count > 0)
        add_loading_run(path, last);
    else
        add_run(path, path->next, last);
    path->next = last + 1;
}

static void leave(struct path *path)
{
    path->fragment = NULL;
    path->exit = NOT_KNOWN;
    path->load_count = 0;
    path->next = 0;
    path->begun = false;
}

/* ---- how a fragment is left ---- */

static unsigned last_block(const struct fragment *fragment)
{
    return fragment->block_count - 1u;
}

static bool leads_to(const struct pt_code_block *code, uint64_t pc)
{
    switch ((enum pt_code_block_kind)code->kind) {
    case PT_BLOCK_FAR:
        return pc == code->end;
    case PT_BLOCK_INDIRECT_JUMP:
    case PT_BLOCK_INDIRECT_CALL:
    case PT_BLOCK_RETURN:
        return false;
    default:
        return pc == code->target || pc == code->fall;
    }
}

static bool is_indirect(const struct pt_code_block *code)
{
    return code->kind == PT_BLOCK_INDIRECT_JUMP || code->kind == PT_BLOCK_INDIRECT_CALL ||
           code->kind == PT_BLOCK_RETURN;
}

/* The block from `next` on, or the one before it, by whose direct branch the fragment is left for `pc`: its end, else the
 * first side exit. */
static unsigned direct_exit(const struct fragment *fragment, unsigned next, uint64_t pc)
{
    unsigned last = last_block(fragment);
    if (leads_to(fragment->blocks[last].code, pc))
        return last;
    /* The block that is among the steps already has begun; its branch comes next. */
    for (unsigned i = next > 0 ? next - 1 : 0; i < last; i++)
        if (fragment->blocks[i].side == pc)
            return i;
    return NOT_KNOWN;
}

static bool can_leave_for(const struct fragment *fragment, unsigned block, uint64_t pc,
                          bool indirect)
{
    const struct pt_code_block *code = fragment->blocks[block].code;
    return indirect ? is_indirect(code) : leads_to(code, pc);
}

static bool refuse(const struct path *path, uint64_t pc, struct error *error)
{
    return error_set(error, ERROR_FORMAT, "the fragment at %#llx cannot have been left for %#llx",
                     (unsigned long long)path->fragment->pc, (unsigned long long)pc);
}

/* How the fragment, of which the blocks before `next` are known, was left for `pc`, by block `exit` if that is known;
 * NOT_KNOWN: it cannot have been. */
static unsigned find_exit(const struct fragment *fragment, unsigned exit, unsigned next,
                          uint64_t pc, bool indirect)
{
    if (exit == NOT_KNOWN)
        exit = indirect ? last_block(fragment) : direct_exit(fragment, next, pc);
    return exit != NOT_KNOWN && can_leave_for(fragment, exit, pc, indirect) ? exit : NOT_KNOWN;
}

bool path_enter(struct path *path, const struct fragment *fragment, uint32_t entry,
                struct error *error)
{
    if (path->fragment) {
        unsigned exit =
            find_exit(path->fragment, path->exit, path->next, fragment->pc, entry & TR_INDIRECT);
        if (exit == NOT_KNOWN)
            return refuse(path, fragment->pc, error);
        run_to(path, exit);
        leave(path);
    }
    path->fragment = fragment;
    path->entry = entry;
    path->next = 0;
    path->begun = false;
    return true;
}

/* ---- ways ---- */

/* What the log is read with. */
struct way_scope {
    struct fragments *fragments;
    struct way_table *ways;
    uint32_t table;
    bool hurries; /* less precise times will do */
};

/* A way that was not taken before. */
static const struct pt_block_run *discover(const struct way_scope *scope, struct way_words words)
{
    bool has_exit = words.before_that != 0;
    uint32_t entry = has_exit ? words.before_that : words.before;
    if (words.word == 0 || entry >= TR_EVENT)
        return NULL;
    const struct fragment *from = fragments_get(scope->fragments, scope->table, entry >> 1, NULL);
    if (!from)
        return NULL;
    if (words.word >= TR_EVENT) {
        bool is_exit = TR_EVENT_KIND(words.word) == TR_EXIT &&
                       TR_EVENT_PAYLOAD(words.word) < from->block_count;
        return is_exit && !has_exit ? ways_add_exit(scope->ways, words) : NULL;
    }
    const struct fragment *to =
        fragments_get(scope->fragments, scope->table, words.word >> 1, NULL);
    if (!to)
        return NULL;
    unsigned exit = find_exit(from, has_exit ? TR_EVENT_PAYLOAD(words.before) : NOT_KNOWN, 1,
                              to->pc, words.word & TR_INDIRECT);
    return exit == NOT_KNOWN ? NULL : ways_add(scope->ways, from, to, words, exit);
}

/* Words of a log after the entry `entry`. */
struct entry_words {
    uint32_t entry;
    const uint32_t *words;
    size_t count;
};

/* The word at `index`, and what its meaning depends on. */
static inline struct way_words words_at(const struct entry_words *log, size_t index)
{
    uint32_t before = index > 0 ? log->words[index - 1] : log->entry;
    uint32_t before_that = index > 1 ? log->words[index - 2] : log->entry;
    return (struct way_words){log->words[index], before, before >= TR_EVENT ? before_that : 0};
}

/* The runs of `count` words from `from` on, each on its own. Returns of how many they were found. */
static size_t find_ways(const struct way_scope *scope, const struct entry_words *log, size_t from,
                        size_t count, const struct pt_block_run **runs)
{
    for (size_t found = 0; found < count; found++) {
        struct way_words words = words_at(log, from + found);
        runs[found] = ways_find(scope->ways, words);
        if (!runs[found])
            runs[found] = discover(scope, words);
        if (!runs[found])
            return found;
    }
    return count;
}

/* Runs in turn, of how many words they are, and where more are put. */
struct found_runs {
    const struct pt_block_run **runs;
    size_t count, words;
};

/* Finds the runs of all words up to `until`. False: only those of some were found. */
typedef bool find_words(const struct way_scope *scope, const struct entry_words *log, size_t until,
                        struct found_runs *found);

/* Of each word on its own. */
static bool find_singly(const struct way_scope *scope, const struct entry_words *log, size_t until,
                        struct found_runs *found)
{
    size_t wanted = until - found->words;
    size_t count = find_ways(scope, log, found->words, wanted, found->runs + found->count);
    found->count += count;
    found->words += count;
    return count == wanted;
}

/* What it consists of is fetched from memory until it is taken. */
static void add_chain(struct found_runs *found, const struct pt_block_run *chain, unsigned length)
{
    __builtin_prefetch(chain->parts);
    __builtin_prefetch((const uint8_t *)chain->parts + LINE);
    found->runs[found->count++] = chain;
    found->words += length;
}

/* What a chain is looked up by. */
struct lookup {
    struct way_chain_words key;
    uint32_t hash;
};

/* Of the words from `from` on, if they are enough. Their entry is fetched from memory while the lookup before is made. */
static inline struct lookup prepare(const struct way_chains *chains, const struct entry_words *log,
                                    size_t from, size_t until, unsigned length)
{
    if (from + length > until)
        return (struct lookup){0};
    struct way_chain_words key = way_chain_words(words_at(log, from), log->words + from);
    uint32_t hash = way_chain_hash(&key, length);
    __builtin_prefetch(&chains->entries[hash & chains->mask]);
    return (struct lookup){key, hash};
}

/* The same by chains of `length` words, where there are some; by `otherwise` where there are none. The callers name
 * both, so that each has a loop of its own. */
static inline __attribute__((always_inline)) bool
find_chains_of(const struct way_scope *scope, const struct entry_words *log, size_t until,
               struct found_runs *found, struct way_chains *chains, unsigned length,
               find_words *otherwise)
{
    struct lookup next = prepare(chains, log, found->words, until, length);
    while (until - found->words >= length && way_chains_pay(chains)) {
        struct lookup now = next;
        next = prepare(chains, log, found->words + length, until, length);
        const struct pt_block_run *chain = way_chains_find(chains, &now.key, now.hash, length);
        way_chains_count(chains, chain, length);
        size_t before = found->count;
        if (chain)
            add_chain(found, chain, length);
        else if (otherwise(scope, log, found->words + length, found))
            way_chains_see(chains, &now.key, found->runs + before, found->count - before);
        else
            return false;
    }
    return otherwise(scope, log, until, found);
}

static bool find_chains(const struct way_scope *scope, const struct entry_words *log, size_t until,
                        struct found_runs *found)
{
    return find_chains_of(scope, log, until, found, scope->ways->chains, WAY_CHAIN, find_singly);
}

static bool find_long_chains(const struct way_scope *scope, const struct entry_words *log,
                             size_t until, struct found_runs *found)
{
    return find_chains_of(scope, log, until, found, ways_long_chains(scope->ways), WAY_LONG_CHAIN,
                          find_chains);
}

/* The runs of all words, as far as they can be found. Returns of how many words; `*run_count`: how many runs they are. */
static size_t find_runs(const struct way_scope *scope, const struct entry_words *log,
                        const struct pt_block_run **runs, size_t *run_count)
{
    struct found_runs found = {.runs = runs};
    if (scope->hurries)
        find_long_chains(scope, log, log->count, &found);
    else
        find_chains(scope, log, log->count, &found);
    *run_count = found.count;
    return found.words;
}

/* Cuts the ways of a step. */
static void add_parts(struct path *path, struct path_ways *ways)
{
    const struct pt_block_run *const *runs = array_at(&path->ways, ways->first);
    const float unevenness = path->hurries ? PACE_QUICK : PACE_PRECISE;
    ways->first_part = path->parts.count;
    for (size_t done = 0; done < ways->count;) {
        struct pace_part part = pace_next_part(runs + done, ways->count - done, unevenness);
        *(struct pace_part *)array_add(&path->parts) = part;
        done += part.count;
    }
    ways->parts = path->parts.count - ways->first_part;
}

static void add_ways(struct pace_part *sum, const struct path *path, const struct path_ways *ways)
{
    const struct pace_part *parts = array_at(&path->parts, ways->first_part);
    for (size_t i = 0; i < ways->parts; i++) {
        sum->count += parts[i].count;
        sum->instructions += parts[i].instructions;
        sum->ticks += parts[i].ticks;
    }
}

/* Whether a time stamp follows, of when the entry was, and then that execution went on. */
static bool is_only_stamped(const uint32_t *words, size_t at, size_t count)
{
    enum { STAMP = 3 }; /* words */
    if (at + STAMP >= count || words[at] != TR_EVENT_WORD(TR_STAMP, TR_STAMP_ENTRY))
        return false;
    uint32_t next = words[at + STAMP];
    return next != 0 && (next < TR_EVENT || TR_EVENT_KIND(next) == TR_EXIT);
}

/* What comes after the last entry may be of its beginning; and a TR_EXIT is of what comes next. */
static size_t leave_out_last(const uint32_t *words, size_t found, size_t count)
{
    if (found > 0 && !is_only_stamped(words, found, count))
        found--;
    while (found > 0 && words[found - 1] >= TR_EVENT)
        found--;
    return found;
}

static void take_ways(struct path *path, const struct path_ways *ways)
{
    const struct pt_block_run *const *last =
        array_at(&path->ways, path->ways.count + ways->count - 1);
    struct pace_part sum = {0};
    struct path_step *step = add_step(path);
    step->kind = PATH_WAYS;
    step->ways = *ways;
    add_ways(&sum, path, ways);
    path->ways.count += ways->count;
    path->instructions += sum.instructions;
    path->fragment = way_chain_last(*last)->to;
    path->next = 1;
    path->begun = false;
}

size_t path_follow(struct path *path, struct fragments *fragments, struct way_table *ways,
                   uint32_t table, const uint32_t *words, size_t count)
{
    if (!path->fragment || path->exit != NOT_KNOWN || path->load_count > 0 || path->next > 1)
        return 0;
    const struct way_scope scope = {fragments, ways, table, path->hurries};
    struct path_ways step = {.first = path->ways.count};
    array_reserve(&path->ways, count);
    const struct pt_block_run **runs = array_at(&path->ways, step.first);
    struct entry_words log = {path->entry, words, count};
    size_t found = find_runs(&scope, &log, runs, &step.count);
    size_t used = log.count = leave_out_last(words, found, count);
    if (used < found)
        find_runs(&scope, &log, runs, &step.count);
    if (used == 0)
        return 0;
    add_parts(path, &step);
    run_to(path, 0);
    take_ways(path, &step);
    path->entry = words[used - 1];
    return used;
}

uint32_t path_begun(const struct path *path)
{
    return path->fragment && path->next == 1 ? path->fragment->blocks[0].code->instructions : 0;
}

/* ---- what other records say ---- */

bool path_exit(struct path *path, uint32_t block, struct error *error)
{
    if (!path->fragment)
        return true; /* it was entered before what can be read */
    if (block >= path->fragment->block_count)
        return error_set(error, ERROR_FORMAT,
                         "the fragment at %#llx of %u blocks cannot have been left by block %u",
                         (unsigned long long)path->fragment->pc, path->fragment->block_count,
                         block);
    path->exit = block;
    return true;
}

void path_load(struct path *path, const struct stack_load *load)
{
    if (path->fragment && path->load_count < PATH_LOADS)
        path->loads[path->load_count++] = *load;
}

/* NULL: it was among the steps that were taken. */
static struct stack_load *newest_load(struct path *path)
{
    if (path->load_count > 0)
        return &path->loads[path->load_count - 1];
    for (size_t i = path->steps.count; i-- > 0;) {
        struct path_step *step = array_at(&path->steps, i);
        if (step->kind == PATH_LOAD)
            return step->fragment->blocks[step->first].code->copies_stack ? &step->load : NULL;
    }
    return NULL;
}

void path_number(struct path *path, struct stack_numbers numbers)
{
    struct stack_load *load = newest_load(path);
    if (load)
        load->numbers = numbers;
}

void path_finish(struct path *path)
{
    if (!path->fragment)
        return;
    run_to(path, path->exit == NOT_KNOWN ? last_block(path->fragment) : path->exit);
    leave(path);
}

/* ---- interruptions ---- */

/* Whether an instruction of the block other than its first begins at `pc`; `*before`: instructions
 * before it. */
static bool is_inside(const struct pt_code_block *code, uint64_t pc, unsigned *before)
{
    if (pc <= code->pc || pc >= code->end)
        return false;
    uint64_t at = code->pc;
    for (*before = 0; at < pc; (*before)++)
        at += code->length[*before];
    return at == pc;
}

static void add_cut(struct path *path, unsigned block, uint64_t pc, unsigned instructions)
{
    *add_step(path) = (struct path_step){
        .kind = PATH_CUT,
        .first = (uint16_t)block,
        .last = (uint16_t)block,
        .fragment = path->fragment,
        .pc = pc,
    };
    path->instructions += instructions;
}

/* Up to the start of block `end`, or of what follows the last one. */
static void run_before(struct path *path, unsigned end)
{
    if (end > path->next)
        run_to(path, end - 1);
}

/* Finds `pc` in blocks `first` to `last`. False: it is in none of them. */
static bool cut_inside(struct path *path, unsigned first, unsigned last, uint64_t pc)
{
    const struct fragment *fragment = path->fragment;
    for (unsigned i = first; i <= last; i++) {
        const struct pt_code_block *code = fragment->blocks[i].code;
        unsigned before = 0;
        if (pc != code->pc && !is_inside(code, pc, &before))
            continue;
        run_before(path, i);
        if (before > 0)
            add_cut(path, i, pc, before);
        return true;
    }
    return false;
}

/* By a branch that leads to `pc`, where nothing ran. */
static bool leave_for(struct path *path, uint64_t pc, struct error *error)
{
    unsigned last = last_block(path->fragment);
    unsigned exit =
        path->exit == NOT_KNOWN ? direct_exit(path->fragment, path->next, pc) : path->exit;
    if (exit == NOT_KNOWN && is_indirect(path->fragment->blocks[last].code))
        exit = last;
    if (exit == NOT_KNOWN)
        return refuse(path, pc, error);
    run_to(path, exit);
    return true;
}

/* In the block that has begun, or at its start, before its first instruction. */
static bool cut_begun(struct path *path, uint64_t pc)
{
    unsigned block = path->next - 1, before = 0;
    const struct pt_code_block *code = path->fragment->blocks[block].code;
    if (pc != code->pc && !is_inside(code, pc, &before))
        return false;
    add_cut(path, block, pc, before);
    ((struct path_step *)array_at(&path->steps, path->steps.count - 1))->begun = true;
    path->instructions -= code->instructions;
    return true;
}

bool path_cut(struct path *path, uint64_t pc, uint32_t block, struct error *error)
{
    if (!path->fragment)
        return true;
    if (path->begun && (block == 0 || block == path->next) && path->exit == NOT_KNOWN &&
        cut_begun(path, pc)) {
        leave(path);
        return true;
    }
    unsigned first = path->next, last = last_block(path->fragment);
    bool is_over = block == last + 2;
    if (block > first && block <= last + 1)
        first = last = block - 1;
    bool ok = (path->exit == NOT_KNOWN && !is_over && cut_inside(path, first, last, pc)) ||
              leave_for(path, pc, error);
    leave(path);
    return ok;
}

void path_abandon(struct path *path)
{
    if (path->fragment && path->next == 0)
        run_to(path, path->exit == NOT_KNOWN ? 0 : path->exit);
    leave(path);
}

void path_reach(struct path *path, unsigned block)
{
    run_to(path, block);
    path->begun = true;
}

void path_begin(struct path *path, unsigned block)
{
    path->next = block;
    path_reach(path, block);
}

void path_event(struct path *path, const struct log_record *record)
{
    *add_step(path) = (struct path_step){.kind = PATH_EVENT, .event = *record};
}

/* ---- a part of the steps ---- */

static void add_singly(struct array *ways, const struct pt_block_run *const *run)
{
    size_t count;
    const struct pt_block_run *const *all = way_chain_ways(run, &count);
    array_add_all(ways, all, count);
}

void path_expand_chains(struct path *path)
{
    struct array ways = array_of(path->ways.element_size);
    path->parts.count = 0;
    for (size_t i = 0; i < path->steps.count; i++) {
        struct path_step *step = array_at(&path->steps, i);
        if (step->kind != PATH_WAYS)
            continue;
        struct path_ways whole = step->ways;
        step->ways.first = ways.count;
        for (size_t way = 0; way < whole.count; way++)
            add_singly(&ways, array_at(&path->ways, whole.first + way));
        step->ways.count = ways.count - step->ways.first;
    }
    array_free(&path->ways);
    path->ways = ways;
    for (size_t i = 0; i < path->steps.count; i++) {
        struct path_step *step = array_at(&path->steps, i);
        if (step->kind == PATH_WAYS)
            add_parts(path, &step->ways);
    }
}

static int64_t cut_instructions(const struct path_step *step)
{
    const struct pt_code_block *code = step->fragment->blocks[step->first].code;
    int64_t count = 0;
    for (uint64_t at = code->pc; at < step->pc; count++)
        at += code->length[count];
    return step->begun ? count - code->instructions : count;
}

/* What the step has added to path->instructions. */
static int64_t step_instructions(const struct path *path, const struct path_step *step)
{
    struct pace_part sum = {0};
    switch (step->kind) {
    case PATH_RUN:
        return fragment_instructions(step->fragment, step->first, step->last);
    case PATH_LOAD:
        return step->begun ? 0 : fragment_instructions(step->fragment, step->first, step->last);
    case PATH_CUT:
        return cut_instructions(step);
    case PATH_WAYS:
        add_ways(&sum, path, &step->ways);
        return (int64_t)sum.instructions;
    case PATH_EVENT:
        break;
    }
    return 0;
}

static struct path_step run_of(const struct fragment *fragment, unsigned first, unsigned last)
{
    return (struct path_step){
        .kind = PATH_RUN, .first = (uint16_t)first, .last = (uint16_t)last, .fragment = fragment};
}

/* The last step of `path` has ways: the one at `index` ends before its last block, with which `rest` begins. */
static void split_ways(struct path *path, size_t index, struct path_rest *rest)
{
    struct path_step *step = array_at(&path->steps, path->steps.count - 1);
    struct path_ways whole = step->ways;
    const struct pt_block_run *const *run = array_at(&path->ways, whole.first + index);
    const struct way *way = way_of(*run); /* path_expand_chains was called */
    *(struct path_step *)array_add(&rest->steps) = run_of(way->to, 0, 0);
    if (index + 1 < whole.count) {
        struct path_step *others = array_add(&rest->steps);
        *others = (struct path_step){.kind = PATH_WAYS};
        others->ways =
            (struct path_ways){.first = whole.first + index + 1, .count = whole.count - index - 1};
        add_parts(path, &others->ways);
    }
    step->ways.count = index;
    add_parts(path, &step->ways);
    if (index == 0)
        path->steps.count--;
    if (way->exit > 0)
        *add_step(path) = run_of(way->from, 1, way->exit);
}

void path_split(struct path *path, struct path_place place, struct path_rest *rest)
{
    *rest = (struct path_rest){.steps = array_of(sizeof(struct path_step)),
                               .fragment = path->fragment,
                               .ways = path->ways.count};
    size_t count = path->steps.count, first = place.step;
    const struct path_step *step = first < count ? array_at(&path->steps, first) : NULL;
    bool in_ways = step && step->kind == PATH_WAYS;
    struct array others = array_of(sizeof(struct path_step));
    if (in_ways)
        first++;
    if (first < count)
        array_add_all(&others, array_at(&path->steps, first), count - first);
    path->steps.count = first;
    if (in_ways)
        split_ways(path, place.way, rest);
    if (others.count > 0)
        array_add_all(&rest->steps, others.elements, others.count);
    array_free(&others);
    int64_t instructions = 0;
    for (size_t i = 0; i < path->steps.count; i++)
        instructions += step_instructions(path, array_at(&path->steps, i));
    rest->parts = path->parts.count;
    rest->instructions = path->instructions - (uint64_t)instructions;
    path->instructions = (uint64_t)instructions;
    path->fragment = NULL;
}

/* The ways were not overwritten: none are added while steps are taken. */
void path_join(struct path *path, struct path_rest *rest)
{
    array_free(&path->steps);
    path->steps = rest->steps;
    path->ways.count = rest->ways;
    path->parts.count = rest->parts;
    path->instructions = rest->instructions;
    path->fragment = rest->fragment;
}

const struct pt_code_block *path_rest_first(const struct path_rest *rest)
{
    if (rest->steps.count == 0)
        return rest->fragment ? rest->fragment->blocks[0].code : NULL;
    const struct path_step *step = array_at(&rest->steps, 0);
    bool has_block = step->kind != PATH_WAYS && step->kind != PATH_EVENT;
    return has_block ? step->fragment->blocks[step->first].code : NULL;
}

const struct pt_block_run *const *path_all_ways(const struct path *path, struct pace_part *sum)
{
    size_t first = 0;
    *sum = (struct pace_part){0};
    for (size_t i = 0; i < path->steps.count; i++) {
        const struct path_step *step = array_at(&path->steps, i);
        if (step->kind != PATH_WAYS)
            continue;
        first = sum->count == 0 ? step->ways.first : first;
        add_ways(sum, path, &step->ways);
    }
    return sum->count ? array_at(&path->ways, first) : NULL;
}
