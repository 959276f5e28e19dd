/* How superblocks are formed: where they end, what they follow, where the limit is compared, which exits are ambiguous.
 *
 * The code is superblock_code.S. What code_pages.c would know of it is made up here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/code/superblock.h"
#include "runtime/translator/code/supplied_pages.h"
#include "runtime/translator/timed_calls.h"

#include <string.h>

extern const uint8_t code_begin[], code_end[];

/* Pages that no thread has supplied yet. */
static uint64_t awaited_start, awaited_end;

bool tr_page_is_awaited(uint64_t pc)
{
    return pc >= awaited_start && pc < awaited_end;
}

/* All code is in one file, or can be written. */
static enum tr_code kind_of_code = TR_CODE_FILE;

struct tr_code_range tr_code_at(struct tr_thread *thread, uint64_t pc)
{
    uint64_t begin = (uint64_t)code_begin, end = (uint64_t)code_end;
    if (pc < begin || pc >= end)
        return (struct tr_code_range){.kind = TR_CODE_NONE};
    if (awaited_start > pc)
        end = awaited_start;
    else if (awaited_start)
        begin = awaited_start;
    return (struct tr_code_range){
        .start = begin, .end = end, .kind = kind_of_code, .inode = kind_of_code == TR_CODE_FILE};
}

/* There are none. */
void tr_breakpoints_hide(uint8_t *bytes, uint64_t address, size_t size)
{
}

/* Timed calls return there; 0: nowhere. */
static uint64_t return_place;

bool tr_is_return_place(uint64_t pc, uint32_t known)
{
    return pc == return_place && known > 0;
}

static struct tr_control control;
static struct tr_process process = {.control = &control};
static struct tr_thread *thread;
static struct tr_superblock superblock;

static int set_up(void **state)
{
    static _Alignas(64) uint8_t room[sizeof(struct tr_thread)];
    thread = (struct tr_thread *)(void *)room;
    thread->process = &process;
    return 0;
}

static uint64_t address(const uint8_t *place)
{
    return (uint64_t)place;
}

static const struct tr_superblock *formed(const uint8_t *place, const struct tr_route *route)
{
    memset(&superblock, 0, sizeof superblock);
    assert_true(tr_superblock_form(&superblock, thread, address(place), route, 1));
    return &superblock;
}

/* Forms the superblock at a label of superblock_code.S. */
#define FORM(label)                                                                                \
    ({                                                                                             \
        extern const uint8_t label[];                                                              \
        formed(label, NULL);                                                                       \
    })
#define PLACE(label)                                                                               \
    ({                                                                                             \
        extern const uint8_t label[];                                                              \
        address(label);                                                                            \
    })

static const struct tr_way *last_block(const struct tr_superblock *formed_one)
{
    return &formed_one->blocks[formed_one->block_count - 1];
}

/* ---- where they end ---- */

static void at_most_so_long(void **state)
{
    const struct tr_superblock *s = FORM(straight);
    assert_int_equal(s->item_count, SUPERBLOCK_INSTRUCTIONS);
    assert_int_equal(s->block_count, 1);
    assert_int_equal(last_block(s)->kind, TR_END_FALL);
    assert_int_equal(s->high - s->low, 3 * SUPERBLOCK_INSTRUCTIONS);
}

static void at_indirect_branches(void **state)
{
    const struct tr_superblock *s = FORM(indirect);
    assert_int_equal(s->item_count, 2);
    assert_int_equal(last_block(s)->kind, TR_END_INDIRECT_CALL);
}

static void at_system_calls(void **state)
{
    const struct tr_superblock *s = FORM(system_call);
    assert_int_equal(s->item_count, 2);
    assert_int_equal(last_block(s)->kind, TR_END_FAR);
    assert_int_equal(last_block(s)->end, PLACE(system_call_next));
}

static void before_what_is_not_translated(void **state)
{
    const struct tr_superblock *s = FORM(trap);
    assert_int_equal(s->item_count, 1);
    assert_false(s->leaves);
    assert_int_equal(last_block(s)->end, PLACE(trap_itself));
    s = FORM(trap_itself);
    assert_int_equal(s->item_count, 1);
    assert_true(s->leaves);
    assert_int_equal(FORM(gs_operand)->item_count, 1);
    assert_true(FORM(gs_operand_itself)->leaves);
}

static void after_stack_switches(void **state)
{
    const struct tr_superblock *s = FORM(stack_switch);
    assert_int_equal(s->item_count, 2);
    assert_true(last_block(s)->loads_stack);
    assert_false(last_block(s)->copies_stack);
    assert_int_equal(last_block(s)->end, PLACE(stack_switch_next));
    s = FORM(stack_copy);
    assert_true(last_block(s)->loads_stack);
    assert_true(last_block(s)->copies_stack);
    assert_int_equal(last_block(s)->end, PLACE(stack_copy_next));
    assert_true(last_block(FORM(stack_copy_by_string))->copies_stack);
    s = FORM(stack_addition_before_jump);
    assert_int_equal(s->item_count, 1);
    assert_true(last_block(s)->loads_stack);
    assert_false(last_block(s)->copies_stack);
    s = FORM(arguments_dropped);
    assert_int_equal(s->item_count, 4);
    assert_int_equal(s->block_count, 1);
    assert_false(last_block(s)->loads_stack);
    s = FORM(frame_moves);
    assert_int_equal(s->item_count, 7);
    assert_int_equal(s->block_count, 1);
    assert_false(last_block(s)->loads_stack);
}

static void where_code_ends(void **state)
{
    const struct tr_superblock *s = FORM(truncated);
    assert_int_equal(s->item_count, 1);
    assert_true(FORM(truncated_itself)->leaves);
    assert_false(tr_superblock_form(&superblock, thread, address(code_end) + 1, NULL, 1));
}

/* ---- what they follow ---- */

static void conditional_jumps(void **state)
{
    const struct tr_superblock *s = FORM(forward);
    assert_int_equal(s->block_count, 2);
    assert_int_equal(s->blocks[0].target, PLACE(forward_target));
    assert_int_equal(s->blocks[1].start, PLACE(forward_next));
    assert_false(s->blocks[0].taken);
    s = FORM(backward);
    assert_int_equal(s->block_count, 1);
    assert_int_equal(last_block(s)->target, PLACE(backward));
}

/* Reading it would wait: only where an instruction that begins before needs it, and without the lock. */
static void before_code_that_is_awaited(void **state)
{
    process.supplies_pages = true;
    awaited_start = PLACE(jumps_target);
    awaited_end = awaited_start + 1;
    const struct tr_superblock *s = FORM(jumps);
    assert_int_equal(s->block_count, 1);
    assert_int_equal(last_block(s)->target, PLACE(jumps_target));
    assert_int_equal(tr_superblock_awaits(thread, PLACE(jumps)), 0);
    assert_int_equal(tr_superblock_awaits(thread, PLACE(jumps_target)), PLACE(jumps_target));
    process.supplies_pages = false;
    awaited_start = awaited_end = 0;
}

static void direct_jumps_and_calls(void **state)
{
    const struct tr_superblock *s = FORM(jumps);
    assert_int_equal(s->block_count, 2);
    assert_int_equal(s->blocks[1].start, PLACE(jumps_target));
    s = FORM(calls);
    assert_int_equal(s->block_count, 3);
    assert_int_equal(s->blocks[0].kind, TR_END_CALL);
    assert_int_equal(s->blocks[1].start, PLACE(callee));
    assert_int_equal(s->blocks[1].expected, PLACE(calls_back));
    assert_int_equal(s->blocks[2].start, PLACE(calls_back));
    assert_int_equal(last_block(s)->kind, TR_END_INDIRECT_JUMP);
}

static void calls_are_not_followed_everywhere(void **state)
{
    assert_int_equal(FORM(call_of_next)->item_count, 1);
    const struct tr_superblock *s = FORM(deep_1);
    assert_int_equal(s->block_count, SUPERBLOCK_CALLS + 1);
    assert_int_equal(last_block(s)->start, PLACE(deep_4));
    assert_int_equal(last_block(s)->kind, TR_END_CALL);
}

/* Code that is compared each time it runs: only what runs without a branch is compared together. */
static void changing_code(void **state)
{
    kind_of_code = TR_CODE_CHANGING;
    assert_int_equal(FORM(jumps)->block_count, 1);
    assert_int_equal(FORM(forward)->block_count, 1);
    assert_int_equal(superblock.code, TR_CODE_CHANGING);
    assert_false(superblock.fixed);
    kind_of_code = TR_CODE_FILE;
    assert_true(FORM(jumps)->fixed);
}

static void routes(void **state)
{
    struct tr_route route = {.count = 3};
    extern const uint8_t route_code[] __asm__("route");
    uint64_t start = address(route_code);
    const uint64_t ways[] = {start, PLACE(route_end), PLACE(route_target)};
    for (unsigned i = 0; i < route.count; i++)
        route.starts[i] = (int32_t)(ways[i] - start);
    const struct tr_superblock *s = formed(route_code, &route);
    assert_int_equal(s->block_count, 3);
    assert_int_equal(s->blocks[1].start, PLACE(route_end));
    assert_int_equal(s->blocks[1].expected, PLACE(route_target)); /* past an indirect jump */
    assert_int_equal(last_block(s)->kind, TR_END_RETURN);
}

/* ---- where the limit is compared ---- */

static void in_loops_where_flags_are_dead(void **state)
{
    assert_int_equal(FORM(loop_of_adds)->check_at, 0);
    assert_int_equal(FORM(loop_of_tests)->check_at, 0);
    assert_int_equal(FORM(loop_with_carry)->check_at, 1);
    assert_false(superblock.needs_test);
}

static void elsewhere_flags_are_saved(void **state)
{
    const struct tr_superblock *s = FORM(loop_of_dec);
    assert_int_equal(s->check_at, s->item_count);
    assert_true(s->needs_test);
    s = FORM(loop_of_loop);
    assert_int_equal(s->check_at, s->item_count);
    assert_true(s->needs_test);
}

static void only_in_loops(void **state)
{
    const struct tr_superblock *s = FORM(no_loop);
    assert_int_equal(s->check_at, s->item_count);
    assert_false(s->needs_test);
}

/* ---- ambiguous exits ---- */

static void exits_to_the_same_place(void **state)
{
    const struct tr_superblock *s = FORM(same_exits);
    assert_false(s->blocks[0].ambiguous);
    assert_true(s->blocks[1].ambiguous);
    s = FORM(exit_to_fall);
    assert_true(s->blocks[0].ambiguous);
    assert_false(FORM(end_and_exit)->blocks[0].ambiguous); /* an indirect entry says it */
    assert_false(FORM(forward)->blocks[0].ambiguous);
}

/* ---- triggers ---- */

static void begin_at_triggers(void **state)
{
    control.options.place_count = 1;
    control.options.places[0].inode = 1;
    control.options.places[0].file_offset = PLACE(forward_next) - address(code_begin);
    assert_int_equal(FORM(forward)->block_count, 1);
    assert_false(superblock.hits_trigger);
    assert_true(FORM(forward_next)->hits_trigger);
    control.options.place_count = 0;
}

static void begin_where_the_recording_ends(void **state)
{
    control.options.until_count = 1;
    control.options.until_places[0].inode = 1;
    control.options.until_places[0].file_offset = PLACE(forward_next) - address(code_begin);
    assert_int_equal(FORM(forward)->block_count, 1);
    assert_false(tr_superblock_asks(&superblock));
    assert_true(FORM(forward_next)->ends_recording);
    assert_false(superblock.hits_trigger);
    assert_true(tr_superblock_asks(&superblock));
    control.options.until_count = 0;
}

static void begin_where_timed_calls_return(void **state)
{
    return_place = PLACE(forward_next);
    assert_false(FORM(forward_next)->is_return_place);
    control.options.longer_than = 1;
    assert_int_equal(FORM(forward)->block_count, 1);
    assert_true(FORM(forward_next)->is_return_place);
    /* Formed again as it was before the place was known. */
    assert_true(tr_superblock_form(&superblock, thread, return_place, NULL, 0));
    assert_false(superblock.is_return_place);
    control.options.longer_than = return_place = 0;
}

/* Arguments are recorded where the function begins, found by file and offset. */
static void begin_where_values_are_recorded(void **state)
{
    static const uint64_t offsets[] = {1, 2, 3};
    struct tr_options *options = &control.options;
    for (unsigned i = 0; i < 3; i++)
        options->value_places[i].place.file_offset = offsets[i];
    options->value_places[2].place.file_offset = PLACE(forward_next) - address(code_begin);
    options->value_place_count = 3;
    options->value_places[2].place.inode = 2; /* of another file */
    assert_int_equal(FORM(forward_next)->value_place, 0);
    options->value_places[2].place.inode = 1;
    assert_int_equal(FORM(forward)->block_count, 1);
    assert_int_equal(FORM(forward)->value_place, 0);
    assert_int_equal(FORM(forward_next)->value_place, 3);
    assert_true(tr_superblock_asks(&superblock));
    options->value_place_count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_most_so_long),
        cmocka_unit_test(at_indirect_branches),
        cmocka_unit_test(at_system_calls),
        cmocka_unit_test(before_what_is_not_translated),
        cmocka_unit_test(after_stack_switches),
        cmocka_unit_test(where_code_ends),
        cmocka_unit_test(conditional_jumps),
        cmocka_unit_test(before_code_that_is_awaited),
        cmocka_unit_test(direct_jumps_and_calls),
        cmocka_unit_test(calls_are_not_followed_everywhere),
        cmocka_unit_test(changing_code),
        cmocka_unit_test(routes),
        cmocka_unit_test(in_loops_where_flags_are_dead),
        cmocka_unit_test(elsewhere_flags_are_saved),
        cmocka_unit_test(only_in_loops),
        cmocka_unit_test(exits_to_the_same_place),
        cmocka_unit_test(begin_at_triggers),
        cmocka_unit_test(begin_where_the_recording_ends),
        cmocka_unit_test(begin_where_timed_calls_return),
        cmocka_unit_test(begin_where_values_are_recorded),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
