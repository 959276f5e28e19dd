/* speedscope's own format: one evented profile per thread.
 *
 * The format has one profile after the other, so events are spooled by track (track_spool.h). Hits
 * of the trigger are a profile of their own; gaps are frames, as they are spans. The format cannot
 * represent instants, counters, addresses, and why a span ended.
 *
 * Source: https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
 */
#include "base/array.h"
#include "base/memory.h"
#include "output/export/export.h"
#include "output/export/export_events.h"
#include "output/export/track_spool.h"
#include "output/json_quoted.h"
#include "output/text_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct profile {
    bool began;
    uint64_t first, last; /* ns */
};

struct speedscope {
    struct block_writer *out;
    const struct span_source *source;
    struct track_spool spool; /* events as text */
    struct profile *profiles; /* by track; owned */
    struct array frames;      /* of char *: of each frame its JSON; owned */
    struct array frame_of;    /* of uint32_t, by index of the function: its frame + 1; 0: none */
};

/* ------------------------------------------------------------------ frames */

static char *frame_text(const struct span_function *function)
{
    char *name = json_quoted(function->name);
    char *file = function->file ? json_quoted(function->file) : NULL;
    char line[32] = "";
    if (function->line)
        snprintf(line, sizeof line, ",\"line\":%" PRIu32, function->line);
    char *text = memory_format("{\"name\":%s%s%s%s}", name, file ? ",\"file\":" : "",
                               file ? file : "", line);
    free(name);
    free(file);
    return text;
}

static uint32_t frame_of(struct speedscope *speedscope, const struct span_function *function)
{
    while (speedscope->frame_of.count <= function->index)
        array_add(&speedscope->frame_of);
    uint32_t *frame = array_at(&speedscope->frame_of, function->index);
    if (*frame == 0) {
        *(char **)array_add(&speedscope->frames) = frame_text(function);
        *frame = (uint32_t)speedscope->frames.count;
    }
    return *frame - 1;
}

/* ------------------------------------------------------------------ events */

/* Room for an event, which is written from its end. */
enum { EVENT_SIZE_MAX = 40 + 2 * TEXT_DIGITS_MAX };

static inline char *put_before(char *end, const char *text)
{
    size_t length = strlen(text);
    return memcpy(end - length, text, length);
}

static void spool_event(struct speedscope *speedscope, const struct span_event *event)
{
    struct profile *profile = &speedscope->profiles[event->track];
    char text[EVENT_SIZE_MAX], *end = text + sizeof text, *next = end;
    next = put_before(next, "}");
    next = text_digits_before(next, event->time.value);
    next = put_before(next, ",\"at\":");
    next = text_digits_before(next, frame_of(speedscope, event->function));
    next = put_before(next, event->kind == SPAN_ENTER ? "{\"type\":\"O\",\"frame\":"
                                                      : "{\"type\":\"C\",\"frame\":");
    next = put_before(next, profile->began ? ",\n" : "");
    track_spool_put(&speedscope->spool, event->track, next, (size_t)(end - next));
    if (!profile->began)
        profile->first = event->time.value;
    profile->began = true;
    profile->last = event->time.value;
}

static bool put_profile(struct speedscope *speedscope, uint32_t track, struct error *error)
{
    const struct span_track *thread = &speedscope->source->tracks[track];
    const struct profile *profile = &speedscope->profiles[track];
    char *name = memory_format("%s (tid %" PRIu32 ") of %s (pid %" PRIu32 ")", thread->thread_name,
                               thread->tid, thread->process_name, thread->pid);
    char *quoted = json_quoted(name);
    char *head = memory_format("{\"type\":\"evented\",\"name\":%s,\"unit\":\"nanoseconds\","
                               "\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64 ",\"events\":[\n",
                               quoted, profile->first, profile->last);
    text_put(speedscope->out, head);
    free(head);
    free(quoted);
    free(name);
    bool ok = track_spool_copy(&speedscope->spool, track, speedscope->out, error);
    text_put(speedscope->out, "\n]}");
    return ok;
}

static bool put_profiles(struct speedscope *speedscope, struct error *error)
{
    bool any = false, ok = true;
    for (uint32_t i = 0; ok && i < speedscope->source->track_count; i++) {
        if (!speedscope->profiles[i].began)
            continue;
        text_put(speedscope->out, any ? ",\n" : "");
        ok = put_profile(speedscope, i, error);
        any = true;
    }
    return ok;
}

static void put_frames(struct speedscope *speedscope)
{
    for (size_t i = 0; i < speedscope->frames.count; i++) {
        text_put(speedscope->out, i ? ",\n" : "");
        text_put(speedscope->out, *(char **)array_at(&speedscope->frames, i));
    }
}

static bool put_file(struct speedscope *speedscope, const char *name, struct error *error)
{
    char *quoted = json_quoted(name);
    text_put(speedscope->out,
             "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
             "\"exporter\":\"magic-trace\",\"name\":");
    text_put(speedscope->out, quoted);
    text_put(speedscope->out, ",\n\"profiles\":[\n");
    bool ok = put_profiles(speedscope, error);
    text_put(speedscope->out, "\n],\n\"shared\":{\"frames\":[\n");
    put_frames(speedscope);
    text_put(speedscope->out, "\n]}}\n");
    free(quoted);
    return ok;
}

static void free_speedscope(struct speedscope *speedscope)
{
    for (size_t i = 0; i < speedscope->frames.count; i++)
        free(*(char **)array_at(&speedscope->frames, i));
    array_free(&speedscope->frames);
    array_free(&speedscope->frame_of);
    free(speedscope->profiles);
    track_spool_free(&speedscope->spool);
}

static bool write_speedscope(const struct export_trace *trace, struct block_writer *out,
                             struct export_summary *summary, struct error *error)
{
    struct span_source *source = trace->source;
    struct speedscope speedscope = {
        .out = out,
        .source = source,
        .profiles = memory_allocate_zeroed((source->track_count + 1) * sizeof(struct profile)),
        .frames = array_of(sizeof(char *)),
        .frame_of = array_of(sizeof(uint32_t)),
    };
    track_spool_init(&speedscope.spool, source->track_count);
    struct export_events events;
    export_events_init(&events, source, out, summary);
    const struct span_event *event;
    while ((event = export_events_next(&events)))
        if (event->kind == SPAN_ENTER || event->kind == SPAN_LEAVE)
            spool_event(&speedscope, event);
    bool ok = put_file(&speedscope, trace->name, error);
    free_speedscope(&speedscope);
    return export_events_finish(&events, ok ? error : NULL) && ok;
}

const struct export_format export_speedscope = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .summary = "for https://www.speedscope.app",
    .manual = "For https://www.speedscope.app: a time line of each thread, without "
              "instants, counters, and why calls ended.",
    .write = write_speedscope,
};
