/* Damaged text: whatever was done to it, reading ends, and each line is a record, skipped or
 * counted. */
#include "recording/perf_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char whole[] =
    " 3/4  30696.282984955:          1         psb:    psb offs: 0       0   0 [unknown] "
    "([unknown])\n"
    " 3/4  30696.282984955:          1  branches:u:   tr strt     0 [unknown] ([unknown]) =>  4010 "
    "_start+0x0 (/lib/ld.so.2)\n"
    " 3/4  30696.282984965:          1  branches:u:   call  4013 _start+0x3 (/lib/ld.so.2) =>  "
    "4170 "
    "_dl_start+0x0 (/lib/ld.so.2)\n"
    " instruction trace error type 1 time 30696.282984975 cpu 0 pid 3 tid 4 ip 0x4170 code 6: "
    "Trace "
    "doesn't match instruction\n"
    " 3/4  30696.282984995:          1  branches:u:   tr end  syscall    4175 f (int)+0x5 (/p (x)) "
    "=>      0 [unknown] ([unknown])\n"
    " 3/4  30696.282984999:          1    cycles:u: \n"
    "\t            4010 leaf+0x10 (/p)\n"
    "\t            5010 main+0x20 (/p)\n"
    "\n"
    " 3/4  30696.282985001:          1  branches:u:   jcc        (x)    4180 f+0x8 (/p) => 4190 "
    "f+0x18 "
    "(/p)\n";

struct mutant {
    char bytes[2 * sizeof whole];
    size_t size;
};

/* The generator of java.util.Random: the same mutants everywhere. */
static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    *seed = (*seed * UINT64_C(0x5deece66d) + 0xb) & ((UINT64_C(1) << 48) - 1);
    return (uint32_t)(*seed >> 16) % limit;
}

static void flip(struct mutant *mutant, uint64_t *seed)
{
    mutant->bytes[random_below(seed, (uint32_t)mutant->size)] ^= (char)(1 << random_below(seed, 8));
}

static void cut_out(struct mutant *mutant, uint64_t *seed)
{
    size_t at = random_below(seed, (uint32_t)mutant->size);
    size_t size = random_below(seed, (uint32_t)(mutant->size - at)) + 1;
    memmove(mutant->bytes + at, mutant->bytes + at + size, mutant->size - at - size);
    mutant->size -= size;
}

static void repeat(struct mutant *mutant, uint64_t *seed)
{
    size_t at = random_below(seed, (uint32_t)mutant->size);
    size_t size = random_below(seed, (uint32_t)(mutant->size - at)) + 1;
    if (mutant->size + size > sizeof mutant->bytes)
        return;
    memmove(mutant->bytes + at + size, mutant->bytes + at, mutant->size - at);
    mutant->size += size;
}

static void join_lines(struct mutant *mutant, uint64_t *seed)
{
    size_t at = random_below(seed, (uint32_t)mutant->size);
    char *newline = memchr(mutant->bytes + at, '\n', mutant->size - at);
    if (newline)
        *newline = ' ';
}

static void mutate(struct mutant *mutant, uint64_t *seed)
{
    static void (*const ways[])(struct mutant *, uint64_t *) = {flip, cut_out, repeat, join_lines};
    memcpy(mutant->bytes, whole, sizeof whole - 1);
    mutant->size = sizeof whole - 1;
    for (uint32_t left = random_below(seed, 6) + 1; left > 0 && mutant->size > 0; left--)
        ways[random_below(seed, 4)](mutant, seed);
}

/* The sanitizer build finds slices that leave the text. */
static void touch(struct text_slice slice)
{
    static volatile char sink;
    for (size_t i = 0; i < slice.size; i++)
        sink = slice.at[i];
    (void)sink;
}

static void read_all(const struct mutant *mutant)
{
    char *exact = malloc(mutant->size + 1);
    memcpy(exact, mutant->bytes, mutant->size);
    exact = realloc(exact, mutant->size ? mutant->size : 1);
    struct perf_text text;
    struct perf_text_record record;
    uint64_t records = 0;
    perf_text_open(&text, (struct text_slice){exact, mutant->size});
    while (perf_text_next(&text, &record)) {
        records++;
        touch(record.from.symbol);
        touch(record.from.object);
        touch(record.to.symbol);
        touch(record.to.object);
        touch(record.message);
        for (size_t i = 0; i < record.frame_count; i++)
            touch(record.frames[i].symbol);
    }
    const struct perf_text_statistics *statistics = &text.statistics;
    assert_int_equal(statistics->branches + statistics->samples + statistics->errors, records);
    assert_true(records + statistics->other + statistics->unreadable <= text.line);
    perf_text_close(&text);
    free(exact);
}

static void ten_thousand_mutants(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        struct mutant mutant;
        mutate(&mutant, &seed);
        read_all(&mutant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_thousand_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
