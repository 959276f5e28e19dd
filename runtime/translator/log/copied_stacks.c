#include "runtime/translator/log/copied_stacks.h"

#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/word_hash.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

enum {
    LINE = 64,          /* bytes */
    LEAST_AGREEING = 2, /* lines: fewer may be alike by chance */
    /* Bytes of log in which most copies are over, and in which the longest is: by a loop for each byte. */
    MOST_ASKED = 4 << 10,
    MOST_AWAITED = 256 << 10,
};

/* ---- what lies on a stack ---- */

static uint32_t hash_of(const uint64_t *words)
{
    enum { WORDS = LINE / 8 };
    uint64_t hash = 0;
    for (unsigned i = 0; i < WORDS; i++)
        hash = tr_hash_word(hash, words[i]);
    return (uint32_t)hash;
}

/* The line that begins at `pointer` or is the next one. */
static uint64_t first_line(uint64_t pointer)
{
    return (pointer + LINE - 1) / LINE * LINE;
}

static void hash_lines(uint64_t pointer, uint32_t *lines)
{
    uint64_t address = first_line(pointer), words[LINE / 8];
    for (unsigned i = 0; i < TR_COPIED_LINES; i++, address += LINE)
        lines[i] = tr_read_safely(words, address, LINE) ? hash_of(words) : 0;
}

static uint64_t position(const struct tr_thread *thread)
{
    return thread->wraps + (thread->hot.log - (uint64_t)thread->ring);
}

/* ---- the stacks that were left ---- */

/* Numbers begin with 1. */
static struct tr_copied_stack *stack_at(const struct tr_copied_stacks *stacks, uint32_t number)
{
    return &stacks->left[number - 1];
}

/* Of all that are in use, that of the stack which has waited longest. */
static uint32_t free_number(struct tr_copied_stacks *stacks)
{
    uint32_t oldest = 1;
    for (uint32_t i = 0; i < TR_COPIED_STACKS; i++) {
        uint32_t number = (stacks->freed + i) % TR_COPIED_STACKS + 1;
        const struct tr_copied_stack *stack = stack_at(stacks, number);
        if (stack->pointer == 0)
            return number;
        if (stack->left_at < stack_at(stacks, oldest)->left_at)
            oldest = number;
    }
    return oldest;
}

static void free_stack(struct tr_copied_stacks *stacks, uint32_t number)
{
    stack_at(stacks, number)->pointer = 0;
    stacks->freed = number - 1;
}

void tr_copied_stack_begin(struct tr_thread *thread)
{
    struct tr_copied_stacks *stacks = &thread->copied;
    tr_copied_stack_forget(thread);
    if (!thread->reports_switches)
        return;
    if (!stacks->left)
        stacks->left = tr_own_map(TR_COPIED_STACKS * sizeof *stacks->left);
    if (!stacks->left)
        return;
    stacks->is_awaited = stacks->is_asked = true;
    stacks->leaving = free_number(stacks);
    stacks->pointer = thread->app.r[TR_RSP];
    stacks->began = position(thread);
    struct tr_copied_stack *left = stack_at(stacks, stacks->leaving);
    left->pointer = thread->hot.stack_before;
    left->left_at = ++stacks->copies;
    left->chunk = stacks->is_known ? stacks->chunk : 0;
    left->is_nameless = left->is_due = false;
    hash_lines(left->pointer, left->lines);
    hash_lines(stacks->pointer, stacks->before);
    thread->hot.limit = 0; /* the next head asks whether it is over */
}

void tr_copied_stack_lose_numbers(struct tr_thread *thread)
{
    struct tr_copied_stacks *stacks = &thread->copied;
    if (stacks->leaving == 0)
        return;
    struct tr_copied_stack *left = stack_at(stacks, stacks->leaving);
    left->is_nameless = true;
    left->chunk = 0;
    stacks->leaving = 0;
}

/* Of the stack that was left and of the one that continues: were it not for the chunk, readers would know them. */
static void owe_callers(struct tr_copied_stacks *stacks)
{
    if (!stacks->is_awaited)
        return;
    stacks->is_due = true;
    if (stacks->leaving != 0)
        stack_at(stacks, stacks->leaving)->is_due = true;
}

void tr_copied_stack_forget(struct tr_thread *thread)
{
    struct tr_copied_stacks *stacks = &thread->copied;
    if (!stacks->is_awaited)
        return;
    if (stacks->leaving != 0)
        free_stack(stacks, stacks->leaving);
    stacks->leaving = 0;
    for (uint32_t number = 1; number <= TR_COPIED_STACKS; number++)
        if (stack_at(stacks, number)->pointer == stacks->pointer)
            free_stack(stacks, number); /* it may be the one that has continued */
    stacks->is_awaited = stacks->is_known = stacks->is_due = false;
}

void tr_copied_stacks_begin_chunk(struct tr_thread *thread, bool again)
{
    struct tr_copied_stacks *stacks = &thread->copied;
    stacks->chunk += again;
    stacks->is_known = !stacks->is_awaited;
    owe_callers(stacks);
    tr_copied_stack_lose_numbers(thread);
}

uint64_t tr_copied_stack_keeps(const struct tr_thread *thread, uint64_t address, uint64_t size)
{
    const struct tr_copied_stacks *stacks = &thread->copied;
    uint64_t own = stacks->pointer - address;
    return stacks->is_awaited && address <= stacks->pointer && own < size ? own : size;
}

/* ---- which one continues ---- */

/* Lines, from number `first` on, that are the same. */
static unsigned count_agreeing(const uint32_t *one, const uint32_t *other, unsigned first)
{
    unsigned i = first;
    while (i < TR_COPIED_LINES && one[i] == other[i])
        i++;
    return i - first;
}

/* Lines, from number `first` on, up to the last one that the copy has changed. */
static unsigned count_copied(const uint32_t *before, const uint32_t *after, unsigned first)
{
    unsigned count = TR_COPIED_LINES;
    while (count > first && before[count - 1] == after[count - 1])
        count--;
    return count - first;
}

/* What the stack that continues looks like. */
struct look {
    uint64_t pointer;
    unsigned first,
        least; /* lines: what lies below the first one is gone, and so many from it on were copied */
    uint32_t lines[TR_COPIED_LINES];
};

/* False: too much of it is gone. */
static bool look_at(const struct tr_copied_stacks *stacks, uint64_t pointer, struct look *look)
{
    uint64_t gone = (first_line(pointer) - first_line(stacks->pointer)) / LINE;
    if (gone >= TR_COPIED_LINES)
        return false;
    look->pointer = stacks->pointer;
    look->first = (unsigned)gone;
    hash_lines(stacks->pointer, look->lines);
    look->least = count_copied(stacks->before, look->lines, look->first);
    return true;
}

/* How many lines agree; 0: it is another stack. */
static unsigned agree(const struct tr_copied_stack *stack, const struct look *look)
{
    if (stack->pointer != look->pointer)
        return 0;
    unsigned agreeing = count_agreeing(stack->lines, look->lines, look->first);
    return agreeing >= look->least && agreeing >= LEAST_AGREEING ? agreeing : 0;
}

/* One of several has continued: which one, will never be known. */
static void free_alike(struct tr_copied_stacks *stacks, const struct look *look, unsigned agreeing)
{
    for (uint32_t number = 1; number <= TR_COPIED_STACKS; number++)
        if (agree(stack_at(stacks, number), look) == agreeing)
            free_stack(stacks, number);
}

/* The stack pointer of the code that runs on it is `pointer`. 0: none was left so, or several that look alike. */
static uint32_t recognize(struct tr_copied_stacks *stacks, uint64_t pointer)
{
    struct look look;
    uint32_t found = 0;
    unsigned best = 0;
    if (!look_at(stacks, pointer, &look))
        return 0;
    for (uint32_t number = 1; number <= TR_COPIED_STACKS; number++) {
        unsigned agreeing = agree(stack_at(stacks, number), &look);
        if (agreeing == 0 || agreeing < best)
            continue;
        found = agreeing > best ? number : 0;
        best = agreeing;
    }
    if (best > 0 && found == 0)
        free_alike(stacks, &look, best);
    return found;
}

/* A handler may run on another stack meanwhile. */
static uint64_t pointer_of_copying(const struct tr_thread *thread)
{
    uint64_t interrupted = tr_interrupted_stack(thread);
    return interrupted ? interrupted : thread->app.r[TR_RSP];
}

static void limit_patience(struct tr_thread *thread)
{
    uint64_t logged = position(thread) - thread->copied.began;
    if (logged > MOST_ASKED)
        tr_copied_stack_ask_no_more(thread);
    if (logged > MOST_AWAITED)
        tr_copied_stack_forget(thread);
}

/* The stack with that number is left no more. Returns the number if the log has it. */
static uint32_t go_on_with(struct tr_copied_stacks *stacks, uint32_t number)
{
    const struct tr_copied_stack *stack = stack_at(stacks, number);
    free_stack(stacks, number);
    stacks->is_known = stack->chunk == stacks->chunk;
    stacks->is_due = stacks->is_due || stack->is_due;
    return stack->is_nameless ? 0 : number;
}

bool tr_copied_stack_is_over(struct tr_thread *thread, struct tr_copied_numbers *numbers,
                             bool *known)
{
    struct tr_copied_stacks *stacks = &thread->copied;
    uint64_t pointer = pointer_of_copying(thread);
    if (stacks->is_awaited)
        limit_patience(thread);
    if (!stacks->is_awaited || pointer <= stacks->pointer)
        return false;
    *numbers = (struct tr_copied_numbers){stacks->leaving, recognize(stacks, pointer)};
    stacks->is_known = false;
    if (numbers->continues != 0)
        numbers->continues = go_on_with(stacks, numbers->continues);
    *known = stacks->is_known = stacks->is_known && numbers->left != 0;
    stacks->is_awaited = false;
    stacks->leaving = 0;
    return true;
}
