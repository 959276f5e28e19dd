/* Packet files: growing, going on with another recorder's, giving back. */
#include "engine/translator/transcode/packet_file.h"

#include "base/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int make_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/magic-trace-packets-XXXXXX");
    *state = mkdtemp(folder);
    return !*state;
}

static int remove_folder(void **state)
{
    return !file_remove_tree(*state, NULL);
}

static void create(struct packet_file *file, const char *folder)
{
    struct error error;
    if (!packet_file_create(file, folder, 3, &error))
        fail_msg("%s", error.text);
}

/* Bytes as an encoder would write them. */
static void fill(struct packet_file *file, uint64_t size)
{
    struct pt_encoder *encoder = &file->encoder;
    for (uint64_t i = 0; i < size; i++) {
        if (encoder->head >= encoder->limit)
            assert_true(packet_file_flush(file));
        encoder->packets[encoder->head & encoder->mask] = (uint8_t)(encoder->head % 251);
        encoder->head++;
    }
    assert_true(packet_file_flush(file));
}

static uint8_t byte_at(const struct packet_file *file, uint64_t position)
{
    struct file_view view;
    assert_true(file_map(&view, file->path, NULL));
    uint8_t byte = view.bytes[PACKET_RING_PAGE + position];
    file_unmap(&view);
    return byte;
}

static void expect_bytes(const struct packet_file *file, uint64_t begin, uint64_t end)
{
    struct file_view view;
    assert_true(file_map(&view, file->path, NULL));
    for (uint64_t i = begin; i < end; i++)
        assert_int_equal(view.bytes[PACKET_RING_PAGE + i], i % 251);
    file_unmap(&view);
}

static void it_grows_and_keeps_what_it_has(void **state)
{
    struct packet_file file;
    create(&file, *state);
    fill(&file, 1000000);
    expect_bytes(&file, 0, 1000000);
    assert_true(file.header->size >= 1000000);
    packet_file_close(&file);
}

static void another_recorder_goes_on_with_it(void **state)
{
    struct packet_file file;
    struct error error;
    create(&file, *state);
    fill(&file, 200000);
    struct pt_encoder *encoder = &file.encoder;
    encoder->tnt = 0x25; /* 5 branches gathered */
    encoder->instructions = 77;
    encoder->last_time = 88;
    encoder->depth = UINT64_MAX;
    assert_true(packet_file_flush(&file));
    encoder->head += 100; /* encoded, and lost when the recorder was killed */
    packet_file_close(&file);
    if (!packet_file_open(&file, *state, 3, &error))
        fail_msg("%s", error.text);
    encoder = &file.encoder;
    expect_bytes(&file, 0, 200000);
    assert_int_equal(encoder->head, 200001); /* a TNT packet */
    assert_int_equal(encoder->tnt, 0);
    assert_int_equal(encoder->instructions, 77);
    assert_int_equal(encoder->last_time, 88);
    assert_int_equal(encoder->depth, 0);
    packet_file_close(&file);
}

static void one_that_cannot_be_used_counts_as_none(void **state)
{
    struct packet_file file;
    struct error error;
    char path[96];
    snprintf(path, sizeof path, "%s/ring.3", (char *)*state);
    assert_false(packet_file_open(&file, *state, 4, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    create(&file, *state);
    ((struct pt_encoder *)(void *)file.header->encoder)->head = UINT64_MAX - 100;
    packet_file_close(&file);
    assert_false(packet_file_open(&file, *state, 3, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    create(&file, *state);
    file.header->magic = 0;
    packet_file_close(&file);
    assert_false(packet_file_open(&file, *state, 3, &error));
    assert_int_equal(truncate(path, 5000), 0);
    assert_false(packet_file_open(&file, *state, 3, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static void what_is_given_back_takes_no_disk(void **state)
{
    enum { MEGABYTE = 1 << 20 };
    struct packet_file file;
    struct stat before, after;
    char path[96];
    snprintf(path, sizeof path, "%s/ring.3", (char *)*state);
    create(&file, *state);
    fill(&file, 4 * MEGABYTE);
    assert_int_equal(stat(path, &before), 0);
    packet_file_give_back(&file, 100, 2 * MEGABYTE + 100);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_blocks <= before.st_blocks);
    expect_bytes(&file, 0, 100);
    expect_bytes(&file, 2 * MEGABYTE + 100, 4 * MEGABYTE);
    fill(&file, 4 * MEGABYTE); /* the hole stays one */
    assert_int_equal(byte_at(&file, MEGABYTE),
                     after.st_blocks < before.st_blocks ? 0 : MEGABYTE % 251);
    packet_file_close(&file);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct packet_file file;
    struct error error;
    assert_false(packet_file_create(&file, "/nowhere", 3, &error));
    assert_non_null(strstr(error.text, "/nowhere/ring.3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_and_keeps_what_it_has),
        cmocka_unit_test(another_recorder_goes_on_with_it),
        cmocka_unit_test(one_that_cannot_be_used_counts_as_none),
        cmocka_unit_test(what_is_given_back_takes_no_disk),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
