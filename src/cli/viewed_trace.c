#include "cli/viewed_trace.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/recording_folder.h"
#include "cli/span_input.h"
#include "view/index_builder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

/* Whether there is a file that the index can stand beside, and that Perfetto can be given. */
static bool is_trace_file(const char *path)
{
    struct stat status;
    return !span_input_is_recording(path) && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static struct trace_index *index_spans(const char *path, const char *index, struct error *error)
{
    struct span_input input;
    uint64_t id;
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id || !span_input_open(&input, path, error))
        return NULL;
    bool ok = index_build(input.source, index, id, error);
    span_input_close(&input);
    return ok ? trace_index_open(index, error) : NULL;
}

/* The index of what is no trace file: it is mapped, so its file can go at once. */
static struct trace_index *index_once(const char *path, struct error *error)
{
    struct recording_folder folder;
    if (!recording_folder_make(&folder, NULL, error))
        return NULL;
    char *file = memory_format("%s/index", folder.path);
    struct trace_index *index = index_spans(path, file, error);
    free(file);
    recording_folder_remove(&folder);
    return index;
}

static char *name_of(const char *path)
{
    char *whole = realpath(path, NULL);
    const char *slash = whole ? strrchr(whole, '/') : NULL;
    char *name = memory_copy_string(slash && slash[1] ? slash + 1 : path);
    free(whole);
    return name;
}

bool viewed_trace_open(struct viewed_trace *trace, const char *path, struct error *error)
{
    *trace = (struct viewed_trace){0};
    bool is_file = is_trace_file(path);
    trace->index = is_file ? index_of_trace(path, error) : index_once(path, error);
    log_progress_end();
    if (!trace->index)
        return false;
    trace->name = name_of(path);
    trace->file = is_file ? memory_copy_string(path) : NULL;
    return true;
}

void viewed_trace_close(struct viewed_trace *trace)
{
    if (trace->index)
        trace_index_close(trace->index);
    free(trace->name);
    free(trace->file);
    *trace = (struct viewed_trace){0};
}
