/* perf script's text: every kind of record, with all fields and with few. */
#include "recording/perf_script/perf_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct perf_text open_string(const char *string)
{
    struct perf_text text;
    perf_text_open(&text, (struct text_slice){string, strlen(string)});
    return text;
}

/* The one record of a text; nothing may be skipped. Its texts point into `string`. */
static struct perf_text_record read_one(const char *string)
{
    struct perf_text text = open_string(string);
    struct perf_text_record record = {0}, none;
    assert_true(perf_text_next(&text, &record));
    assert_false(perf_text_next(&text, &none));
    assert_int_equal(text.statistics.other, 0);
    assert_int_equal(text.statistics.unreadable, 0);
    perf_text_close(&text);
    return record;
}

static struct perf_text_branch read_branch(const char *words)
{
    char line[256];
    snprintf(line, sizeof line,
             " 7/8  1.5:  1  branches:u:   %s  4010 f+0x10 (/p) =>  4020 g+0x0 (/p)\n", words);
    struct perf_text_record record = read_one(line);
    assert_int_equal(record.kind, PERF_TEXT_BRANCH);
    assert_int_equal(record.from.address, 0x4010);
    assert_int_equal(record.to.address, 0x4020);
    return record.branch;
}

#define assert_text(text, string)                                                                  \
    do {                                                                                           \
        assert_int_equal((text).size, strlen(string));                                             \
        assert_memory_equal((text).at, string, strlen(string));                                    \
    } while (0)

static void branch_with_all_fields(void **state)
{
    struct perf_text_record record = read_one(
        " 1037/1038  30696.282984955:          1  branches:u:   call                         "
        "4002820b73 _start+0x3 (/usr/lib/ld.so.2) =>       4002821770 _dl_start+0x0 "
        "(/usr/lib/x)\n");
    assert_int_equal(record.kind, PERF_TEXT_BRANCH);
    assert_int_equal(record.line, 1);
    assert_int_equal(record.pid, 1037);
    assert_int_equal(record.tid, 1038);
    assert_true(record.has_time);
    assert_int_equal(record.time.value, 30696282984955);
    assert_int_equal(record.branch.kind, PERF_TEXT_CALL);
    assert_int_equal(record.from.address, 0x4002820b73);
    assert_text(record.from.symbol, "_start");
    assert_true(record.from.has_offset);
    assert_int_equal(record.from.offset, 3);
    assert_text(record.from.object, "/usr/lib/ld.so.2");
    assert_int_equal(record.to.address, 0x4002821770);
    assert_text(record.to.symbol, "_dl_start");
    assert_text(record.to.object, "/usr/lib/x");
}

static void every_kind_of_branch(void **state)
{
    static const struct {
        const char *words;
        enum perf_text_branch_kind kind;
        bool starts, ends, in_transaction;
    } cases[] = {
        {"call", PERF_TEXT_CALL, 0, 0, 0},
        {"return", PERF_TEXT_RETURN, 0, 0, 0},
        {"jmp", PERF_TEXT_JUMP, 0, 0, 0},
        {"jcc", PERF_TEXT_CONDITIONAL, 0, 0, 0},
        {"syscall", PERF_TEXT_SYSCALL, 0, 0, 0},
        {"sysret", PERF_TEXT_SYSCALL_RETURN, 0, 0, 0},
        {"int", PERF_TEXT_INTERRUPT, 0, 0, 0},
        {"iret", PERF_TEXT_INTERRUPT_RETURN, 0, 0, 0},
        {"hw int", PERF_TEXT_HARDWARE_INTERRUPT, 0, 0, 0},
        {"async", PERF_TEXT_ASYNCHRONOUS, 0, 0, 0},
        {"tx abrt", PERF_TEXT_TRANSACTION_ABORT, 0, 0, 0},
        {"vmentry", PERF_TEXT_GUEST_ENTRY, 0, 0, 0},
        {"vmexit", PERF_TEXT_GUEST_EXIT, 0, 0, 0},
        {"tr strt", PERF_TEXT_NO_BRANCH, 1, 0, 0},
        {"tr strt jmp", PERF_TEXT_JUMP, 1, 0, 0},
        {"tr strt call  ", PERF_TEXT_CALL, 1, 0, 0},
        {"tr strt tr end", PERF_TEXT_NO_BRANCH, 1, 1, 0},
        {"tr end", PERF_TEXT_NO_BRANCH, 0, 1, 0},
        {"tr end  async", PERF_TEXT_ASYNCHRONOUS, 0, 1, 0},
        {"tr end  call", PERF_TEXT_CALL, 0, 1, 0},
        {"tr end  return", PERF_TEXT_RETURN, 0, 1, 0},
        {"tr end  syscall", PERF_TEXT_SYSCALL, 0, 1, 0},
        {"tr end  sysret", PERF_TEXT_SYSCALL_RETURN, 0, 1, 0},
        {"tr end  iret", PERF_TEXT_INTERRUPT_RETURN, 0, 1, 0},
        {"tr end  int", PERF_TEXT_INTERRUPT, 0, 1, 0},
        {"tr end  hw int", PERF_TEXT_HARDWARE_INTERRUPT, 0, 1, 0},
        {"tr end  jmp", PERF_TEXT_JUMP, 0, 1, 0},
        {"tr end  jcc", PERF_TEXT_CONDITIONAL, 0, 1, 0},
        {"tr end  vmexit", PERF_TEXT_GUEST_EXIT, 0, 1, 0},
        {"call              (x)", PERF_TEXT_CALL, 0, 0, 1},
        {"jcc              (xD)", PERF_TEXT_CONDITIONAL, 0, 0, 1},
        {"jcc              (Dt)", PERF_TEXT_CONDITIONAL, 0, 0, 0},
        {"tr end            (x)", PERF_TEXT_NO_BRANCH, 0, 1, 1},
        {"jcc/br_miss/", PERF_TEXT_CONDITIONAL, 0, 0, 0},
        {"jcc/br_miss,not_taken/", PERF_TEXT_NO_BRANCH, 0, 0, 0},
        {"bc", PERF_TEXT_CALL, 0, 0, 0},
        {"bcyix", PERF_TEXT_HARDWARE_INTERRUPT, 0, 0, 1},
        {"bcsB", PERF_TEXT_SYSCALL, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct perf_text_branch branch = read_branch(cases[i].words);
        assert_int_equal(branch.kind, cases[i].kind);
        assert_int_equal(branch.starts, cases[i].starts);
        assert_int_equal(branch.ends, cases[i].ends);
        assert_int_equal(branch.in_transaction, cases[i].in_transaction);
    }
}

static void missing_fields(void **state)
{
    struct perf_text_record record =
        read_one(" 5/6  2.25: branches:u:   jmp     4010 f(int, char) =>   4020 operator+ \n");
    assert_int_equal(record.time.value, 2250000000);
    assert_text(record.from.symbol, "f(int, char)");
    assert_false(record.from.has_offset);
    assert_int_equal(record.from.object.size, 0);
    assert_text(record.to.symbol, "operator+");

    record = read_one(
        " 5/6  2.25: 1 branches: return  4010 f (a) (/lib/a b (deleted)) => 4020 g ([vdso])");
    assert_text(record.from.symbol, "f (a)");
    assert_text(record.from.object, "/lib/a b (deleted)");
    assert_text(record.to.object, "[vdso]");

    record = read_one(" 5/6  2.25:   tr strt          0 =>    4020\n");
    assert_true(record.branch.starts);
    assert_int_equal(record.to.address, 0x4020);
    assert_int_equal(record.to.symbol.size, 0);
}

static void program_and_processor_before_the_ids(void **state)
{
    struct perf_text_record record = read_one("  my 1.5: prog  12/13  [003] 2.000000001:  1  "
                                              "branches:uH:  call 4010 f+0x1 => 4020 g+0x0\n");
    assert_int_equal(record.pid, 12);
    assert_int_equal(record.tid, 13);
    assert_int_equal(record.time.value, 2000000001);
    assert_text(record.program, "my 1.5: prog");
    record = read_one("prog  13 2.000000001:  1  branches:uH:  call 4010 f+0x1 => 4020 g+0x0\n");
    assert_int_equal(record.pid, 13);
    assert_int_equal(record.tid, 13);
}

static void strange_symbols(void **state)
{
    struct perf_text_record record =
        read_one("1/1 1.0: 1 branches: call 10 a => b+0x1 (/p) => 20 operator++0x2 (/p)\n");
    assert_text(record.from.symbol, "a => b");
    assert_text(record.to.symbol, "operator+");
    assert_int_equal(record.to.offset, 2);

    record = read_one("1/1 1.0: 1 branches: call 10 memcpy@plt+0xffffffffff22f000 (/p) => "
                      "ffffffff81000000 [unknown] ([kernel.kallsyms])\n");
    assert_text(record.from.symbol, "memcpy@plt");
    assert_false(record.from.has_offset);
    assert_int_equal(record.to.address, 0xffffffff81000000);
    assert_int_equal(record.to.symbol.size, 0);
    assert_text(record.to.object, "[kernel.kallsyms]");

    record =
        read_one("1/1 1.0: 1 branches: call 10 f+0x1 (/p) => 20 g+0x0 (/p)  IPC: 0.50 (2/4)\n");
    assert_text(record.to.object, "/p");
}

static void decode_errors(void **state)
{
    struct perf_text_record record = read_one(
        " instruction trace error type 1 time 5.000000007 cpu -1 pid 3 tid 4 ip 0x40 code 5: "
        "Failed to get instruction\n");
    assert_int_equal(record.kind, PERF_TEXT_DECODE_ERROR);
    assert_int_equal(record.pid, 3);
    assert_int_equal(record.tid, 4);
    assert_int_equal(record.time.value, 5000000007);
    assert_int_equal(record.from.address, 0x40);
    assert_text(record.message, "Failed to get instruction");

    record = read_one(
        " instruction trace error type 1 cpu 0 pid -1 tid -1 ip 0 code 8: Lost trace data\n");
    assert_false(record.has_time);
    assert_int_equal(record.pid, PERF_TEXT_NOBODY);
    assert_text(record.message, "Lost trace data");
}

static void samples(void **state)
{
    struct perf_text text = open_string("prog 3/4 1.5:   250000 cycles:u: \n"
                                        "\t    4010 leaf+0x10 (/p)\n"
                                        "\t    5010 main+0x20 (/p)\n"
                                        "\n"
                                        "3/4 1.6:  1 cpu-clock:   4011 leaf+0x11 (/p)\n"
                                        "3/4 1.7:  1 cpu_core/cycles/u:   4012 leaf\n");
    struct perf_text_record record;
    assert_true(perf_text_next(&text, &record));
    assert_int_equal(record.kind, PERF_TEXT_SAMPLE);
    assert_int_equal(record.frame_count, 2);
    assert_int_equal(record.frames[0].address, 0x4010);
    assert_text(record.frames[1].symbol, "main");
    for (uint64_t address = 0x4011; address <= 0x4012; address++) {
        assert_true(perf_text_next(&text, &record));
        assert_int_equal(record.frame_count, 1);
        assert_int_equal(record.frames[0].address, address);
    }
    assert_false(perf_text_next(&text, &record));
    assert_int_equal(text.statistics.samples, 3);
    perf_text_close(&text);
}

static void what_is_not_shown_is_counted(void **state)
{
    struct perf_text text =
        open_string("# a note of --header\n"
                    "1/1 1.0: 1 psb:  psb offs: 0  0  0 [unknown] ([unknown])\n"
                    "1/1 1.0: 1 intel_pt//u:  0 4010 f+0x10 (/p)\n"
                    "1/1 1.0: 1 cbr:  cbr: none  0  0 [unknown] ([unknown])\n"
                    "1/1 1.0: 1 ptwrite:  IP: 0 payload: 0x1  0 4010 f+0x1 (/p)\n"
                    "\t   4010 f+0x1 (/p)\n"
                    "1/1 1.0: 1 branches:u: teleport  4010 f+0x1 (/p) => 4020 g+0x0 (/p)\n"
                    "garbage\n"
                    "1/1 1.0: 1 branches:u: call  4010 f+0x1 (/p) =>\n"
                    "1/1 1.0: 1 branches:u: call  4010 f+0x1 (/p) => 4020 g+0x0 (/p)");
    struct perf_text_record record;
    assert_true(perf_text_next(&text, &record));
    assert_int_equal(record.line, 10);
    assert_false(perf_text_next(&text, &record));
    assert_int_equal(text.statistics.other, 2);
    assert_string_equal(text.statistics.other_event, "ptwrite");
    assert_int_equal(text.statistics.unreadable, 2);
    assert_int_equal(text.statistics.first_unreadable, 8);
    perf_text_close(&text);
}

static void a_frequency_is_reported_as_far_as_perf_knows_it(void **state)
{
    struct perf_text text =
        open_string("1/2 1.0: 1 cbr:  cbr: 42 freq: 4219 MHz (162%)  0 [unknown] ([unknown])\n"
                    "1/2 1.5: cbr: cbr: 23 freq: 0 MHz  0 [unknown] ([unknown])\n"
                    "prog 1/2 [003] 2.0: cbr:  cbr:  8  0  0 [unknown] ([unknown])\n"
                    "1/2 2.5: cbr:  cbr:  0  0  0 [unknown] ([unknown])\n");
    static const uint64_t MEGAHERTZ[] = {4219, 2300, 800};
    struct perf_text_record record;
    for (size_t i = 0; i < 3; i++) {
        assert_true(perf_text_next(&text, &record));
        assert_int_equal(record.kind, PERF_TEXT_FREQUENCY);
        assert_int_equal(record.tid, 2);
        assert_int_equal(record.time.value, 1000000000 + i * 500000000);
        assert_int_equal(record.megahertz, MEGAHERTZ[i]);
    }
    assert_false(perf_text_next(&text, &record));
    perf_text_close(&text);
}

static void times_out_of_range_are_unreadable(void **state)
{
    struct perf_text text = open_string("1/1 18446744074.0: 1 branches: call 1 f => 2 g\n"
                                        "1/1 99999999999999999999.0: 1 branches: call 1 f => 2 g\n"
                                        "1/4294967296 1.0: 1 branches: call 1 f => 2 g\n"
                                        "1/1 1.0: 1 branches: call 10000000000000000 f => 2 g\n");
    struct perf_text_record record;
    assert_false(perf_text_next(&text, &record));
    assert_int_equal(text.statistics.unreadable, 4);
    perf_text_close(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branch_with_all_fields),
        cmocka_unit_test(every_kind_of_branch),
        cmocka_unit_test(missing_fields),
        cmocka_unit_test(program_and_processor_before_the_ids),
        cmocka_unit_test(strange_symbols),
        cmocka_unit_test(decode_errors),
        cmocka_unit_test(samples),
        cmocka_unit_test(a_frequency_is_reported_as_far_as_perf_knows_it),
        cmocka_unit_test(what_is_not_shown_is_counted),
        cmocka_unit_test(times_out_of_range_are_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
