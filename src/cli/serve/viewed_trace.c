#include "cli/serve/viewed_trace.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/recording_folder.h"
#include "cli/salvage.h"
#include "cli/span_input.h"
#include "index/build/index_builder.h"
#include "recording/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the trace comes from. */
struct trace_origin {
    const char *path; /* as the user gave it */
    char *file;       /* by which an index made before is known; NULL: none. Owned */
    bool is_recording;
};

/* Without symbolic links, so that no index is put beside /dev/stdin. NULL: no regular file. The caller
 * frees. */
static char *regular_file(const char *path)
{
    struct stat status;
    bool is_regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return is_regular ? realpath(path, NULL) : NULL;
}

/* The file of a recording that has its packets or samples, or its text; NULL when it comes from a
 * pipe. The caller frees. */
static char *recorded_file(const char *path)
{
    struct recording recording;
    if (!recording_open(&recording, path, NULL))
        return regular_file(path);
    char *file = regular_file(recording.files[0]);
    recording_close(&recording);
    return file;
}

/* A recording that a killed magic-trace left is finished first: only then it has its file. */
static bool find_origin(struct trace_origin *origin, const char *path, struct error *error)
{
    *origin = (struct trace_origin){.path = path, .is_recording = span_input_is_recording(path)};
    if (origin->is_recording) {
        if (!salvage(path, error))
            return false;
        origin->file = recorded_file(path);
    } else {
        origin->file = regular_file(path);
    }
    return true;
}

/* The spans of an input, which end as its damage says, if it has any, so that the index records it.
 */
struct honest_input {
    struct span_input input;
    struct span_event room;
};

static size_t take_or_damage(struct span_source *source, const struct span_event **events,
                             struct error *error)
{
    struct honest_input *honest = source->context;
    size_t count = span_source_take(honest->input.source, &honest->room, events, error);
    source->function_count = honest->input.source->function_count;
    const struct error *damage = span_input_damage(&honest->input);
    if (count == 0 && error->code == ERROR_NONE && damage)
        *error = *damage;
    return count;
}

static bool index_input(const char *path, bool no_inlined, const char *index, uint64_t id,
                        struct error *error)
{
    struct honest_input honest;
    if (!span_input_open(&honest.input, path, no_inlined, error))
        return false;
    struct span_source source = *honest.input.source;
    source.context = &honest;
    source.take = take_or_damage; /* which is all that index_build() asks */
    bool ok = index_build(&source, index, id, error);
    span_input_close(&honest.input);
    return ok;
}

static bool index_spans(void *context, const char *index, uint64_t id, struct error *error)
{
    return index_input(context, false, index, id, error);
}

/* An index that is not kept: of what cannot be read twice, or of calls alone. It is mapped, so its
 * file can go at once. */
static struct trace_index *index_once(const char *path, bool no_inlined, struct error *error)
{
    struct recording_folder folder;
    if (!recording_folder_make(&folder, NULL, error))
        return NULL;
    char *file = memory_format("%s/index", folder.path);
    struct trace_index *index = NULL;
    uint64_t id;
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        error_set_errno(error, ERROR_IO, errno, "cannot get a random number for the index");
    else if (index_input(path, no_inlined, file, id, error))
        index = trace_index_open(file, error);
    free(file);
    recording_folder_remove(&folder);
    return index;
}

static struct trace_index *open_index(const struct trace_origin *origin, struct error *error)
{
    const struct index_maker maker = {.make = index_spans, .context = (char *)origin->path};
    if (!origin->file)
        return index_once(origin->path, false, error);
    return origin->is_recording ? index_of_file(origin->file, &maker, error)
                                : index_of_trace(origin->file, error);
}

static char *name_of(const char *path)
{
    char *whole = realpath(path, NULL);
    const char *slash = whole ? strrchr(whole, '/') : NULL;
    char *name = memory_copy_string(slash && slash[1] ? slash + 1 : path);
    free(whole);
    return name;
}

static void count_lines_of(struct viewed_trace *trace, const char *recording)
{
    trace->line_counter = (struct line_counter){heat_counter_new(recording), heat_counter_count};
}

bool viewed_trace_open(struct viewed_trace *trace, const char *path, struct error *error)
{
    *trace = (struct viewed_trace){0};
    struct trace_origin origin;
    if (!find_origin(&origin, path, error))
        return false;
    trace->index = open_index(&origin, error);
    log_progress_end();
    if (trace->index && !origin.is_recording && origin.file)
        trace->file = memory_copy_string(path);
    if (trace->index && origin.is_recording && origin.file)
        count_lines_of(trace, path);
    if (trace->index)
        trace->name = name_of(path);
    free(origin.file);
    return trace->index;
}

bool viewed_trace_open_called(struct viewed_trace *trace, const char *path, struct error *error)
{
    *trace = (struct viewed_trace){0};
    if (span_input_is_recording(path) && !salvage(path, error))
        return false;
    trace->index = index_once(path, true, error);
    log_progress_end();
    if (trace->index && span_input_is_recording(path) && strcmp(path, "-") != 0)
        count_lines_of(trace, path);
    if (trace->index)
        trace->name = name_of(path);
    return trace->index;
}

void viewed_trace_close(struct viewed_trace *trace)
{
    if (trace->index)
        trace_index_close(trace->index);
    free(trace->name);
    free(trace->file);
    heat_counter_free(trace->line_counter.counter);
    *trace = (struct viewed_trace){0};
}
