/* Traces of other making, and traces that are damaged. */
#include "output/fxt/fxt_format.h"
#include "output/fxt/fxt_reader.h"
#include "output/fxt/fxt_writer.h"
#include "span_script.h"
#include "temporary_folder.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* ------------------------------------------------------------------ traces word by word */

static void add_word(struct array *words, uint64_t word)
{
    array_add_all(words, &word, 1);
}

static void add_string(struct array *words, uint64_t index, const char *text)
{
    uint64_t padded[8] = {0};
    size_t length = strlen(text);
    memcpy(padded, text, length);
    add_word(words,
             fxt_header(FXT_RECORD_STRING, 1 + fxt_words(length)) | index << 16 | length << 32);
    for (size_t i = 0; i < fxt_words(length); i++)
        add_word(words, padded[i]);
}

static void add_thread(struct array *words, uint64_t index, uint64_t tid)
{
    add_word(words, fxt_header(FXT_RECORD_THREAD, 3) | index << 16);
    add_word(words, 10);
    add_word(words, tid);
}

static struct array new_trace(void)
{
    struct array words = array_of(sizeof(uint64_t));
    add_word(&words, FXT_MAGIC);
    add_thread(&words, 1, 11);
    add_thread(&words, 2, 12);
    static const char *const NAMES[] = {"a", "b", "c", "d", "[untraced]", "[JIT code]"};
    for (uint64_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        add_string(&words, i + 1, NAMES[i]);
    return words;
}

enum { A = 1, B, C, D, UNTRACED, JIT_CODE };

static void add_event(struct array *words, enum fxt_event_type type, uint64_t thread, uint64_t name,
                      uint64_t time)
{
    add_word(words,
             fxt_header(FXT_RECORD_EVENT, 2) | (uint64_t)type << 16 | thread << 24 | name << 48);
    add_word(words, time);
}

static void add_complete(struct array *words, uint64_t thread, uint64_t name, uint64_t start,
                         uint64_t end)
{
    add_word(words, fxt_header(FXT_RECORD_EVENT, 3) | FXT_EVENT_COMPLETE << 16 | thread << 24 |
                        name << 48);
    add_word(words, start);
    add_word(words, end);
}

static char *write_bytes(const char *name, const void *bytes, size_t size)
{
    char *path = temporary_folder_path(name);
    FILE *stream = fopen(path, "w");
    fwrite(bytes, 1, size, stream);
    fclose(stream);
    return path;
}

/* The events of a trace as text: "tid+name@time tid-name@time tid!mark@time
 * tid#counter=value@time"; a mark at an end that was inferred is '~'. */
static char *describe(const char *path, struct error *error)
{
    *error = (struct error){0};
    struct span_source *source = fxt_read(path, error);
    if (!source)
        return memory_copy_string("");
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct span_event event;
    for (const char *separator = ""; source->next(source, &event, error); separator = " ") {
        fprintf(stream, "%s%" PRIu32 "%c%s", separator, source->tracks[event.track].tid,
                "+-!#"[event.kind], event.function ? event.function->name : event.text);
        if (event.kind == SPAN_COUNTER)
            fprintf(stream, "=%g", event.value);
        fprintf(stream, "@%" PRIu64 "%s", event.time.value,
                event.flags & SPAN_END_INFERRED ? "~" : "");
    }
    fclose(stream);
    source->close(source);
    return text;
}

static void assert_events(struct array *words, const char *expected)
{
    char *path = write_bytes("foreign.fxt", words->elements, words->count * sizeof(uint64_t));
    struct error error;
    char *got = describe(path, &error);
    assert_string_equal(got, expected);
    assert_int_equal(error.code, ERROR_NONE);
    free(got);
    free(path);
    array_free(words);
}

static void events_out_of_order_are_sorted_by_time_then_place(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_event(&words, FXT_EVENT_BEGIN, 2, C, 5);
    add_event(&words, FXT_EVENT_END, 2, C, 20);
    add_event(&words, FXT_EVENT_BEGIN, 1, A, 1);
    add_event(&words, FXT_EVENT_BEGIN, 1, B, 5);
    add_event(&words, FXT_EVENT_END, 1, B, 5);
    add_event(&words, FXT_EVENT_INSTANT, 1, D, 6);
    add_event(&words, FXT_EVENT_END, 1, A, 9);
    assert_events(&words, "11+a@1 12+c@5 11+b@5 11-b@5 11!d@6 11-a@9 12-c@20");
}

static void complete_events_nest(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_complete(&words, 1, C, 6, 7); /* as a program writes them: when they end */
    add_complete(&words, 1, B, 4, 9);
    add_complete(&words, 1, D, 10, 10);
    add_complete(&words, 1, A, 1, 10);
    add_complete(&words, 2, A, 2, 5);
    assert_events(&words,
                  "11+a@1 12+a@2 11+b@4 12-a@5 11+c@6 11-c@7 11-b@9 11-a@10 11+d@10 11-d@10");
}

static void a_complete_event_ends_with_its_caller(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_complete(&words, 1, A, 1, 10);
    add_complete(&words, 1, B, 5, 15);
    add_event(&words, FXT_EVENT_BEGIN, 1, C, 6);
    add_event(&words, FXT_EVENT_END, 1, C, 20);
    assert_events(&words, "11+a@1 11+b@5 11+c@6 11-c@10~ 11-b@10~ 11-a@10");
}

static void unmatched_begins_and_ends(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_event(&words, FXT_EVENT_END, 1, A, 1);
    add_event(&words, FXT_EVENT_BEGIN, 1, B, 2);
    add_event(&words, FXT_EVENT_BEGIN, 2, C, 3);
    assert_events(&words, "11+b@2 12+c@3 11-b@3~ 12-c@3~");
}

static void inline_strings_and_threads(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_word(&words, fxt_header(FXT_RECORD_EVENT, 5) | FXT_EVENT_BEGIN << 16 |
                         (uint64_t)(FXT_STRING_INLINE | 3) << 48);
    add_word(&words, 7);
    add_word(&words, 77);
    add_word(&words, 78);
    uint64_t name = 0;
    memcpy(&name, "xyz", 3);
    add_word(&words, name);
    assert_events(&words, "78+xyz@7 78-xyz@7~");
}

static void ticks_become_nanoseconds(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_word(&words, fxt_header(FXT_RECORD_INITIALIZATION, 2));
    add_word(&words, 2600000000);
    add_event(&words, FXT_EVENT_BEGIN, 1, A, UINT64_C(26) << 40);
    add_event(&words, FXT_EVENT_END, 1, A, (UINT64_C(26) << 40) + 26);
    char expected[64];
    uint64_t time = UINT64_C(10) << 40;
    snprintf(expected, sizeof expected, "11+a@%" PRIu64 " 11-a@%" PRIu64, time, time + 10);
    assert_events(&words, expected);
}

static void records_of_other_kinds_are_skipped(void **state)
{
    (void)state;
    enum { SCHEDULING = 8, LOG = 9, COUNTER = 1, ASYNC_BEGIN = 5 };
    struct array words = new_trace();
    add_event(&words, FXT_EVENT_BEGIN, 1, A, 1);
    add_word(&words, SCHEDULING | 2 << 4);
    add_word(&words, 0);
    add_word(&words, LOG | 1 << 4);
    add_word(&words, 13 | 1 << 4);
    add_word(&words, FXT_RECORD_LARGE | 10000 << 4);
    for (int i = 1; i < 10000; i++)
        add_word(&words, 0);
    add_word(&words, FXT_RECORD_EVENT | 3 << 4 | COUNTER << 16 | 1 << 24);
    add_word(&words, 1);
    add_word(&words, 0);
    add_word(&words, FXT_RECORD_EVENT | 3 << 4 | ASYNC_BEGIN << 16 | 1 << 24 | UINT64_C(999) << 48);
    add_word(&words, 1);
    add_word(&words, 0);
    add_event(&words, FXT_EVENT_END, 1, A, 2);
    assert_events(&words, "11+a@1 11-a@2");
}

static void system_calls_of_the_original_are_special(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_event(&words, FXT_EVENT_BEGIN, 1, UNTRACED, 1);
    add_event(&words, FXT_EVENT_BEGIN, 1, JIT_CODE, 1);
    char *path = write_bytes("special.fxt", words.elements, words.count * sizeof(uint64_t));
    struct error error;
    struct span_source *source = fxt_read(path, &error);
    struct span_event event;
    assert_true(source->next(source, &event, &error));
    assert_true(event.function->special);
    assert_true(source->next(source, &event, &error));
    assert_false(event.function->special);
    source->close(source);
    free(path);
    array_free(&words);
}

/* With one argument of a 64-bit value. */
static void add_counter(struct array *words, uint64_t name, uint64_t argument,
                        enum fxt_argument_type type, uint64_t value, uint64_t id)
{
    add_word(words, fxt_header(FXT_RECORD_EVENT, 5) | FXT_EVENT_COUNTER << 16 | 1 << 20 | 1 << 24 |
                        name << 48);
    add_word(words, 3);
    add_word(words, fxt_argument_header(type, 2, argument));
    add_word(words, value);
    add_word(words, id);
}

static void counters_of_others_are_read(void **state)
{
    (void)state;
    enum { CPU = 20, FREQUENCY };
    struct array words = new_trace();
    add_string(&words, CPU, "CPU");
    add_string(&words, FREQUENCY, "freq (MHz)");
    add_counter(&words, CPU, FREQUENCY, FXT_ARGUMENT_INT64, 2600,
                0); /* as Jane Street's magic-trace has it */
    add_counter(&words, CPU, FREQUENCY, FXT_ARGUMENT_INT64, (uint64_t)-1, 7);
    add_counter(&words, A, B, FXT_ARGUMENT_UINT64, UINT64_C(1) << 63, 0);
    add_counter(&words, A, B, FXT_ARGUMENT_POINTER, 5, 0); /* no number */
    /* Several values at once. */
    add_word(&words, fxt_header(FXT_RECORD_EVENT, 6) | FXT_EVENT_COUNTER << 16 | 3 << 20 | 2 << 24 |
                         (uint64_t)A << 48);
    add_word(&words, 4);
    add_word(&words, fxt_argument_header(FXT_ARGUMENT_INT32, 1, B) | UINT64_C(0xffffffff) << 32);
    add_word(&words, fxt_argument_header(FXT_ARGUMENT_STRING, 1, B) | (uint64_t)A << 32);
    add_word(&words, fxt_argument_header(FXT_ARGUMENT_UINT32, 1, C) | UINT64_C(0xffffffff) << 32);
    add_word(&words, 0);
    assert_events(&words, "11#CPU freq (MHz)=2600@3 11#CPU #7 freq (MHz)=-1@3 "
                          "11#a b=9.22337e+18@3 12#a b=-1@4 12#a c=4.29497e+09@4");
}

static void references_mean_what_they_were_last_defined_as(void **state)
{
    (void)state;
    struct array words = new_trace();
    for (uint64_t time = 1; time < 13; time += 4) {
        for (uint64_t i = 0; i < 4; i++) /* what has been seen is remembered */
            add_event(&words, i % 2 ? FXT_EVENT_END : FXT_EVENT_BEGIN, 1, A, time + i);
        if (time == 1)
            add_string(&words, A, "z");
        else
            add_thread(&words, 1, 13);
    }
    assert_events(&words, "11+a@1 11-a@2 11+a@3 11-a@4 11+z@5 11-z@6 11+z@7 11-z@8 "
                          "13+z@9 13-z@10 13+z@11 13-z@12");
}

static void functions_of_one_name_are_distinguished(void **state)
{
    (void)state;
    enum { FUNCTIONS = 50000 };
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    for (uint64_t i = 0; i < FUNCTIONS; i++) {
        span_script_enter(script, track, i, "f")->address = 1 + i * 0x1001 % FUNCTIONS;
        span_script_leave(script, track, i);
    }
    char *path = temporary_folder_path("addresses.fxt");
    struct error error;
    assert_true(fxt_write(span_script_source(script), path, NULL, &error));
    struct span_source *source = fxt_read(path, &error);
    struct span_event event;
    for (uint64_t i = 0; i < FUNCTIONS; i++) {
        assert_true(source->next(source, &event, &error));
        assert_int_equal(event.address, 1 + i * 0x1001 % FUNCTIONS);
        assert_true(source->next(source, &event, &error));
    }
    assert_int_equal(source->function_count, 1);
    source->close(source);
    free(path);
    span_script_free(script);
}

static void add_addressed(struct array *words, uint64_t name, uint64_t address_name,
                          uint64_t address)
{
    add_word(words, fxt_header(FXT_RECORD_EVENT, 4) | FXT_EVENT_BEGIN << 16 | 1 << 20 | 1 << 24 |
                        name << 48);
    add_word(words, 1);
    add_word(words, fxt_argument_header(FXT_ARGUMENT_POINTER, 2, address_name));
    add_word(words, address);
}

static void code_at_the_kernels_addresses_is_the_kernels(void **state)
{
    (void)state;
    enum { ADDRESS = 20 };
    struct array words = new_trace();
    add_string(&words, ADDRESS, "address");
    add_addressed(&words, A, ADDRESS, 0x401000);
    add_addressed(&words, B, ADDRESS, 0xffffffff81000000);
    char *path = write_bytes("kernel.fxt", words.elements, words.count * sizeof(uint64_t));
    struct error error;
    struct span_source *source = fxt_read(path, &error);
    struct span_event event;
    assert_true(source->next(source, &event, &error));
    assert_int_equal(event.function->origin, SPAN_OWN);
    assert_true(source->next(source, &event, &error));
    assert_int_equal(event.function->origin, SPAN_KERNEL);
    source->close(source);
    free(path);
    array_free(&words);
}

/* ------------------------------------------------------------------ damage */

static void no_trace_at_all(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"", "short",
                                        "this is no trace, but a text that is long enough"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        char *path = write_bytes("text", TEXTS[i], strlen(TEXTS[i]));
        struct error error = {0};
        assert_null(fxt_read(path, &error));
        assert_int_equal(error.code, ERROR_FORMAT);
        assert_non_null(strstr(error.text, "is not a trace"));
        free(path);
    }
    struct error error = {0};
    assert_null(fxt_read("/no/such/trace", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_null(fxt_read("/tmp", &error));
    assert_non_null(strstr(error.text, "is a folder"));
}

static void what_comes_before_the_damage_is_read(void **state)
{
    (void)state;
    struct array words = new_trace();
    add_event(&words, FXT_EVENT_BEGIN, 1, A, 1);
    add_event(&words, FXT_EVENT_BEGIN, 1, B, 2);
    add_event(&words, FXT_EVENT_END, 1, B, 3);
    size_t damage = words.count * sizeof(uint64_t);
    add_word(&words, 0);
    add_event(&words, FXT_EVENT_END, 1, A, 4);
    char *path = write_bytes("damage.fxt", words.elements, words.count * sizeof(uint64_t));
    struct error error;
    char *got = describe(path, &error);
    assert_string_equal(got, "11+a@1 11+b@2 11-b@3 11-a@3~");
    assert_int_equal(error.code, ERROR_FORMAT);
    char *place = memory_format("byte %zu", damage);
    assert_non_null(strstr(error.text, place));
    assert_non_null(strstr(error.text, path));
    free(place);
    free(got);
    free(path);
    array_free(&words);
}

/* What was right when it was seen first does not make up for what is wrong later. */
static void damage_in_arguments_is_reported(void **state)
{
    (void)state;
    enum { ADDRESS = 20, UNDEFINED = 4000 };
    static const struct {
        uint64_t name, argument, words;
    } CASES[] = {{A, UNDEFINED, 2}, {UNDEFINED, ADDRESS, 2}, {A, ADDRESS, 0}, {A, ADDRESS, 3}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct array words = new_trace();
        add_string(&words, ADDRESS, "address");
        add_addressed(&words, A, ADDRESS, 7);
        size_t damage = words.count * sizeof(uint64_t);
        add_addressed(&words, CASES[i].name, CASES[i].argument, 7);
        *(uint64_t *)array_at(&words, words.count - 2) =
            fxt_argument_header(FXT_ARGUMENT_POINTER, CASES[i].words, CASES[i].argument);
        add_addressed(&words, A, ADDRESS, 7);
        char *path = write_bytes("arguments.fxt", words.elements, words.count * sizeof(uint64_t));
        struct error error;
        char *got = describe(path, &error), *place = memory_format("byte %zu ", damage);
        assert_string_equal(got, "11+a@1 11-a@1~");
        assert_int_equal(error.code, ERROR_FORMAT);
        assert_non_null(strstr(error.text, place));
        free(place);
        free(got);
        free(path);
        array_free(&words);
    }
}

/* A trace that is longer than what is held of it in memory, opened and not read yet. */
static struct span_source *open_long_trace(const char *path, struct error *error)
{
    struct array words = new_trace();
    for (uint64_t i = 0; i < 100000; i++)
        add_event(&words, i % 2 ? FXT_EVENT_END : FXT_EVENT_BEGIN, 1, A, i);
    free(write_bytes("long.fxt", words.elements, words.count * sizeof(uint64_t)));
    array_free(&words);
    struct span_source *source = fxt_read(path, error);
    assert_non_null(source);
    return source;
}

static size_t count_events(struct span_source *source, struct error *error)
{
    struct span_event event;
    size_t count = 0;
    while (source->next(source, &event, error))
        count++;
    source->close(source);
    return count;
}

static void a_trace_that_is_cut_while_it_is_read_ends(void **state)
{
    (void)state;
    struct error error = {0};
    char *path = temporary_folder_path("long.fxt");
    struct span_source *source = open_long_trace(path, &error);
    assert_int_equal(truncate(path, 800004), 0);
    assert_true(count_events(source, &error) < 100000);
    assert_int_equal(error.code, ERROR_FORMAT);
    free(path);
}

static void a_thread_that_turns_up_while_the_trace_is_read_is_an_error(void **state)
{
    (void)state;
    struct error error = {0};
    char *path = temporary_folder_path("long.fxt");
    struct span_source *source = open_long_trace(path, &error);
    const uint64_t added[] = {fxt_header(FXT_RECORD_THREAD, 3) | 3 << 16,
                              10,
                              99,
                              fxt_header(FXT_RECORD_EVENT, 3) | FXT_EVENT_INSTANT << 16 | 3 << 24,
                              80000,
                              0};
    FILE *stream = fopen(path, "r+");
    struct array beginning = new_trace();
    fseek(stream, (long)((beginning.count + 2 * 80000) * sizeof(uint64_t)), SEEK_SET);
    fwrite(added, sizeof added, 1, stream);
    fclose(stream);
    assert_int_equal(count_events(source, &error), 80000);
    assert_non_null(strstr(error.text, "changed"));
    array_free(&beginning);
    free(path);
}

/* A trace with every kind of record, as bytes. */
static char *sample_trace(const char *name, size_t *size)
{
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 1, 1, "prog", "main");
    uint32_t b = span_script_track(script, 1, 2, "prog", "worker");
    for (unsigned i = 0; i < 600; i++) {
        char *function = memory_format("function %u of the program", i % 40);
        span_script_function(script, function)->symbol = "symbol";
        span_script_function(script, function)->file = "file.c";
        span_script_function(script, function)->line = i % 40 + 1;
        span_script_enter(script, a, i, function)->address = i;
        span_script_enter(script, b, i, function)->flags = SPAN_START_INFERRED;
        span_script_leave(script, b, i)->end = SPAN_END_GAP;
        if (i % 50 == 0)
            span_script_instant(script, b, i, "gap");
        free(function);
    }
    for (unsigned i = 0; i < 600; i++)
        span_script_leave(script, a, 600 + i);
    script->source.wall_clock = 1790000000000000000;
    char *path = temporary_folder_path(name);
    struct error error = {0};
    if (!fxt_write(span_script_source(script), path, NULL, &error))
        fail_msg("%s", error.text);
    char *bytes = file_read(path, size, &error);
    span_script_free(script);
    free(path);
    return bytes;
}

/* Reads to the end and checks that the events are valid, whatever the bytes are. */
static bool read_soundly(const char *path, struct error *error)
{
    *error = (struct error){0};
    struct span_source *source = fxt_read(path, error);
    if (!source)
        return false;
    size_t *depths = memory_allocate_zeroed((source->track_count + 1) * sizeof *depths);
    uint64_t last = 0;
    struct span_event event;
    while (source->next(source, &event, error)) {
        assert_true(event.time.value >= last);
        last = event.time.value;
        assert_true(event.track < source->track_count);
        if (event.kind == SPAN_ENTER) {
            assert_true(event.function->index < source->function_count);
            depths[event.track]++;
        } else if (event.kind == SPAN_LEAVE) {
            assert_true(depths[event.track]-- > 0);
        }
    }
    for (size_t i = 0; i < source->track_count; i++)
        assert_int_equal(depths[i], 0);
    free(depths);
    source->close(source);
    return error->code == ERROR_NONE;
}

static void flip_bytes(const char *name, size_t step)
{
    size_t size;
    char *bytes = sample_trace(name, &size);
    unsigned damaged = 0;
    for (size_t i = 0; i < size; i += step) {
        bytes[i] ^= 0xff;
        char *path = write_bytes("flipped", bytes, size);
        struct error error;
        if (!read_soundly(path, &error)) {
            assert_int_not_equal(error.code, ERROR_NONE);
            assert_non_null(strstr(error.text, path));
            damaged++;
        }
        bytes[i] ^= 0xff;
        free(path);
    }
    assert_true(damaged > 0);
    free(bytes);
}

static void flipped_bytes_are_survived(void **state)
{
    (void)state;
    flip_bytes("flip.fxt", 97);
    flip_bytes("flip.fxt.gz", 7);
}

static void cut_off_traces_are_read_and_reported(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"cut.fxt", "cut.fxt.gz"};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        char *bytes = sample_trace(NAMES[i], &size);
        for (size_t length = 9; length < size; length += size / 150) {
            char *path = write_bytes("cut", bytes, length);
            struct error error;
            bool whole = read_soundly(path, &error);
            /* Only a plain trace cut between two records looks like a whole one. */
            assert_true(!whole || (i == 0 && length % FXT_WORD == 0));
            free(path);
        }
        free(bytes);
    }
}

/* Compresses `size` bytes as members of at most `step` bytes. */
static char *compress_in_members(const char *name, const char *bytes, size_t size, size_t step)
{
    char *path = temporary_folder_path(name);
    for (size_t i = 0; i < size; i += step) {
        gzFile file = gzopen(path, i == 0 ? "wb" : "ab");
        gzwrite(file, bytes + i, (unsigned)(size - i < step ? size - i : step));
        gzclose(file);
    }
    return path;
}

static void several_gzip_members_are_one_trace(void **state)
{
    (void)state;
    size_t size;
    char *bytes = sample_trace("members.fxt", &size);
    char *plain = write_bytes("members.fxt", bytes, size);
    struct error error;
    char *expected = describe(plain, &error);
    static const size_t STEPS[] = {61, 1000, 4096, 50000};
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        char *path = compress_in_members("members.fxt.gz", bytes, size, STEPS[i]);
        char *got = describe(path, &error);
        assert_int_equal(error.code, ERROR_NONE);
        assert_string_equal(got, expected);
        free(got);
        free(path);
    }
    free(expected);
    free(plain);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_out_of_order_are_sorted_by_time_then_place),
        cmocka_unit_test(complete_events_nest),
        cmocka_unit_test(a_complete_event_ends_with_its_caller),
        cmocka_unit_test(unmatched_begins_and_ends),
        cmocka_unit_test(inline_strings_and_threads),
        cmocka_unit_test(ticks_become_nanoseconds),
        cmocka_unit_test(records_of_other_kinds_are_skipped),
        cmocka_unit_test(counters_of_others_are_read),
        cmocka_unit_test(references_mean_what_they_were_last_defined_as),
        cmocka_unit_test(functions_of_one_name_are_distinguished),
        cmocka_unit_test(system_calls_of_the_original_are_special),
        cmocka_unit_test(code_at_the_kernels_addresses_is_the_kernels),
        cmocka_unit_test(no_trace_at_all),
        cmocka_unit_test(what_comes_before_the_damage_is_read),
        cmocka_unit_test(damage_in_arguments_is_reported),
        cmocka_unit_test(a_trace_that_is_cut_while_it_is_read_ends),
        cmocka_unit_test(a_thread_that_turns_up_while_the_trace_is_read_is_an_error),
        cmocka_unit_test(flipped_bytes_are_survived),
        cmocka_unit_test(cut_off_traces_are_read_and_reported),
        cmocka_unit_test(several_gzip_members_are_one_trace),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
}
