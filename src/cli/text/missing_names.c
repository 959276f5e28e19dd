#include "cli/text/missing_names.h"

#include "analysis/missing_names.h"
#include "base/file.h"
#include "base/helper_program.h"
#include "base/log.h"
#include "base/memory.h"
#include "symbol/symbols.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- code of JIT compilers ---- */

/* The program that the process executed last. */
static const char *program_of(const struct process *process)
{
    const char *program = process->name;
    for (size_t i = 0; i < process->change_count; i++) {
        const struct address_space_change *change = &process->changes[i];
        if (change->kind == ADDRESS_SPACE_MAP && change->mapping.file->program)
            program = change->mapping.file->path;
    }
    return base_name(program);
}

static bool was_said(const struct array *unnamed, size_t count, const char *program)
{
    for (size_t i = 0; i < count; i++) {
        const struct unnamed_code *code = array_at(unnamed, i);
        if (!code->file && strcmp(program_of(code->process), program) == 0)
            return true;
    }
    return false;
}

static void print_runtimes(const struct array *unnamed)
{
    for (size_t i = 0; i < unnamed->count; i++) {
        const struct unnamed_code *code = array_at(unnamed, i);
        if (code->file || was_said(unnamed, i, program_of(code->process)))
            continue;
        const char *program = program_of(code->process);
        log_status("Code of a JIT compiler has no names in %s ([JIT code]). What gives them: %s.",
                   program, jit_names_remedy(program));
    }
}

/* ---- objects without symbols ---- */

/* What the package manager's query for the owner of a file prints, up to the end of the package's name. */
static char *package_by(const char *manager, const char *option, const char *end, const char *path)
{
    char *program = file_find_program(manager);
    if (!program)
        return NULL;
    char *words[] = {program, memory_copy_string(option), memory_copy_string(path), NULL};
    char *printed = helper_program_output(words, false);
    free(words[2]);
    free(words[1]);
    free(program);
    size_t length = printed ? strcspn(printed, end) : 0;
    bool found = length > 0 && printed[length] && isalnum((unsigned char)*printed) &&
                 !memchr(printed, ' ', length);
    char *package = found ? memory_format("%.*s", (int)length, printed) : NULL;
    free(printed);
    return package;
}

/* Where / and /usr are merged, a package may know a file by either path. */
static char *debian_package(const char *path)
{
    char *package = package_by("dpkg-query", "-S", ":,\n", path);
    if (package)
        return package;
    static const char usr[] = "/usr";
    bool below_usr = strncmp(path, usr, sizeof usr - 1) == 0;
    char *other =
        below_usr ? memory_copy_string(path + sizeof usr - 1) : memory_format("%s%s", usr, path);
    package = package_by("dpkg-query", "-S", ":,\n", other);
    free(other);
    return package;
}

/* How to get the symbols of a file: where this machine knows it, the package that has them. The caller
 * frees. */
static char *way_to_symbols(const struct image_file *file)
{
    bool is_here = file->local_path && strcmp(file->local_path, file->path) == 0;
    char *real = is_here ? realpath(file->path, NULL) : NULL;
    char *package = real ? debian_package(real) : NULL, *words;
    if (package)
        words = memory_format("install %s-dbgsym or %s-dbg", package, package);
    else if (real && (package = package_by("rpm", "-qf", "\n", real)))
        words = memory_format("dnf debuginfo-install %s", package);
    else
        words =
            memory_copy_string("build it with symbols (not stripped), or install its debug file");
    free(package);
    free(real);
    return words;
}

static void print_object(const struct unnamed_code *code)
{
    const struct image_file *file = code->file;
    char id[BUILD_ID_TEXT_SIZE] = "";
    build_id_format(&file->build_id, id);
    char *way = way_to_symbols(file);
    log_status("Functions of %s%s%s%s have no names but %s+0x...: %s, or decode with "
               "DEBUGINFOD_URLS=SERVER.",
               file->path, *id ? " (build id " : "", id, *id ? ")" : "", base_name(file->path),
               way);
    free(way);
}

static int by_functions(const void *left, const void *right)
{
    const struct unnamed_code *a = left, *b = right;
    return (a->functions < b->functions) - (a->functions > b->functions);
}

void missing_names_print(struct array *unnamed)
{
    enum { MOST_OBJECTS = 3, LEAST_SHARE = 10 };
    if (unnamed->count == 0)
        return;
    qsort(unnamed->elements, unnamed->count, unnamed->element_size, by_functions);
    const struct unnamed_code *first = unnamed->elements;
    for (size_t i = 0; i < unnamed->count && i < MOST_OBJECTS; i++) {
        const struct unnamed_code *code = array_at(unnamed, i);
        if (code->file && code->functions >= first->functions / LEAST_SHARE)
            print_object(code);
    }
    print_runtimes(unnamed);
}
