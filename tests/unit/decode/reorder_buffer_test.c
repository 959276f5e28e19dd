/* Events added to a reorder buffer: passed on at once, or kept as runs until it is a PSB segment's
 * turn.
 */
#include "decode/reorder_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/memory.h"

enum { THREADS = 2 };

/* Records the events of both threads in the order of arrival: by `from`; negative numbers are their
 * STOPs. */
struct world {
    struct flow_sink sink;
    struct thread threads[THREADS];
    struct thread_sink outputs[THREADS];
    struct array received; /* int64_t */
    struct reorder_buffer reorder_buffer;
};

static void *sink_begin(void *context, const struct thread *thread)
{
    return context;
}

static void sink_events(void *object, const struct flow_event *events, size_t count)
{
    struct world *world = object;
    for (size_t i = 0; i < count; i++) {
        int64_t from = (int64_t)events[i].from;
        *(int64_t *)array_add(&world->received) = events[i].kind == FLOW_STOP ? -from : from;
    }
}

static void sink_end(void *object)
{
}

static int begin(void **state)
{
    static struct world world;
    world = (struct world){
        .sink = {.context = &world, .begin = sink_begin, .events = sink_events, .end = sink_end},
        .received = array_of(sizeof(int64_t))};
    for (unsigned i = 0; i < THREADS; i++)
        world.outputs[i] = (struct thread_sink){.thread = &world.threads[i], .sink = &world.sink};
    reorder_buffer_init(&world.reorder_buffer, false);
    *state = &world;
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;
    for (unsigned i = 0; i < THREADS; i++)
        thread_output_end(&world->outputs[i]);
    reorder_buffer_free(&world->reorder_buffer);
    array_free(&world->received);
    return 0;
}

/* `count` events of a thread, from number `from` on, at ten times their number. */
static void add(struct world *world, unsigned thread, enum flow_kind kind, uint64_t from,
                size_t count)
{
    struct flow_event *chunk = memory_allocate(count * sizeof(*chunk));
    for (size_t i = 0; i < count; i++)
        chunk[i] =
            (struct flow_event){.time = {10 * (from + i)}, .from = from + i, .kind = (uint8_t)kind};
    reorder_buffer_add(&world->reorder_buffer, &world->outputs[thread], chunk, count,
                       !thread_output_must_see((uint8_t)kind));
    reorder_buffer_take_chunk(&world->reorder_buffer, chunk);
}

static void expect_received(const struct world *world, const int64_t *expected, size_t count)
{
    assert_int_equal(world->received.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(*(int64_t *)array_at(&world->received, i), expected[i]);
}

#define EXPECT_RECEIVED(world, ...)                                                                \
    expect_received(world, (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8)

static void expect_time(const struct world *world, uint64_t expected)
{
    struct ticks time;
    assert_true(reorder_buffer_time(&world->reorder_buffer, &time));
    assert_int_equal(time.value, expected);
}

static void expect_no_more(const struct world *world)
{
    struct ticks time;
    assert_false(reorder_buffer_time(&world->reorder_buffer, &time));
}

static void a_direct_reorder_buffer_keeps_nothing(void **state)
{
    struct world *w = *state;
    w->reorder_buffer.direct = true;
    add(w, 0, FLOW_CALL, 1, 3);
    EXPECT_RECEIVED(w, 1, 2, 3);
    add(w, 1, FLOW_INTERRUPT, 4, 1);
    reorder_buffer_stop(&w->reorder_buffer, &w->outputs[1]);
    EXPECT_RECEIVED(w, 1, 2, 3, -4);
    expect_no_more(w);
}

static void others_keep_everything_until_it_is_passed_on(void **state)
{
    struct world *w = *state;
    add(w, 0, FLOW_CALL, 1, 3);
    add(w, 0, FLOW_RETURN, 4, 1);
    assert_int_equal(w->received.count, 0);
    expect_time(w, 10);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, 1, 2, 3, 4);
    expect_no_more(w);
}

static void runs_of_threads_come_in_their_order(void **state)
{
    struct world *w = *state;
    add(w, 0, FLOW_CALL, 1, 2);
    reorder_buffer_stop(&w->reorder_buffer, &w->outputs[0]);
    add(w, 1, FLOW_CALL, 3, 1);
    add(w, 1, FLOW_RETURN, 4, 1);
    reorder_buffer_stop(&w->reorder_buffer, &w->outputs[1]);
    add(w, 0, FLOW_CALL, 5, 1);
    expect_time(w, 10);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, 1, 2);
    expect_time(w, 30);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, 1, 2, 3, 4);
    expect_time(w, 50);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, 1, 2, 3, 4, 5);
    expect_no_more(w);
}

static void a_run_ends_where_its_thread_stops(void **state)
{
    struct world *w = *state;
    add(w, 0, FLOW_INTERRUPT, 1, 1);
    reorder_buffer_stop(&w->reorder_buffer, &w->outputs[0]);
    add(w, 0, FLOW_INTERRUPT, 2, 1);
    add(w, 0, FLOW_CALL, 3, 1);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, -1);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, -1, 2, 3);
    expect_no_more(w);
}

/* The INTERRUPT was in the PSB segment before. */
static void a_stop_alone_is_a_run_of_unknown_time(void **state)
{
    struct world *w = *state;
    struct flow_event interrupt = {.from = 1, .kind = FLOW_INTERRUPT};
    thread_output_add(&w->outputs[0], &interrupt, 1, false);
    reorder_buffer_stop(&w->reorder_buffer, &w->outputs[0]);
    add(w, 1, FLOW_CALL, 2, 1);
    expect_time(w, 0);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, -1);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, -1, 2);
}

/* A run is plain only if all that was added to it is. */
static void a_run_with_a_gap_in_it_is_not_plain(void **state)
{
    struct world *w = *state;
    add(w, 0, FLOW_CALL, 1, 1);
    add(w, 0, FLOW_GAP, 2, 2); /* are one */
    add(w, 0, FLOW_CALL, 4, 1);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, 1, 2, 4);
}

static void a_reorder_buffer_can_be_used_again(void **state)
{
    struct world *w = *state;
    add(w, 0, FLOW_CALL, 1, 1);
    add(w, 1, FLOW_CALL, 2, 1);
    reorder_buffer_pass_on(&w->reorder_buffer);
    reorder_buffer_forget(&w->reorder_buffer);
    expect_no_more(w);
    add(w, 0, FLOW_CALL, 3, 1);
    expect_time(w, 30);
    reorder_buffer_pass_on(&w->reorder_buffer);
    EXPECT_RECEIVED(w, 1, 3);
    expect_no_more(w);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_direct_reorder_buffer_keeps_nothing),
        TEST(others_keep_everything_until_it_is_passed_on),
        TEST(runs_of_threads_come_in_their_order),
        TEST(a_run_ends_where_its_thread_stops),
        TEST(a_stop_alone_is_a_run_of_unknown_time),
        TEST(a_run_with_a_gap_in_it_is_not_plain),
        TEST(a_reorder_buffer_can_be_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
