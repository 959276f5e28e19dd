#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf_event/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SIZE = 4096 };

/* A kernel whose rings are this memory. */
static uint8_t memory[2 * SIZE] __attribute__((aligned(SIZE)));
static int protection_asked;

static void *map_memory(const struct kernel *kernel, size_t size, int protection, int event,
                        uint64_t offset)
{
    (void)kernel;
    (void)event;
    assert_int_equal(size, sizeof memory);
    assert_int_equal(offset, 0);
    protection_asked = protection;
    return memory;
}

static void *refuse_to_map(const struct kernel *kernel, size_t size, int protection, int event,
                           uint64_t offset)
{
    (void)kernel;
    (void)size;
    (void)protection;
    (void)event;
    (void)offset;
    errno = EPERM;
    return MAP_FAILED;
}

static int unmap_nothing(const struct kernel *kernel, void *address, size_t size)
{
    (void)kernel;
    (void)size;
    assert_ptr_equal(address, memory);
    return 0;
}

static const struct kernel stand_in = {.map = map_memory, .unmap = unmap_nothing};

static struct perf_event_mmap_page *page(void)
{
    return (struct perf_event_mmap_page *)memory;
}

static struct perf_ring open_ring(bool backward)
{
    struct perf_ring ring;
    memset(memory, 0, sizeof memory);
    assert_true(perf_ring_open(&ring, &stand_in, -1, SIZE, backward, NULL));
    return ring;
}

static void put_byte(uint64_t position, uint8_t byte)
{
    memory[SIZE + position % SIZE] = byte;
}

/* A record of `size` bytes, whose type and contents are `mark`. */
static void put_record(uint64_t position, uint16_t size, uint8_t mark)
{
    struct perf_event_header header = {.type = mark, .size = size};
    for (size_t i = 0; i < size; i++)
        put_byte(position + i, i < sizeof header ? ((uint8_t *)&header)[i] : mark);
}

static void write_forward(uint16_t size, uint8_t mark)
{
    put_record(page()->data_head, size, mark);
    page()->data_head += size;
}

static void write_backward(uint16_t size, uint8_t mark)
{
    page()->data_head -= size;
    put_record(page()->data_head, size, mark);
}

static void expect(struct perf_ring *ring, uint16_t size, uint8_t mark)
{
    const struct perf_event_header *record = perf_ring_next(ring);
    assert_non_null(record);
    assert_int_equal(record->size, size);
    assert_int_equal(record->type, mark);
    for (size_t i = sizeof *record; i < size; i++)
        assert_int_equal(((const uint8_t *)record)[i], mark);
}

static void records_come_in_order_and_once(void **state)
{
    (void)state;
    struct perf_ring ring = open_ring(false);
    assert_int_equal(protection_asked, PROT_READ | PROT_WRITE);
    perf_ring_begin(&ring);
    assert_null(perf_ring_next(&ring));
    write_forward(16, 1);
    write_forward(48, 2);
    perf_ring_begin(&ring);
    expect(&ring, 16, 1);
    expect(&ring, 48, 2);
    assert_null(perf_ring_next(&ring));
    assert_int_equal(page()->data_tail, 0);
    perf_ring_release(&ring);
    assert_int_equal(page()->data_tail, 64);
    write_forward(24, 3);
    perf_ring_begin(&ring);
    expect(&ring, 24, 3);
    assert_null(perf_ring_next(&ring));
    perf_ring_close(&ring);
}

static void records_are_whole_wherever_the_ring_ends(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < SIZE; start += 8) {
        struct perf_ring ring = open_ring(false);
        page()->data_head = page()->data_tail = 5 * SIZE + start;
        for (uint8_t mark = 1; mark <= 5; mark++)
            write_forward(816, mark);
        perf_ring_begin(&ring);
        for (uint8_t mark = 1; mark <= 5; mark++)
            expect(&ring, 816, mark);
        assert_null(perf_ring_next(&ring));
        perf_ring_close(&ring);
    }
}

static void damage_ends_the_reading(void **state)
{
    (void)state;
    static const uint16_t bad[] = {0, 4, 12, 41, 64};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct perf_ring ring = open_ring(false);
        write_forward(40, 1);
        put_record(page()->data_head, 56, 2);
        memcpy(memory + SIZE + 40 + offsetof(struct perf_event_header, size), &bad[i],
               sizeof bad[i]);
        page()->data_head += 56;
        perf_ring_begin(&ring);
        expect(&ring, 40, 1);
        assert_null(perf_ring_next(&ring));
        assert_null(perf_ring_next(&ring));
        perf_ring_release(&ring);
        assert_int_equal(page()->data_tail, 96);
        perf_ring_close(&ring);
    }
}

static void backward_the_newest_comes_first(void **state)
{
    (void)state;
    struct perf_ring ring = open_ring(true);
    assert_int_equal(protection_asked, PROT_READ);
    perf_ring_begin(&ring);
    assert_null(perf_ring_next(&ring));
    write_backward(16, 1);
    write_backward(48, 2);
    perf_ring_begin(&ring);
    expect(&ring, 48, 2);
    expect(&ring, 16, 1);
    assert_null(perf_ring_next(&ring));
    perf_ring_close(&ring);
}

static void backward_the_oldest_are_overwritten(void **state)
{
    (void)state;
    struct perf_ring ring = open_ring(true);
    for (unsigned i = 0; i < 1000; i++)
        write_backward((uint16_t)(24 + 8 * (i % 7)), (uint8_t)(1 + i % 200));
    perf_ring_begin(&ring);
    uint64_t read = 0;
    for (unsigned i = 1000; i-- > 0;) {
        uint16_t size = (uint16_t)(24 + 8 * (i % 7));
        if (read + size > SIZE)
            break;
        expect(&ring, size, (uint8_t)(1 + i % 200));
        read += size;
    }
    assert_true(read > SIZE - 72);
    perf_ring_close(&ring);
}

static void a_refusal_says_what_to_do(void **state)
{
    (void)state;
    struct kernel kernel = stand_in;
    struct perf_ring ring;
    struct error error = {0};
    kernel.map = refuse_to_map;
    assert_false(perf_ring_open(&ring, &kernel, -1, SIZE, false, &error));
    assert_non_null(strstr(error.text, "perf_event_mlock_kb"));
    perf_ring_close(&ring);
}

/* The real one, if it lets us: the record of a new name is there, with the name in it. */
static void the_kernel_writes_what_is_read(void **state)
{
    (void)state;
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_DUMMY,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1,
                                         .comm = 1};
    const struct kernel *kernel = &kernel_real;
    int event = kernel->open_event(kernel, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0) {
        print_message("no perf_event_open here: %s\n", strerror(errno));
        skip();
    }
    struct perf_ring ring;
    struct error error = {0};
    assert_true(
        perf_ring_open(&ring, kernel, event, (uint64_t)sysconf(_SC_PAGESIZE), false, &error));
    assert_int_equal(prctl(PR_SET_NAME, "ring_test_name"), 0);
    perf_ring_begin(&ring);
    const struct perf_event_header *record = perf_ring_next(&ring);
    assert_non_null(record);
    assert_int_equal(record->type, PERF_RECORD_COMM);
    assert_string_equal((const char *)record + sizeof *record + 8, "ring_test_name");
    assert_null(perf_ring_next(&ring));
    perf_ring_release(&ring);
    perf_ring_close(&ring);
    close(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_in_order_and_once),
        cmocka_unit_test(records_are_whole_wherever_the_ring_ends),
        cmocka_unit_test(damage_ends_the_reading),
        cmocka_unit_test(backward_the_newest_comes_first),
        cmocka_unit_test(backward_the_oldest_are_overwritten),
        cmocka_unit_test(a_refusal_says_what_to_do),
        cmocka_unit_test(the_kernel_writes_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
