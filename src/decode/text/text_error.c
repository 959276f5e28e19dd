#include "decode/text/text_error.h"

/* Codes of perf's errors come after those of the packet decoder (flow_error_text). */
enum { FIRST_CODE = 200 };

static const struct {
    const char *message;
    enum flow_gap gap;
} messages[] = {
    {"perf reported an error", FLOW_GAP_ERROR}, /* any other message */
    {"Memory allocation failed", FLOW_GAP_ERROR},
    {"Internal error", FLOW_GAP_ERROR},
    {"Bad packet", FLOW_GAP_ERROR},
    {"No more data", FLOW_GAP_ERROR},
    {"Failed to get instruction", FLOW_GAP_NO_IMAGE},
    {"Trace doesn't match instruction", FLOW_GAP_ERROR},
    {"Overflow packet", FLOW_GAP_OVERFLOW},
    {"Lost trace data", FLOW_GAP_LOST},
    {"Unknown error!", FLOW_GAP_ERROR},
    {"Never-ending loop (refer perf config intel-pt.max-loops)", FLOW_GAP_ERROR},
    {"Never-ending loop", FLOW_GAP_ERROR},
    {"Broken EPTW packet", FLOW_GAP_ERROR},
};

enum { MESSAGE_COUNT = sizeof messages / sizeof *messages };

struct text_error text_error_of(struct text_slice message)
{
    size_t found = 0;
    for (size_t i = 1; i < MESSAGE_COUNT; i++)
        if (text_slice_is(message, messages[i].message))
            found = i;
    bool named = messages[found].gap == FLOW_GAP_ERROR;
    return (struct text_error){.gap = messages[found].gap,
                               .error = named ? (uint8_t)(FIRST_CODE + found) : 0};
}

const char *text_error_words(uint8_t error)
{
    return error >= FIRST_CODE && error < FIRST_CODE + MESSAGE_COUNT
               ? messages[error - FIRST_CODE].message
               : NULL;
}
