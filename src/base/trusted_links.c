#include "base/trusted_links.h"

#include "base/file.h"
#include "base/memory.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* one in another, as in the kernel */

/* Those in /proc belong to the user of the process that they are about, but nobody can make one. */
static bool is_of_proc(const char *path)
{
    struct statfs system;
    char *folder =
        memory_format("%.*s.", (int)(strrchr(path, '/') ? strrchr(path, '/') + 1 - path : 0), path);
    bool is_proc = statfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    free(folder);
    return is_proc;
}

char *link_target(const char *path)
{
    char *target = file_read_link(path);
    const char *slash = strrchr(path, '/');
    if (!target || *target == '/' || !slash)
        return target;
    char *joined = memory_format("%.*s%s", (int)(slash + 1 - path), path, target);
    free(target);
    return joined;
}

static bool check(const char *path, unsigned depth, struct error *error);

/* `part` is the path up to one of its slashes, or all of it. */
static bool check_part(const char *part, unsigned depth, struct error *error)
{
    struct stat status;
    if (lstat(part, &status) != 0 || !S_ISLNK(status.st_mode) || is_of_proc(part))
        return true;
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return error_set(error, ERROR_IO,
                         "cannot write there: %s is a symbolic link of another user (%u), which is "
                         "not followed. "
                         "Remove it, or name another place",
                         part, (unsigned)status.st_uid);
    if (depth == LINKS_MAX)
        return error_set(error, ERROR_IO, "cannot write there: %s is a symbolic link to itself",
                         part);
    char *target = link_target(part);
    bool ok = !target || check(target, depth + 1, error);
    free(target);
    return ok;
}

static bool check(const char *path, unsigned depth, struct error *error)
{
    char *part = memory_copy_string(path);
    bool ok = true;
    for (char *end = part + strspn(part, "/"); ok && *end; end += strspn(end, "/")) {
        end += strcspn(end, "/");
        char cut = *end;
        *end = 0;
        ok = check_part(part, depth, error);
        *end = cut;
    }
    free(part);
    return ok;
}

bool trusted_links(const char *path, struct error *error)
{
    return check(path, 0, error);
}
