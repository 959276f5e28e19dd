#include "image/image_links.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/image_search.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char debug_symbols[] = "/usr/lib/debug";
/* perf copies the vDSO of its own process to a file there (tools/perf/util/vdso.c), which it looks for below the folder,
 * too. */
static const char perf_vdso[] = "/tmp";

static bool are_all_in_place(const struct address_spaces *spaces)
{
    for (size_t i = 0; i < spaces->file_count; i++) {
        const struct image_file *file = spaces->files[i];
        if (file->local_path && !image_path_is_anonymous(file->path) &&
            strcmp(file->local_path, file->path) != 0)
            return false;
    }
    return true;
}

/* A damaged recording may contain any path; no link may lie outside of the folder. */
static bool stays_below(const char *path)
{
    size_t length = strlen(path);
    bool climbs = strncmp(path, "../", 3) == 0 || strstr(path, "/../") ||
                  (length >= 3 && strcmp(path + length - 3, "/..") == 0) || strcmp(path, "..") == 0;
    return !climbs && length < PATH_MAX && !image_path_is_anonymous(path);
}

static void make_link(const char *folder, const char *recorded, const char *target)
{
    char *path = memory_format("%s/%s", folder, recorded);
    char *slash = strrchr(path, '/');
    *slash = 0;
    bool has_folder = file_make_directories(path, NULL);
    *slash = '/';
    /* Of two files that were recorded under one path, perf can only ever find one: the first. */
    if (has_folder && symlink(target, path) != 0 && errno != EEXIST)
        log_warning("%s could not be put where perf finds it (%s): perf may miss its code.", target,
                    strerror(errno));
    free(path);
}

static void link_image(const char *folder, const struct image_file *file)
{
    char *target = file->local_path ? realpath(file->local_path, NULL) : NULL;
    if (target && stays_below(file->path))
        make_link(folder, file->path, target);
    free(target);
}

bool image_links_make(char **folder, const struct address_spaces *spaces, struct error *error)
{
    *folder = NULL;
    if (are_all_in_place(spaces))
        return true;
    const char *parent = getenv("TMPDIR");
    char *template = memory_format("%s/magic_trace_images.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(template)) {
        error_set_errno(error, ERROR_IO, errno,
                        "Making the folder %s, in which perf finds the recording's images, "
                        "failed (set TMPDIR to a writable folder)",
                        template);
        free(template);
        return false;
    }
    for (size_t i = 0; i < spaces->file_count; i++)
        link_image(template, spaces->files[i]);
    /* perf looks there for the symbols of distributions' libraries. These links are made last, because
     * none of our files may be created below them. */
    if (access(debug_symbols, R_OK) == 0)
        make_link(template, debug_symbols, debug_symbols);
    make_link(template, perf_vdso, perf_vdso);
    *folder = template;
    return true;
}

void image_links_remove(char *folder)
{
    if (folder)
        file_remove_tree(folder, NULL);
    free(folder);
}
