/* Functions whose code decoders can only follow with the right bytes of it, though nothing of them is new:
 *  - one whose call instruction begins with the last byte of a page and leads elsewhere when only the next page is written to;
 *  - one that is replaced and put back before it runs again, while another one in its page is new and runs;
 *  - one whose call is patched after a loop that stays as it is, so that a branch that is not taken leads to what is new.
 *
 * Prints the sum of what the calls have returned.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SLOT = 64, ROUNDS = 8, WRITES = 16 };

/* They return numbers. Decoders see from the packets which of the two runs. */
static const uint8_t jumps[] = {
    0xb8, 1,    0,    0,    0,       /* mov eax, 1 */
    0x48, 0x8d, 0x15, 0x02, 0, 0, 0, /* lea rdx, [the ret] */
    0xff, 0xe2, 0xc3,                /* jmp rdx; ret */
};
static const uint8_t loops[] = {
    0xb8, 2,    0,    0,    0,    /* mov eax, 2 */
    0xb9, 3,    0,    0,    0,    /* mov ecx, 3 */
    0xff, 0xc9, 0x75, 0xfc, 0xc3, /* dec ecx; jnz to the dec; ret */
};

static unsigned sum;

static void call(const uint8_t *code)
{
    sum += ((unsigned (*)(void))(uintptr_t)code)();
}

static void write_call(uint8_t *at, const uint8_t *target)
{
    int32_t distance = (int32_t)(target - (at + 5));
    memcpy(at + 1, &distance, sizeof distance);
}

static void call_across_pages(uint8_t *code)
{
    uint8_t *caller = code + PAGE - 1, *jumping = code + 2 * PAGE, *looping = jumping + SLOT;
    memcpy(jumping, jumps, sizeof jumps);
    memcpy(looping, loops, sizeof loops);
    caller[0] = 0xe8; /* call */
    caller[5] = 0xc3; /* ret */
    for (unsigned i = 0; i < ROUNDS; i++) {
        write_call(caller, i % 2 ? looping : jumping);
        call(caller);
    }
}

/* So often that the page is not write-protected any more. */
static void write_often(uint8_t *code)
{
    for (unsigned i = 0; i < WRITES; i++) {
        memcpy(code, i % 2 ? jumps : loops, sizeof jumps);
        call(code);
    }
}

static void replace_and_put_back(uint8_t *code)
{
    write_often(code);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        memcpy(code, loops, sizeof loops);
        memcpy(code + i * SLOT, jumps, sizeof jumps);
        call(code + i * SLOT);
        memcpy(code, jumps, sizeof jumps);
        call(code);
    }
}

static void patch_after_loop(uint8_t *code, uint8_t *jumping)
{
    static const uint8_t loop[] = {
        0xb9, 3,    0,    0,    0,       /* mov ecx, 3 */
        0x0f, 0x1f, 0x80, 0,    0, 0, 0, /* nop */
        0xff, 0xc9, 0x75, 0xf5,          /* dec ecx; jnz to the nop */
    };
    uint8_t *patched = code + sizeof loop, *looping = jumping + SLOT;
    write_often(code);
    memcpy(code, loop, sizeof loop);
    patched[0] = 0xe8; /* call */
    patched[5] = 0xc3; /* ret */
    for (unsigned i = 0; i < ROUNDS; i++) {
        write_call(patched, i % 2 ? looping : jumping);
        call(code);
    }
}

int main(void)
{
    uint8_t *code = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    call_across_pages(code);
    replace_and_put_back(code + 3 * PAGE);
    patch_after_loop(code + 4 * PAGE, code + 2 * PAGE);
    printf("%u\n", sum);
    return 0;
}
