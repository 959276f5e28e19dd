/* Baselines: what is written is read again, damage is refused, and what changed is found. */
#include "analysis/count_changes.h"

#include "base/file.h"
#include "base/memory.h"
#include "index_test.h"
#include "span_script.h"
#include "temporary_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct counting_conditions conditions(void)
{
    return (struct counting_conditions){
        .command = memory_copy_string("./program -x"),
        .engine = memory_copy_string("translator"),
        .processor = memory_copy_string("made up"),
        .status = 3,
    };
}

/* main calls f twice, in two threads of one name, and waits. */
static struct instruction_counts count_made_trace(void)
{
    struct span_script *script = span_script_new();
    span_script_function(script, "[syscall]")->special = true;
    for (uint32_t tid = 1; tid <= 2; tid++) {
        uint32_t track = span_script_track(script, 1, tid, "p", "worker");
        uint64_t time = 100 * tid;
        span_script_enter(script, track, time, "main");
        span_script_enter(script, track, time + 10, "f(a\tb)");
        span_script_enter(script, track, time + 20, "[syscall]");
        span_script_leave(script, track, time + 50);
        span_script_leave(script, track, time + 60);
        span_script_leave(script, track, time + 90);
    }
    struct trace_index *index = index_source(span_script_source(script));
    struct instruction_counts counts;
    struct error error = {0};
    assert_true(instruction_counts_of_trace(&counts, index, conditions(), &error));
    trace_index_close(index);
    span_script_free(script);
    return counts;
}

static void assert_row(const struct instruction_counts *counts, size_t i, const char *function,
                       uint64_t calls, uint64_t instructions)
{
    assert_true(i < counts->rows.count);
    const struct instruction_count *row = array_at(&counts->rows, i);
    assert_string_equal(row->thread, "worker");
    assert_string_equal(row->function, function);
    assert_int_equal(row->calls, calls);
    assert_int_equal(row->instructions, instructions);
}

static void threads_of_a_name_are_added_up(void **state)
{
    struct instruction_counts counts = count_made_trace();
    assert_int_equal(counts.rows.count, 2);
    assert_row(&counts, 0, "f(a\\x09b)", 2, 40);
    assert_row(&counts, 1, "main", 2, 80);
    instruction_counts_free(&counts);
}

static void what_is_written_is_read(void **state)
{
    char *path = temporary_folder_path("baseline");
    struct instruction_counts counts = count_made_trace(), again;
    struct error error = {0};
    assert_true(instruction_counts_write(&counts, path, &error));
    assert_true(instruction_counts_read(&again, path, &error));
    assert_int_equal(again.rows.count, 2);
    assert_row(&again, 0, "f(a\\x09b)", 2, 40);
    assert_row(&again, 1, "main", 2, 80);
    assert_string_equal(again.conditions.command, "./program -x");
    assert_string_equal(again.conditions.engine, "translator");
    assert_string_equal(again.conditions.processor, "made up");
    assert_int_equal(again.conditions.status, 3);
    instruction_counts_free(&counts);
    instruction_counts_free(&again);
    free(path);
}

static void damage_is_refused(void **state)
{
    static const char head[] = "# magic-trace baseline 1: thread, calls, instructions, function\n";
    static const char conditions_text[] =
        "# command: a\n# engine: b\n# processor: c\n# exit status: 0\n";
    static const char *const lines[] = {"worker\t1\t2\n",
                                        "worker\t1\tx\tf\n",
                                        "worker\t-1\t2\tf\n",
                                        "worker 1 2 f\n",
                                        "worker\t1\t99999999999999999999999\tf\n",
                                        "worker\t1\t2\t\n"};
    char *path = temporary_folder_path("baseline");
    struct instruction_counts counts;
    struct error error = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines + 2; i++) {
        size_t last = sizeof lines / sizeof *lines;
        char *text = i < last    ? memory_format("%s%s%s", head, conditions_text, lines[i])
                     : i == last ? memory_format("%s", conditions_text)
                                 : memory_format("%sworker\t1\t2\tf\n", head);
        int descriptor = file_create_private(path, &error);
        assert_true(file_write_all(descriptor, text, strlen(text), path, &error));
        close(descriptor);
        assert_false(instruction_counts_read(&counts, path, &error));
        assert_int_equal(error.code, ERROR_FORMAT);
        instruction_counts_free(&counts);
        free(text);
    }
    free(path);
}

/* ---- changes ---- */

static struct instruction_counts make(const struct instruction_count *rows, size_t count)
{
    struct instruction_counts counts = {.conditions = conditions(),
                                        .rows = array_of(sizeof(struct instruction_count))};
    for (size_t i = 0; i < count; i++)
        *(struct instruction_count *)array_add(&counts.rows) = (struct instruction_count){
            memory_copy_string(rows[i].thread), memory_copy_string(rows[i].function), rows[i].calls,
            rows[i].instructions};
    return counts;
}

static void what_changed_is_found(void **state)
{
    static const struct instruction_count before[] = {
        {"t", "allowed", 10, 100000}, {"t", "called", 10, 1000}, {"t", "gone", 5, 500},
        {"t", "longer", 1, 100000},   {"t", "same", 1, 7},       {"t", "tiny", 1, 10},
    };
    static const struct instruction_count now[] = {
        {"t", "allowed", 10, 100200}, {"t", "called", 11, 1000}, {"t", "longer", 1, 100300},
        {"t", "new", 1, 5},           {"t", "same", 1, 7},       {"t", "tiny", 1, 50},
    };
    struct instruction_counts a = make(before, sizeof before / sizeof *before);
    struct instruction_counts b = make(now, sizeof now / sizeof *now);
    const struct count_threshold threshold = {.per_cent = 0.2, .instructions = 64};
    struct count_changes changes = count_changes_find(&a, &b, threshold);
    static const char *const expected[] = {"gone", "longer", "new", "called", "allowed", "tiny"};
    assert_int_equal(changes.changes.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < changes.changes.count; i++) {
        const struct count_change *change = array_at(&changes.changes, i);
        assert_string_equal(change->function, expected[i]);
        assert_int_equal(change->counts, i < 4);
    }
    assert_int_equal(changes.more, 3);
    assert_int_equal(changes.less, 1);
    assert_int_equal(changes.instructions[1] - changes.instructions[0], 200 - 500 + 300 + 5 + 40);
    count_changes_free(&changes);
    changes = count_changes_find(&a, &a, threshold);
    assert_int_equal(changes.changes.count, 0);
    count_changes_free(&changes);
    instruction_counts_free(&a);
    instruction_counts_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_a_name_are_added_up),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(what_changed_is_found),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
}
