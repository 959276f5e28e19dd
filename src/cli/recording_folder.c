#include "cli/recording_folder.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/trusted_links.h"
#include "engine/registry.h"
#include "recording/recording.h"
#include "recording/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool exists_in(const char *folder, const char *name)
{
    char *path = memory_format("%s/%s", folder, name);
    bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

static bool remove_from(const char *folder, const char *name, struct error *error)
{
    char *path = memory_format("%s/%s", folder, name);
    bool ok = file_remove_tree(path, error);
    free(path);
    return ok;
}

/* What recordings consist of: perf.data, perf.data.1, ..., session.json, images/; and what a killed
 * magic-trace left of the first. */
static bool is_recorded(const char *name)
{
    return recording_is_data_name(name) || strcmp(name, "perf.data.partial") == 0 ||
           strcmp(name, "session.json") == 0 || strcmp(name, "images") == 0;
}

static bool remove_older_recording(const char *path, struct error *error)
{
    DIR *entries = opendir(path);
    if (!entries)
        return error_set_errno(error, ERROR_IO, errno, "cannot list the folder %s", path);
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(entries));)
        if (is_recorded(entry->d_name))
            ok = remove_from(path, entry->d_name, error);
    closedir(entries);
    return ok;
}

/* A recording that still runs, or whose magic-trace was killed. */
static bool is_unfinished(const char *path)
{
    const struct engine *engine;
    for (size_t i = 0; (engine = engine_at(i)); i++)
        if (engine->unfinished_name && exists_in(path, engine->unfinished_name))
            return true;
    return false;
}

static bool clear(const char *path, struct error *error)
{
    if (is_unfinished(path))
        return error_set(
            error, ERROR_USAGE,
            "%s holds a recording that is still running, or whose magic-trace was killed. "
            "Save it by `magic-trace decode %s`, or choose another -working-directory.",
            path, path);
    struct session session;
    bool ours = session_read(&session, path, NULL);
    if (ours) {
        session_free(&session);
        return remove_older_recording(path, error);
    }
    if (exists_in(path, "perf.data"))
        return error_set(error, ERROR_USAGE,
                         "%s holds a perf.data that magic-trace did not write, and it would be "
                         "overwritten. Choose another -working-directory.",
                         path);
    return true;
}

const char *recording_folder_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

static bool make_temporary(struct recording_folder *folder, struct error *error)
{
    char *template = memory_format("%s/magic_trace.XXXXXX", recording_folder_parent());
    if (!mkdtemp(template)) {
        error_set_errno(error, ERROR_IO, errno,
                        "cannot make a temporary folder %s (set TMPDIR to a writable one, or give "
                        "-working-directory)",
                        template);
        free(template);
        return false;
    }
    folder->path = realpath(template, NULL);
    folder->temporary = true;
    free(template);
    if (!folder->path)
        return error_set_errno(error, ERROR_IO, errno, "cannot find the temporary folder again");
    return true;
}

bool recording_folder_make(struct recording_folder *folder, const char *wanted, struct error *error)
{
    *folder = (struct recording_folder){0};
    if (!wanted)
        return make_temporary(folder, error);
    if (!trusted_links(wanted, error) || !file_make_directories(wanted, error))
        return false;
    folder->path = realpath(wanted, NULL);
    if (!folder->path)
        return error_set_errno(error, ERROR_IO, errno, "cannot find the folder %s", wanted);
    if (access(folder->path, W_OK | X_OK) != 0)
        error_set_errno(error, ERROR_IO, errno,
                        "cannot write into %s (choose another -working-directory)", folder->path);
    else if (clear(folder->path, error))
        return true;
    recording_folder_keep(folder);
    return false;
}

bool recording_folder_holds_data(const struct recording_folder *folder)
{
    return exists_in(folder->path, "perf.data") || exists_in(folder->path, "perf.data.partial") ||
           is_unfinished(folder->path);
}

void recording_folder_remove(struct recording_folder *folder)
{
    struct error error;
    if (folder->temporary && !file_remove_tree(folder->path, &error))
        log_warning("%s. Remove it by hand: it holds a copy of the program's secrets.", error.text);
    recording_folder_keep(folder);
}

void recording_folder_keep(struct recording_folder *folder)
{
    free(folder->path);
    *folder = (struct recording_folder){0};
}
