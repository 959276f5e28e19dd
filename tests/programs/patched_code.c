/* Threads that call generated functions while others replace these, as runtimes with a just-in-time compiler do: a new body is
 * written where one lay that nobody runs any more, and the jump at the function's entry is patched to it. More threads than
 * processors, so that threads are preempted anywhere, and a body is replaced while the same thread is scheduled, right after it has run.
 *
 * `patched_code KIND CALLERS PATCHES` prints "done". KIND: `private` memory that is writable and executable, `dual`, a second
 * mapping that is written to, or `aside`, bodies that are each written before anybody can know of their place, and freed memory is
 * unmapped and mapped again. Each function returns its number, whichever body it has.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    FUNCTIONS = 32,
    BODY = 256, /* bytes */
    BODIES = FUNCTIONS + 64,
    PATCHERS = 2,
    MOST_CALLERS = 64,
    ALIGNMENT = 16,
};

/* `written` shows the same memory as `run`. */
static uint8_t *run, *written;
static int file = -1;
static enum { PRIVATE, DUAL, ASIDE } kind;

static _Atomic unsigned patches_left;
/* Odd while the caller is in a function. */
static struct {
    _Alignas(64) _Atomic unsigned long state;
} callers[MOST_CALLERS];
static unsigned caller_count;

static unsigned body_of[FUNCTIONS];

/* Each patcher has functions and bodies of its own. */
static struct patcher {
    unsigned random;
    unsigned free[BODIES], free_count; /* the newest last: it is used again at once */
    struct given_up {
        unsigned body;
        unsigned long states[MOST_CALLERS]; /* when it was given up */
    } given_up[BODIES];
    unsigned given_up_count;
} patchers[PATCHERS];

static void fail(const char *what)
{
    puts(what);
    exit(1);
}

/* ---- code ---- */

static size_t entry_offset(unsigned function)
{
    return (size_t)function * ALIGNMENT;
}

static size_t body_offset(unsigned body)
{
    return kind == ASIDE ? PAGE * (size_t)(1 + body) : PAGE + BODY * (size_t)body;
}

static size_t code_size(void)
{
    return body_offset(BODIES);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static uint8_t *put_32(uint8_t *at, uint32_t value)
{
    return put(at, &value, sizeof value);
}

/* `size` bytes that do nothing, in one instruction. */
static uint8_t *put_nop(uint8_t *at, unsigned size)
{
    static const uint8_t nops[][7] = {
        {0x90},
        {0x66, 0x90},
        {0x0f, 0x1f, 0x00},
        {0x0f, 0x1f, 0x40, 0x00},
        {0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
    };
    return put(at, nops[size - 1], size);
}

/* Branches that depend on the argument, over instructions of other lengths in each body; some in loops. No two bodies take
 * the same branches at the same places. */
static void write_body(uint8_t *at, unsigned function, unsigned *random)
{
    at = put(at, "\xb8", 1); /* mov eax, function */
    at = put_32(at, function);
    for (int i = 0; i < 5; i++) {
        unsigned skipped = 1 + rand_r(random) % 7;
        at = put_nop(at, 1 + rand_r(random) % 7);
        if (i == 2) {
            at = put(at, "\xb9", 1); /* mov ecx, 1 to 8 */
            at = put_32(at, 1 + rand_r(random) % 8);
            uint8_t *loop = at;
            at = put_nop(at, skipped);
            at = put(at, "\xff\xc9\x75", 3); /* dec ecx; jnz loop */
            *at = (uint8_t)(loop - (at + 1));
            at++;
        }
        at = put(at, "\xf7\xc7", 2); /* test edi, one bit */
        at = put_32(at, UINT32_C(1) << rand_r(random) % 8);
        *at++ = rand_r(random) % 2 ? 0x74 : 0x75; /* jz or jnz over the next instruction */
        *at++ = (uint8_t)skipped;
        at = put_nop(at, skipped);
    }
    *at = 0xc3; /* ret */
}

/* jmp body, by one store of 8 bytes */
static void patch_entry(unsigned function, unsigned body)
{
    size_t offset = entry_offset(function);
    uint64_t jump = (uint32_t)(body_offset(body) - (offset + 5));
    jump = jump << 8 | 0xe9 | UINT64_C(0x9090) << 48;
    atomic_store((_Atomic uint64_t *)(void *)(written + offset), jump);
}

static void map_code(void)
{
    int protection = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (kind == DUAL) {
        file = memfd_create("code", 0);
        if (file < 0 || ftruncate(file, (off_t)code_size()) != 0)
            fail("memfd");
        run = mmap(NULL, code_size(), PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
        written = mmap(NULL, code_size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    } else {
        run = written = mmap(NULL, code_size(), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (run == MAP_FAILED || written == MAP_FAILED)
        fail("mmap");
}

/* Nobody runs it. */
static void map_body_again(unsigned body)
{
    if (mmap(run + body_offset(body), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        fail("mmap");
}

/* ---- threads ---- */

/* So much longer than a call that most callers are in no function when they lose their processor. */
static unsigned work_aside(unsigned random)
{
    for (int i = 0; i < 200; i++)
        random = random * 1103515245 + (random & 1 ? 12345 : 54321);
    return random;
}

static void *call(void *argument)
{
    _Atomic unsigned long *state = argument;
    unsigned random = (unsigned)(uintptr_t)argument;
    while (atomic_load(&patches_left)) {
        random = work_aside(random);
        unsigned function = (random >> 8) % FUNCTIONS;
        const void *entry = run + entry_offset(function);
        atomic_fetch_add(state, 1);
        if (((unsigned (*)(unsigned))(uintptr_t)entry)(random >> 16) != function)
            fail("wrong function");
        atomic_fetch_add(state, 1);
    }
    return NULL;
}

static bool is_left(const struct given_up *given_up)
{
    for (unsigned i = 0; i < caller_count; i++)
        if (given_up->states[i] % 2 && atomic_load(&callers[i].state) == given_up->states[i])
            return false;
    return true;
}

/* Frees the bodies that every caller has left which was in a function when they were given up. */
static void free_bodies(struct patcher *patcher)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < patcher->given_up_count; i++) {
        const struct given_up *given_up = &patcher->given_up[i];
        if (is_left(given_up))
            patcher->free[patcher->free_count++] = given_up->body;
        else
            patcher->given_up[kept++] = *given_up;
    }
    patcher->given_up_count = kept;
}

static void give_up(struct patcher *patcher, unsigned body)
{
    struct given_up *given_up = &patcher->given_up[patcher->given_up_count++];
    given_up->body = body;
    for (unsigned i = 0; i < caller_count; i++)
        given_up->states[i] = atomic_load(&callers[i].state);
}

static unsigned take_body(struct patcher *patcher)
{
    for (free_bodies(patcher); patcher->free_count == 0; free_bodies(patcher))
        sched_yield();
    return patcher->free[--patcher->free_count];
}

static void replace(struct patcher *patcher, unsigned function)
{
    unsigned body = take_body(patcher), older = body_of[function];
    if (kind == ASIDE)
        map_body_again(body);
    write_body(written + body_offset(body), function, &patcher->random);
    patch_entry(function, body);
    body_of[function] = body;
    give_up(patcher, older);
}

static void *patch(void *argument)
{
    struct patcher *patcher = argument;
    unsigned first = (unsigned)(patcher - patchers), function = first;
    for (;;) {
        unsigned left = atomic_load(&patches_left);
        while (left && !atomic_compare_exchange_weak(&patches_left, &left, left - 1))
            ;
        if (!left)
            return NULL;
        replace(patcher, function);
        function = (function + PATCHERS) % FUNCTIONS;
    }
}

static void make_functions(void)
{
    for (unsigned i = 0; i < BODIES; i++) {
        struct patcher *patcher = &patchers[i % PATCHERS];
        patcher->free[patcher->free_count++] = i;
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct patcher *patcher = &patchers[i % PATCHERS];
        body_of[i] = patcher->free[--patcher->free_count];
        write_body(written + body_offset(body_of[i]), i, &patcher->random);
        patch_entry(i, body_of[i]);
    }
}

int main(int count, char **arguments)
{
    pthread_t calling[MOST_CALLERS], patching[PATCHERS];
    if (count != 4)
        return 2;
    kind = arguments[1][0] == 'p' ? PRIVATE : arguments[1][0] == 'd' ? DUAL : ASIDE;
    caller_count = (unsigned)atoi(arguments[2]);
    patches_left = (unsigned)atoi(arguments[3]);
    if (caller_count > MOST_CALLERS)
        return 2;
    map_code();
    make_functions();
    for (unsigned i = 0; i < caller_count; i++)
        pthread_create(&calling[i], NULL, call, &callers[i].state);
    for (unsigned i = 0; i < PATCHERS; i++)
        pthread_create(&patching[i], NULL, patch, &patchers[i]);
    for (unsigned i = 0; i < PATCHERS; i++)
        pthread_join(patching[i], NULL);
    for (unsigned i = 0; i < caller_count; i++)
        pthread_join(calling[i], NULL);
    puts("done");
    return 0;
}
