#include "text_mutant.h"

#include <string.h>

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

void text_mutate(struct mutant *mutant, uint64_t *seed)
{
    _Static_assert(sizeof whole < MUTANT_SIZE / 2, "room to repeat parts");
    static void (*const ways[])(struct mutant *, uint64_t *) = {flip, cut_out, repeat, join_lines};
    memcpy(mutant->bytes, whole, sizeof whole - 1);
    mutant->size = sizeof whole - 1;
    for (uint32_t left = random_below(seed, 6) + 1; left > 0 && mutant->size > 0; left--)
        ways[random_below(seed, 4)](mutant, seed);
}
