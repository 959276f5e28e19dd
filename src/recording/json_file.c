#include "recording/json_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool json_file_write(json_t *root, const char *directory, const char *name, struct error *error)
{
    char *json = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (!json)
        return error_set(error, ERROR_IO, "cannot write %s/%s: out of memory.", directory, name);
    char *text = memory_format("%s\n", json);
    char *path = memory_format("%s/%s", directory, name);
    bool ok = file_replace(path, text, strlen(text), error);
    free(path);
    free(text);
    free(json);
    return ok;
}
