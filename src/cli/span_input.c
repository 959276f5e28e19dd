#include "cli/span_input.h"

#include "base/log.h"
#include "cli/salvage.h"
#include "decode/flow.h"
#include "output/fxt/fxt_reader.h"
#include "stack/spans/called_spans.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool span_input_is_recording(const char *path)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &status) != 0)
        return false;
    if (S_ISDIR(status.st_mode))
        return true;
    /* A pipe must not be read from here: it cannot be read twice. It is taken for a trace. */
    if (!S_ISREG(status.st_mode))
        return false;
    static const char magic[] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
    char head[sizeof magic];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool is = read(descriptor, head, sizeof head) == (ssize_t)sizeof head &&
              memcmp(head, magic, sizeof magic) == 0;
    close(descriptor);
    return is || flow_is_text(path);
}

bool span_input_open(struct span_input *input, const char *path, bool no_inlined,
                     struct error *error)
{
    *input = (struct span_input){0};
    if (!span_input_is_recording(path)) {
        input->source = fxt_read(path, error);
        if (input->source && no_inlined)
            input->source = called_spans(input->source);
        return input->source;
    }
    if (!salvage(path, error))
        return false;
    const struct flow_options flow = {.no_inlined = no_inlined, .progress = log_progress};
    input->timeline = timeline_decode(path, &flow, error);
    log_progress_end();
    if (!input->timeline)
        return false;
    input->source = timeline_spans(input->timeline, error);
    return input->source;
}

bool span_input_filter(struct span_input *input, const struct span_filter_names *names,
                       struct error *error)
{
    if (!names->from)
        return true;
    input->source = span_filter(input->source, names);
    return span_filter_begin(input->source, error);
}

const struct error *span_input_damage(const struct span_input *input)
{
    return input->timeline ? timeline_damage(input->timeline) : NULL;
}

void span_input_close(struct span_input *input)
{
    if (input->source)
        input->source->close(input->source);
    if (input->timeline)
        timeline_free(input->timeline);
    *input = (struct span_input){0};
}
