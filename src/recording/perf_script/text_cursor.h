/* A position in a part of a text that need not end with a NUL and may hold any bytes.
 *
 * Used by the readers of perf script's text (perf_text.h). The take functions advance it only on
 * success.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_TEXT_CURSOR_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_TEXT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes. */
struct text_slice {
    const char *at;
    size_t size;
};

/* What is left of it. */
struct text_cursor {
    const char *at, *end;
};

static inline struct text_cursor text_cursor_of(struct text_slice text)
{
    return (struct text_cursor){text.at, text.at + text.size};
}

static inline size_t text_left(const struct text_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline bool text_slice_is(struct text_slice text, const char *string)
{
    return text.size == strlen(string) && memcmp(text.at, string, text.size) == 0;
}

static inline bool text_slices_equal(struct text_slice left, struct text_slice right)
{
    return left.size == right.size &&
           (left.size == 0 || left.at == right.at || memcmp(left.at, right.at, left.size) == 0);
}

/* How many bytes come before the last `c`; the size of the text when it has none. */
static inline size_t text_slice_last(struct text_slice text, char c)
{
    size_t before = text.size;
    while (before > 0)
        if (text.at[--before] == c)
            return before;
    return text.size;
}

static inline bool text_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline void text_skip_spaces(struct text_cursor *cursor)
{
    while (cursor->at < cursor->end && text_is_space(*cursor->at))
        cursor->at++;
}

static inline bool text_take(struct text_cursor *cursor, const char *string)
{
    size_t size = strlen(string);
    if (text_left(cursor) < size || memcmp(cursor->at, string, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

/* The next characters up to a space, after spaces; empty at the end. */
static inline struct text_slice text_take_word(struct text_cursor *cursor)
{
    text_skip_spaces(cursor);
    struct text_slice word = {cursor->at, 0};
    while (cursor->at < cursor->end && !text_is_space(*cursor->at))
        cursor->at++;
    word.size = (size_t)(cursor->at - word.at);
    return word;
}

static inline struct text_slice text_slice_trim(struct text_slice text)
{
    while (text.size > 0 && text_is_space(text.at[0]))
        text = (struct text_slice){text.at + 1, text.size - 1};
    while (text.size > 0 && text_is_space(text.at[text.size - 1]))
        text.size--;
    return text;
}

/* The value of a digit in bases up to 16; 16 for anything else. */
static inline unsigned text_digit_value(char c)
{
    if (text_is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* At least one digit of `base`, as many as there are; false also when the number needs more than 64
 * bits. */
static inline bool text_take_number(struct text_cursor *cursor, unsigned base, uint64_t *number)
{
    const char *at = cursor->at;
    uint64_t value = 0;
    for (; at < cursor->end && text_digit_value(*at) < base; at++)
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, text_digit_value(*at), &value))
            return false;
    if (at == cursor->at)
        return false;
    cursor->at = at;
    *number = value;
    return true;
}

/* True when nothing follows, or a space. */
static inline bool text_at_word_end(const struct text_cursor *cursor)
{
    return cursor->at == cursor->end || text_is_space(*cursor->at);
}

/* A whole word of hexadecimal digits. */
static inline bool text_take_address(struct text_cursor *cursor, uint64_t *address)
{
    struct text_cursor copy = *cursor;
    text_skip_spaces(&copy);
    if (!text_take_number(&copy, 16, address) || !text_at_word_end(&copy))
        return false;
    *cursor = copy;
    return true;
}

#endif
