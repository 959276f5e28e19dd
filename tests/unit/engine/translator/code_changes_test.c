/* Mapping records that show a page in turn with other code, and of which code fragments are. */
#include "engine/translator/transcode/code_changes.h"

#include "engine/packets/code_image.h"
#include "random_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static uint64_t code(void)
{
    return (uint64_t)(uintptr_t)walked_code;
}

/* The page of the code, as it is but for `changed` in the byte at `address`, which runs from `time` on. */
static void show_page(struct made_arena *made, uint64_t time, unsigned dump, uint64_t address,
                      uint8_t changed, uint32_t next_fragment)
{
    uint64_t page = code() / TR_PAGE * TR_PAGE;
    uint8_t *bytes = made_dump(made, time, dump, page, next_fragment);
    memcpy(bytes, (const void *)(uintptr_t)page, TR_PAGE);
    bytes[address - page] ^= changed;
}

static enum code_age age_after(struct code_changes *changes, uint64_t time,
                               const struct fragment *fragment)
{
    struct code_changes_cursor cursor = {0};
    const struct code_moment *moment = code_changes_after(changes, &cursor, MADE_PID, time);
    assert_non_null(moment);
    return code_moment_age(moment, fragment);
}

static void a_change_parts_older_fragments_from_newer_ones(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint64_t start = code();
    uint32_t older = made_fragment(&made, &start, 1, 0);
    uint32_t newer = made_fragment(&made, &start, 1, 0);
    struct fragments *fragments = fragments_open(&made.arena);
    const struct fragment *first = fragments_get(fragments, 0, older, NULL);
    const struct fragment *second = fragments_get(fragments, 0, newer, NULL);
    struct code_changes *changes = code_changes_open(&made.arena);
    show_page(&made, 100, 0, start, 0, older);
    show_page(&made, 200, 1, start, 0xff, newer);
    assert_int_equal(age_after(changes, 100, first), CODE_OLDER);
    assert_int_equal(age_after(changes, 100, second), CODE_NEWER);
    /* The same page again, and then with a change elsewhere. */
    show_page(&made, 300, 2, start, 0xff, newer);
    assert_int_equal(age_after(changes, 200, first), CODE_UNCHANGED);
    show_page(&made, 400, 3, start, 0, newer + 1000);
    assert_int_equal(age_after(changes, 300, second), CODE_OLDER);
    struct code_changes_cursor cursor = {0};
    assert_null(code_changes_after(changes, &cursor, MADE_PID, 400));
    assert_null(code_changes_after(changes, &(struct code_changes_cursor){0}, MADE_PID + 1, 0));
    code_changes_close(changes);
    fragments_close(fragments);
    made_arena_close(&made);
    (void)state;
}

/* Decoders read its end from the first page's dump. */
static void a_change_of_the_next_page_changes_an_instruction_across_both(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint8_t *pages =
        mmap(NULL, 2 * TR_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    uint64_t page = (uint64_t)(uintptr_t)pages, across = page + TR_PAGE - 1, inside = page;
    pages[0] = 0xc3;           /* ret */
    pages[TR_PAGE - 1] = 0xe9; /* jmp */
    uint32_t ahead = made_fragment(&made, &inside, 1, 0);
    uint32_t jump = made_fragment(&made, &across, 1, 0);
    struct fragments *fragments = fragments_open(&made.arena);
    struct code_changes *changes = code_changes_open(&made.arena);
    for (uint8_t i = 0; i < 2; i++) {
        uint8_t *dump = made_dump(&made, 100 + i, i, page, jump + 1);
        memcpy(dump, pages, TR_PAGE + CODE_IMAGE_TAIL);
        dump[TR_PAGE] = i;
    }
    assert_int_equal(age_after(changes, 100, fragments_get(fragments, 0, jump, NULL)), CODE_OLDER);
    assert_int_equal(age_after(changes, 100, fragments_get(fragments, 0, ahead, NULL)),
                     CODE_UNCHANGED);
    code_changes_close(changes);
    fragments_close(fragments);
    made_arena_close(&made);
    munmap(pages, 2 * TR_PAGE);
    (void)state;
}

/* Records come in the order of the log, and may be of an earlier time. */
static void moments_are_in_the_order_of_time(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    struct code_changes *changes = code_changes_open(&made.arena);
    struct code_changes_cursor cursor = {0};
    show_page(&made, 300, 0, code(), 0, 1);
    assert_int_equal(code_changes_after(changes, &cursor, MADE_PID, 0)->time, 300);
    show_page(&made, 200, 1, code(), 1, 2);
    assert_int_equal(code_changes_after(changes, &cursor, MADE_PID, 0)->time, 200);
    assert_int_equal(code_changes_after(changes, &cursor, MADE_PID, 200)->time, 300);
    code_changes_close(changes);
    made_arena_close(&made);
    (void)state;
}

/* Of records in any order, some of which change a byte of the fragment, and some another one of its page. */
static void a_fragment_is_concerned_by_the_moments_that_change_it(void **state)
{
    enum { RECORDS = 24, TIMES = 10 };
    static const uint64_t times[RECORDS] = {5, 3, 7, 7, 1, 9, 2, 2, 8, 4, 6, 6,
                                            0, 9, 5, 1, 3, 8, 0, 4, 7, 2, 9, 5};
    struct made_arena made;
    made_arena_open(&made, NULL);
    uint64_t start = code();
    uint32_t identifier = made_fragment(&made, &start, 1, 0);
    struct fragments *fragments = fragments_open(&made.arena);
    const struct fragment *fragment = fragments_get(fragments, 0, identifier, NULL);
    struct code_changes *changes = code_changes_open(&made.arena);
    struct code_changes_cursor first = {0};
    for (unsigned i = 0; i < RECORDS; i++)
        show_page(&made, 100 + times[i], i, i % 3 == 0 ? start : start ^ TR_PAGE / 2,
                  (uint8_t)(i % 4), identifier + i % 2);
    assert_non_null(code_changes_after(changes, &first, MADE_PID, 0));
    for (uint64_t after = 99; after < 100 + TIMES; after++)
        for (uint64_t until = after; until < 101 + TIMES; until++) {
            struct code_changes_cursor cursor = {0};
            const struct code_moment *moment;
            bool changed = false;
            for (uint64_t time = after;
                 (moment = code_changes_after(changes, &cursor, MADE_PID, time)) &&
                 moment->time <= until;
                 time = moment->time)
                changed |= code_moment_age(moment, fragment) != CODE_UNCHANGED;
            assert_int_equal(code_changes_concern(first.process, fragment, after, until), changed);
        }
    code_changes_close(changes);
    fragments_close(fragments);
    made_arena_close(&made);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_parts_older_fragments_from_newer_ones),
        cmocka_unit_test(a_change_of_the_next_page_changes_an_instruction_across_both),
        cmocka_unit_test(moments_are_in_the_order_of_time),
        cmocka_unit_test(a_fragment_is_concerned_by_the_moments_that_change_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
