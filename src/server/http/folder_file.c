#include "server/http/folder_file.h"

#include "base/memory.h"
#include "server/http/content_type.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file's path without links if it lies below the folder; the caller frees. Else NULL. */
static char *resolve(const char *folder, const char *path)
{
    char *root = realpath(folder, NULL);
    if (!root)
        return NULL;
    char *wanted = memory_format("%s/%s", root, path);
    char *found = realpath(wanted, NULL);
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool inside = found && strncmp(found, root, length) == 0 && found[length] == '/';
    free(wanted);
    free(root);
    if (inside)
        return found;
    free(found);
    return NULL;
}

void folder_file_give(int descriptor, const struct stat *status, const char *type,
                      struct http_answer *answer)
{
    answer->type = type;
    answer->descriptor = descriptor;
    answer->file_size = (uint64_t)status->st_size;
    answer->caching = HTTP_REVALIDATED;
    snprintf(answer->etag, sizeof answer->etag, "\"%llx-%llx%09lx\"",
             (unsigned long long)status->st_size, (unsigned long long)status->st_mtim.tv_sec,
             status->st_mtim.tv_nsec);
}

void folder_file_answer(const char *folder, const char *path, struct http_answer *answer)
{
    char *found = resolve(folder, path);
    struct stat status;
    /* Checked before it is opened, since opening a device or a pipe has side effects. */
    int descriptor = found && stat(found, &status) == 0 && S_ISREG(status.st_mode)
                         ? open(found, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                         : -1;
    free(found);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        folder_file_give(descriptor, &status, content_type_of(path), answer);
        return;
    }
    if (descriptor >= 0)
        close(descriptor);
    http_answer_error(answer, HTTP_NOT_FOUND, "there is no file of this name.");
}
