/* Rings of packets, whole, wrapped, cut off and damaged. */
#include "engine/packets/ring.h"

#include "base/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { RING_SIZE = 4096, PSB_SIZE = 16, PAD = 0 };

struct test_ring {
    union {
        struct packet_ring header;
        unsigned char page[PACKET_RING_PAGE];
    };
    unsigned char packets[RING_SIZE];
};

static struct test_ring new_ring(bool full, uint64_t head)
{
    struct test_ring ring = {.header = {.magic = PACKET_RING_MAGIC,
                                        .version = PACKET_RING_VERSION,
                                        .full = full,
                                        .size = RING_SIZE}};
    struct pt_encoder encoder = {.tnt = 1, .head = head};
    memcpy(ring.header.encoder, &encoder, sizeof encoder);
    return ring;
}

/* At stream position `at`. */
static void put_psb(struct test_ring *ring, uint64_t at)
{
    for (uint64_t i = 0; i < PSB_SIZE; i++)
        ring->packets[(at + i) % RING_SIZE] = i % 2 ? 0x82 : 0x02;
}

static void open_ring(struct ring *opened, const char *folder, const struct test_ring *ring)
{
    char path[128];
    snprintf(path, sizeof path, "%s/ring.3", folder);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, ring, sizeof *ring, path, NULL));
    close(descriptor);
    struct error error;
    if (!ring_open(opened, folder, 3, &error))
        fail_msg("%s", error.text);
}

/* Joins the parts. */
static void copy_parts(const struct ring_packets *packets, unsigned char *copy)
{
    for (size_t i = 0; i < packets->part_count; i++) {
        memcpy(copy, packets->parts[i].iov_base, packets->parts[i].iov_len);
        copy += packets->parts[i].iov_len;
    }
}

static void a_short_stream_is_given_whole(void **state)
{
    for (int full = 0; full <= 1; full++) {
        struct test_ring ring = new_ring(full, 100);
        put_psb(&ring, 0);
        struct ring opened;
        struct ring_packets packets;
        open_ring(&opened, *state, &ring);
        ring_packets(&packets, &opened, 0, UINT64_MAX);
        assert_int_equal(packets.offset, 0);
        assert_int_equal(packets.size, 100);
        assert_int_equal(packets.part_count, 1);
        ring_close(&opened);
    }
}

static void a_wrapped_ring_is_put_in_order(void **state)
{
    enum { HEAD = 3 * RING_SIZE + 50, PSB = 2 * RING_SIZE + 1000 };
    struct test_ring ring = new_ring(false, HEAD);
    put_psb(&ring, PSB);
    for (uint64_t at = PSB + PSB_SIZE; at < HEAD; at++)
        ring.packets[at % RING_SIZE] = (unsigned char)(at % 251);
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 0, UINT64_MAX);
    assert_int_equal(packets.offset, PSB);
    assert_int_equal(packets.size, HEAD - PSB);
    assert_int_equal(packets.part_count, 2);
    unsigned char copy[RING_SIZE];
    copy_parts(&packets, copy);
    for (size_t i = PSB_SIZE; i < packets.size; i++)
        assert_int_equal(copy[i], (PSB + i) % 251);
    ring_close(&opened);
}

/* The bytes just ahead of the head may be half overwritten; a PSB among them is not to be trusted.
 */
static void bytes_that_were_being_overwritten_do_not_count(void **state)
{
    enum { HEAD = 2 * RING_SIZE };
    struct test_ring ring = new_ring(false, HEAD);
    put_psb(&ring, HEAD - RING_SIZE + PT_ENCODER_SLACK - 1);
    put_psb(&ring, HEAD - 500);
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 0, UINT64_MAX);
    assert_int_equal(packets.offset, HEAD - 500);
    ring_close(&opened);
}

static void a_psb_is_found_across_the_wrap_and_after_its_own_bytes(void **state)
{
    enum { PSB = 2 * RING_SIZE - 7, HEAD = PSB + 1000 };
    struct test_ring ring = new_ring(false, HEAD);
    put_psb(&ring, PSB);
    ring.packets[(PSB - 2) % RING_SIZE] = 0x02; /* the end of another packet */
    ring.packets[(PSB - 1) % RING_SIZE] = 0x82;
    ring.packets[(PSB + PSB_SIZE) % RING_SIZE] = 0x02; /* CBR: 02 03 */
    ring.packets[(PSB + PSB_SIZE + 1) % RING_SIZE] = 0x03;
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 0, UINT64_MAX);
    assert_int_equal(packets.offset, PSB);
    ring_close(&opened);
}

/* A snapshot that holds no PSB begins at the last one before it. */
static void a_psb_before_what_is_wanted_is_better_than_none(void **state)
{
    enum { PSB = 1000, HEAD = 4000 };
    struct test_ring ring = new_ring(true, HEAD);
    put_psb(&ring, 0);
    put_psb(&ring, PSB);
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 2000, UINT64_MAX);
    assert_int_equal(packets.offset, PSB);
    assert_int_equal(packets.size, HEAD - PSB);
    ring_packets(&packets, &opened, 2000, 3000); /* another snapshot may have it */
    assert_int_equal(packets.size, 0);
    ring_close(&opened);
}

static void no_psb_means_nothing_to_decode(void **state)
{
    struct test_ring ring = new_ring(false, 3000);
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 0, UINT64_MAX);
    assert_int_equal(packets.size, 0);
    ring_close(&opened);
}

static void gathered_bits_of_a_dead_thread_come_last(void **state)
{
    struct test_ring ring = new_ring(false, 100);
    put_psb(&ring, 0);
    struct pt_encoder encoder = {.tnt = 0xd, .head = 100}; /* 1, then taken, not taken, taken */
    memcpy(ring.header.encoder, &encoder, sizeof encoder);
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 0, UINT64_MAX);
    assert_true(packets.size > 100);
    unsigned char copy[RING_SIZE];
    copy_parts(&packets, copy);
    assert_int_equal(copy[packets.size - 1],
                     0x1a); /* short TNT: SDM, the same bits shifted by one */
    ring_close(&opened);
}

static void a_head_beyond_the_file_is_not_believed(void **state)
{
    struct test_ring ring = new_ring(true, UINT64_MAX / 2);
    put_psb(&ring, 0);
    struct ring opened;
    struct ring_packets packets;
    open_ring(&opened, *state, &ring);
    ring_packets(&packets, &opened, 0, UINT64_MAX);
    assert_int_equal(packets.size, RING_SIZE);
    ring_close(&opened);
}

static void expect_refusal(const char *folder, const struct test_ring *ring, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/ring.3", folder);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file_write_all(descriptor, ring, size, path, NULL));
    close(descriptor);
    struct ring opened;
    struct error error = {0};
    assert_false(ring_open(&opened, folder, 3, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    assert_non_null(strstr(error.text, path));
}

static void damaged_headers_are_refused(void **state)
{
    struct test_ring good = new_ring(false, 100);
    expect_refusal(*state, &good, 0);
    expect_refusal(*state, &good, 100);
    expect_refusal(*state, &good, sizeof good - 1); /* shorter than its header says */
    struct test_ring bad = good;
    bad.header.magic = 0;
    expect_refusal(*state, &bad, sizeof bad);
    bad = good;
    bad.header.version++;
    expect_refusal(*state, &bad, sizeof bad);
    static const uint64_t sizes[] = {0, 1, PT_ENCODER_SLACK, 3000, 8192, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bad = good;
        bad.header.size = sizes[i];
        expect_refusal(*state, &bad, sizeof bad);
    }
    struct ring opened;
    struct error error;
    assert_false(ring_open(&opened, *state, 99, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static int make_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/magic-trace-ring-XXXXXX");
    *state = mkdtemp(folder);
    return !*state;
}

static int remove_folder(void **state)
{
    return !file_remove_tree(*state, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_stream_is_given_whole),
        cmocka_unit_test(a_wrapped_ring_is_put_in_order),
        cmocka_unit_test(bytes_that_were_being_overwritten_do_not_count),
        cmocka_unit_test(a_psb_is_found_across_the_wrap_and_after_its_own_bytes),
        cmocka_unit_test(a_psb_before_what_is_wanted_is_better_than_none),
        cmocka_unit_test(no_psb_means_nothing_to_decode),
        cmocka_unit_test(gathered_bits_of_a_dead_thread_come_last),
        cmocka_unit_test(a_head_beyond_the_file_is_not_believed),
        cmocka_unit_test(damaged_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
