/* Whose code a file holds: by what the file says, and by its name when it is not here. */
#include "image/code_owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

static void names_report_whose_code_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum code_owner owner;
    } CASES[] = {
        {"/usr/bin/prog", CODE_OF_PROGRAM},
        {"prog", CODE_OF_PROGRAM},
        {"/opt/my.soft/prog", CODE_OF_PROGRAM},
        {"/usr/lib/libm.so.6", CODE_OF_LIBRARY},
        {"/usr/lib/libm.so", CODE_OF_LIBRARY},
        {"/usr/lib/libm.so.6 (deleted)", CODE_OF_LIBRARY},
        {"libcrypto.so.3", CODE_OF_LIBRARY},
        {"[vdso]", CODE_OF_LIBRARY},
        {"[vsyscall]", CODE_OF_LIBRARY},
        {"[kernel.kallsyms]", CODE_OF_KERNEL},
        {"[kernel.kallsyms]_text", CODE_OF_KERNEL},
        {"[guest.kernel.kallsyms]", CODE_OF_KERNEL},
        {"[nf_tables]", CODE_OF_KERNEL},
        {"/usr/lib/debug/boot/vmlinux-6.1.0", CODE_OF_KERNEL},
        {"/lib/modules/6.1/fs/nfs.ko", CODE_OF_KERNEL},
        {"/lib/modules/6.1/fs/nfs.ko.xz", CODE_OF_KERNEL},
        {"/home/me/kosher.kor", CODE_OF_PROGRAM},
        {"[heap]", CODE_OF_PROGRAM},
        {"[stack]", CODE_OF_PROGRAM},
        {"[anon:v8]", CODE_OF_PROGRAM},
        {"[unknown]", CODE_OF_PROGRAM},
        {"[JIT] tid 7", CODE_OF_PROGRAM},
        {"//anon", CODE_OF_PROGRAM},
        {"/tmp/.debug/jit/java/jitted-12-3.so", CODE_OF_PROGRAM},
        {"", CODE_OF_PROGRAM},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (code_owner_of_path(CASES[i].path) != CASES[i].owner)
            fail_msg("%s is not what was expected", CASES[i].path);
    assert_int_equal(code_owner_of_path(NULL), CODE_OF_PROGRAM);
}

/* With `recorded_path`, which must not decide. */
static enum code_owner owner_of_object(const char *local_path, const char *recorded_path)
{
    struct arena memory = {0};
    struct image_file file = {.path = recorded_path, .local_path = local_path};
    assert_true(image_file_open(&file, &memory, NULL));
    enum code_owner owner = code_owner_of_file(&file);
    image_file_close(&file);
    arena_free(&memory);
    return owner;
}

static const char *path_of_library(void)
{
    Dl_info library;
    assert_true(dladdr((void *)(uintptr_t)strtoull, &library));
    return library.dli_fname;
}

static void objects_say_themselves_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(owner_of_object("/proc/self/exe", "/plugins/a.so"), CODE_OF_PROGRAM);
    /* The C library can be run and wants a loader, as programs do. */
    assert_int_equal(owner_of_object(path_of_library(), "/usr/bin/prog"), CODE_OF_LIBRARY);
    assert_int_equal(owner_of_object("/lib64/ld-linux-x86-64.so.2", "/x"), CODE_OF_LIBRARY);
    assert_int_equal(owner_of_object("/proc/self/exe", "[kernel.kallsyms]"), CODE_OF_KERNEL);
    assert_int_equal(owner_of_object(path_of_library(), "jitted-1-2.so"), CODE_OF_PROGRAM);
}

static void what_is_no_object_goes_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(owner_of_object("/etc/passwd", "/lib/libgone.so.1"), CODE_OF_LIBRARY);
    const struct image_file missing = {.path = "/lib/libgone.so.1"};
    assert_int_equal(code_owner_of_file(&missing), CODE_OF_LIBRARY);
    const struct image_file dumped = {.path = "/rec/images/jit-1", .jit = true, .elf = true};
    assert_int_equal(code_owner_of_file(&dumped), CODE_OF_PROGRAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_report_whose_code_it_is),
        cmocka_unit_test(objects_say_themselves_what_they_are),
        cmocka_unit_test(what_is_no_object_goes_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
