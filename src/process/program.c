#include "process/program.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "process/script.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MAX_INTERPRETERS = 5 }; /* exec_binprm() in fs/exec.c: more is ELOOP */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static char *refuse_to_find(const char *name, struct error *error)
{
    const char *path = getenv("PATH");
    bool here = file_is_executable(name);
    error_set(error, ERROR_NOT_FOUND, "cannot find the program %s: looked in %s.%s%s%s", name,
              path ? path : "/bin:/usr/bin (PATH is not set)",
              here ? " To run the one in this folder, write ./" : "", here ? name : "",
              here ? "." : "");
    return NULL;
}

char *program_find(const char *name, struct error *error)
{
    if (*name == 0) {
        error_set(error, ERROR_USAGE, "cannot run a program with an empty name");
        return NULL;
    }
    if (strchr(name, '/'))
        return memory_copy_string(name);
    char *found = file_find_program(name);
    found = found ? found : file_find_in_path(name, exists);
    return found ? found : refuse_to_find(name, error);
}

int program_shell_status(const char *name)
{
    enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };
    char *path = program_find(name, NULL);
    int status = 0;
    if (!path || !exists(path))
        status = NOT_FOUND;
    else if (!file_is_executable(path))
        status = NOT_EXECUTABLE;
    free(path);
    return status;
}

static bool check_file(const char *path, const char *what, struct error *error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                               "cannot run %s", what);
    if (S_ISDIR(status.st_mode))
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot run %s: it is a directory. Name a program in it.", what);
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_UNSUPPORTED, "cannot run %s: it is not a regular file", what);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0) {
        if (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH))
            return error_set_errno(
                error, ERROR_IO, errno,
                "cannot run %s: this user may not execute it, or its file system "
                "is mounted noexec",
                what);
        return error_set(error, ERROR_IO,
                         "cannot run %s: it is not executable. If it is a program, make it so with "
                         "chmod +x.",
                         what);
    }
    return true;
}

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_386, "x86 (i386)"}, {EM_X86_64, "x86-64 (the x32 ABI)"},
        {EM_ARM, "ARM"},        {EM_AARCH64, "AArch64"},
        {EM_RISCV, "RISC-V"},   {EM_PPC, "PowerPC"},
        {EM_PPC64, "PowerPC"},  {EM_MIPS, "MIPS"},
        {EM_S390, "s390"},      {EM_SPARC, "SPARC"},
        {EM_SPARCV9, "SPARC"},  {EM_LOONGARCH, "LoongArch"},
        {EM_68K, "m68k"},       {EM_ALPHA, "Alpha"},
        {EM_BPF, "BPF"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "an unknown machine";
}

/* The ELF class and byte order decide how e_type and e_machine are stored; their offsets are fixed.
 */
static unsigned half_word(const unsigned char *head, size_t offset)
{
    return head[EI_DATA] == ELFDATA2MSB ? (unsigned)head[offset] << 8 | head[offset + 1]
                                        : (unsigned)head[offset + 1] << 8 | head[offset];
}

static bool check_elf_header(const unsigned char *head, const char *what, struct error *error)
{
    unsigned type = half_word(head, offsetof(Elf64_Ehdr, e_type));
    unsigned machine = half_word(head, offsetof(Elf64_Ehdr, e_machine));
    if (head[EI_CLASS] != ELFCLASS64 || machine != EM_X86_64)
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot trace %s: it is a %s-bit program for %s, and magic-trace traces "
                         "64-bit x86-64 programs only%s",
                         what, head[EI_CLASS] == ELFCLASS32 ? "32" : "64", machine_name(machine),
                         machine == EM_386 ? ", but can sample it, by file instead of by function"
                                           : "");
    if (type == ET_REL)
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot run %s: it is an object file. Link it into a program first.",
                         what);
    if (type != ET_EXEC && type != ET_DYN)
        return error_set(error, ERROR_UNSUPPORTED, "cannot run %s: it is %s, not a program", what,
                         type == ET_CORE ? "a core dump" : "an ELF file of an unknown type");
    return true;
}

/* The kernel reports a missing dynamic linker as "No such file" about the program, which misleads
 * users. */
static bool check_dynamic_linker(int descriptor, const unsigned char *head, const char *what,
                                 struct error *error)
{
    Elf64_Ehdr header;
    memcpy(&header, head, sizeof header);
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        return error_set(error, ERROR_FORMAT,
                         "cannot run %s: its ELF header is damaged (program headers of %u bytes)",
                         what, header.e_phentsize);
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        off_t offset = (off_t)(header.e_phoff + i * sizeof segment);
        if (pread(descriptor, &segment, sizeof segment, offset) != (ssize_t)sizeof segment)
            return error_set(
                error, ERROR_FORMAT,
                "cannot run %s: it ends within its ELF program headers. It is damaged; "
                "build or copy it again.",
                what);
        if (segment.p_type != PT_INTERP)
            continue;
        char linker[PATH_MAX];
        ssize_t got = segment.p_filesz && segment.p_filesz <= sizeof linker
                          ? pread(descriptor, linker, segment.p_filesz, (off_t)segment.p_offset)
                          : -1;
        if (got <= 0 || linker[got - 1] != 0)
            return error_set(error, ERROR_FORMAT,
                             "cannot run %s: the name of its dynamic linker is damaged", what);
        if (access(linker, F_OK) != 0)
            return error_set(error, ERROR_NOT_FOUND,
                             "cannot run %s: its dynamic linker %s does not exist. Install the C "
                             "library that it was built for.",
                             what, linker);
        return true;
    }
    return true;
}

bool program_needs_no_privilege(const struct program *program, const char *what,
                                struct error *error)
{
    struct stat status;
    if (stat(program->path, &status) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot read %s", what);
    const char *privilege = NULL;
    if (status.st_mode & S_ISUID)
        privilege = "the setuid bit";
    else if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP))
        privilege = "the setgid bit";
    else if (getxattr(program->path, "security.capability", NULL, 0) > 0)
        privilege = "file capabilities";
    if (!privilege)
        return true;
    return error_set(
        error, ERROR_UNSUPPORTED,
        "cannot trace %s: it has %s, and under qemu it would run without the privileges "
        "that gives. To trace it without them, copy it with cp and trace the copy.",
        what, privilege);
}

static bool check_elf(int descriptor, const unsigned char *head, const char *what,
                      struct error *error)
{
    return check_elf_header(head, what, error) &&
           check_dynamic_linker(descriptor, head, what, error);
}

/* Reads the start of a file, the rest of `head` filled with zeros; a descriptor or -1. */
static int open_head(const char *path, unsigned char head[static SCRIPT_HEAD_SIZE],
                     const char *what, struct error *error)
{
    memset(head, 0, SCRIPT_HEAD_SIZE);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 && pread(descriptor, head, SCRIPT_HEAD_SIZE, 0) >= 0)
        return descriptor;
    error_set_errno(error, ERROR_IO, errno, "cannot run %s: magic-trace must be able to read it",
                    what);
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

static void add_argument(struct array *arguments, const char *argument)
{
    *(char **)array_add(arguments) = memory_copy_string(argument);
}

static void free_arguments(char **arguments)
{
    for (char **argument = arguments; argument && *argument; argument++)
        free(*argument);
    free(arguments);
}

/* The argv of the interpreter: its name, its one argument, the script, the script's arguments. The
 * script's own argv[0] is lost, as with the kernel. */
static void put_interpreter_first(struct program *program, const struct script_line *line)
{
    struct array arguments = array_of(sizeof(char *));
    add_argument(&arguments, line->interpreter);
    if (line->argument)
        add_argument(&arguments, line->argument);
    add_argument(&arguments, program->path);
    for (char **argument = program->arguments + 1; program->arguments[0] && *argument; argument++)
        add_argument(&arguments, *argument);
    array_add(&arguments);
    free_arguments(program->arguments);
    free(program->path);
    program->arguments = arguments.elements;
    program->path = memory_copy_string(line->interpreter);
}

static bool refuse_unknown_format(const unsigned char *head, const char *what, struct error *error)
{
    if (head[0] == 0)
        return error_set(error, ERROR_UNSUPPORTED, "cannot run %s: it is empty or not a program",
                         what);
    return error_set(
        error, ERROR_UNSUPPORTED,
        "cannot run %s: it is neither an ELF program nor a script that begins with #!. If "
        "it is a shell script, make #!/bin/sh its first line.",
        what);
}

/* One step down the chain of interpreters; *done at the ELF file. */
static bool resolve_step(struct program *program, const char *what, bool *done, struct error *error)
{
    if (!check_file(program->path, what, error))
        return false;
    unsigned char head[SCRIPT_HEAD_SIZE];
    int descriptor = open_head(program->path, head, what, error);
    if (descriptor < 0)
        return false;
    struct script_line line;
    bool ok = true;
    if (memcmp(head, ELFMAG, SELFMAG) == 0) {
        ok = check_elf(descriptor, head, what, error);
        *done = true;
    } else if (script_line_parse(&line, head)) {
        put_interpreter_first(program, &line);
    } else {
        ok = refuse_unknown_format(head, what, error);
    }
    close(descriptor);
    return ok;
}

static bool resolve_chain(struct program *program, const char *typed, struct error *error)
{
    char *what = memory_copy_string(typed);
    bool done = false, ok = true;
    for (int depth = 0; ok && !done; depth++) {
        if (depth > MAX_INTERPRETERS) {
            ok = error_set(error, ERROR_UNSUPPORTED,
                           "cannot run %s: more than %d scripts are interpreters of one another",
                           typed, MAX_INTERPRETERS);
            break;
        }
        ok = resolve_step(program, what, &done, error);
        free(what);
        what =
            memory_format("%s, which is the interpreter of the script %s%s", program->path, typed,
                          strchr(program->path, '\r')
                              ? " (whose first line ends in a carriage return: it was saved with "
                                "Windows line ends)"
                              : "");
    }
    free(what);
    return ok;
}

bool program_resolve(struct program *program, char *const *command, struct error *error)
{
    *program = (struct program){0};
    const char *name = command[0];
    char *path = program_find(name, error);
    if (!path)
        return false;
    /* qemu would take a path that begins with a minus for an option. */
    program->path = memory_format("%s%s", *path == '-' ? "./" : "", path);
    free(path);
    struct array arguments = array_of(sizeof(char *));
    for (; *command; command++)
        add_argument(&arguments, *command);
    array_add(&arguments);
    program->arguments = arguments.elements;

    if (resolve_chain(program, name, error)) {
        program->real_path = realpath(program->path, NULL);
        if (program->real_path)
            return true;
        error_set_errno(error, ERROR_IO, errno, "cannot find the folder of %s", program->path);
    }
    program_free(program);
    return false;
}

void program_free(struct program *program)
{
    free(program->path);
    free(program->real_path);
    free_arguments(program->arguments);
    *program = (struct program){0};
}
