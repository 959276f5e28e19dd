/* Spans of samples: the result of a row of made-up call stacks. The notation of spans is explained
 * in scene.h.
 */
#include "stack/rules/sampled_stacks.h"

#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PERIOD = 1000, FRAMES_MAX = 64 };

struct sampled_scene {
    struct scene scene;
    struct sampled_stacks stacks;
    uint64_t time;
};

static int set_up(void **state)
{
    static struct sampled_scene sampled;
    scene_init(&sampled.scene);
    sampled.scene.stack.no_stitching = true;
    sampled_stacks_init(&sampled.stacks);
    sampled.time = 0;
    *state = &sampled;
    return 0;
}

static int tear_down(void **state)
{
    struct sampled_scene *sampled = *state;
    sampled_stacks_free(&sampled->stacks);
    scene_free(&sampled->scene);
    return 0;
}

static void follow(struct sampled_scene *sampled, const struct stack_sample *sample)
{
    struct stack_sample timed = *sample;
    timed.time.value = sampled->time += PERIOD;
    sampled_stacks_follow(&sampled->scene.stack, &sampled->stacks, &timed);
}

/* Functions from the outermost in, each with the digit of the place that runs, or that has called
 * the next: "a1b2" is b called from place 1 of a. '@' and a letter after it give the place on the
 * stack. */
static size_t read_frames(const char *text, struct sampled_frame *frames)
{
    size_t count = 0;
    while (*text) {
        assert_true(count < FRAMES_MAX);
        frames[count] = (struct sampled_frame){
            .function = id_of(text[0]), .address = at(text[0], (uint64_t)(text[1] - '0') * 16 + 4)};
        text += 2;
        if (*text == '@') {
            frames[count].stack_pointer = 0x7000 - 16 * (uint64_t)(text[1] - 'a');
            text += 2;
        }
        count++;
    }
    return count;
}

static void take(struct sampled_scene *sampled, const char *text)
{
    struct sampled_frame frames[FRAMES_MAX];
    follow(sampled, &(struct stack_sample){.kind = STACK_SAMPLE,
                                           .frames = frames,
                                           .count = read_frames(text, frames)});
}

/* Only the top of a stack; `callers` stands for the others, 0: none. */
static void take_cut(struct sampled_scene *sampled, const char *text, char callers)
{
    struct sampled_frame frames[FRAMES_MAX];
    follow(sampled, &(struct stack_sample){.kind = STACK_SAMPLE,
                                           .frames = frames,
                                           .count = read_frames(text, frames),
                                           .cut = true,
                                           .callers = callers ? id_of(callers) : FUNCTION_UNKNOWN});
}

static void happen(struct sampled_scene *sampled, enum stack_sample_kind kind)
{
    follow(sampled, &(struct stack_sample){.kind = kind});
}

static void expect(struct sampled_scene *sampled, const char *spans)
{
    assert_spans(&sampled->scene, spans);
}

static void frames_stay_open_while_samples_share_them(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1c1");
    take(s, "a1b1c2"); /* c runs on */
    take(s, "a1b1d1"); /* b has called d from the place from which it called c */
    take(s, "a1b2");   /* b itself runs */
    take(s, "a1b3c1");
    expect(s, "a(b(c()d()c()$)$)$");
}

static void another_call_site_is_another_call(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1c1");
    take(s, "a2b1c1");
    expect(s, "a(b(c())b(c()$)$)$");
}

static void another_place_in_a_caller_ends_what_it_called(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1c1");
    take(s, "a1b2c1");
    expect(s, "a(b(c()c()$)$)$");
}

static void recursion_keeps_the_frames_of_the_same_depth(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1f1f1f1f2");
    take(s, "a1f1f1f2");
    take(s, "a1f1f1f1f1f2");
    expect(s, "a(f(f(f(f()f(f()$)$)$)$)$)$");
}

static void a_thread_that_does_not_run_has_no_frames(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1");
    happen(s, STACK_NOT_RUNNING);
    happen(s, STACK_NOT_RUNNING);
    take(s, "a1b1");
    expect(s, "a(b()g)ga(b()$)$");
}

static void exec_ends_all_frames(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1");
    happen(s, STACK_EXEC);
    take(s, "m1");
    expect(s, "a(b()e)em()$");
}

static void other_roots_begin_again(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1");
    take(s, "x1b1");
    expect(s, "a(b()g)gx(b()$)$");
}

static void a_cut_stack_is_completed_by_the_place_on_the_stack(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1@af1@bf1@cf1@d");
    take_cut(s, "f1@cf1@df1@e", 'Z');
    take_cut(s, "f1@ef1@f", 'Z');
    take(s, "a1@af2@b");
    expect(s, "a(f(f(f(f(f()))))$)$");
}

static void a_cut_stack_is_completed_by_the_call(void **state)
{
    struct sampled_scene *s = *state;
    take(s, "a1b1c1d1");
    take_cut(s, "c1d1e1", 0);
    take_cut(s, "c2x1", 0); /* not the call in which c was: its callers are unknown */
    expect(s, "a(b(c(d(e()g)g)g)g)gc(x()$)$");
}

static void a_frame_stands_for_unknown_callers(void **state)
{
    struct sampled_scene *s = *state;
    take_cut(s, "c1d1", 'z');
    take_cut(s, "c1d2", 'z');
    take_cut(s, "e1", 'z');
    expect(s, "z(c(d())e()$)$");
}

static void an_empty_row_is_nothing(void **state)
{
    struct sampled_scene *s = *state;
    happen(s, STACK_NOT_RUNNING);
    happen(s, STACK_EXEC);
    expect(s, "");
}

int main(void)
{
#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_SCENE(frames_stay_open_while_samples_share_them),
        IN_SCENE(another_call_site_is_another_call),
        IN_SCENE(another_place_in_a_caller_ends_what_it_called),
        IN_SCENE(recursion_keeps_the_frames_of_the_same_depth),
        IN_SCENE(a_thread_that_does_not_run_has_no_frames),
        IN_SCENE(exec_ends_all_frames),
        IN_SCENE(other_roots_begin_again),
        IN_SCENE(a_cut_stack_is_completed_by_the_place_on_the_stack),
        IN_SCENE(a_cut_stack_is_completed_by_the_call),
        IN_SCENE(a_frame_stands_for_unknown_callers),
        IN_SCENE(an_empty_row_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
