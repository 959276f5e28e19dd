#include "recording/json_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_text(const char *text, const char *path, struct error *error)
{
    char *temporary_path = memory_format("%s.partial", path);
    int descriptor = file_create_private(temporary_path, error);
    bool ok = descriptor >= 0;
    if (ok) {
        ok = file_write_all(descriptor, text, strlen(text), temporary_path, error);
        if (close(descriptor) != 0 && ok)
            ok = error_set_errno(error, ERROR_IO, errno, "cannot write %s", temporary_path);
        if (ok && rename(temporary_path, path) != 0)
            ok = error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", temporary_path,
                                 path);
        if (!ok)
            unlink(temporary_path);
    }
    free(temporary_path);
    return ok;
}

bool json_file_write(json_t *root, const char *directory, const char *name, struct error *error)
{
    char *json = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (!json)
        return error_set(error, ERROR_IO, "cannot write %s/%s: out of memory.", directory, name);
    char *text = memory_format("%s\n", json);
    char *path = memory_format("%s/%s", directory, name);
    bool ok = write_text(text, path, error);
    free(path);
    free(text);
    free(json);
    return ok;
}
