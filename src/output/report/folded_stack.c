#include "output/report/folded_stack.h"

#include "base/memory.h"
#include "output/json_quoted.h"
#include "output/report/stack_sums.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_name(const char *name, FILE *stream)
{
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name, stream);
}

static const char *frame_at(const struct array *frames, size_t index)
{
    const char *name = *(const char **)array_at(frames, index);
    return name ? name : STACK_LEFT_OUT;
}

void folded_stack_print(const struct folded_stack *stack, FILE *stream)
{
    print_name(stack->thread, stream);
    fprintf(stream, "-%" PRIu32, stack->tid);
    for (size_t i = stack->frames->count; i-- > 0;) {
        fputc(';', stream);
        print_name(frame_at(stack->frames, i), stream);
    }
    fprintf(stream, " %" PRIu64 "\n", stack->self);
}

/* From the outermost on. */
static char *json_of_frames(const struct array *frames)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return memory_copy_string("[]");
    fputc('[', stream);
    for (size_t i = frames->count; i-- > 0;) {
        char *name = json_quoted(frame_at(frames, i));
        fprintf(stream, "%s%s", i + 1 < frames->count ? ", " : "", name);
        free(name);
    }
    fputc(']', stream);
    fclose(stream);
    return text;
}

void folded_stacks_json_begin(struct json_report *report, FILE *stream, bool sampled,
                              size_t max_bytes)
{
    json_report_begin(report, stream,
                      sampled ? "\"report\": \"stacks\", \"sampled\": true"
                              : "\"report\": \"stacks\", \"sampled\": false",
                      "stacks", max_bytes);
}

char *folded_stack_json(const struct folded_stack *stack, bool sampled)
{
    char *thread = json_member("thread", stack->thread);
    char *frames = json_of_frames(stack->frames);
    char *item = memory_format(
        "{%s, \"tid\": %" PRIu32 ", \"self\": %" PRIu64 ", \"%s\": %" PRIu64 ", \"stack\": %s}",
        thread, stack->tid, stack->self, json_name_of_calls(sampled), stack->calls, frames);
    free(thread);
    free(frames);
    return item;
}
