#include "engine/packets/kept_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { REACH = 1000 };

struct scene {
    struct recorded recorded;
    struct packet_ring header;
    struct ring ring;
    struct array logged, parts;
};

static int make(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->recorded = (struct recorded){.multi_snapshot = true, .snapshot_size = REACH};
    scene->header.serial = 3;
    scene->ring.header = &scene->header;
    scene->logged = array_of(sizeof(struct kept_part));
    scene->parts = array_of(sizeof(struct kept_part));
    *state = scene;
    return 0;
}

static int destroy(void **state)
{
    struct scene *scene = *state;
    array_free(&scene->logged);
    array_free(&scene->parts);
    free(scene);
    return 0;
}

static void keep(struct scene *scene, uint32_t serial, uint64_t begin, uint64_t end)
{
    *(struct kept_part *)array_add(&scene->logged) = (struct kept_part){serial, begin, end};
}

static void decide(struct scene *scene)
{
    kept_parts(&scene->parts, &scene->recorded, &scene->ring, &scene->logged);
}

static void assert_part(const struct scene *scene, size_t index, uint64_t begin, uint64_t end)
{
    const struct kept_part *part = array_at(&scene->parts, index);
    assert_int_equal(part->begin, begin);
    assert_int_equal(part->end, end);
}

static void of_a_ring_the_end_is_kept(void **state)
{
    struct scene *scene = *state;
    scene->recorded.multi_snapshot = false;
    atomic_store(&scene->ring.encoder.head, 50000);
    decide(scene);
    assert_int_equal(scene->parts.count, 1);
    assert_part(scene, 0, 49000, UINT64_MAX);
}

static void of_a_full_execution_all_is_kept(void **state)
{
    struct scene *scene = *state;
    scene->recorded.multi_snapshot = false;
    scene->recorded.snapshot_size = 0;
    atomic_store(&scene->ring.encoder.head, 50000);
    decide(scene);
    assert_int_equal(scene->parts.count, 1);
    assert_part(scene, 0, 0, UINT64_MAX);
}

static void without_a_hit_the_end_is_kept(void **state)
{
    struct scene *scene = *state;
    atomic_store(&scene->ring.encoder.head, 50000);
    atomic_store(&scene->header.undecided, 41000);
    decide(scene);
    assert_int_equal(scene->parts.count, 1);
    assert_part(scene, 0, 49000, UINT64_MAX);
}

static void what_was_logged_is_kept_and_what_touches_joined(void **state)
{
    struct scene *scene = *state;
    keep(scene, 3, 9000, 12000);
    keep(scene, 3, 1000, 2000);
    keep(scene, 4, 0, 99999);
    keep(scene, 3, 12000, 13000);
    scene->recorded.snapshots = 5;
    atomic_store(&scene->header.seen_snapshots, 5);
    atomic_store(&scene->header.undecided, 30000);
    decide(scene);
    assert_int_equal(scene->parts.count, 2);
    assert_part(scene, 0, 1000, 2000);
    assert_part(scene, 1, 9000, 13000);
}

static void a_hit_since_the_last_step_keeps_the_rest(void **state)
{
    struct scene *scene = *state;
    keep(scene, 3, 1000, 2000);
    scene->recorded.snapshots = 6;
    atomic_store(&scene->header.seen_snapshots, 5);
    atomic_store(&scene->header.undecided, 30000);
    decide(scene);
    assert_int_equal(scene->parts.count, 2);
    assert_part(scene, 1, 30000, UINT64_MAX);
}

static void what_is_owed_to_the_last_hit_is_kept(void **state)
{
    struct scene *scene = *state;
    keep(scene, 3, 1000, 2000);
    scene->recorded.snapshots = 5;
    atomic_store(&scene->header.seen_snapshots, 5);
    atomic_store(&scene->header.undecided, 2000);
    atomic_store(&scene->header.owed, 1);
    decide(scene);
    assert_int_equal(scene->parts.count, 1);
    assert_part(scene, 0, 1000, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(of_a_ring_the_end_is_kept, make, destroy),
        cmocka_unit_test_setup_teardown(of_a_full_execution_all_is_kept, make, destroy),
        cmocka_unit_test_setup_teardown(without_a_hit_the_end_is_kept, make, destroy),
        cmocka_unit_test_setup_teardown(what_was_logged_is_kept_and_what_touches_joined, make,
                                        destroy),
        cmocka_unit_test_setup_teardown(a_hit_since_the_last_step_keeps_the_rest, make, destroy),
        cmocka_unit_test_setup_teardown(what_is_owed_to_the_last_hit_is_kept, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
