#include "recording/perf_data/tracing_data.h"

#include <string.h>

struct switch_format switch_format_usual(void)
{
    return (struct switch_format){.next_tid = 56};
}

struct text {
    const char *begin, *end;
};

/* What follows `word` in `text`, an empty text when it is not there. */
static struct text after(struct text text, const char *word)
{
    size_t length = strlen(word), size = (size_t)(text.end - text.begin);
    const char *found = size ? memmem(text.begin, size, word, length) : NULL;
    return (struct text){found ? found + length : text.end, text.end};
}

void switch_format_find(struct switch_format *format, const uint8_t *tracing_data, size_t size)
{
    struct text text = {(const char *)tracing_data, (const char *)tracing_data + size};
    text = after(text, "name: sched_switch\n");
    text = after(text, " next_pid;");
    text = after(text, "offset:");
    /* A raw sample has at most 64 KiB. */
    uint32_t offset = 0;
    const char *at = text.begin;
    for (; at < text.end && *at >= '0' && *at <= '9' && offset < 65536; at++)
        offset = offset * 10 + (uint32_t)(*at - '0');
    if (at > text.begin && offset < 65536)
        format->next_tid = offset;
}
