#include "recording/perf_script/perf_text_place.h"

/* perf prints a wrong, huge offset where an address lies before its symbol (PLT slots with
 * relocated symbols: "memcpy@plt+0xffffffffff22f000"). No function is this long. */
enum { OFFSET_BITS = 40 };

/* "+0x1f", up to a space or the end. */
static bool take_offset(struct text_cursor *text, uint64_t *offset)
{
    struct text_cursor copy = *text;
    if (!text_take(&copy, "+0x") || !text_take_number(&copy, 16, offset) ||
        !text_at_word_end(&copy))
        return false;
    *text = copy;
    return true;
}

/* "(/path/of a (file))", with matching parentheses, and no other text before it. */
static void take_object(struct text_cursor *text, struct perf_text_place *place)
{
    text_skip_spaces(text);
    if (!text_take(text, "("))
        return;
    const char *begin = text->at;
    unsigned depth = 1;
    for (; text->at < text->end; text->at++) {
        depth += *text->at == '(';
        depth -= *text->at == ')';
        if (depth == 0)
            break;
    }
    struct text_slice object = {begin, (size_t)(text->at - begin)};
    if (!text_slice_is(object, "[unknown]"))
        place->object = object;
}

/* The beginning of the object after a symbol without offset: objects are absolute paths or names in
 * brackets, unlike argument lists. The end when there is none. */
static const char *find_object(struct text_cursor text)
{
    for (const char *at = text.at; at + 2 < text.end; at++)
        if (at[0] == ' ' && at[1] == '(' && (at[2] == '/' || at[2] == '['))
            return at;
    return text.end;
}

static void parse_symbol(struct text_cursor text, struct perf_text_place *place)
{
    struct text_cursor rest = text;
    const char *end = text.at;
    uint64_t offset = 0;
    while (rest.at < rest.end && !take_offset(&rest, &offset))
        end = ++rest.at;
    if (rest.at > end)
        place->has_offset = offset >> OFFSET_BITS == 0;
    else
        rest.at = end = find_object(text);
    place->offset = offset;
    place->symbol = text_slice_trim((struct text_slice){text.at, (size_t)(end - text.at)});
    take_object(&rest, place);
}

bool perf_text_place_parse(struct text_cursor text, struct perf_text_place *place)
{
    *place = (struct perf_text_place){0};
    if (!text_take_address(&text, &place->address))
        return false;
    text_skip_spaces(&text);
    if (text_take(&text, "[unknown]"))
        take_object(&text, place);
    else
        parse_symbol(text, place);
    return true;
}
