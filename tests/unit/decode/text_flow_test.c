/* perf script's text as flow events: each kind of branch, what is learned from the text, and what
 * cannot be known. */
#include "base/memory.h"
#include "decode/flow.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* The result: one line per event. */
struct outcome {
    struct flow *flow;
    char text[8192];
    size_t size;
    uint64_t times[64];
    uint64_t next[64]; /* of calls and syscalls */
    size_t count;
};

struct followed {
    struct outcome *outcome;
    uint32_t tid;
};

static void add_line(struct outcome *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_line(struct outcome *outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    outcome->size += (size_t)vsnprintf(outcome->text + outcome->size,
                                       sizeof outcome->text - outcome->size, format, arguments);
    va_end(arguments);
    assert_true(outcome->size < sizeof outcome->text);
}

static void *begin(void *context, const struct thread *thread)
{
    struct followed *followed = memory_allocate_zeroed(sizeof(*followed));
    *followed = (struct followed){context, thread->tid};
    return followed;
}

static void take(void *object, const struct flow_event *events, size_t count)
{
    static const char *const kinds[] = {"call",   "return",        "jump", "syscall",   "interrupt",
                                        "resume", "kernel-return", "stop", "trap-push", "trap-pop",
                                        "stack",  "caller",        "gap",  "abort"};
    struct followed *followed = object;
    struct outcome *outcome = followed->outcome;
    for (size_t i = 0; i < count; i++) {
        const struct flow_event *event = &events[i];
        add_line(outcome, "%u %s %lx>%lx %s%s%s", followed->tid, kinds[event->kind],
                 (unsigned long)event->from, (unsigned long)event->to,
                 symbols_function(flow_symbols(outcome->flow), event->function)->name,
                 event->flags & FLOW_DIRECT ? " direct" : "",
                 event->flags & FLOW_TRANSACTION ? " transaction" : "");
        if (event->kind == FLOW_GAP)
            add_line(outcome, " %u %s", event->gap,
                     event->error ? flow_error_text(event->error) : "");
        add_line(outcome, "\n");
        if (outcome->count < 64) {
            outcome->times[outcome->count] = event->time.value;
            outcome->next[outcome->count++] = event->next;
        }
    }
}

static void end(void *object)
{
    free(object);
}

static int text_file(const char *text, char *path, size_t size)
{
    int descriptor = memfd_create("text", MFD_CLOEXEC);
    snprintf(path, size, "/proc/self/fd/%d", descriptor);
    assert_true(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    return descriptor;
}

static struct outcome *decode_with(const char *text, struct flow_options options)
{
    struct outcome *outcome = memory_allocate_zeroed(sizeof(*outcome));
    struct error error = {0};
    char path[64];
    int descriptor = text_file(text, path, sizeof path);
    outcome->flow = flow_open(path, &options, &error);
    if (!outcome->flow)
        fail_msg("%s", error.text);
    struct flow_sink sink = {.context = outcome, .begin = begin, .events = take, .end = end};
    if (!flow_decode(outcome->flow, &sink, &error))
        fail_msg("%s", error.text);
    close(descriptor);
    return outcome;
}

static struct outcome *decode(const char *text)
{
    return decode_with(text, (struct flow_options){0});
}

static void finish(struct outcome *outcome)
{
    flow_close(outcome->flow);
    free(outcome);
}

static void assert_events(const char *text, const char *events)
{
    struct outcome *outcome = decode(text);
    assert_string_equal(outcome->text, events);
    finish(outcome);
}

/* Times are nanoseconds after 1 s. */
#define AT(time) " 7/7  1.0000000" time ":  1  branches:u:  "
#define NOWHERE "0 [unknown] ([unknown])"
#define MAIN "4010 main+0x10 (/p)"
#define MAIN_NEXT "4015 main+0x15 (/p)"
#define F "5000 f+0x0 (/p)"
#define F_END "5020 f+0x20 (/p)"
#define G "6000 g+0x0 (/p)"
#define START AT("00") "tr strt  " NOWHERE " => 4000 main+0x0 (/p)\n"

static void calls_and_returns(void **state)
{
    assert_events(START AT("10") "call  " MAIN " => " F
                                 "\n" AT("20") "jcc  5004 f+0x4 (/p) => 5010 f+0x10 (/p)\n" AT(
                                     "30") "return  " F_END " => " MAIN_NEXT "\n",
                  "7 resume 0>4000 main\n"
                  "7 call 4010>5000 f\n"
                  "7 return 5020>4015 main\n"
                  "7 stop 4015>0 main\n");
}

static void jumps(void **state)
{
    assert_events(
        START AT("10") "jmp  4008 main+0x8 (/p) => " F
                       "\n" AT("20") "jmp  5008 f+0x8 (/p) => 5010 f+0x10 (/p)\n" AT(
                           "30") "jcc  " F_END
                                 " => 8000 f.cold+0x0 (/p)\n" AT(
                                     "40") "jmp  8004 f.cold+0x4 (/p) => 5024 f+0x24 "
                                           "(/p)\n" AT("50") "jcc (x)  5028 f+0x28 (/p) => " G
                                                             "\n" AT("60") "tx abrt  6004 g+0x4 "
                                                                           "(/p) => 5030 f+0x30 "
                                                                           "(/p)\n",
        "7 resume 0>4000 main\n"
        "7 jump 4008>5000 f\n"
        "7 jump 5028>6000 g direct transaction\n"
        "7 abort 6004>5030 f\n"
        "7 stop 5030>0 f\n");
}

static void recursion_and_a_call_of_the_next_instruction(void **state)
{
    assert_events(START AT("10") "call  4010 main+0x10 (/p) => 4000 main+0x0 (/p)\n" AT(
                      "20") "call  4010 main+0x10 (/p) => 4015 main+0x15 (/p)\n",
                  "7 resume 0>4000 main\n"
                  "7 call 4010>4000 main\n"
                  "7 stop 4015>0 main\n");
}

static void leaving_the_program(void **state)
{
    assert_events(
        START AT("10") "tr end  syscall  " MAIN " => " NOWHERE "\n" AT(
            "20") "tr strt  " NOWHERE
                  " => 4012 main+0x12 (/p)\n" AT(
                      "30") "tr end  async  4014 main+0x14 (/p) => " NOWHERE
                            "\n" AT("40") "tr strt tr end  4014 main+0x14 (/p) => " NOWHERE "\n" AT(
                                "50") "tr strt jmp  " NOWHERE
                                      " => 4014 main+0x14 (/p)\n" AT(
                                          "60") "tr end  int  4016 main+0x16 (/p) => " NOWHERE
                                                "\n" AT(
                                                    "70") "tr strt  " NOWHERE
                                                          " => 4018 main+0x18 (/p)\n" AT(
                                                              "80") "tr end  call  401a "
                                                                    "main+0x1a (/p) => 9000 "
                                                                    "h+0x0 (/q)\n" AT(
                                                                        "90") "tr "
                                                                              "str"
                                                                              "t "
                                                                              " " NOWHERE " =>"
                                                                              " 40"
                                                                              "1f "
                                                                              "mai"
                                                                              "n+"
                                                                              "0x1"
                                                                              "f "
                                                                              "(/"
                                                                              "p)"
                                                                              "\n" AT(
                                                                                  "95") "tr end  "
                                                                                        "hw int  "
                                                                                        "4020 "
                                                                                        "main+0x20 "
                                                                                        "(/p) "
                                                                                        "=>"
                                                                                        " " NOWHERE
                                                                                        "\n",
        "7 resume 0>4000 main\n"
        "7 syscall 4010>0 main\n"
        "7 resume 0>4012 main\n"
        "7 interrupt 4014>0 main\n"
        "7 resume 0>4014 main\n"
        "7 syscall 4016>0 main\n"
        "7 resume 0>4018 main\n"
        "7 stop 401a>0 main\n"
        "7 resume 0>401f main\n"
        "7 stop 4020>0 main\n");
}

#define KERNEL "ffffffff81000000 entry+0x0 ([kernel.kallsyms])"
#define KERNEL_END "ffffffff81000040 entry+0x40 ([kernel.kallsyms])"

static void the_kernel_traced(void **state)
{
    assert_events(
        START AT("10") "syscall  " MAIN " => " KERNEL
                       "\n" AT("20") "sysret  " KERNEL_END " => 4012 main+0x12 (/p)\n" AT(
                           "30") "hw int  4014 main+0x14 (/p) => " KERNEL
                                 "\n" AT("40") "iret  " KERNEL_END " => 4014 main+0x14 (/p)\n" AT(
                                     "50") "int  4016 main+0x16 (/p) => " KERNEL
                                           "\n" AT("60") "vmentry  ffffffff81000010 "
                                                         "entry+0x10 ([kernel.kallsyms]) "
                                                         "=> 100 [unknown] "
                                                         "([guest.kernel.kallsyms])\n" AT(
                                                             "70") "vmexit  108 [unknown] "
                                                                   "([guest.kernel."
                                                                   "kallsyms]) => "
                                                                   "ffffffff81000018 "
                                                                   "entry+0x18 "
                                                                   "([kernel.kallsyms])"
                                                                   "\n" AT("80") "tr end  "
                                                                                 "iret "
                                                                                 " " KERNEL_END
                                                                                 " => 4018 "
                                                                                 "main+"
                                                                                 "0x18 "
                                                                                 "(/p)\n",
        "7 resume 0>4000 main\n"
        "7 syscall 4010>ffffffff81000000 entry\n"
        "7 kernel-return ffffffff81000040>4012 main\n"
        "7 interrupt 4014>ffffffff81000000 entry\n"
        "7 kernel-return ffffffff81000040>4014 main\n"
        "7 syscall 4016>ffffffff81000000 entry\n"
        "7 syscall ffffffff81000010>100 [guest.kernel.kallsyms]\n"
        "7 kernel-return 108>ffffffff81000018 entry\n"
        "7 stop ffffffff81000040>0 entry\n");
}

static void the_kernel_alone(void **state)
{
    assert_events(" 7/7 1.5: 1 branches:k: tr strt  " NOWHERE " => " KERNEL "\n"
                  " 7/7 1.6: 1 branches:k: tr end  sysret  " KERNEL_END " => 4012 [unknown] (/p)\n",
                  "7 resume 0>ffffffff81000000 entry\n"
                  "7 stop ffffffff81000040>0 entry\n");
}

#define ERROR(message)                                                                             \
    " instruction trace error type 1 time 1.000000020 cpu 0 pid 7 tid 7 ip 0x4010 code "           \
    "6: " message "\n"

static void errors_are_gaps(void **state)
{
    assert_events(START ERROR("Trace doesn't match instruction") ERROR("Lost trace data")
                      AT("30") "call  " MAIN " => " F "\n" ERROR("Overflow packet")
                          AT("40") "return  " F_END " => " MAIN_NEXT "\n" ERROR(
                              "A new message") " instruction trace error type 1 cpu 0 pid -1 tid "
                                               "-1 ip 0 code 8: Lost trace data\n",
                  "7 resume 0>4000 main\n"
                  "7 gap 4010>0 [unknown] 3 Trace doesn't match instruction\n"
                  "7 resume 0>4010 main\n"
                  "7 call 4010>5000 f\n"
                  "7 gap 4010>0 [unknown] 1 \n"
                  "7 resume 0>5020 f\n"
                  "7 return 5020>4015 main\n"
                  "7 gap 4010>0 [unknown] 3 perf reported an error\n");
}

static void code_without_branches_between_functions(void **state)
{
    assert_events(START AT("10") "jcc  4004 main+0x4 (/p) => 4ff0 main+0xff0 (/p)\n" AT(
                      "20") "call  5008 f+0x8 (/p) => " G
                            "\n" AT("30") "jcc  4020 main+0x20 (/p) => 4030 main+0x30 (/p)\n",
                  "7 resume 0>4000 main\n"
                  "7 jump 4ff0>5000 f direct\n"
                  "7 call 5008>6000 g\n"
                  "7 jump 6000>4020 main\n"
                  "7 stop 4030>0 main\n");
}

static void return_addresses_are_learned(void **state)
{
    struct outcome *outcome = decode(START AT("10") "call  4010 main+0x10 (/p) => " F "\n" AT(
        "20") "return  " F_END
              " => 4012 main+0x12 (/p)\n" AT("30") "call  4020 main+0x20 (/p) => " F "\n" AT(
                  "40") "return  " F_END
                        " => 4026 main+0x26 (/p)\n" AT("50") "call  4040 main+0x40 (/p) => " F
                                                             "\n");
    assert_int_equal(outcome->next[1], 0x4012);
    assert_int_equal(outcome->next[3], 0x4026);
    assert_int_equal(outcome->next[5],
                     0x4045); /* nothing returned: as for the most frequent call */
    finish(outcome);
}

static void beginnings_of_functions(void **state)
{
    struct outcome *outcome = decode(START AT("10") "call  " MAIN " => " F "\n" AT(
        "20") "return  " F_END " => " MAIN_NEXT
              "\n" AT("30") "call  4020 main (/p) => 7000 bare (/p)\n");
    const struct text_code *code = flow_text_code(outcome->flow, 7);
    assert_int_equal(text_code_function_start(code, 0x4015), 0x4000);
    assert_int_equal(text_code_function_start(code, 0x5000), 0x5000);
    assert_int_equal(text_code_function_start(code, 0x7000),
                     0x7000); /* called, so it begins there */
    assert_int_equal(text_code_function_start(code, 0x9999), 0);
    assert_null(flow_text_code(outcome->flow, 8));
    finish(outcome);
}

/* What a linker's slot or the loader jumps to begins there, also in an object without symbols. */
static void beginnings_where_slots_lead(void **state)
{
    struct outcome *outcome = decode(START AT("10") "call  " MAIN " => 3000 puts@plt+0x0 (/p)\n" AT(
        "20") "jmp  3000 puts@plt+0x0 (/p) => 9000 "
              "[unknown] (/c.so)\n" AT(
                  "30") "jmp  9004 "
                        "[unknown] "
                        "(/c.so) => " G
                        "\n" AT("40") "jmp  6004 g+0x4 (/p) => 9100 [unknown] (/c.so)\n" AT(
                            "50") "jmp  9104 [unknown] "
                                  "(/c.so) => a000 "
                                  "[unknown] "
                                  "(/lib64/"
                                  "ld-linux-x86-64.so."
                                  "2)\n" AT("60") "jmp "
                                                  " a00"
                                                  "4 "
                                                  "[unk"
                                                  "nown"
                                                  "] "
                                                  "(/"
                                                  "lib6"
                                                  "4/"
                                                  "ld-"
                                                  "linu"
                                                  "x-"
                                                  "x86-"
                                                  "64."
                                                  "so."
                                                  "2) "
                                                  "=> "
                                                  "9200"
                                                  " ["
                                                  "unkn"
                                                  "own]"
                                                  " (/"
                                                  "c."
                                                  "so)"
                                                  "\n");
    const struct text_code *code = flow_text_code(outcome->flow, 7);
    assert_int_equal(text_code_function_start(code, 0x9000), 0x9000);
    assert_int_equal(text_code_function_start(code, 0x9100), 0);
    assert_int_equal(text_code_function_start(code, 0x9200), 0x9200);
    finish(outcome);
}

static void exec_is_a_new_program(void **state)
{
    struct outcome *outcome =
        decode(START AT("10") "tr end  syscall  " MAIN " => " NOWHERE
                              "\n" AT("20") "tr strt  " NOWHERE " => 4012 main+0x12 (/p)\n" AT(
                                  "30") "tr end  syscall  4014 main+0x14 (/p) => " NOWHERE
                                        "\n" AT("40") "tr strt  " NOWHERE
                                                      " => 1000 _start+0x0 (/lib/ld.so)\n");
    const struct text_code *code = flow_text_code(outcome->flow, 7);
    assert_int_equal(text_code_program_changes(code, (struct ticks){1000000020}), 0);
    assert_int_equal(text_code_program_changes(code, (struct ticks){1000000040}), 1);
    finish(outcome);
}

static void functions_are_distinguished(void **state)
{
    /* Two static functions of one name; the same function at another address in another process;
     * versions and PLT slots; code without symbols. */
    assert_events(
        START AT("10") "call  " MAIN " => 5100 s+0x0 (/p)\n" AT(
            "20") "jmp  5104 s+0x4 (/p) => 5200 s+0x0 "
                  "(/p)\n" AT(
                      "30") "jmp  5204 s+0x4 "
                            "(/p) => 9000 "
                            "read@@GLIBC_2.2.5+"
                            "0x0 (/c)\n" AT(
                                "40") "jmp  9004 read@@GLIBC_2.2.5+0x4 (/c) "
                                      "=> a000 read@plt+0x0 (/p)\n" AT(
                                          "50") "jmp  a004 read@plt+0x4 (/p) => b000 [unknown] "
                                                "(/lib/libx.so)\n" AT(
                                                    "60") "jmp  "
                                                          "b004 "
                                                          "[unknown]"
                                                          " (/lib/"
                                                          "libx.so) "
                                                          "=> c000 "
                                                          "[unknown]"
                                                          " (//"
                                                          "anon)"
                                                          "\n" AT("7"
                                                                  "0") "jmp  c004 "
                                                                       "[unknown] "
                                                                       "(//anon) "
                                                                       "=> c100 "
                                                                       "[unknown] "
                                                                       "(//"
                                                                       "anon)\n" AT(
                                                                           "80") "jmp"
                                                                                 "  "
                                                                                 "c10"
                                                                                 "4 "
                                                                                 "[un"
                                                                                 "kno"
                                                                                 "wn]"
                                                                                 " (/"
                                                                                 "/an"
                                                                                 "on)"
                                                                                 " =>"
                                                                                 " " NOWHERE "\n",
        "7 resume 0>4000 main\n"
        "7 call 4010>5100 s\n"
        "7 jump 5104>5200 s\n"
        "7 jump 5204>9000 read\n"
        "7 jump 9004>a000 read@plt\n"
        "7 jump a004>b000 [libx.so]\n"
        "7 jump b004>c000 [JIT code]\n"
        "7 jump c104>0 [unknown]\n"
        "7 stop 0>0 [unknown]\n");
    struct outcome *outcome =
        decode(" 1/1 1.0: 1 branches: call 4010 m+0x10 (/p) => 5100 s+0x0 (/p)\n"
               " 2/2 1.0: 1 branches: call 7010 m+0x10 (/p) => 8100 s+0x0 (/p)\n");
    assert_non_null(strstr(outcome->text, "2 call 7010>8100 s\n"));
    assert_int_equal(text_code_function_start(flow_text_code(outcome->flow, 2), 0x8100), 0x8100);
    finish(outcome);
}

static void names_from_a_perf_map(void **state)
{
    char folder[] = "/tmp/text_flow_test.XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = memory_format("%s/perf-7.map", folder);
    FILE *map = fopen(path, "w");
    fputs("c000 100 first\nc100 80 second\n", map);
    fclose(map);
    struct outcome *outcome =
        decode_with(START AT("10") "call  4010 main+0x10 (/p) => c000 [unknown] (//anon)\n" AT(
                        "20") "jcc  c010 [unknown] (//anon) => c020 [unknown] "
                              "(//anon)\n" AT("30") "jmp  c0ff [unknown] (//anon) => c100 "
                                                    "[unknown] (//anon)\n" AT("40") "jmp  "
                                                                                    "c17f "
                                                                                    "[unkno"
                                                                                    "wn] "
                                                                                    "(//"
                                                                                    "anon) "
                                                                                    "=> "
                                                                                    "c200 "
                                                                                    "[unkno"
                                                                                    "wn] "
                                                                                    "(//"
                                                                                    "anon)"
                                                                                    "\n",
                    (struct flow_options){.perf_map_directory = folder});
    assert_string_equal(outcome->text, "7 resume 0>4000 main\n"
                                       "7 call 4010>c000 first\n"
                                       "7 jump c0ff>c100 second\n"
                                       "7 jump c17f>c200 [JIT code]\n"
                                       "7 stop c200>0 [JIT code]\n");
    assert_int_equal(text_code_function_start(flow_text_code(outcome->flow, 7), 0xc100), 0xc100);
    finish(outcome);
    unlink(path);
    rmdir(folder);
    free(path);
}

static void times_between_packets(void **state)
{
    struct outcome *outcome = decode(START AT("10") "call  4010 main+0x10 (/p) => " F "\n" AT(
        "10") "return  " F_END " => " MAIN_NEXT
              "\n" AT("20") "call  4016 main+0x16 (/p) => " F
                            "\n" AT("20") "return  " F_END " => 401b main+0x1b (/p)\n" AT(
                                "20") "tr end  syscall  401c main+0x1c (/p) => " NOWHERE
                                      "\n" AT("90") "tr strt  " NOWHERE
                                                    " => 401e main+0x1e (/p)\n");
    static const uint64_t times[] = {0, 10, 15, 20, 20, 20, 90, 90};
    assert_int_equal(outcome->count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(outcome->times[i], 1000000000 + times[i]);
    finish(outcome);
}

static void threads_take_turns(void **state)
{
    assert_events(" 1/1 1.1: 1 branches: call 4010 a+0x10 (/p) => 5000 f+0x0 (/p)\n"
                  " 1/2 1.1: 1 branches: call 4020 b+0x10 (/p) => 5000 f+0x0 (/p)\n"
                  " 1/1 1.2: 1 branches: return 5010 f+0x10 (/p) => 4015 a+0x15 (/p)\n"
                  " 1/2 1.2: 1 branches: return 5010 f+0x10 (/p) => 4025 b+0x15 (/p)\n",
                  "1 resume 0>4010 a\n1 call 4010>5000 f\n1 return 5010>4015 a\n1 stop 4015>0 a\n"
                  "2 resume 0>4020 b\n2 call 4020>5000 f\n2 return 5010>4025 b\n2 stop 4025>0 b\n");
}

static void samples(void **state)
{
    assert_events(
        " 3/3 1.1: 9 cycles:u: \n\t 10 leaf+0x0 (/p)\n\t 20 mid+0x0 (/p)\n\t 30 main+0x0 (/p)\n\n"
        " 3/3 1.2: 9 cycles:u: \n\t 14 leaf+0x4 (/p)\n\t 20 mid+0x0 (/p)\n\t 30 main+0x0 (/p)\n\n"
        " 3/3 1.3: 9 cycles:u: \n\t 14 leaf+0x4 (/p)\n\t 28 mid+0x8 (/p)\n\t 30 main+0x0 (/p)\n\n"
        " 3/3 1.4: 9 cycles:u: 40 other+0x0 (/p)\n",
        "3 resume 0>1 [samples]\n"
        "3 call 1>30 main\n3 call 30>20 mid\n3 call 20>10 leaf\n"
        "3 return 14>20 mid\n3 call 28>14 leaf\n"
        "3 return 14>28 mid\n3 return 28>30 main\n3 return 30>1 [samples]\n"
        "3 call 1>40 other\n");
}

static void samples_beside_branches_are_left_out(void **state)
{
    assert_events(" 3/3 1.1: 9 cycles:u: 10 leaf+0x0 (/p)\n"
                  " 1/1 1.1: 1 branches: call 4010 a+0x10 (/p) => 5000 f+0x0 (/p)\n",
                  "1 resume 0>4010 a\n1 call 4010>5000 f\n1 stop 5000>0 f\n");
}

static void what_is_no_text(void **state)
{
    static const char *const texts[] = {"", "hello\n", "PERFILE2xxxx"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char path[64];
        int descriptor = text_file(texts[i], path, sizeof path);
        assert_false(flow_is_text(path));
        close(descriptor);
    }
    assert_true(flow_is_text("-"));
    assert_false(flow_is_text("/dev/null"));
    assert_false(flow_is_text("/"));
}

static void errors_alone_are_nothing_to_show(void **state)
{
    char path[64];
    int descriptor = text_file(ERROR("Lost trace data"), path, sizeof path);
    struct flow_options options = {0};
    struct error error = {0};
    struct flow *flow = flow_open(path, &options, &error);
    struct outcome outcome = {.flow = flow};
    struct flow_sink sink = {.context = &outcome, .begin = begin, .events = take, .end = end};
    assert_non_null(flow);
    assert_false(flow_decode(flow, &sink, &error));
    assert_non_null(strstr(error.text, "perf script"));
    flow_close(flow);
    close(descriptor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_returns),
        cmocka_unit_test(jumps),
        cmocka_unit_test(recursion_and_a_call_of_the_next_instruction),
        cmocka_unit_test(leaving_the_program),
        cmocka_unit_test(the_kernel_traced),
        cmocka_unit_test(the_kernel_alone),
        cmocka_unit_test(errors_are_gaps),
        cmocka_unit_test(code_without_branches_between_functions),
        cmocka_unit_test(return_addresses_are_learned),
        cmocka_unit_test(beginnings_of_functions),
        cmocka_unit_test(beginnings_where_slots_lead),
        cmocka_unit_test(exec_is_a_new_program),
        cmocka_unit_test(functions_are_distinguished),
        cmocka_unit_test(names_from_a_perf_map),
        cmocka_unit_test(times_between_packets),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(samples),
        cmocka_unit_test(samples_beside_branches_are_left_out),
        cmocka_unit_test(what_is_no_text),
        cmocka_unit_test(errors_alone_are_nothing_to_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
