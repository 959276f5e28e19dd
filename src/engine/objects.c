#include "engine/objects.h"

#include "base/file.h"
#include "base/helper_program.h"
#include "base/memory.h"
#include "process/maps_line.h"
#include "process/process_files.h"
#include "process/processes.h"
#include "process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void add_object(struct objects *objects, const char *path)
{
    for (size_t i = 0; i < objects->paths.count; i++)
        if (strcmp(*(char **)array_at(&objects->paths, i), path) == 0)
            return;
    *(char **)array_add(&objects->paths) = memory_copy_string(path);
}

void objects_free(struct objects *objects)
{
    for (size_t i = 0; i < objects->paths.count; i++)
        free(*(char **)array_at(&objects->paths, i));
    array_free(&objects->paths);
}

/* ---- of a program ---- */

/* The dynamic loader that the program names; NULL: it needs none. The caller frees. */
static char *loader_of(const char *program)
{
    int descriptor = open(program, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = descriptor >= 0 ? elf_begin(descriptor, ELF_C_READ, NULL) : NULL;
    size_t count = 0;
    char *loader = NULL;
    if (elf && elf_getphdrnum(elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && !loader; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP ||
            header.p_filesz == 0 || header.p_filesz > PATH_MAX)
            continue;
        Elf_Data *data =
            elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
        if (data)
            loader = strndup(data->d_buf, data->d_size);
    }
    elf_end(elf);
    if (descriptor >= 0)
        close(descriptor);
    return loader;
}

/* "\tlibc.so.6 => /lib/libc.so.6 (0x...)" or "\t/lib64/ld-linux-x86-64.so.2 (0x...)" */
static void add_listed(struct objects *objects, char *line)
{
    char *path = strstr(line, "=> ");
    path = path ? path + 3 : line + strspn(line, "\t ");
    char *end = strstr(path, " (0x");
    if (!end || *path != '/')
        return;
    *end = 0;
    add_object(objects, path);
}

/* Libraries that the loader cannot list are ignored; the program's start will report why. */
static void add_libraries(struct objects *objects, const char *program)
{
    char *loader = loader_of(program);
    if (!loader)
        return;
    char *const arguments[] = {loader, "--list", (char *)(uintptr_t)program, NULL};
    char *list = helper_program_output(arguments, false);
    char *rest = list;
    for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;)
        add_listed(objects, line);
    free(list);
    free(loader);
}

bool objects_of_command(struct objects *objects, char *const *command, struct error *error)
{
    *objects = (struct objects){.paths = array_of(sizeof(char *))};
    struct program program;
    if (!program_resolve(&program, command, error))
        return false;
    add_object(objects, program.real_path);
    add_libraries(objects, program.real_path);
    program_free(&program);
    return true;
}

/* ---- of a process ---- */

static void add_file(struct objects *objects, pid_t pid, const char *path,
                     const struct stat *mapped)
{
    char *ours = process_file_path(pid, path, mapped);
    add_object(objects, ours);
    free(ours);
}

static void add_mapped(struct objects *objects, pid_t pid, const struct maps_line *line)
{
    const struct stat mapped = {.st_dev = makedev(line->device_major, line->device_minor),
                                .st_ino = line->inode};
    if (maps_line_is_code_of_file(line))
        add_file(objects, pid, line->path, &mapped);
}

static void add_executable(struct objects *objects, pid_t pid, const char *path)
{
    char link[64];
    struct stat executed = {0};
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    stat(link, &executed);
    add_file(objects, pid, path, &executed);
}

bool objects_of_process(struct objects *objects, pid_t pid, struct error *error)
{
    *objects = (struct objects){.paths = array_of(sizeof(char *))};
    char name[64];
    char *path = process_executable(pid);
    if (!path)
        return error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                               "Can't find executable for process %d", (int)pid);
    add_executable(objects, pid, path);
    free(path);
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    char *maps = file_read(name, NULL, error);
    if (!maps)
        return false;
    char *rest = maps;
    for (struct maps_line line; maps_line_next(&rest, &line);)
        add_mapped(objects, pid, &line);
    free(maps);
    return true;
}
