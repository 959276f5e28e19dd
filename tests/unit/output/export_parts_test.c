/* The parts of exporters: text and messages that are written in parts, names converted to UTF-8,
 * and bytes kept for many tracks.
 */
#include "output/export/track_spool.h"
#include "output/json_quoted.h"
#include "output/protobuf.h"
#include "output/stack_flows.h"
#include "output/text_writer.h"
#include "temporary_folder.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A block writer and the file that it fills. */
struct written {
    struct block_writer out;
    char *path;
    int descriptor;
};

static struct written *open_written(void)
{
    struct written *written = memory_allocate_zeroed(sizeof *written);
    struct error error;
    written->path = temporary_folder_path("written");
    written->descriptor = file_create_private(written->path, &error);
    assert_true(written->descriptor >= 0);
    assert_true(
        block_writer_open(&written->out, written->descriptor, written->path, false, &error));
    return written;
}

/* What was written; ends the writer. The caller frees. */
static char *close_written(struct written *written, size_t *size)
{
    struct error error;
    assert_true(block_writer_finish(&written->out, &error));
    close(written->descriptor);
    char *bytes = file_read(written->path, size, &error);
    assert_non_null(bytes);
    free(written->path);
    free(written);
    return bytes;
}

static void numbers_as_text(void **state)
{
    (void)state;
    struct written *written = open_written();
    struct block_writer *out = &written->out;
    text_put_number(out, 0);
    text_put(out, " ");
    text_put_number(out, UINT64_MAX);
    text_put(out, " ");
    text_put_signed(out, INT64_MIN);
    text_put(out, " ");
    text_put_signed(out, 7);
    text_put(out, " ");
    text_put_hexadecimal(out, 0);
    text_put(out, " ");
    text_put_hexadecimal(out, UINT64_C(0xffffffff81000000));
    text_put(out, " ");
    text_put_microseconds(out, 1);
    text_put(out, " ");
    text_put_microseconds(out, UINT64_MAX);
    text_put(out, " ");
    text_put_double(out, 0.1);
    text_put(out, " ");
    text_put_double(out, DBL_MIN);
    text_put(out, " ");
    text_put_double(out, 1.0 / 3);
    text_put(out, " ");
    text_put_double(out, NAN);
    char *text = close_written(written, NULL);
    assert_string_equal(text,
                        "0 18446744073709551615 -9223372036854775808 7 0x0 0xffffffff81000000 "
                        "0.001 18446744073709551.615 0.1 2.2250738585072014e-308 "
                        "0.3333333333333333 null");
    free(text);
}

static void texts_of_any_size(void **state)
{
    (void)state;
    enum { SIZE = 5 * BLOCK_WRITER_RESERVE_MAX + 3 };
    char *bytes = memory_allocate(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 7);
    struct written *written = open_written();
    text_put_bytes(&written->out, bytes, SIZE);
    text_put_bytes(&written->out, bytes, 0);
    size_t size;
    char *got = close_written(written, &size);
    assert_int_equal(size, SIZE);
    assert_memory_equal(got, bytes, SIZE);
    free(got);
    free(bytes);
}

static void assert_repaired(const char *bytes, const char *expected)
{
    char *got = utf8_repaired(bytes);
    assert_string_equal(got, expected);
    free(got);
}

#define FFFD "\xef\xbf\xbd"

static void names_become_utf8(void **state)
{
    (void)state;
    assert_repaired("", "");
    assert_repaired("plain", "plain");
    assert_repaired("\xe6\xbc\xa2\xf0\x9f\x98\x80", "\xe6\xbc\xa2\xf0\x9f\x98\x80");
    assert_repaired("\xff", FFFD);
    assert_repaired("a\xff\xfe z", "a" FFFD FFFD " z");
    assert_repaired("cut \xe6\xbc", "cut " FFFD FFFD);
    assert_repaired("\xc0\xaf", FFFD FFFD);          /* longer than need be */
    assert_repaired("\xed\xa0\x80", FFFD FFFD FFFD); /* half of a pair of UTF-16 */
    assert_repaired("\x80\x80\x80"
                    "b",
                    FFFD FFFD FFFD "b");
}

static void names_as_json(void **state)
{
    (void)state;
    char *text = json_quoted("a \"b\"\\\n\x01\xff/");
    assert_string_equal(text, "\"a \\\"b\\\"\\\\\\n\\u0001" FFFD "/\"");
    free(text);
}

static void assert_message(struct protobuf *message, const void *expected, size_t size)
{
    assert_int_equal(message->count, size);
    assert_memory_equal(message->bytes, expected, size);
    protobuf_free(message);
}

static void messages(void **state)
{
    (void)state;
    struct protobuf message = {0};
    protobuf_number(&message, 1, 150); /* the example of the specification */
    size_t mark = protobuf_begin(&message, 3);
    protobuf_string(&message, 2, "t\xff");
    protobuf_end(&message, mark);
    protobuf_signed(&message, 4, -2);
    protobuf_fixed64(&message, 47, 1);
    protobuf_double(&message, 5, 1.0);
    static const uint8_t EXPECTED[] = {
        0x08, 0x96, 0x01, 0x1a, 0x06, 0x12, 0x04, 't',  0xef, 0xbf, 0xbd, 0x20, 0xfe, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0xf9, 0x02, 1,    0,    0,    0,
        0,    0,    0,    0,    0x29, 0,    0,    0,    0,    0,    0,    0xf0, 0x3f};
    assert_message(&message, EXPECTED, sizeof EXPECTED);
}

static void long_messages_in_messages(void **state)
{
    (void)state;
    enum { SIZE = 20000 };
    struct protobuf message = {0};
    size_t outer = protobuf_begin(&message, 1);
    size_t inner = protobuf_begin(&message, 1);
    for (size_t i = 0; i < SIZE; i++)
        protobuf_varint(&message, 1);
    protobuf_end(&message, inner);
    protobuf_end(&message, outer);
    uint8_t *expected = memory_allocate(8 + SIZE);
    memcpy(expected, "\x0a\xa4\x9c\x01\x0a\xa0\x9c\x01", 8);
    memset(expected + 8, 1, SIZE);
    assert_message(&message, expected, 8 + SIZE);
    free(expected);
}

/* More than the buffers hold, in parts of many sizes. */
static void tracks_get_their_bytes_back(void **state)
{
    (void)state;
    enum { TRACKS = 5, PARTS = 4000 };
    struct track_spool spool;
    track_spool_init(&spool, TRACKS + 1);
    char part[97];
    for (uint32_t i = 0; i < PARTS; i++) {
        memset(part, (char)i, sizeof part);
        track_spool_put(&spool, i % 7 % TRACKS, part, i % sizeof part);
    }
    for (uint32_t track = 0; track <= TRACKS; track++) {
        struct written *written = open_written();
        assert_true(track_spool_copy(&spool, track, &written->out, NULL));
        size_t size, offset = 0;
        char *got = close_written(written, &size);
        for (uint32_t i = 0; i < PARTS; i++)
            for (size_t j = 0; i % 7 % TRACKS == track && j < i % sizeof part; j++, offset++)
                assert_true(offset < size && got[offset] == (char)i);
        assert_int_equal(offset, size);
        free(got);
    }
    track_spool_free(&spool);
}

static struct span_event event_of_stack(uint32_t track, uint32_t stack)
{
    return (struct span_event){.track = track, .stack = stack};
}

static void arrows_between_stacks(void **state)
{
    (void)state;
    struct stack_flows flows = {0};
    struct span_event a = event_of_stack(0, 7), b = event_of_stack(1, 7);
    struct span_event none = event_of_stack(0, 0);
    assert_int_equal(stack_flows_end(&flows, &a).arrow, 0);
    assert_int_equal(stack_flows_begin(&flows, &none), 0);
    uint64_t first = stack_flows_begin(&flows, &a);
    uint64_t second = stack_flows_begin(&flows, &b);
    assert_true(first != 0 && second != 0 && first != second);
    assert_int_equal(stack_flows_end(&flows, &none).arrow, 0);
    assert_int_equal(stack_flows_end(&flows, &a).arrow, first);
    assert_int_equal(stack_flows_end(&flows, &a).arrow, 0);
    uint64_t third = stack_flows_begin(&flows, &a);
    assert_true(third != first && third != second);
    assert_int_equal(stack_flows_end(&flows, &b).arrow, second);
    stack_flows_free(&flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_as_text),
        cmocka_unit_test(texts_of_any_size),
        cmocka_unit_test(names_become_utf8),
        cmocka_unit_test(names_as_json),
        cmocka_unit_test(messages),
        cmocka_unit_test(long_messages_in_messages),
        cmocka_unit_test(tracks_get_their_bytes_back),
        cmocka_unit_test(arrows_between_stacks),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
}
