/* The folder in which perf finds a recording's images. */
#include "image/image_links.h"

#include "base/memory.h"
#include "image_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A recording's folder with one image of its own, "program", that was recorded as `recorded`. */
struct scene {
    char *folder, *image, *links;
};

static void make_links(struct scene *scene, const char *recorded)
{
    struct recording recording = recording_new();
    struct address_spaces spaces;
    struct error error;
    scene->folder = make_test_folder();
    scene->image = memory_format("%s/images/program", scene->folder);
    write_file(scene->image, "x", 1);
    add_mapping(&recording, 0, 1, 0x1000, 0x2000, 0, recorded);
    struct perf_data data = recording_of(&recording);
    assert_true(address_spaces_build(&spaces, &data, scene->folder, &error));
    assert_true(image_links_make(&scene->links, &spaces, &error));
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void remove_links(struct scene *scene)
{
    char *links = scene->links ? memory_copy_string(scene->links) : NULL;
    image_links_remove(scene->links);
    if (links)
        assert_int_not_equal(access(links, F_OK), 0);
    assert_int_equal(access(scene->image, F_OK), 0);
    free(links);
    free(scene->image);
    remove_test_folder(scene->folder);
}

static void an_image_is_found_below_its_recorded_path(void **state)
{
    static const char *const recorded[] = {"/elsewhere/images/program",
                                           "/gone/images/program (deleted)", "program"};
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        struct scene scene;
        make_links(&scene, recorded[i]);
        assert_non_null(scene.links);
        char *link = memory_format("%s/%s", scene.links, recorded[i]);
        char *found = realpath(link, NULL), *expected = realpath(scene.image, NULL);
        assert_non_null(found);
        assert_string_equal(found, expected);
        free(expected);
        free(found);
        free(link);
        remove_links(&scene);
    }
}

static void files_in_their_places_need_no_links(void **state)
{
    struct scene scene;
    make_links(&scene, "/bin/true");
    assert_null(scene.links);
    remove_links(&scene);
}

static void no_link_leaves_the_folder(void **state)
{
    struct scene scene;
    make_links(&scene, "/../../outside/images/program");
    assert_non_null(scene.links);
    char *outside = memory_format("%s/../../outside", scene.links);
    assert_int_not_equal(access(outside, F_OK), 0);
    free(outside);
    remove_links(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_is_found_below_its_recorded_path),
        cmocka_unit_test(files_in_their_places_need_no_links),
        cmocka_unit_test(no_link_leaves_the_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
