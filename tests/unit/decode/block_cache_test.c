/* Which blocks code is divided into, and how long they are known. The code is program.S, and a file
 * of bytes that a test makes at MADE_BASE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/pt/blocks/block_cache.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MADE_BASE = 0x20000000, MADE_PAGES = 4, PAGE = 4096, NOP = 0x90, RET = 0xc3 };

struct code {
    struct fixture fixture;
    struct block_cache cache;
    bool opened;
    char path[32];
};

static int begin(void **state)
{
    static struct code code;
    code = (struct code){.path = "/tmp/block_cache_test.XXXXXX"};
    int descriptor = mkstemp(code.path);
    assert_true(descriptor >= 0);
    close(descriptor);
    fixture_begin(&code.fixture);
    *state = &code;
    return 0;
}

static int end(void **state)
{
    struct code *code = *state;
    if (code->opened)
        block_cache_free(&code->cache);
    fixture_free(&code->fixture);
    unlink(code->path);
    return 0;
}

/* Maps a file of these bytes at MADE_BASE. */
static void make(struct code *code, uint64_t time, const void *bytes, size_t size)
{
    FILE *file = fopen(code->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    struct sideband_record *record =
        fixture_add_record(&code->fixture, SIDEBAND_MAPPING, time, PROGRAM_TID);
    record->mapping.start = MADE_BASE;
    record->mapping.length = MADE_PAGES * PAGE;
    record->mapping.protection = PROT_READ | PROT_EXEC;
    record->mapping.flags = MAP_PRIVATE;
    record->mapping.executable = true;
    record->mapping.path = code->path;
}

static void advance(struct code *code, uint64_t time)
{
    struct code_space *space = &code->cache.space;
    block_cache_advance(&code->cache,
                        code_space_changes(space, (struct ticks){time}, (struct ticks){time}));
}

/* As of time 1000. */
static void open_cache(struct code *code)
{
    struct fixture *fixture = &code->fixture;
    packets_psb(&fixture->packets, 1000, 0); /* the fixture makes spaces and symbols to decode */
    fixture_decode(fixture);
    const struct process *process = address_spaces_process(&fixture->spaces, PROGRAM_PID);
    assert_non_null(process);
    block_cache_init(&code->cache, process, fixture->symbols);
    code->opened = true;
    advance(code, 1000);
}

static struct block *find(struct code *code, uint64_t ip)
{
    return block_cache_find(&code->cache, ip, X86_MODE_64);
}

static void expect(const struct block *block, uint32_t instructions, enum branch_kind kind,
                   uint64_t last)
{
    assert_int_equal(block->instructions, instructions);
    assert_int_equal(block->kind, kind);
    assert_int_equal(block->end, BLOCK_ENDS_HERE);
    assert_int_equal(block->last, last);
}

/* Blocks. */

static void a_block_goes_to_the_next_branch(void **state)
{
    struct code *c = *state;
    open_cache(c);
    expect(find(c, at("leaf")), 2, BRANCH_RETURN, at("leaf_return"));
    assert_int_equal(find(c, at("leaf"))->next, at("leaf_return") + 1);
    assert_false(find(c, at("leaf"))->direct);
    expect(find(c, at("leaf_return")), 1, BRANCH_RETURN, at("leaf_return"));
    expect(find(c, at("falls")), 3, BRANCH_RETURN, at("fallen_return"));
    expect(find(c, at("indirect")), 1, BRANCH_CALL, at("indirect_call"));
    assert_false(find(c, at("indirect"))->direct);
}

static void a_direct_branch_has_its_target(void **state)
{
    struct code *c = *state;
    open_cache(c);
    struct block *block = find(c, at("caller"));
    expect(block, 1, BRANCH_CALL, at("caller_call"));
    assert_true(block->direct);
    assert_false(block->reads_own_address);
    assert_int_equal(block->target, at("leaf"));
    assert_int_equal(block->next, at("caller_after_call"));
    block = find(c, at("half"));
    expect(block, 1, BRANCH_CONDITIONAL, at("half_jump"));
    assert_int_equal(block->target, at("half_cold_return"));
    assert_true(find(c, at("jumps_away"))->direct);
    assert_true(find(c, at("tail"))->reads_own_address);
}

static void a_block_has_the_bounds_of_its_function(void **state)
{
    struct code *c = *state;
    open_cache(c);
    struct block *block = find(c, at("leaf_return"));
    assert_int_equal(block->bounds.start, at("leaf"));
    assert_int_equal(block->bounds.end, at("tail"));
    assert_int_equal(block_cache_slot(&c->cache, at("leaf_return"), X86_MODE_64)->function,
                     block->bounds.function);
}

static void ptwrite_ends_a_block(void **state)
{
    static const uint8_t bytes[32] = {NOP, 0xf3, 0x0f, 0xae, 0xe0, NOP, RET};
    struct code *c = *state;
    make(c, 0, bytes, sizeof(bytes));
    open_cache(c);
    struct block *block = find(c, MADE_BASE);
    expect(block, 2, BRANCH_NONE, MADE_BASE + 1);
    assert_true(block->is_ptwrite);
    assert_int_equal(block->next, MADE_BASE + 5);
}

static void long_code_is_several_blocks(void **state)
{
    uint8_t bytes[400];
    struct code *c = *state;
    memset(bytes, NOP, sizeof(bytes));
    bytes[300] = RET;
    make(c, 0, bytes, sizeof(bytes));
    open_cache(c);
    expect(find(c, MADE_BASE), 256, BRANCH_NONE, MADE_BASE + 255);
    expect(find(c, MADE_BASE + 256), 45, BRANCH_RETURN, MADE_BASE + 300);
}

static void each_mode_has_blocks_of_its_own(void **state)
{
    /* mov %r8, %rsp; dec %esp and mov %eax, %esp */
    static const uint8_t bytes[32] = {0x4c, 0x89, 0xc4, RET, 0xe8, 1, 0, 0, 0, NOP, RET};
    struct code *c = *state;
    make(c, 0, bytes, sizeof(bytes));
    open_cache(c);
    struct block *wide = block_cache_find(&c->cache, MADE_BASE, X86_MODE_64);
    struct block *narrow = block_cache_find(&c->cache, MADE_BASE, X86_MODE_32);
    expect(wide, 2, BRANCH_RETURN, MADE_BASE + 3);
    expect(narrow, 3, BRANCH_RETURN, MADE_BASE + 3);
    assert_int_not_equal(wide->id, narrow->id);
    assert_int_equal(block_cache_slot(&c->cache, MADE_BASE, X86_MODE_64)->id, wide->id);
    assert_int_equal(block_cache_slot(&c->cache, MADE_BASE, X86_MODE_32)->id, narrow->id);
    assert_int_equal(block_cache_slot(&c->cache, MADE_BASE, X86_MODE_16)->id, 0);
    wide = block_cache_find(&c->cache, MADE_BASE + 4, X86_MODE_32); /* a call of five bytes */
    assert_int_equal(wide->next, MADE_BASE + 9);
    assert_int_equal(wide->target, MADE_BASE + 10);
    narrow = block_cache_find(&c->cache, MADE_BASE + 4, X86_MODE_16); /* of three */
    assert_int_equal(narrow->next, MADE_BASE + 7);
    assert_int_equal(narrow->target & 0xffff, 8);
}

/* Code that cannot be read. */

/* add %al,0x90909090(%rax), or in 16-bit code add %dl,-0x6f70(%bx,%si). */
static void instructions_are_read_in_the_mode_they_run_in(void **state)
{
    static const uint8_t add[] = {0x00, 0x90, 0x90, 0x90, 0x90, 0x90, RET};
    struct code *c = *state;
    make(c, 500, add, sizeof add);
    open_cache(c);
    struct code_space *space = &c->cache.space;
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(code_space_branch(space, MADE_BASE, X86_MODE_64).length, 6);
        assert_int_equal(code_space_branch(space, MADE_BASE, X86_MODE_16).length, 4);
        assert_int_equal(code_space_branch(space, MADE_BASE, X86_MODE_32).length, 6);
    }
    assert_int_equal(block_cache_find(&c->cache, MADE_BASE, X86_MODE_16)->instructions, 4);
    assert_int_equal(block_cache_find(&c->cache, MADE_BASE, X86_MODE_64)->instructions, 2);
}

static void code_may_end_with_its_file(void **state)
{
    static const uint8_t bytes[] = {NOP, NOP, 0xe8, 0, 0}; /* part of a call */
    struct code *c = *state;
    make(c, 0, bytes, sizeof(bytes));
    open_cache(c);
    struct block *block = find(c, MADE_BASE);
    assert_int_equal(block->instructions, 2);
    assert_int_equal(block->end, BLOCK_WITHOUT_IMAGE);
    assert_int_equal(block->kind, BRANCH_NONE);
    block = find(c, MADE_BASE + 2);
    assert_int_equal(block->instructions, 0);
    assert_int_equal(block->end, BLOCK_WITHOUT_IMAGE);
}

static void there_may_be_no_code(void **state)
{
    struct code *c = *state;
    open_cache(c);
    struct block *block = find(c, MADE_BASE);
    assert_int_equal(block->instructions, 0);
    assert_int_equal(block->end, BLOCK_WITHOUT_IMAGE);
    block = find(c, UINT64_MAX); /* and the addresses end */
    assert_int_equal(block->instructions, 0);
}

static void bytes_may_be_no_instruction(void **state)
{
    static const uint8_t bytes[64] = {NOP, 0x0e}; /* push %cs, which 64-bit code does not have */
    struct code *c = *state;
    make(c, 0, bytes, sizeof(bytes));
    open_cache(c);
    struct block *block = find(c, MADE_BASE);
    assert_int_equal(block->instructions, 1);
    assert_int_equal(block->end, BLOCK_OF_NO_CODE);
    block = find(c, MADE_BASE + 1);
    assert_int_equal(block->instructions, 0);
    assert_int_equal(block->end, BLOCK_OF_NO_CODE);
}

static void an_unknown_process_has_no_code(void **state)
{
    struct code *c = *state;
    block_cache_init(&c->cache, NULL, NULL);
    c->opened = true;
    block_cache_advance(&c->cache, 7);
    block_cache_rewind(&c->cache, (struct ticks){0});
    assert_int_equal(find(c, at("leaf"))->instructions, 0);
    assert_int_equal(find(c, at("leaf"))->end, BLOCK_WITHOUT_IMAGE);
}

/* How long blocks are known. */

static void a_block_is_read_once(void **state)
{
    struct code *c = *state;
    open_cache(c);
    assert_int_equal(block_cache_slot(&c->cache, at("leaf"), X86_MODE_64)->id, 0);
    struct block *block = find(c, at("leaf"));
    assert_int_equal(block->id, 1);
    assert_int_equal(find(c, at("tail"))->id, 2);
    assert_ptr_equal(find(c, at("leaf")), block);
    assert_ptr_equal(block_of_id(&c->cache, 1), block);
    assert_int_equal(block->superblock.kind, SUPERBLOCK_UNKNOWN);
}

static void many_blocks_are_all_known(void **state)
{
    enum { BLOCKS = MADE_PAGES * PAGE };
    static uint8_t bytes[BLOCKS];
    static struct block *blocks[BLOCKS];
    struct code *c = *state;
    memset(bytes, RET, sizeof(bytes));
    make(c, 0, bytes, sizeof(bytes));
    open_cache(c);
    for (uint32_t i = 0; i < BLOCKS; i++)
        blocks[i] = find(c, MADE_BASE + i);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        assert_ptr_equal(find(c, MADE_BASE + i), blocks[i]);
        assert_int_equal(blocks[i]->id, i + 1);
        assert_int_equal(blocks[i]->ip, MADE_BASE + i);
    }
}

static void blocks_on_a_replaced_page_are_read_again(void **state)
{
    struct code *c = *state;
    fixture_patch(&c->fixture, 2000);
    open_cache(c);
    expect(find(c, at("patched")), 1, BRANCH_JUMP, at("patched"));
    uint64_t epoch = c->cache.epoch;
    advance(c, 1999);
    assert_int_equal(c->cache.epoch, epoch);
    advance(c, 2000);
    assert_int_equal(c->cache.epoch, epoch + 1);
    assert_int_equal(block_cache_slot(&c->cache, at("patched"), X86_MODE_64)->id, 0);
    expect(find(c, at("patched")), 4, BRANCH_RETURN, at("patched") + 3);
}

static void blocks_on_other_pages_are_kept(void **state)
{
    static const uint8_t bytes[32] = {RET};
    struct code *c = *state;
    fixture_patch(&c->fixture, 2000);
    make(c, 3000, bytes, sizeof(bytes));
    open_cache(c);
    struct block *block = find(c, at("leaf"));
    uint64_t epoch = c->cache.epoch;
    advance(c, 3000);
    assert_int_equal(c->cache.epoch, epoch);
    assert_ptr_equal(find(c, at("leaf")), block);
    expect(find(c, MADE_BASE), 1, BRANCH_RETURN, MADE_BASE);
    expect(find(c, at("patched")), 4, BRANCH_RETURN, at("patched") + 3);
}

/* It continues on the next page, where the next instruction would be. */
static void a_block_is_dropped_with_the_page_that_it_ends_at(void **state)
{
    static const uint8_t bytes[32] = {RET};
    struct code *c = *state;
    make(c, 2000, bytes, sizeof(bytes));
    open_cache(c);
    assert_int_equal(find(c, MADE_BASE - 1)->end, BLOCK_WITHOUT_IMAGE);
    uint64_t epoch = c->cache.epoch;
    advance(c, 2000);
    assert_int_equal(c->cache.epoch, epoch + 1);
}

static void code_that_comes_later_is_found(void **state)
{
    static const uint8_t bytes[32] = {RET};
    struct code *c = *state;
    make(c, 2000, bytes, sizeof(bytes));
    open_cache(c);
    assert_int_equal(find(c, MADE_BASE)->instructions, 0);
    advance(c, 2000);
    expect(find(c, MADE_BASE), 1, BRANCH_RETURN, MADE_BASE);
}

static void exec_drops_all_blocks(void **state)
{
    struct code *c = *state;
    struct sideband_record *exec =
        fixture_add_record(&c->fixture, SIDEBAND_NAME, 2000, PROGRAM_TID);
    exec->name.name = "other";
    exec->name.exec = true;
    open_cache(c);
    assert_int_equal(find(c, at("leaf"))->instructions, 2);
    advance(c, 2000);
    assert_int_equal(find(c, at("leaf"))->instructions, 0);
}

static void an_earlier_time_begins_again(void **state)
{
    struct code *c = *state;
    fixture_patch(&c->fixture, 2000);
    open_cache(c);
    advance(c, 2000);
    assert_int_equal(find(c, at("patched"))->instructions, 4);
    block_cache_rewind(&c->cache, (struct ticks){1500});
    advance(c, 1500);
    assert_int_equal(find(c, at("patched"))->instructions, 1);
}

static void a_time_after_all_changes_changes_nothing(void **state)
{
    struct code *c = *state;
    fixture_patch(&c->fixture, 2000);
    open_cache(c);
    advance(c, 2000);
    struct block *block = find(c, at("patched"));
    uint64_t epoch = c->cache.epoch;
    block_cache_rewind(&c->cache, (struct ticks){2000});
    assert_int_equal(c->cache.epoch, epoch);
    assert_ptr_equal(find(c, at("patched")), block);
}

static void few_blocks_are_not_trimmed(void **state)
{
    struct code *c = *state;
    open_cache(c);
    struct block *block = find(c, at("leaf"));
    block_cache_trim(&c->cache);
    assert_ptr_equal(find(c, at("leaf")), block);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_block_goes_to_the_next_branch),
        TEST(a_direct_branch_has_its_target),
        TEST(a_block_has_the_bounds_of_its_function),
        TEST(ptwrite_ends_a_block),
        TEST(long_code_is_several_blocks),
        TEST(each_mode_has_blocks_of_its_own),
        TEST(instructions_are_read_in_the_mode_they_run_in),
        TEST(code_may_end_with_its_file),
        TEST(there_may_be_no_code),
        TEST(bytes_may_be_no_instruction),
        TEST(an_unknown_process_has_no_code),
        TEST(a_block_is_read_once),
        TEST(many_blocks_are_all_known),
        TEST(blocks_on_a_replaced_page_are_read_again),
        TEST(blocks_on_other_pages_are_kept),
        TEST(a_block_is_dropped_with_the_page_that_it_ends_at),
        TEST(code_that_comes_later_is_found),
        TEST(exec_drops_all_blocks),
        TEST(an_earlier_time_begins_again),
        TEST(a_time_after_all_changes_changes_nothing),
        TEST(few_blocks_are_not_trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
