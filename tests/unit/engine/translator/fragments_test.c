/* Descriptions of fragments: read, found in parents' tables, refused. */
#include "engine/translator/transcode/fragments.h"

#include "random_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t code(void)
{
    return (uint64_t)(uintptr_t)walked_code;
}

/* The call at the beginning, and the first two blocks of what it calls. */
static uint32_t make_three_blocks(struct made_arena *made)
{
    uint64_t second = made_block_at(code(), 0).target;
    uint64_t third = made_block_at(second, 0).target;
    return made_fragment(made, (const uint64_t[]){code(), second, third}, 3, 0);
}

static struct tr_fragment *description(struct made_arena *made, uint32_t identifier)
{
    return (void *)((uint8_t *)made->table + TR_PAGE + 8 * (identifier - made->table->first));
}

static void blocks_are_described(void **state)
{
    struct made_arena made;
    struct error error;
    made_arena_open(&made, NULL);
    uint32_t identifier = make_three_blocks(&made);
    struct fragments *fragments = fragments_open(&made.arena);
    const struct fragment *fragment = fragments_get(fragments, 0, identifier, &error);
    if (!fragment)
        fail_msg("%s", error.text);
    assert_int_equal(fragment->pc, code());
    assert_int_equal(fragment->block_count, 3);
    assert_int_equal(fragment->blocks[0].code->kind, PT_BLOCK_CALL);
    assert_int_equal(fragment->blocks[0].side, PT_NOWHERE);
    const struct pt_code_block *second = fragment->blocks[1].code;
    assert_int_equal(second->kind, PT_BLOCK_CONDITIONAL);
    assert_int_equal(second->instructions, 2);
    assert_int_equal(second->length[0], 2);
    assert_int_equal(fragment->blocks[1].side, second->end);
    assert_int_equal(fragment->blocks[2].before, 3);
    assert_int_equal(fragment_instructions(fragment, 1, 1), 2);
    assert_int_equal(fragment_instructions(fragment, 0, 2), fragment->instructions);
    assert_ptr_equal(fragments_get(fragments, 0, identifier, NULL), fragment);
    fragments_close(fragments);
    made_arena_close(&made);
}

static void loads_of_the_stack_pointer_are_known(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint64_t away = (uint64_t)(uintptr_t)walked_away;
    uint64_t jump = made_block_at(away, 0).end;
    uint32_t identifier = made_fragment(&made, (const uint64_t[]){away, jump}, 2, 0);
    struct fragments *fragments = fragments_open(&made.arena);
    const struct fragment *fragment = fragments_get(fragments, 0, identifier, NULL);
    assert_non_null(fragment);
    assert_true(fragment->loads_stack);
    assert_true(fragment->blocks[0].code->loads_stack);
    assert_false(fragment->blocks[1].code->loads_stack);
    fragments_close(fragments);
    made_arena_close(&made);
}

static void children_have_their_parents_fragments(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint32_t parents = make_three_blocks(&made);
    uint32_t child = made_table(&made, 0, 1000);
    uint32_t own = make_three_blocks(&made);
    uint32_t grandchild = made_table(&made, child, 2000);
    uint32_t other = made_table(&made, 0, 1000); /* names its own like its sibling does */
    uint64_t elsewhere = made_block_at(code(), 0).target;
    uint32_t others = made_fragment(&made, &elsewhere, 1, 0);
    assert_int_equal(own, 1000);
    assert_int_equal(others, 1000);
    struct fragments *fragments = fragments_open(&made.arena);
    const struct fragment *first = fragments_get(fragments, 0, parents, NULL);
    assert_non_null(first);
    assert_ptr_equal(fragments_get(fragments, grandchild, parents, NULL), first);
    const struct fragment *second = fragments_get(fragments, child, own, NULL);
    assert_non_null(second);
    assert_ptr_not_equal(second, first);
    assert_ptr_equal(fragments_get(fragments, grandchild, own, NULL), second);
    assert_int_equal(fragments_get(fragments, other, others, NULL)->pc, elsewhere);
    fragments_close(fragments);
    made_arena_close(&made);
}

static void expect_refusal(struct made_arena *made, uint32_t table, uint32_t identifier,
                           const char *words)
{
    struct fragments *fragments = fragments_open(&made->arena);
    struct error error = {0};
    assert_null(fragments_get(fragments, table, identifier, &error));
    if (!strstr(error.text, words))
        fail_msg("not about %s: %s", words, error.text);
    fragments_close(fragments);
}

static void tables_that_do_not_fit_are_refused(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint32_t identifier = make_three_blocks(&made);
    expect_refusal(&made, 1, identifier, "no fragment table 1");
    expect_refusal(&made, UINT32_MAX, identifier, "no fragment table");
    expect_refusal(&made, 0, 0, "in no table");
    expect_refusal(&made, 0, UINT32_MAX, "not in table 0");
    expect_refusal(&made, 0, identifier + 1000, "has no blocks");
    made_table(&made, 1, 1000); /* its own parent */
    expect_refusal(&made, 1, 5, "in no table");
    made.table->parent = 2; /* a younger one */
    made_table(&made, 1, 1000);
    expect_refusal(&made, 1, 5, "in no table");
    made_arena_close(&made);
}

static void descriptions_that_do_not_fit_are_refused(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint32_t identifier = make_three_blocks(&made);
    struct tr_fragment *made_up = description(&made, identifier);
    uint8_t whole[256];
    memcpy(whole, made_up, sizeof whole);
    uint8_t *lengths = (uint8_t *)&made_up->blocks[3];

#define EXPECT(change, words)                                                                      \
    do {                                                                                           \
        change;                                                                                    \
        expect_refusal(&made, 0, identifier, words);                                               \
        memcpy(made_up, whole, sizeof whole);                                                      \
    } while (0)
    EXPECT(made_up->block_count = 0, "no blocks");
    EXPECT(made_up->size = 16, "too small for its blocks");
    EXPECT(made_up->block_count = UINT16_MAX, "too small for its blocks");
    EXPECT(made_up->size = sizeof(struct tr_fragment) + 3 * sizeof(struct tr_block),
           "too few instruction lengths");
    EXPECT(made_up->blocks[1].instructions = 0, "too few instruction lengths");
    EXPECT(made_up->blocks[1].instructions = UINT8_MAX, "too few instruction lengths");
    EXPECT(made_up->blocks[1].size++, "do not fill their block");
    EXPECT(lengths[0] = 0, "do not fill their block");
    EXPECT(made_up->blocks[1].end = 14, "ends in no known way");
    EXPECT(made_up->pc = UINT64_MAX, "not in user space");
    EXPECT(made_up->pc = 0x7fffffffffff, "not in user space");
    EXPECT(made_up->blocks[1].start = INT32_MIN; made_up->pc = 5, "not in user space");
    EXPECT(made_up->blocks[2].start++, "does not lead to the next one");
    EXPECT(made_up->blocks[0].target++, "does not lead to the next one");
    EXPECT(made_up->blocks[0].start++;
           made_up->blocks[0].end = TR_END_RETURN, "begin with its first block");
#undef EXPECT
    made_arena_close(&made);
}

static void a_description_at_the_end_of_its_table_is_refused(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint64_t room = made.arena.geometry.table_size - TR_PAGE;
    atomic_store(&made.table->tail, TR_PAGE + room - 24);
    struct tr_fragment *last = (void *)((uint8_t *)made.table + TR_PAGE + room - 24);
    last->pc = code();
    last->block_count = 1;
    last->size = 64;
    expect_refusal(&made, 0, made.table->first + (uint32_t)(room / 8) - 3, "beyond its table");
    expect_refusal(&made, 0, made.table->first + (uint32_t)(room / 8) - 1, "beyond its table");
    made_arena_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_described),
        cmocka_unit_test(loads_of_the_stack_pointer_are_known),
        cmocka_unit_test(children_have_their_parents_fragments),
        cmocka_unit_test(tables_that_do_not_fit_are_refused),
        cmocka_unit_test(descriptions_that_do_not_fit_are_refused),
        cmocka_unit_test(a_description_at_the_end_of_its_table_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
