#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/translator/inject/signal_frames.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static int memory = -1;

/* Where the signal came, and what was found in its handler. */
static uint64_t interrupted;
static bool found_there, found_before, found_after;

static uint64_t stack_pointer(void)
{
    return (uint64_t)__builtin_frame_address(0);
}

static bool returns_to(uint64_t start, uint64_t size)
{
    return signal_frame_returns_to(memory, stack_pointer(), start, size);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)info;
    interrupted = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    found_there = returns_to(interrupted - 1, 2);
    found_before = returns_to(interrupted - 2, 2);
    found_after = returns_to(interrupted + 1, 2);
    assert_int_equal(signal, SIGUSR1);
}

static void send(int flags)
{
    const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | flags};
    interrupted = 0;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_not_equal(interrupted, 0);
    assert_true(found_there);
    assert_false(found_before);
    assert_false(found_after);
}

static void a_handler_returns_to_where_its_signal_came(void **state)
{
    (void)state;
    send(0);
}

static void on_an_alternate_stack(void **state)
{
    enum { SIZE = 64 << 10 };
    stack_t stack = {.ss_size = SIZE};
    (void)state;
    stack.ss_sp =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    assert_ptr_not_equal(stack.ss_sp, MAP_FAILED);
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    send(SA_ONSTACK);
    stack.ss_flags = SS_DISABLE;
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    munmap(stack.ss_sp, SIZE);
}

/* The address alone, as in a variable, is no frame. */
static void an_address_is_no_frame(void **state)
{
    volatile uint64_t words[3] = {0x7e8000001000, 0x202, 0};
    (void)state;
    assert_false(signal_frame_returns_to(memory, (uint64_t)words, words[0], 1));
    words[2] = 0x33;
    assert_true(signal_frame_returns_to(memory, (uint64_t)words, words[0], 1));
}

/* Two words lie in one part of what is read, the third in the next one. */
static void a_frame_lies_anywhere(void **state)
{
    enum { WORDS = 4096 };
    static uint64_t words[WORDS];
    (void)state;
    for (unsigned i = 0; i + 3 <= WORDS; i++) {
        words[i] = 0x7e8000001000;
        words[i + 2] = 0x33;
        assert_true(signal_frame_returns_to(memory, (uint64_t)words, words[i], 1));
        words[i] = words[i + 2] = 0;
    }
}

static void memory_that_cannot_be_read_has_none(void **state)
{
    (void)state;
    assert_false(signal_frame_returns_to(memory, 0, 0, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_returns_to_where_its_signal_came),
        cmocka_unit_test(on_an_alternate_stack),
        cmocka_unit_test(an_address_is_no_frame),
        cmocka_unit_test(a_frame_lies_anywhere),
        cmocka_unit_test(memory_that_cannot_be_read_has_none),
    };
    memory = open("/proc/self/mem", O_RDONLY);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close(memory);
    return failed;
}
