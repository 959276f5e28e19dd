#include "cli/commands/checked_recording.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { WHOLE_SNAPSHOT = 1 << 22 };

bool checked_recording_begin(struct checked_recording *recording, const struct engine *engine,
                             const char *program, struct error *error)
{
    *recording = (struct checked_recording){
        .engine = engine,
        .program = program,
        .options = {.full_execution = true, .snapshot_size = WHOLE_SNAPSHOT},
    };
    if (!recording_folder_make(&recording->folder, NULL, error))
        return false;
    recording->options.directory = recording->folder.path;
    recording->work_file = memory_format("%s/work", recording->folder.path);
    return true;
}

void checked_recording_end(struct checked_recording *recording)
{
    if (recording->timeline)
        timeline_free(recording->timeline);
    trigger_free(&recording->options.trigger);
    if (recording->folder.path)
        recording_folder_remove(&recording->folder);
    free(recording->work_file);
    *recording = (struct checked_recording){0};
}

bool checked_recording_find_trigger(struct checked_recording *recording, struct error *error)
{
    const char *object = recording->program;
    return trigger_find(&recording->options.trigger, CHECKED_PLACE_FUNCTION, &object, 1, error);
}

bool checked_recording_make(struct checked_recording *recording, const char *work,
                            struct error *error)
{
    char *command[] = {(char *)(uintptr_t)recording->program,
                       (char *)"doctor",
                       (char *)"-check-program",
                       (char *)work,
                       recording->work_file,
                       NULL};
    recording->options.command = command;
    recording->options.magic_trace_command = command;
    if (recording->engine->serves && !recording->engine->serves(&recording->options, error)) {
        error->code = ERROR_UNSUPPORTED; /* no fault of this machine's */
        return false;
    }
    bool ok = recording->engine->record(&recording->options, &recording->result, error);
    recording->options.command = recording->options.magic_trace_command = NULL;
    if (ok && recording->result.exit_status != 0)
        return error_set(error, ERROR_IO, "the recorded program ended with status %#x",
                         (unsigned)recording->result.exit_status);
    if (ok && !checked_work_read(&recording->done, recording->work_file))
        return error_set(error, ERROR_IO, "the recorded program did not say what it did");
    return ok;
}

/* ---- what the trace shows ---- */

static void count(struct checked_recording *recording, const struct span_event *event,
                  const char *function, uint64_t *begun)
{
    if (event->kind != SPAN_ENTER && event->kind != SPAN_LEAVE)
        return;
    bool is = strcmp(event->function->name, function) == 0;
    if (event->kind == SPAN_LEAVE) {
        if (is && event->time.value - *begun > recording->longest_call)
            recording->longest_call = event->time.value - *begun;
        return;
    }
    recording->kernel_calls += event->address >> 63;
    if (!is)
        return;
    recording->calls++;
    *begun = event->time.value;
}

static bool count_calls(struct checked_recording *recording, const char *function,
                        struct error *error)
{
    struct span_source *source = timeline_spans(recording->timeline, error);
    if (!source)
        return false;
    source->no_lines = true;
    uint64_t *begun = memory_allocate_zeroed((source->track_count + 1) * sizeof *begun);
    struct span_event event;
    while (source->next(source, &event, error))
        count(recording, &event, function, &begun[event.track]);
    for (size_t i = 0; i < source->track_count; i++)
        recording->tracks += begun[i] != 0;
    free(begun);
    source->close(source);
    return error->code == ERROR_NONE;
}

bool checked_recording_decode(struct checked_recording *recording, const char *function,
                              struct error *error)
{
    const struct flow_options options = {0};
    recording->timeline = timeline_decode(recording->folder.path, &options, error);
    if (!recording->timeline || !count_calls(recording, function, error))
        return false;
    recording->statistics = timeline_statistics(recording->timeline);
    return true;
}
