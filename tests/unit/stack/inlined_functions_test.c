/* Inlined functions on a stack: in function a, the code from 0x100 on is x, inlined, that from 0x200
 * on is y inside of x, and that from 0x300 on is what a test wants. Spans are written as in scene.h.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NONE = INLINED_NONE, X, Y };

static inlined_id wanted;

static bool find(void *context, function_id function, uint64_t start, uint64_t address,
                 inlined_id *inlined)
{
    if (function != id_of('a'))
        return false;
    assert_int_equal(start, at('a', 0));
    const inlined_id found[] = {NONE, X, Y, wanted};
    *inlined = found[(address - start) / 0x100];
    return true;
}

static struct inlined_table calls;

static void add_calls(void)
{
    struct inlined x = {.function = id_of('x'), .outer = NONE, .depth = 1};
    struct inlined y = {.function = id_of('y'), .outer = X, .depth = 2};
    assert_int_equal(inlined_table_add(&calls, &x), X);
    assert_int_equal(inlined_table_add(&calls, &y), Y);
}

static struct inlined_moves *moves;

/* Moves are recorded step by step. */
static int set_up(void **state)
{
    static struct scene scene;
    scene_init(&scene);
    add_calls();
    scene.stack.inlined = (struct inlined_view){.find = find, .calls = &calls};
    *state = &scene;
    return 0;
}

/* ... or each at once. */
static int set_up_moves(void **state)
{
    set_up(state);
    moves = inlined_moves_new(&calls);
    ((struct scene *)*state)->stack.inlined.moves = moves;
    return 0;
}

static int tear_down(void **state)
{
    scene_free(*state);
    inlined_moves_free(moves);
    moves = NULL;
    inlined_table_free(&calls);
    calls = (struct inlined_table){0};
    return 0;
}

static void go_to(struct scene *scene, uint64_t offset)
{
    inlined_id inlined;
    find(NULL, id_of('a'), at('a', 0), at('a', offset), &inlined);
    struct flow_event event = {.kind = FLOW_INLINED,
                               .time = {scene->time},
                               .to = at('a', offset),
                               .next = inlined,
                               .function = id_of('a')};
    scene->time += SCENE_STEP;
    follow_events(&scene->stack, &event, 1);
}

/* What has been shown so far, and the letters of what is open. */
struct shown {
    char text[512], open[64];
    size_t length, depth;
};

static void show(struct shown *shown, const struct replay_event *event)
{
    static const char *const ends[] = {[SPAN_END_RETURN] = ")",
                                       [SPAN_END_UNWOUND] = ")u",
                                       [SPAN_END_GAP] = ")g",
                                       [SPAN_END_OF_TRACE] = ")$",
                                       [SPAN_END_TAIL_CALL] = ")t"};
    char letter = (char)('a' + event->function - FUNCTION_FIRST);
    char *text = shown->text + shown->length;
    assert_true(shown->length + 8 < sizeof shown->text);
    if (event->kind == SPAN_ENTER) {
        shown->open[shown->depth++] = letter;
        *text = letter;
        strcpy(text + 1, event->flags & SPAN_START_INFERRED ? "?(" : "(");
    } else if (event->kind == SPAN_LEAVE && event->gap == NULL) {
        assert_int_equal(shown->open[--shown->depth], letter);
        strcpy(text, ends[event->end]);
    }
    shown->length += strlen(text);
}

/* Checks nesting, too. Reads many events at once, as those do who write traces. */
static void assert_shown(struct scene *scene, const char *expected)
{
    struct shown shown = {0};
    struct replay replay;
    struct replay_event events[16];
    size_t count;
    follow_end(&scene->stack, &(struct follow_ending){0});
    replay_init(&replay, &scene->stack);
    while ((count = replay_read(&replay, events, 16, (struct nanoseconds){UINT64_MAX})) > 0)
        for (size_t i = 0; i < count; i++)
            show(&shown, &events[i]);
    replay_free(&replay);
    assert_int_equal(shown.depth, 0);
    assert_string_equal(shown.text, expected);
}

static void they_are_entered_and_left(void **state)
{
    struct scene *scene = *state;
    call(scene, at('m', 0), 'a');
    go_to(scene, 0x100);
    go_to(scene, 0x200);
    go_to(scene, 0x100);
    go_to(scene, 0x104); /* says what is so */
    go_to(scene, 0x10);
    go_to(scene, 0x200);
    return_after(scene, at('m', 0));
    assert_shown(scene, "m?(a(x(y())x(y())))$");
}

static void calls_are_inside_of_them(void **state)
{
    struct scene *scene = *state;
    call(scene, at('m', 0), 'a');
    go_to(scene, 0x200);
    call(scene, at('a', 0x210), 'b');
    return_after(scene, at('a', 0x210));
    call(scene, at('a', 0x220), 'b');
    return_after(scene, at('a', 0x220));
    go_to(scene, 0x100);
    return_after(scene, at('m', 0));
    assert_shown(scene, "m?(a(x(y(b()b()))))$");
}

static void recursion_has_its_own(void **state)
{
    struct scene *scene = *state;
    call(scene, at('m', 0), 'a');
    go_to(scene, 0x100);
    call(scene, at('a', 0x110), 'a');
    go_to(scene, 0x200);
    return_after(scene, at('a', 0x110));
    go_to(scene, 0x10);
    return_after(scene, at('m', 0));
    assert_shown(scene, "m?(a(x(a(x(y())))))$");
}

static void discovered_callers_have_them(void **state)
{
    struct scene *scene = *state;
    resume(scene, at('b', 0x10));
    return_after(scene, at('a', 0x210));
    go_to(scene, 0x10);
    assert_shown(scene, "a?(x?(y?(b?())))$");
}

static void a_resumed_function_has_them(void **state)
{
    struct scene *scene = *state;
    resume(scene, at('a', 0x100));
    go_to(scene, 0x200);
    assert_shown(scene, "a?(x?(y()$)$)$");
}

static void unwinding_ends_them(void **state)
{
    struct scene *scene = *state;
    resume(scene, at('m', 0));
    call(scene, at('m', 0), 'a');
    go_to(scene, 0x200);
    call(scene, at('a', 0x210), 'b');
    call(scene, at('b', 0), 'a');
    go_to(scene, 0x100);
    jump(scene, at('m', 0x100));
    assert_shown(scene, "m(a(x(y(b(a(x()u)u)u)u)u)u)$");
}

static void gaps_end_them(void **state)
{
    struct scene *scene = *state;
    resume(scene, at('m', 0));
    call(scene, at('m', 0), 'a');
    go_to(scene, 0x100);
    gap(scene, FLOW_GAP_LOST, 0);
    resume(scene, at('c', 0));
    assert_shown(scene, "m(a(x()g)g)gc?()$");
}

static void events_of_other_functions_are_ignored(void **state)
{
    struct scene *scene = *state;
    call(scene, at('m', 0), 'b');
    go_to(scene, 0x100);
    return_after(scene, at('m', 0));
    assert_shown(scene, "m?(b())$");
}

/* A program has more inlined calls than one of its threads has frames. */
static void their_numbers_are_not_those_of_frames(void **state)
{
    struct scene *scene = *state;
    struct inlined z = {.function = id_of('z'), .outer = NONE, .depth = 1};
    do
        wanted = inlined_table_add(&calls, &z);
    while (wanted < 40000);
    resume(scene, at('a', 0x300));
    call(scene, at('a', 0x310), 'b');
    return_after(scene, at('a', 0x310));
    go_to(scene, 0x10);
    go_to(scene, 0x300);
    assert_shown(scene, "a?(z?(b())z()$)$");
}

/* A walk through many inlined functions, nested up to 40 deep, and what it must show: the number of
 * the function that begins, or its negative where it ends. */
enum { CALLS = 400, MOVES = 20000, FIRST_FUNCTION = FUNCTION_FIRST + 1000 };

struct expected_walk {
    int64_t *events;
    size_t count;
    inlined_id open;
};

static void expect_move(struct expected_walk *walk, inlined_id to)
{
    inlined_id left = walk->open, begun[CALLS];
    size_t count = 0;
    while (left != to) {
        const struct inlined *l = inlined_table_at(&calls, left), *r = inlined_table_at(&calls, to);
        if (l->depth >= r->depth) {
            walk->events[walk->count++] = -(int64_t)l->function;
            left = l->outer;
        } else {
            begun[count++] = to;
            to = r->outer;
        }
    }
    walk->open = count > 0 ? begun[0] : left;
    while (count > 0)
        walk->events[walk->count++] = inlined_table_at(&calls, begun[--count])->function;
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33) % below;
}

static void add_many_calls(uint64_t *seed)
{
    for (inlined_id id = Y + 1; id < CALLS; id++) {
        inlined_id outer = draw(seed, 3) == 0 ? draw(seed, id) : id - 1;
        if (inlined_table_at(&calls, outer)->depth >= 40)
            outer = NONE;
        struct inlined call = {.function = FIRST_FUNCTION + id,
                               .outer = outer,
                               .depth = inlined_table_at(&calls, outer)->depth + 1};
        assert_int_equal(inlined_table_add(&calls, &call), id);
    }
}

static void move_to(struct scene *scene, struct expected_walk *walk, inlined_id to)
{
    struct flow_event event = {.kind = FLOW_INLINED,
                               .time = {scene->time},
                               .to = at('a', 0),
                               .next = to,
                               .function = id_of('a')};
    expect_move(walk, to);
    follow_events(&scene->stack, &event, 1);
}

static void call_and_return(struct scene *scene, struct expected_walk *walk)
{
    move_to(scene, walk, X);
    walk->events[walk->count++] = id_of('b');
    walk->events[walk->count++] = -(int64_t)id_of('b');
    call(scene, at('a', 0x110), 'b');
    return_after(scene, at('a', 0x110));
}

static void assert_shows(const struct thread_stack *stack, const struct expected_walk *walk,
                         size_t room)
{
    struct replay replay;
    struct replay_event events[64];
    size_t count, shown = 0;
    uint64_t place = 0;
    replay_init(&replay, stack);
    while ((count = replay_read(&replay, events, room, (struct nanoseconds){UINT64_MAX})) > 0)
        for (size_t i = 0; i < count; i++) {
            int64_t sign = events[i].kind == SPAN_ENTER ? 1 : -1;
            assert_true(shown < walk->count);
            assert_int_equal(sign * (int64_t)events[i].function, walk->events[shown++]);
            assert_true(events[i].place.value >= place);
            place = events[i].place.value;
        }
    assert_int_equal(shown, walk->count);
    replay_free(&replay);
}

static void long_walks_are_shown_whatever_the_space(void **state)
{
    struct scene *scene = *state;
    uint64_t seed = 7;
    struct expected_walk walk = {.events = malloc(100 * MOVES * sizeof(int64_t))};
    add_many_calls(&seed);
    call(scene, at('m', 0), 'a');
    walk.events[walk.count++] = id_of('m');
    walk.events[walk.count++] = id_of('a');
    for (int i = 0; i < MOVES; i++) {
        uint32_t pause = draw(&seed, 100);
        scene->time += pause == 0 ? UINT64_C(1) << 40 : pause < 50;
        if (pause > 90)
            call_and_return(scene, &walk);
        else
            move_to(scene, &walk, pause < 60 ? draw(&seed, 20) : draw(&seed, CALLS));
    }
    return_after(scene, at('m', 0));
    expect_move(&walk, NONE);
    walk.events[walk.count++] = -(int64_t)id_of('a');
    follow_end(&scene->stack, &(struct follow_ending){0});
    walk.events[walk.count++] = -(int64_t)id_of('m');
    for (size_t room = 1; room <= 64; room += room < 8 ? 1 : 13)
        assert_shows(&scene->stack, &walk, room);
    free(walk.events);
}

/* All events that `stack` shows, in nanoseconds of `mult` / 8 for a tick. */
static struct array all_shown(const struct thread_stack *stack, uint32_t mult)
{
    struct clock_conversion clock = {.mult = mult, .shift = 3};
    struct array shown = array_of(sizeof(struct replay_event));
    struct replay replay;
    struct replay_event event;
    replay_init_with_clock(&replay, stack, (struct history_clock){.conversion = &clock});
    while (replay_next(&replay, &event))
        *(struct replay_event *)array_add(&shown) = event;
    replay_free(&replay);
    return shown;
}

static void assert_same_shown(const struct thread_stack *left, const struct thread_stack *right)
{
    for (uint32_t mult = 1; mult <= 16; mult += 5) {
        struct array l = all_shown(left, mult), r = all_shown(right, mult);
        assert_int_equal(l.count, r.count);
        for (size_t i = 0; i < l.count; i++) {
            const struct replay_event *a = array_at(&l, i), *b = array_at(&r, i);
            assert_int_equal(a->kind, b->kind);
            assert_int_equal(a->function, b->function);
            assert_int_equal(a->end, b->end);
            assert_int_equal(a->time.value, b->time.value);
            assert_int_equal(a->place.value, b->place.value);
        }
        array_free(&l);
        array_free(&r);
    }
}

/* The last steps, of one time, are spread over nanoseconds when they are many: each function that begins has one. */
static void moves_are_placed_like_their_steps(void **state)
{
    struct scene *scene = *state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        static struct scene other;
        tear_down(state);
        set_up(state);
        add_many_calls(&seed);
        struct inlined_moves *shared = inlined_moves_new(&calls);
        scene_init(&other);
        other.stack.inlined = scene->stack.inlined;
        other.stack.inlined.moves = shared;
        struct scene *both[] = {scene, &other};
        for (int i = 0; i < 2; i++) {
            uint64_t own = seed;
            uint32_t last = draw(&own, 200);
            call(both[i], at('m', 0), 'a');
            for (uint32_t step = 0; step < 300; step++) {
                both[i]->time += step < last ? draw(&own, 4) : 0;
                inlined_id to = draw(&own, CALLS);
                struct flow_event event = {.kind = FLOW_INLINED,
                                           .time = {both[i]->time},
                                           .to = at('a', 0),
                                           .next = to,
                                           .function = id_of('a')};
                follow_events(&both[i]->stack, &event, 1);
            }
            follow_end(&both[i]->stack, &(struct follow_ending){.time = {both[i]->time}});
        }
        assert_same_shown(&scene->stack, &other.stack);
        scene_free(&other);
        inlined_moves_free(shared);
    }
}

static void moves_have_numbers(void **state)
{
    uint64_t seed = 3;
    add_many_calls(&seed);
    struct inlined_moves *numbered = inlined_moves_new(&calls);
    enum { DRAWN = 5000 };
    static struct inlined_move drawn[DRAWN];
    for (uint32_t i = 0; i < DRAWN; i++) {
        inlined_id from = draw(&seed, CALLS), to = draw(&seed, CALLS);
        drawn[i] = (struct inlined_move){.from = from, .to = from == to ? (to + 1) % CALLS : to};
        drawn[i].left = inlined_moves_number(numbered, from, drawn[i].to);
    }
    for (uint32_t i = 0; i < DRAWN; i++) {
        const struct inlined_move *move = inlined_moves_at(numbered, drawn[i].left);
        assert_int_equal(inlined_moves_number(numbered, drawn[i].from, drawn[i].to), drawn[i].left);
        assert_int_equal(move->from, drawn[i].from);
        assert_int_equal(move->to, drawn[i].to);
    }
    inlined_moves_free(numbered);
}

#define TEST_BOTH(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down),                                      \
        cmocka_unit_test_setup_teardown(test, set_up_moves, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_BOTH(they_are_entered_and_left),
        TEST_BOTH(calls_are_inside_of_them),
        TEST_BOTH(recursion_has_its_own),
        TEST_BOTH(discovered_callers_have_them),
        TEST_BOTH(a_resumed_function_has_them),
        TEST_BOTH(unwinding_ends_them),
        TEST_BOTH(gaps_end_them),
        TEST_BOTH(events_of_other_functions_are_ignored),
        TEST_BOTH(their_numbers_are_not_those_of_frames),
        TEST_BOTH(long_walks_are_shown_whatever_the_space),
        cmocka_unit_test_setup_teardown(moves_are_placed_like_their_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moves_have_numbers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
