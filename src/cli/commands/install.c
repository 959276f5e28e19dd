/* magic-trace install: puts the program, and the files that it carries, into the folders of a system or a user. */
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/own_file.h"
#include "cli/command.h"
#include "cli/installed_files.h"
#include "cli/manual/page_template.h"
#include "cli/options/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755, FILE_MODE = 0644, PROGRAM_MODE = 0755 };

/* Unlike file_make_directories(): for all to read. */
static bool make_folder_of(const char *path, struct error *error)
{
    char *folder = memory_copy_string(path);
    bool ok = true;
    for (char *slash = folder; ok && (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = 0;
        ok = mkdir(folder, FOLDER_MODE) == 0 || errno == EEXIST;
        if (!ok)
            error_set_errno(error, ERROR_IO, errno, "cannot make the folder %s", folder);
    }
    free(folder);
    return ok;
}

/* The new file has another name until it is whole: programs that run from the old one go on. */
static bool write_file(const char *path, const void *bytes, size_t size, mode_t mode,
                       struct error *error)
{
    char *whole = memory_format("%s.new", path);
    int descriptor = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor < 0)
        error_set_errno(error, ERROR_IO, errno, "cannot write %s", whole);
    bool ok = descriptor >= 0 && file_write_all(descriptor, bytes, size, whole, error);
    if (ok && (fchmod(descriptor, mode) != 0 || rename(whole, path) != 0))
        ok = error_set_errno(error, ERROR_IO, errno, "cannot write %s", path);
    if (descriptor >= 0)
        close(descriptor);
    if (descriptor >= 0 && !ok)
        unlink(whole);
    free(whole);
    return ok;
}

static bool write_link(const char *path, const char *target, struct error *error)
{
    if ((unlink(path) == 0 || errno == ENOENT) && symlink(target, path) == 0)
        return true;
    return error_set_errno(error, ERROR_IO, errno, "cannot make the link %s", path);
}

/* A template's page: `path` is the page's. */
static bool write_page(const char *path, const struct installed_file *file, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *page_template = fmemopen((void *)file->bytes, file->size, "r");
    FILE *page = open_memstream(&text, &size);
    bool ok = page_template && page && page_template_fill(page, page_template);
    if (page_template)
        fclose(page_template);
    ok = page && fclose(page) == 0 && ok;
    ok = ok ? write_file(path, text, size, FILE_MODE, error)
            : error_set(error, ERROR_FORMAT, "cannot make the man page %s", path);
    free(text);
    return ok;
}

static bool write_installed(const char *prefix, const struct installed_file *file,
                            struct error *error)
{
    static const char suffix[] = ".in";
    char *path = memory_format("%s/%s", prefix, file->path);
    size_t length = strlen(path) - strlen(suffix);
    bool is_template = strcmp(path + length, suffix) == 0, ok = make_folder_of(path, error);
    if (is_template)
        path[length] = 0;
    if (ok && file->link)
        ok = write_link(path, file->link, error);
    else if (ok && is_template)
        ok = write_page(path, file, error);
    else if (ok)
        ok = write_file(path, file->bytes, file->size, FILE_MODE, error);
    free(path);
    return ok;
}

/* The program that runs. */
static bool write_program(const char *prefix, struct error *error)
{
    char *path = memory_format("%s/bin/magic-trace", prefix), *own = own_file_binary();
    struct file_view view = {0};
    bool ok = own ? file_map(&view, own, error)
                  : error_set_errno(error, ERROR_IO, errno, "cannot find this program's own file");
    ok = ok && make_folder_of(path, error) &&
         write_file(path, view.bytes, view.size, PROGRAM_MODE, error);
    file_unmap(&view);
    free(own);
    free(path);
    return ok;
}

static bool install(const char *prefix, struct error *error)
{
    bool ok = write_program(prefix, error);
    for (size_t i = 0; ok && i < installed_file_count; i++)
        ok = write_installed(prefix, &installed_files[i], error);
    return ok;
}

/* Root's is /usr/local, users' ~/.local. The caller frees; NULL: there is no home. */
static char *default_prefix(void)
{
    const char *home = getenv("HOME");
    if (geteuid() == 0)
        return memory_copy_string("/usr/local");
    return home && *home == '/' ? memory_format("%s/.local", home) : NULL;
}

static bool is_in_path(const char *folder)
{
    const char *path = getenv("PATH");
    size_t length = strlen(folder);
    for (const char *at = path; at && *at; at += strspn(at, ":")) {
        size_t part = strcspn(at, ":");
        if (part == length && strncmp(at, folder, length) == 0)
            return true;
        at += part;
    }
    return false;
}

static void say_result(const char *prefix)
{
    char *folder = memory_format("%s/bin", prefix);
    log_status("magic-trace " MAGIC_TRACE_VERSION " and its %zu files are below %s.",
               installed_file_count, prefix);
    if (!is_in_path(folder))
        log_status("%s is not in PATH: call %s/magic-trace, or add it.", folder, folder);
    free(folder);
}

struct install_request {
    const char *prefix;
};

static const struct option_spec install_options[] = {
    {.name = "prefix",
     .argument = "DIR",
     .help = "below this folder; default: /usr/local for root,\n~/.local for others",
     .manual = "Install below this folder; by default, /usr/local for root and `~/.local` for "
               "others.",
     .apply = option_set_text,
     .field = offsetof(struct install_request, prefix)},
    {0},
};
static const struct option_group install_groups[] = {{install_options, 0}, {0}};

static int run_install(const struct command *self, int argc, char **argv)
{
    struct install_request request = {0};
    int status = command_read_options_alone(self, argc, argv, &request);
    if (status != COMMAND_GOES_ON)
        return status;
    if (request.prefix && !*request.prefix)
        return command_usage_error(self, "-prefix is a folder, and it is empty.");
    char *prefix = request.prefix ? memory_copy_string(request.prefix) : default_prefix();
    if (!prefix)
        return command_usage_error(self, "there is no home directory: HOME is not set. Say where "
                                         "to install with -prefix.");
    struct error error = {0};
    bool ok = install(prefix, &error);
    if (ok)
        say_result(prefix);
    free(prefix);
    return ok ? 0 : command_fail(&error);
}

const struct command install_command = {
    .name = "install",
    .summary = "put this program and what belongs to it where it is found",
    .operands = "",
    .description =
        "Copies this program to PREFIX/bin, and unpacks what it carries within itself: man\n"
        "pages, completion for bash, zsh and fish, the client library with its header and\n"
        "pkg-config file, and what qemu and perf load. Nothing of it is needed to record\n"
        "and to view traces.\n",
    .options = install_groups,
    .run = run_install,
};
