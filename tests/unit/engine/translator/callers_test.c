/* Callers by unwinding: this process's own stack, as a log has it. */
#include "engine/translator/transcode/callers.h"

#include "made_arena.h"
#include "packet/callchain_snapshot.h"

#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

enum { VALUES = 11, STACK_WORDS = 2048, FRAMES = 64 };

/* A TR_CALLS record as the runtime writes it, and what backtrace(3) says. */
struct copy {
    uint32_t words[1 + 2 * VALUES + 2 * STACK_WORDS];
    void *frames[FRAMES];
    int frame_count;
};

static struct copy copy;

/* Where the recorder finds it: of the function that calls this one, the same frame runs. */
static __attribute__((noinline)) void copy_stack(size_t words)
{
    uint64_t values[VALUES] = {0};
    __asm__ volatile("mov %%rsp, 0(%0)\n\tlea 0(%%rip), %%rax\n\tmov %%rax, 8(%0)\n\t"
                     "mov %%rbx, 16(%0)\n\tmov %%rbp, 24(%0)\n\tmov %%r12, 32(%0)\n\t"
                     "mov %%r13, 40(%0)\n\tmov %%r14, 48(%0)\n\tmov %%r15, 56(%0)"
                     :
                     : "r"(values)
                     : "rax", "memory");
    /* As far as there is a stack. */
    struct iovec to = {copy.words + 1 + 2 * VALUES, 8 * words};
    struct iovec from = {(void *)(uintptr_t)values[0], 8 * words};
    /* The signal is raised by the test itself, where nothing else runs. */
    /* NOLINTNEXTLINE(bugprone-signal-handler) */
    ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    copy.words[0] = TR_EVENT_WORD(TR_CALLS, copied > 0 ? copied / 8 : 0);
    memcpy(copy.words + 1, values, sizeof values);
    /* NOLINTNEXTLINE(bugprone-signal-handler) */
    copy.frame_count = backtrace(copy.frames, FRAMES);
}

static __attribute__((noinline)) void inner(size_t words)
{
    copy_stack(words);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void recurse(unsigned depth, size_t words)
{
    volatile char frame[200];
    frame[0] = (char)depth;
    if (depth > 0)
        recurse(depth - 1, words);
    else
        inner(words);
    frame[1] = frame[0];
}

static struct log_record record_of_copy(void)
{
    return (struct log_record){.word = copy.words[0], .payload = copy.words + 1};
}

/* What of this process is mapped to be executed. */
static void log_mappings(struct made_arena *made)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4352];
    struct logged_name name = {
        .record = {.kind = LOGGED_NAME, .pid = MADE_PID, .tid = MADE_PID, .time = 1}};
    assert_non_null(maps);
    made_record(made, &name, offsetof(struct logged_name, name), "test");
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        char rights[5], path[4096];
        if (sscanf(line, "%lx-%lx %4s %lx %*s %*u %4095s", &start, &end, rights, &offset, path) !=
                5 ||
            rights[2] != 'x')
            continue;
        struct logged_mapping mapping = {
            .record = {.kind = LOGGED_MAPPING, .pid = MADE_PID, .tid = MADE_PID, .time = 2},
            .start = start,
            .length = end - start,
            .file_offset = offset,
            .protection = PROT_READ | PROT_EXEC};
        made_record(made, &mapping, offsetof(struct logged_mapping, path), path);
    }
    fclose(maps);
}

/* Adds what is found to `calls`, the innermost last. */
static bool find(struct array *calls)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    log_mappings(&made);
    struct recorded recorded = {.directory = made.directory};
    struct clock_conversion clock = {.mult = 1};
    struct callers *callers = callers_open(&made.arena, &recorded, &clock);
    struct log_record record = record_of_copy();
    *calls = array_of(sizeof(struct pt_call));
    bool all = callers_find(callers, MADE_PID, 100, &record, calls);
    struct array again = array_of(sizeof(struct pt_call));
    assert_int_equal(callers_find(callers, MADE_PID, 100, &record, &again), all);
    assert_int_equal(again.count, calls->count);
    array_free(&again);
    callers_close(callers);
    made_arena_close(&made);
    return all;
}

/* Each call lies further up the stack than those that it made. */
static void expect_order(const struct array *calls)
{
    for (size_t i = 1; i < calls->count; i++) {
        const struct pt_call *outer = array_at(calls, i - 1), *inside = array_at(calls, i);
        assert_true(outer->slot > inside->slot);
    }
}

static void callers_are_those_of_backtrace(void **state)
{
    struct array calls;
    recurse(5, STACK_WORDS / 2);
    bool all = find(&calls);
    /* The frame of copy_stack is the innermost in both; there it has been left by another call. */
    assert_true((int)calls.count >= 7 && (int)calls.count + 2 >= copy.frame_count);
    for (int i = 1; i < copy.frame_count && i <= 8; i++) {
        const struct pt_call *call = array_at(&calls, calls.count - (size_t)i);
        assert_int_equal(call->return_address, (uintptr_t)copy.frames[i]);
        assert_int_equal(*(uint64_t *)(copy.words + 1 + 2 * VALUES +
                                       (call->slot - *(uint64_t *)(copy.words + 1)) / 4),
                         call->return_address);
    }
    expect_order(&calls);
    assert_true(all || calls.count > 8);
    array_free(&calls);
}

static void of_a_stack_that_is_cut_the_innermost_are_found(void **state)
{
    struct array calls;
    recurse(20, 128);
    assert_false(find(&calls));
    assert_true(calls.count > 0 && (int)calls.count < copy.frame_count);
    const struct pt_call *innermost = array_at(&calls, calls.count - 1);
    assert_int_equal(innermost->return_address, (uintptr_t)copy.frames[1]);
    expect_order(&calls);
    array_free(&calls);
}

static void on_signal(int number)
{
    copy_stack(STACK_WORDS / 2);
}

static void below_a_handler_lies_what_it_interrupted(void **state)
{
    struct array calls;
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    find(&calls);
    expect_order(&calls);
    unsigned interrupted = 0;
    for (size_t i = 0; i < calls.count; i++) {
        const struct pt_call *call = array_at(&calls, i);
        interrupted += (call->return_address & CALLCHAIN_INTERRUPTED) != 0;
    }
    assert_int_equal(interrupted, 1);
    array_free(&calls);
}

static void a_process_that_is_not_known_has_no_callers(void **state)
{
    struct made_arena made;
    struct array calls = array_of(sizeof(struct pt_call));
    made_arena_open(&made, NULL);
    struct recorded recorded = {.directory = made.directory};
    struct clock_conversion clock = {.mult = 1};
    struct callers *callers = callers_open(&made.arena, &recorded, &clock);
    recurse(1, 100);
    struct log_record record = record_of_copy();
    assert_false(callers_find(callers, 12, 100, &record, &calls));
    assert_int_equal(calls.count, 0);
    callers_close(callers);
    made_arena_close(&made);
}

/* While the program runs its log grows: what is mapped in it may be recorded after callers were first asked for. */
static void callers_are_found_when_the_log_has_their_objects(void **state)
{
    struct made_arena made;
    struct array calls = array_of(sizeof(struct pt_call));
    made_arena_open(&made, NULL);
    struct recorded recorded = {.directory = made.directory};
    struct clock_conversion clock = {.mult = 1};
    struct callers *callers = callers_open(&made.arena, &recorded, &clock);
    recurse(5, STACK_WORDS / 2);
    struct log_record record = record_of_copy();
    assert_false(callers_find(callers, MADE_PID, 100, &record, &calls));
    assert_int_equal(calls.count, 0);
    log_mappings(&made);
    callers_find(callers, MADE_PID, 100, &record, &calls);
    assert_true(calls.count >= 7);
    array_free(&calls);
    callers_close(callers);
    made_arena_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_those_of_backtrace),
        cmocka_unit_test(of_a_stack_that_is_cut_the_innermost_are_found),
        cmocka_unit_test(below_a_handler_lies_what_it_interrupted),
        cmocka_unit_test(a_process_that_is_not_known_has_no_callers),
        cmocka_unit_test(callers_are_found_when_the_log_has_their_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
