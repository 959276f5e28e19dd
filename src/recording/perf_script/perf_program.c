#include "recording/perf_script/perf_program.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of perf's messages, which can have one per mapping. */
enum { QUOTED_MAX = 1000 };

char *perf_program_find(void)
{
    const char *name = getenv("MAGIC_TRACE_PERF_PATH");
    if (!name || !*name)
        name = "perf";
    if (!strchr(name, '/'))
        return file_find_program(name);
    return access(name, X_OK) == 0 ? memory_copy_string(name) : NULL;
}

char *perf_program_last_words(int messages)
{
    size_t size = 0;
    char *text = lseek(messages, 0, SEEK_SET) == 0
                     ? file_read_descriptor(messages, "perf", &size, NULL)
                     : NULL;
    if (!text)
        return memory_copy_string("");
    while (size > 0 && strchr(" \n", text[size - 1]))
        text[--size] = 0;
    if (size > QUOTED_MAX)
        memmove(text, text + size - QUOTED_MAX, QUOTED_MAX + 1);
    return text;
}
