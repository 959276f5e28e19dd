/* Recordings of samples, made up, with this test as the program, and the stack samples that come of
 * them.
 */
#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "decode/flow.h"
#include "recording/perf_data/raw_perf_data_writer.h"

#include <asm/perf_regs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PID = 500, OTHER = 501, PERIOD = 1000, EVENT_ID = 70, MARK_ID = 71 };

/* The program's functions, for their addresses. They are never called. */
#define FUNCTION(name)                                                                             \
    void name(void);                                                                               \
    __attribute__((noinline, used)) void name(void)                                                \
    {                                                                                              \
        __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; # " #name);                      \
    }
FUNCTION(apple)
FUNCTION(berry)
FUNCTION(cherry)

struct world {
    char *folder, *path;
    struct raw_perf_data_writer *writer;
    uint64_t fields; /* of samples, in addition to those that all have */
    struct array record;
    struct array reported; /* text */
    const struct flow *flow;
};

/* ---- making ---- */

/* `common`: fields of the samples of all events. */
static void begin_events(struct world *world, const struct perf_event_attr *wanted, uint64_t common)
{
    struct raw_perf_data_event events[] = {
        {.attribute = *wanted, .name = "cpu-clock:u"},
        {.attribute = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS},
         .name = "page-faults:u"},
    };
    for (size_t i = 0; i < 2; i++) {
        events[i].attribute.sample_type |= common;
        events[i].attribute.sample_id_all = 1;
        events[i].attribute.exclude_kernel = 1;
    }
    char folder[] = "/tmp/magic-trace-sampled-XXXXXX";
    assert_non_null(mkdtemp(folder));
    *world = (struct world){
        .folder = memory_copy_string(folder),
        .path = memory_format("%s/perf.data", folder),
        .fields = events[0].attribute.sample_type,
        .record = array_of(1),
        .reported = array_of(1),
    };
    world->writer = raw_perf_data_writer_open(world->path, events, 2, NULL, NULL);
    assert_non_null(world->writer);
    raw_perf_data_add_id(world->writer, 0, EVENT_ID);
    raw_perf_data_add_id(world->writer, 1, MARK_ID);
}

static void begin_with(struct world *world, const struct perf_event_attr *wanted)
{
    begin_events(world, wanted, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER);
}

static void begin(struct world *world)
{
    begin_with(world, &(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                                .sample_period = PERIOD,
                                                .sample_type = PERF_SAMPLE_CALLCHAIN});
}

static void say(struct world *world, const struct sideband_record *record)
{
    assert_true(raw_perf_data_write_sideband(world->writer, record, NULL));
}

static void map_this_program(struct world *world)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[1024];
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        char path[512] = "";
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511[^\n]", &start, &end, &offset, path) == 4 &&
            (uintptr_t)apple >= start && (uintptr_t)apple < end)
            say(world, &(struct sideband_record){.kind = SIDEBAND_MAPPING,
                                                 .time = {1},
                                                 .pid = PID,
                                                 .tid = PID,
                                                 .mapping = {.start = start,
                                                             .length = end - start,
                                                             .file_offset = offset,
                                                             .protection = PROT_EXEC,
                                                             .executable = true,
                                                             .path = path}});
    }
    fclose(maps);
}

static void add(struct world *world, uint64_t word)
{
    array_add_all(&world->record, &word, sizeof word);
}

static void begin_sample(struct world *world, uint64_t id, uint32_t tid, uint64_t time)
{
    const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
                                             .misc = PERF_RECORD_MISC_USER};
    world->record.count = 0;
    array_add_all(&world->record, &header, sizeof header);
    add(world, id);
    add(world, (uint64_t)tid << 32 | PID);
    if (world->fields & PERF_SAMPLE_TIME)
        add(world, time);
}

static void end_sample(struct world *world)
{
    ((struct perf_event_header *)world->record.elements)->size = (uint16_t)world->record.count;
    assert_true(raw_perf_data_write_records(world->writer, world->record.elements,
                                            world->record.count, NULL));
}

/* Words up to a 0, the innermost first. */
static void sample(struct world *world, uint32_t tid, uint64_t time, const uint64_t *chain)
{
    uint64_t count = 0;
    while (chain[count])
        count++;
    begin_sample(world, EVENT_ID, tid, time);
    add(world, count);
    for (uint64_t i = 0; i < count; i++)
        add(world, chain[i]);
    end_sample(world);
}

/* Interrupted there, and a return address in it. */
#define AT(function) ((uint64_t)(uintptr_t)(function) + 2)
#define CHAIN(...) ((const uint64_t[]){PERF_CONTEXT_USER, __VA_ARGS__, 0})

static void switched(struct world *world, uint32_t tid, uint64_t time, bool out)
{
    say(world, &(struct sideband_record){.kind = SIDEBAND_CONTEXT_SWITCH,
                                         .time = {time},
                                         .pid = PID,
                                         .tid = tid,
                                         .context_switch = {.out = out}});
}

/* ---- reading ---- */

__attribute__((format(printf, 2, 3))) static void note(struct world *world, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    assert_true(length >= 0);
    array_add_all(&world->reported, text, (size_t)length);
    free(text);
}

struct reported_thread {
    struct world *world;
    uint32_t tid;
};

static void *begin_thread(void *context, const struct thread *thread)
{
    struct reported_thread *reported = memory_allocate_zeroed(sizeof *reported);
    *reported = (struct reported_thread){context, thread->tid};
    return reported;
}

static void take_events(void *object, const struct flow_event *events, size_t count)
{
    fail_msg("there are no flow events in samples");
}

static const char *name_of(const struct world *world, function_id function)
{
    return symbols_function(flow_symbols(world->flow), function)->name;
}

static void take_sample(void *object, const struct stack_sample *sample)
{
    static const char *const words[] = {
        [STACK_SAMPLE] = "", [STACK_NOT_RUNNING] = " off", [STACK_EXEC] = " exec"};
    const struct reported_thread *reported = object;
    struct world *world = reported->world;
    if (reported->tid != PID)
        note(world, "%u:", reported->tid);
    note(world, "%llu%s", (unsigned long long)sample->time.value, words[sample->kind]);
    if (sample->cut)
        note(world, " (%s)",
             sample->callers == FUNCTION_UNKNOWN ? "cut" : name_of(world, sample->callers));
    for (size_t i = 0; i < sample->count; i++)
        note(world, " %s", name_of(world, sample->frames[i].function));
    note(world, "\n");
}

static void end_thread(void *object)
{
    free(object);
}

static struct flow_statistics report(struct world *world)
{
    struct error error = {0};
    if (!raw_perf_data_writer_close(world->writer, &error))
        fail_msg("%s", error.text);
    struct flow_options options = {.cores = 1};
    struct flow *flow = flow_open(world->path, &options, &error);
    if (!flow)
        fail_msg("%s", error.text);
    world->flow = flow;
    assert_true(flow_is_sampled(flow));
    struct flow_sink sink = {.context = world,
                             .begin = begin_thread,
                             .events = take_events,
                             .end = end_thread,
                             .sample = take_sample};
    assert_true(flow_decode(flow, &sink, &error));
    assert_true(flow_follows_event(flow, 0));
    assert_false(flow_follows_event(flow, 1));
    struct flow_statistics statistics = flow_statistics(flow);
    flow_close(flow);
    return statistics;
}

static struct flow_statistics expect(struct world *world, const char *expected)
{
    struct flow_statistics statistics = report(world);
    *(char *)array_add(&world->reported) = 0;
    assert_string_equal((char *)world->reported.elements, expected);
    array_free(&world->reported);
    array_free(&world->record);
    file_remove_tree(world->folder, NULL);
    free(world->folder);
    free(world->path);
    return statistics;
}

/* ---- the tests ---- */

static void chains_become_stacks_from_the_root_on(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(cherry), AT(berry), AT(apple)));
    sample(&w, OTHER, 1500, CHAIN(AT(berry)));
    sample(&w, PID, 2000, CHAIN(AT(apple)));
    struct flow_statistics statistics = expect(&w, "1000 apple berry cherry\n"
                                                   "501:1500 berry\n"
                                                   "2000 apple\n"
                                                   "3000 off\n"
                                                   "501:2500 off\n");
    assert_int_equal(statistics.samples, 3);
    assert_int_equal(statistics.cut_samples, 0);
}

/* A call can be a function's last instruction: its return address is then in the next one. */
static void return_addresses_are_in_the_caller(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(cherry), (uintptr_t)berry + 1, (uintptr_t)apple + 1));
    expect(&w, "1000 apple berry cherry\n2000 off\n");
}

static void the_kernel_is_on_top(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    const uint64_t chain[] = {PERF_CONTEXT_KERNEL,
                              0xffffffff81000010,
                              0xffffffff81000020,
                              PERF_CONTEXT_USER,
                              AT(berry),
                              AT(apple),
                              0};
    sample(&w, PID, 1000, chain);
    expect(&w, "1000 apple berry [kernel]\n2000 off\n");
}

static void addresses_outside_code_are_not_callers(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(cherry), AT(berry), 0x77, 0x12345));
    sample(&w, PID, 2000, CHAIN(0x99, AT(berry)));
    expect(&w, "1000 berry cherry\n2000 berry [unknown]\n3000 off\n");
}

static void missing_samples_are_a_thread_that_does_not_run(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(apple)));
    sample(&w, PID, 5000, CHAIN(AT(apple))); /* late */
    sample(&w, PID, 10000, CHAIN(AT(apple)));
    expect(&w, "1000 apple\n5000 apple\n6000 off\n10000 apple\n11000 off\n");
}

static void switches_report_when_a_thread_does_not_run(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(apple)));
    switched(&w, PID, 1400, true);
    switched(&w, PID, 1500, false); /* too short to be seen */
    sample(&w, PID, 2000, CHAIN(AT(apple)));
    switched(&w, PID, 2300, true);
    switched(&w, PID, 4000, false);
    sample(&w, PID, 4500, CHAIN(AT(berry)));
    switched(&w, PID, 4700, true);
    sample(&w, PID, 6000, CHAIN(AT(cherry))); /* the record of its switch back is lost */
    switched(&w, PID, 6200, true);
    expect(&w, "1000 apple\n2000 apple\n2300 off\n4500 berry\n4700 off\n6000 cherry\n6200 off\n");
}

static void exit_and_exec_end_what_runs(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(apple)));
    say(&w, &(struct sideband_record){.kind = SIDEBAND_NAME,
                                      .time = {1800},
                                      .pid = PID,
                                      .tid = PID,
                                      .name = {.name = "other", .exec = true}});
    sample(&w, PID, 2500, CHAIN(AT(apple))); /* its code is gone */
    say(&w,
        &(struct sideband_record){.kind = SIDEBAND_EXIT, .time = {3100}, .pid = PID, .tid = PID});
    expect(&w, "1000 apple\n1800 exec\n2500 [unknown]\n3100 off\n");
}

static void samples_of_other_events_are_not_followed(void **state)
{
    struct world w;
    begin(&w);
    map_this_program(&w);
    sample(&w, PID, 1000, CHAIN(AT(apple)));
    begin_sample(&w, MARK_ID, PID, 1500);
    end_sample(&w);
    expect(&w, "1000 apple\n2000 off\n");
}

static void an_event_without_time_has_its_usual_interval(void **state)
{
    struct world w;
    begin_with(&w, &(struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
                                             .config = PERF_COUNT_HW_CPU_CYCLES,
                                             .sample_period = 7,
                                             .sample_type = PERF_SAMPLE_CALLCHAIN});
    map_this_program(&w);
    for (uint64_t time = 1000; time <= 1400; time += 100)
        sample(&w, PID, time, CHAIN(AT(apple)));
    sample(&w, PID, 2000, CHAIN(AT(apple)));
    expect(&w, "1000 apple\n1100 apple\n1200 apple\n1300 apple\n1400 apple\n1500 off\n"
               "2000 apple\n2100 off\n");
}

/* As perf record --per-thread makes it. */
static void samples_without_times_take_a_period_each(void **state)
{
    struct world w;
    begin_events(&w,
                 &(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                           .config = PERF_COUNT_SW_CPU_CLOCK,
                                           .sample_period = PERIOD,
                                           .sample_type = PERF_SAMPLE_CALLCHAIN},
                 PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER);
    map_this_program(&w);
    sample(&w, PID, 0, CHAIN(AT(berry), AT(apple)));
    sample(&w, OTHER, 0, CHAIN(AT(cherry)));
    sample(&w, PID, 0, CHAIN(AT(berry), AT(apple)));
    sample(&w, PID, 0, CHAIN(AT(apple)));
    expect(&w, "1000 apple berry\n501:1000 cherry\n2000 apple berry\n3000 apple\n4000 "
               "off\n501:2000 off\n");
}

static void remembered_calls_are_the_stack(void **state)
{
    struct world w;
    begin_with(&w, &(struct perf_event_attr){
                       .type = PERF_TYPE_HARDWARE,
                       .config = PERF_COUNT_HW_CPU_CYCLES,
                       .freq = 1,
                       .sample_freq = 1000000,
                       .branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK |
                                             PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_HW_INDEX,
                       .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK});
    map_this_program(&w);
    for (unsigned depth = 2; depth <= 9; depth += 7) {
        begin_sample(&w, EVENT_ID, PID, 1000 * depth);
        add(&w, 0); /* chain */
        add(&w, depth);
        add(&w, UINT64_MAX); /* index */
        for (unsigned i = 0; i < depth; i++) {
            add(&w, i + 1 == depth ? AT(apple) : AT(berry)); /* from */
            add(&w, i == 0 ? (uintptr_t)cherry : (uintptr_t)berry);
            add(&w, 0); /* flags */
        }
        end_sample(&w);
    }
    expect(&w, "2000 apple berry cherry\n3000 off\n"
               "9000 (cut) apple berry berry berry berry berry berry berry berry cherry\n"
               "10000 off\n");
}

static void saved_stacks_say_why_callers_are_missing(void **state)
{
    const uint64_t mask = 1 << PERF_REG_X86_SP | 1 << PERF_REG_X86_IP;
    struct world w;
    begin_with(&w, &(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                             .config = PERF_COUNT_SW_CPU_CLOCK,
                                             .freq = 1,
                                             .sample_freq = 1000000,
                                             .sample_regs_user = mask,
                                             .sample_stack_user = 8,
                                             .sample_type = PERF_SAMPLE_CALLCHAIN |
                                                            PERF_SAMPLE_REGS_USER |
                                                            PERF_SAMPLE_STACK_USER});
    map_this_program(&w);
    say(&w, &(struct sideband_record){.kind = SIDEBAND_MAPPING,
                                      .time = {1},
                                      .pid = PID,
                                      .tid = PID,
                                      .mapping = {.start = 0x100000,
                                                  .length = 0x1000,
                                                  .protection = PROT_EXEC,
                                                  .executable = true,
                                                  .path = "/nonexistent/libgone.so"}});
    const uint64_t returns[] = {AT(apple), 0x100020};
    for (unsigned i = 0; i < 2; i++) {
        begin_sample(&w, EVENT_ID, PID, 1000 + 1000 * i);
        add(&w, 0); /* chain */
        add(&w, PERF_SAMPLE_REGS_ABI_64);
        add(&w, 0x7000); /* stack pointer */
        add(&w, AT(cherry));
        add(&w, 8);
        add(&w, returns[i]);
        add(&w, 8);
        end_sample(&w);
    }
    struct flow_statistics statistics =
        expect(&w, "1000 ([callers not saved]) apple cherry\n"
                   "2000 ([callers unknown: libgone.so is not here]) [libgone.so] cherry\n"
                   "3000 off\n");
    assert_int_equal(statistics.cut_samples, 2);
}

static void a_recording_may_be_too_short_for_samples(void **state)
{
    struct world w;
    struct error error = {0};
    begin(&w);
    begin_sample(&w, MARK_ID, PID, 1500);
    end_sample(&w);
    assert_true(raw_perf_data_writer_close(w.writer, &error));
    struct flow_options options = {.cores = 1};
    struct flow *flow = flow_open(w.path, &options, &error);
    assert_non_null(flow);
    assert_true(flow_is_sampled(flow));
    flow_close(flow);
    file_remove_tree(w.folder, NULL);
    array_free(&w.record);
    free(w.folder);
    free(w.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_become_stacks_from_the_root_on),
        cmocka_unit_test(return_addresses_are_in_the_caller),
        cmocka_unit_test(the_kernel_is_on_top),
        cmocka_unit_test(addresses_outside_code_are_not_callers),
        cmocka_unit_test(missing_samples_are_a_thread_that_does_not_run),
        cmocka_unit_test(switches_report_when_a_thread_does_not_run),
        cmocka_unit_test(exit_and_exec_end_what_runs),
        cmocka_unit_test(samples_of_other_events_are_not_followed),
        cmocka_unit_test(an_event_without_time_has_its_usual_interval),
        cmocka_unit_test(samples_without_times_take_a_period_each),
        cmocka_unit_test(remembered_calls_are_the_stack),
        cmocka_unit_test(saved_stacks_say_why_callers_are_missing),
        cmocka_unit_test(a_recording_may_be_too_short_for_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
