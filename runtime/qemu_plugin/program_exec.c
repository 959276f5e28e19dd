#include "runtime/qemu_plugin/program_exec.h"

#include "base/file.h"
#include "engine/engine.h"
#include "engine/packets/private_file.h"
#include "engine/qemu/environment.h"
#include "engine/qemu/qemu_arguments.h"
#include "process/script.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    DEEPEST_SCRIPTS = 5, /* interpreters in a row; exec_binprm() in fs/exec.c */
    MOST_ARGUMENTS = 1 << 20,
    MOST_SEGMENTS = 128,
    WORD = 8, /* bytes */
};

/* --- The guest's memory, which need not be there --- */

static bool read_memory(const struct exec_call *call, uint64_t address, void *bytes, size_t size)
{
    struct iovec local = {bytes, size};
    struct iovec remote = {(void *)(uintptr_t)(address + call->guest_base), size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool read_string(const struct exec_call *call, uint64_t address, char *string, size_t size)
{
    for (size_t used = 0; used < size;) {
        /* Not across a page's end in one go: the next one may be missing. */
        size_t step = QEMU_PAGE - (address + used) % QEMU_PAGE;
        if (step > size - used)
            step = size - used;
        if (!read_memory(call, address + used, string + used, step))
            return false;
        if (memchr(string + used, 0, step))
            return true;
        used += step;
    }
    return false;
}

/* Counts the pointers before the NULL; -1 when they cannot be read. A NULL array is empty
 * (fs/exec.c). */
static long count_pointers(const struct exec_call *call, uint64_t array)
{
    uint64_t pointer;
    if (array == 0)
        return 0;
    for (long count = 0; count < MOST_ARGUMENTS; count++) {
        if (!read_memory(call, array + (uint64_t)count * WORD, &pointer, sizeof pointer))
            return -1;
        if (pointer == 0)
            return count;
    }
    return -1;
}

/* --- Which file --- */

/* The name of the open file, when it still has it. */
static bool name_of_descriptor(int descriptor, char *path, size_t size)
{
    char link[64];
    struct stat wanted, found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0 || path[0] != '/')
        return false;
    path[length] = 0;
    return fstat(descriptor, &wanted) == 0 && stat(path, &found) == 0 &&
           file_is_same(&wanted, &found);
}

/* The number of N in /proc/self/fd/N and /dev/fd/N, -1 for other paths. */
static int descriptor_named_by(const char *path)
{
    int descriptor, length = 0;
    if ((sscanf(path, "/proc/self/fd/%d%n", &descriptor, &length) == 1 ||
         sscanf(path, "/dev/fd/%d%n", &descriptor, &length) == 1) &&
        path[length] == 0)
        return descriptor;
    return -1;
}

/* Whether qemu, too, will find a file by this path: not when that leads through a descriptor which
 * execve closes. Such a file is named by its own path then, if it has one. */
static bool outlives_exec(struct exec_program *program)
{
    char own_path[PATH_MAX];
    int descriptor = descriptor_named_by(program->path);
    int flags = descriptor < 0 ? 0 : fcntl(descriptor, F_GETFD);
    if (flags < 0 || !(flags & FD_CLOEXEC))
        return true;
    if (!name_of_descriptor(descriptor, own_path, sizeof own_path))
        return false;
    strcpy(program->path, own_path);
    return true;
}

/* The name under which the new qemu, which has no more than the program's inherited descriptors,
 * finds it. */
static bool resolve_path(const struct exec_call *call, struct exec_program *program)
{
    char given[PATH_MAX];
    if (!read_string(call, call->path, given, sizeof given))
        return false;
    bool by_descriptor = given[0] == 0 && (call->flags & AT_EMPTY_PATH);
    if (given[0] == 0 && !by_descriptor)
        return false;
    if (given[0] == '/' || (call->directory == AT_FDCWD && !by_descriptor)) {
        /* qemu takes a leading dash for an option. */
        int length = snprintf(program->path, sizeof program->path, "%s%s",
                              given[0] == '-' ? "./" : "", given);
        return length < (int)sizeof program->path;
    }
    char link[64], folder[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", call->directory);
    ssize_t length = readlink(link, folder, sizeof folder - 1);
    if (length <= 0 || folder[0] != '/')
        return false;
    folder[length] = 0;
    int whole = by_descriptor
                    ? snprintf(program->path, sizeof program->path, "%s", folder)
                    : snprintf(program->path, sizeof program->path, "%s/%s", folder, given);
    struct stat wanted, found;
    return whole < (int)sizeof program->path &&
           fstatat(call->directory, given, &wanted, by_descriptor ? AT_EMPTY_PATH : 0) == 0 &&
           stat(program->path, &found) == 0 && file_is_same(&wanted, &found);
}

static bool may_run(const char *path, struct stat *status)
{
    return stat(path, status) == 0 && S_ISREG(status->st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Running it would change who the process is. */
static bool changes_privileges(const char *path, const struct stat *status)
{
    bool set_user = (status->st_mode & S_ISUID) && status->st_uid != geteuid();
    bool set_group =
        (status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) && status->st_gid != getegid();
    return set_user || set_group || getxattr(path, "security.capability", NULL, 0) > 0;
}

/* --- ELF --- */

static bool is_elf(const unsigned char *head)
{
    return memcmp(head, ELFMAG, SELFMAG) == 0;
}

static bool is_x86_64(const Elf64_Ehdr *header)
{
    return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_machine == EM_X86_64 &&
           (header->e_type == ET_EXEC || header->e_type == ET_DYN) &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= MOST_SEGMENTS;
}

static bool interpreter_may_run(int descriptor, const Elf64_Phdr *segment)
{
    char path[PATH_MAX] = {0};
    struct stat status;
    return segment->p_filesz > 1 && segment->p_filesz < sizeof path &&
           pread(descriptor, path, segment->p_filesz, (off_t)segment->p_offset) ==
               (ssize_t)segment->p_filesz &&
           may_run(path, &status);
}

/* Whether its dynamic linker is there: else the kernel says ENOENT, but qemu dies. */
static bool dynamic_linker_is_there(int descriptor, const Elf64_Ehdr *header)
{
    Elf64_Phdr segments[MOST_SEGMENTS];
    ssize_t size = (ssize_t)(header->e_phnum * sizeof *segments);
    if (pread(descriptor, segments, (size_t)size, (off_t)header->e_phoff) != size)
        return false;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            return interpreter_may_run(descriptor, &segments[i]);
    return true;
}

static enum exec_verdict judge_elf(int descriptor, const unsigned char *head, const char *path,
                                   const struct stat *status)
{
    Elf64_Ehdr header;
    memcpy(&header, head, sizeof header);
    if (!is_x86_64(&header) || changes_privileges(path, status))
        return EXEC_FOREIGN;
    return dynamic_linker_is_there(descriptor, &header) ? EXEC_TRACEABLE : EXEC_FAILING;
}

/* --- Scripts --- */

/* Puts a word in front of those that are there. */
static bool insert_word(struct exec_program *program, const char *word)
{
    size_t size = strlen(word) + 1;
    if (program->words_used + size > sizeof program->words)
        return false;
    memmove(program->words + size, program->words, program->words_used);
    memcpy(program->words, word, size);
    program->words_used += size;
    program->inserted++;
    return true;
}

/* The script at program->file is given to its interpreter: INTERPRETER [ARGUMENT] FILE. */
static bool insert_interpreter(struct exec_program *program, const struct script_line *line)
{
    if (!insert_word(program, program->file) ||
        (line->argument && !insert_word(program, line->argument)))
        return false;
    /* The interpreter's own name becomes argv[0], unless it is a script itself: see exec_run. */
    strcpy(program->file, line->interpreter);
    return true;
}

enum exec_verdict exec_judge(const struct exec_call *call, struct exec_program *program)
{
    *program = (struct exec_program){0};
    if (!resolve_path(call, program))
        return EXEC_FAILING;
    struct stat status;
    if ((call->flags & AT_SYMLINK_NOFOLLOW) &&
        (lstat(program->path, &status) != 0 || S_ISLNK(status.st_mode)))
        return EXEC_FAILING;
    if (!outlives_exec(program))
        return may_run(program->path, &status) ? EXEC_FOREIGN : EXEC_FAILING;
    strcpy(program->file, program->path);
    for (int depth = 0; depth <= DEEPEST_SCRIPTS; depth++) {
        if (!may_run(program->file, &status))
            return EXEC_FAILING;
        int descriptor = private_file_open(program->file, O_RDONLY);
        if (descriptor < 0)
            return EXEC_FOREIGN; /* may be run, but not read: qemu could not load it */
        unsigned char head[SCRIPT_HEAD_SIZE] = {0};
        ssize_t size = pread(descriptor, head, sizeof head, 0);
        enum exec_verdict verdict = EXEC_FAILING;
        bool elf = size >= (ssize_t)sizeof(Elf64_Ehdr) && is_elf(head);
        if (elf)
            verdict = judge_elf(descriptor, head, program->file, &status);
        close(descriptor);
        if (elf)
            return verdict;
        struct script_line line;
        if (size <= 0 || !script_line_parse(&line, head) || !insert_interpreter(program, &line))
            return EXEC_FAILING;
    }
    return EXEC_FAILING;
}

/* --- qemu's command line --- */

static char *plugin_option(const struct qemu_options *options, const char *directory, uint64_t time,
                           const char *name)
{
    char *option =
        malloc(qemu_arguments_quoted_size(options->plugin) + qemu_arguments_quoted_size(directory) +
               qemu_arguments_quoted_size(name) + 64);
    if (!option)
        return NULL;
    char *end = qemu_words_put_quoted(stpcpy(option, "file="), options->plugin);
    end = qemu_words_put_quoted(stpcpy(end, ",dir="), directory);
    end += sprintf(end, ",exec=%llx,name=", (unsigned long long)time);
    qemu_words_put_quoted(end, name);
    return option;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The guest's pointers, as ours. */
static bool copy_pointers(const struct exec_call *call, char **out, uint64_t array, long first,
                          long count)
{
    for (long i = first; i < count; i++) {
        uint64_t pointer;
        if (!read_memory(call, array + (uint64_t)i * WORD, &pointer, sizeof pointer))
            return false;
        *out++ = (char *)(uintptr_t)(pointer + call->guest_base);
    }
    *out = NULL;
    return true;
}

void exec_run(const struct exec_call *call, const struct exec_program *program,
              const struct qemu_options *options, const char *directory, uint64_t time)
{
    enum { OUR_WORDS = 16 };
    long argument_count = count_pointers(call, call->arguments);
    long variable_count = count_pointers(call, call->environment);
    if (argument_count < 0 || variable_count < 0)
        return;
    char **arguments =
        calloc((size_t)argument_count + program->inserted + OUR_WORDS, sizeof *arguments);
    char **environment = calloc((size_t)variable_count + 1, sizeof *environment);
    char *option = plugin_option(options, directory, time, base_name(program->path));
    char stack[32], empty[] = "";
    snprintf(stack, sizeof stack, "%llu", qemu_words_stack_size());
    if (arguments && environment && option) {
        char **next = arguments;
        *next++ = (char *)options->qemu;
        *next++ = (char *)"-L";
        *next++ = (char *)"/";
        *next++ = (char *)"-s";
        *next++ = stack;
        if (options->clock == RECORD_CLOCK_INSTRUCTIONS) {
            *next++ = (char *)"-seed";
            *next++ = (char *)"1";
        }
        *next++ = (char *)"-plugin";
        *next++ = option;
        *next++ = (char *)"-0";
        /* Scripts: argv[0] is the interpreter, and the script's argv[0] is lost. Linux gives an
         * empty argv one empty word. */
        bool ok = true;
        if (program->inserted > 0)
            *next++ = (char *)program->file;
        else if (argument_count == 0)
            *next++ = empty;
        else
            ok = copy_pointers(call, next++, call->arguments, 0, 1);
        *next++ = (char *)program->file;
        const char *word = program->words;
        for (unsigned i = 0; i < program->inserted; i++, word += strlen(word) + 1)
            *next++ = (char *)word;
        ok = ok && copy_pointers(call, next, call->arguments, 1, argument_count) &&
             copy_pointers(call, environment, call->environment, 0, variable_count);
        if (ok) {
            environment_reverse(environment, (size_t)variable_count);
            execve(options->qemu, arguments, environment);
        }
    }
    free(arguments);
    free(environment);
    free(option);
}
