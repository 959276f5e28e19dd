/* Finding and checking the program, with files made for it in a temporary folder. */
#include "process/program.h"

#include "base/file.h"

#include <elf.h>
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

static int enter_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/magic-trace-program-XXXXXX");
    *state = mkdtemp(folder);
    return !*state || chdir(folder);
}

static int leave_folder(void **state)
{
    return chdir("/") || !file_remove_tree(*state, NULL);
}

static void write_file(const char *path, const void *bytes, size_t size, mode_t mode)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, bytes, size, path, NULL));
    assert_int_equal(fchmod(descriptor, mode), 0);
    close(descriptor);
}

static void write_script(const char *path, const char *text)
{
    write_file(path, text, strlen(text), 0755);
}

static void write_elf(const char *path, unsigned char class, unsigned machine, unsigned type,
                      mode_t mode)
{
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', class, ELFDATA2LSB, EV_CURRENT},
        .e_type = (Elf64_Half)type,
        .e_machine = (Elf64_Half)machine,
        .e_phentsize = sizeof(Elf64_Phdr),
    };
    write_file(path, &header, sizeof header, mode);
}

/* Resolves argv, which ends with NULL, and expects success. */
static void resolve(struct program *program, char **command)
{
    struct error error = {0};
    if (!program_resolve(program, command, &error))
        fail_msg("%s", error.text);
}

static void expect_refusal(char *name, const char *words)
{
    struct program program;
    struct error error = {0};
    char *command[] = {name, NULL};
    assert_false(program_resolve(&program, command, &error));
    if (!strstr(error.text, words) || !strstr(error.text, name))
        fail_msg("expected \"%s\" and \"%s\" in: %s", words, name, error.text);
}

static void a_name_is_searched_along_path(void **state)
{
    char *old = strdup(getenv("PATH"));
    mkdir("one", 0700);
    mkdir("two", 0700);
    mkdir("one/prog", 0700); /* a folder of that name does not count */
    write_elf("two/prog", ELFCLASS64, EM_X86_64, ET_EXEC, 0755);
    setenv("PATH", "/nowhere:one:two", 1);
    struct program program;
    resolve(&program, (char *[]){"prog", "a b", "", NULL});
    assert_string_equal(program.path, "two/prog");
    assert_true(program.real_path[0] == '/');
    assert_string_equal(program.arguments[0], "prog");
    assert_string_equal(program.arguments[1], "a b");
    assert_string_equal(program.arguments[2], "");
    assert_null(program.arguments[3]);
    program_free(&program);

    expect_refusal("absent", "looked in /nowhere:one:two");
    write_elf("two/closed", ELFCLASS64, EM_X86_64, ET_EXEC, 0644);
    expect_refusal("closed", "not executable");
    setenv("PATH", ":/nowhere", 1); /* the empty element is this folder */
    write_elf("here", ELFCLASS64, EM_X86_64, ET_EXEC, 0755);
    resolve(&program, (char *[]){"here", NULL});
    assert_string_equal(program.path, "./here");
    program_free(&program);
    setenv("PATH", "/nowhere", 1);
    expect_refusal("here", "write ./here");
    setenv("PATH", old, 1);
    free(old);
}

static void a_path_that_looks_like_an_option_is_none(void **state)
{
    mkdir("-x", 0700);
    write_elf("-x/prog", ELFCLASS64, EM_X86_64, ET_DYN, 0755);
    struct program program;
    resolve(&program, (char *[]){"-x/prog", NULL});
    assert_string_equal(program.path, "./-x/prog");
    assert_string_equal(program.arguments[0], "-x/prog");
    program_free(&program);
}

static void scripts_run_their_interpreters(void **state)
{
    write_elf("elf", ELFCLASS64, EM_X86_64, ET_EXEC, 0755);
    write_script("inner", "#!./elf -i two words\n");
    write_script("outer", "#! ./inner\n");
    struct program program;
    resolve(&program, (char *[]){"./outer", "argument", NULL});
    assert_string_equal(program.path, "./elf");
    const char *expected[] = {"./elf", "-i two words", "./inner", "./outer", "argument"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(program.arguments[i], expected[i]);
    assert_null(program.arguments[5]);
    program_free(&program);
}

static void five_interpreters_are_allowed_and_six_are_not(void **state)
{
    write_elf("s0", ELFCLASS64, EM_X86_64, ET_EXEC, 0755);
    for (int i = 1; i <= 6; i++) {
        char name[8], text[16];
        snprintf(name, sizeof name, "s%d", i);
        snprintf(text, sizeof text, "#!./s%d\n", i - 1);
        write_script(name, text);
    }
    struct program program;
    resolve(&program, (char *[]){"./s5", NULL});
    assert_string_equal(program.arguments[5], "./s5");
    program_free(&program);
    expect_refusal("./s6", "more than 5");
    write_script("loop", "#!./loop\n");
    expect_refusal("./loop", "more than 5");
}

static void bad_files_are_refused_with_a_reason(void **state)
{
    expect_refusal("./missing", "No such file");
    expect_refusal("", "empty name");
    mkdir("folder", 0700);
    expect_refusal("./folder", "a directory");
    write_script("text", "echo hello\n");
    expect_refusal("./text", "neither an ELF program nor a script");
    write_script("empty", "");
    expect_refusal("./empty", "empty");
    write_script("orphan", "#!/no/such/interpreter\n");
    expect_refusal("./orphan", "/no/such/interpreter, which is the interpreter of");
    write_script("windows", "#!/bin/sh\r\necho\r\n");
    expect_refusal("./windows", "Windows line ends");
    write_elf("arm", ELFCLASS32, EM_ARM, ET_EXEC, 0755);
    expect_refusal("./arm", "32-bit program for ARM");
    write_elf("arm64", ELFCLASS64, EM_AARCH64, ET_EXEC, 0755);
    expect_refusal("./arm64", "64-bit program for AArch64");
    write_elf("i386", ELFCLASS32, EM_386, ET_EXEC, 0755);
    expect_refusal("./i386", "32-bit program for x86");
    write_elf("object.o", ELFCLASS64, EM_X86_64, ET_REL, 0755);
    expect_refusal("./object.o", "object file");
    write_elf("core", ELFCLASS64, EM_X86_64, ET_CORE, 0755);
    expect_refusal("./core", "core dump");
}

static void expect_privilege(char *name, const char *words)
{
    struct program program;
    struct error error = {0};
    char *command[] = {name, NULL};
    resolve(&program, command);
    assert_false(program_needs_no_privilege(&program, name, &error));
    if (!strstr(error.text, words) || !strstr(error.text, name))
        fail_msg("expected \"%s\" and \"%s\" in: %s", words, name, error.text);
    program_free(&program);
}

static void privileges_of_files_are_named(void **state)
{
    struct program program;
    char *command[] = {"./plain", NULL};
    write_elf("plain", ELFCLASS64, EM_X86_64, ET_EXEC, 0755);
    resolve(&program, command);
    assert_true(program_needs_no_privilege(&program, "plain", NULL));
    program_free(&program);
    write_elf("setuid", ELFCLASS64, EM_X86_64, ET_EXEC, 04755);
    expect_privilege("./setuid", "setuid");
    write_elf("setgid", ELFCLASS64, EM_X86_64, ET_EXEC, 02755);
    expect_privilege("./setgid", "setgid");
}

static void a_missing_dynamic_linker_is_named(void **state)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        char linker[32];
    } file = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = PT_INTERP,
                    .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
                    .p_filesz = sizeof file.linker},
        .linker = "/lib/ld-absent.so.1",
    };
    write_file("strange", &file, sizeof file, 0755);
    expect_refusal("./strange", "/lib/ld-absent.so.1");
    write_file("cut", &file, sizeof file.header + 10, 0755);
    expect_refusal("./cut", "damaged");
    file.segment.p_filesz = UINT64_MAX;
    write_file("damaged", &file, sizeof file, 0755);
    expect_refusal("./damaged", "damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_searched_along_path),
        cmocka_unit_test(a_path_that_looks_like_an_option_is_none),
        cmocka_unit_test(scripts_run_their_interpreters),
        cmocka_unit_test(five_interpreters_are_allowed_and_six_are_not),
        cmocka_unit_test(bad_files_are_refused_with_a_reason),
        cmocka_unit_test(privileges_of_files_are_named),
        cmocka_unit_test(a_missing_dynamic_linker_is_named),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
