#include "perf_event/processors.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>

enum { MORE_THAN_THERE_ARE = 1 << 16 };

/* "0-3,8,10-11" */
static bool parse_list(struct array *numbers, const char *text)
{
    while (*text && *text != '\n') {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text)
                return false;
        }
        if (first < 0 || last < first || last >= MORE_THAN_THERE_ARE)
            return false;
        for (long number = first; number <= last; number++)
            *(int *)array_add(numbers) = (int)number;
        text = *end == ',' ? end + 1 : end;
    }
    return numbers->count > 0;
}

bool processors_online(struct array *numbers, const struct kernel *kernel, struct error *error)
{
    char *path = memory_format("%s/devices/system/cpu/online", kernel->sysfs);
    char *text = file_read(path, NULL, error);
    bool ok = text && parse_list(numbers, text);
    if (text && !ok)
        error_set(error, ERROR_FORMAT, "%s says `%.100s`, which is no list of processors", path,
                  text);
    free(text);
    free(path);
    return ok;
}
