#include "decode/call_value_text.h"

#include "base/utf8.h"
#include "packet/call_values_head.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELEMENTS_SHOWN = 8, /* of an array */
    TEXT_MAX = 1024,    /* bytes of one value's text */
};

/* The words that are left. */
struct words {
    const uint64_t *next, *end;
};

struct text {
    char bytes[TEXT_MAX];
    size_t size;
};

/* What does not fit is left out. */
__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    size_t left = sizeof text->bytes - text->size;
    va_start(arguments, format);
    int size = vsnprintf(text->bytes + text->size, left, format, arguments);
    va_end(arguments);
    if (size > 0)
        text->size += (size_t)size < left ? (size_t)size : left - 1;
}

/* ---- numbers ---- */

static uint64_t unsigned_of(const uint8_t *bytes, uint32_t size)
{
    uint64_t number = 0;
    memcpy(&number, bytes, size < sizeof number ? size : sizeof number);
    return number;
}

static int64_t signed_of(const uint8_t *bytes, uint32_t size)
{
    uint64_t number = unsigned_of(bytes, size);
    unsigned unused = size < 8 ? 64 - 8 * size : 0;
    return size == 0 ? 0 : (int64_t)(number << unused) >> unused;
}

static long double float_of(const uint8_t *bytes, uint32_t size)
{
    float single;
    double real;
    long double large;
    if (size < sizeof real) {
        memcpy(&single, bytes, sizeof single);
        return single;
    }
    if (size < sizeof large) {
        memcpy(&real, bytes, sizeof real);
        return real;
    }
    memcpy(&large, bytes, sizeof large);
    return large;
}

/* With as few digits as make it this one again. */
static void add_long_double(struct text *text, long double real)
{
    char digits[NAMED_FLOAT_SIZE];
    for (int precision = FLT_DIG; precision <= LDBL_DECIMAL_DIG; precision++) {
        snprintf(digits, sizeof digits, "%.*Lg", precision, real);
        if (strtold(digits, NULL) == real)
            break;
    }
    add(text, "%s", digits);
}

static void add_float(struct text *text, const uint8_t *bytes, uint32_t size)
{
    char digits[NAMED_FLOAT_SIZE];
    long double real = float_of(bytes, size);
    if (real != (long double)(double)real && !isnan(real)) {
        add_long_double(text, real);
        return;
    }
    named_value_print_float(digits, (double)real, size < sizeof(double));
    add(text, "%s", digits);
}

static void add_complex(struct text *text, const struct value_type *type, const uint8_t *bytes)
{
    uint32_t size = type->members[0].type->size;
    add_float(text, bytes, size);
    add(text, " + ");
    add_float(text, bytes + size, size);
    add(text, "i");
}

/* ---- characters ---- */

static void add_character(struct text *text, uint8_t byte, char quote, bool is_utf8)
{
    char letter = named_value_letter((char)byte);
    if (letter)
        add(text, "\\%c", letter);
    else if (byte == (uint8_t)quote || byte == '\\')
        add(text, "\\%c", byte);
    else if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !is_utf8))
        add(text, "\\%03o", byte);
    else
        add(text, "%c", byte);
}

/* Also what follows a 0 in it. */
static bool is_utf8(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0, part; at < size; at += part + 1) {
        char *copy = strndup((const char *)bytes + at, size - at);
        char *repaired = utf8_repaired(copy);
        bool same = strcmp(copy, repaired) == 0;
        part = strlen(copy);
        free(copy);
        free(repaired);
        if (!same)
            return false;
    }
    return true;
}

static void add_string(struct text *text, const uint8_t *bytes, size_t size, bool cut)
{
    bool valid = is_utf8(bytes, size);
    add(text, "\"");
    for (size_t i = 0; i < size; i++)
        add_character(text, bytes[i], '"', valid);
    add(text, cut ? "\"..." : "\"");
}

/* ---- values ---- */

static const char *enumerator(const struct value_type *type, int64_t value)
{
    for (size_t i = 0; i < type->member_count; i++)
        if (type->members[i].value == value && type->members[i].name)
            return type->members[i].name;
    return NULL;
}

/* Whether each name is a bit of its own, or none. */
static bool has_flags(const struct value_type *type)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < type->member_count; i++) {
        uint64_t bit = (uint64_t)type->members[i].value;
        if ((bit & (bit - 1)) != 0 || bits & bit)
            return false;
        bits |= bit;
    }
    return bits != 0;
}

static void add_flags(struct text *text, const struct value_type *type, uint64_t value)
{
    const char *between = "(";
    for (size_t i = 0; i < type->member_count; i++) {
        uint64_t bit = (uint64_t)type->members[i].value;
        if (!(value & bit) || !type->members[i].name)
            continue;
        add(text, "%s%s", between, type->members[i].name);
        between = " | ";
        value &= ~bit;
    }
    if (value)
        add(text, "%sunknown: 0x%" PRIx64, between, value);
    add(text, ")");
}

static void add_enum(struct text *text, const struct value_type *type, const uint8_t *bytes)
{
    int64_t value =
        type->is_unsigned ? (int64_t)unsigned_of(bytes, type->size) : signed_of(bytes, type->size);
    const char *name = enumerator(type, value);
    if (name)
        add(text, "%s", name);
    else if (value != 0 && type->is_unsigned && has_flags(type))
        add_flags(text, type, (uint64_t)value);
    else
        add(text, "%" PRId64, value);
}

static void add_value(struct text *text, const struct value_type *type, const uint8_t *bytes);

static void add_bits(struct text *text, const struct value_member *member, const uint8_t *bytes)
{
    uint64_t number = unsigned_of(bytes, member->type->size) >> member->bit;
    unsigned unused = 64 - member->bits;
    uint8_t field[8];
    number = number << unused;
    bool is_signed = member->type->kind == VALUE_SIGNED ||
                     (member->type->kind == VALUE_ENUM && !member->type->is_unsigned);
    number = is_signed ? (uint64_t)((int64_t)number >> unused) : number >> unused;
    memcpy(field, &number, sizeof field);
    add_value(text, member->type, field);
}

static void add_struct(struct text *text, const struct value_type *type, const uint8_t *bytes)
{
    add(text, "{");
    for (size_t i = 0; i < type->member_count; i++) {
        const struct value_member *member = &type->members[i];
        add(text, i ? ", " : "");
        if (member->name)
            add(text, "%s = ", member->name);
        if (member->bits && member->type->size <= sizeof(uint64_t))
            add_bits(text, member, bytes + member->offset);
        else
            add_value(text, member->type, bytes + member->offset);
    }
    add(text, "}");
}

static void add_array(struct text *text, const struct value_type *type, const uint8_t *bytes)
{
    const struct value_type *element = type->members[0].type;
    uint32_t count = element->size ? type->size / element->size : 0;
    if (element->kind == VALUE_CHARACTER && element->size == 1) {
        uint32_t size = count;
        while (size > 0 && bytes[size - 1] == 0)
            size--;
        add_string(text, bytes, size, false);
        return;
    }
    add(text, "{");
    for (uint32_t i = 0; i < count && i < ELEMENTS_SHOWN; i++) {
        add(text, i ? ", " : "");
        add_value(text, element, bytes + i * element->size);
    }
    add(text, count > ELEMENTS_SHOWN ? "...}" : "}");
}

static void add_bytes(struct text *text, const uint8_t *bytes, uint32_t size)
{
    add(text, "0x");
    for (uint32_t i = size; i-- > 0;)
        add(text, "%02x", bytes[i]);
}

/* `bytes`: as many as the type has. */
static void add_value(struct text *text, const struct value_type *type, const uint8_t *bytes)
{
    switch (type->kind) {
    case VALUE_SIGNED:
        if (type->size <= sizeof(int64_t))
            add(text, "%" PRId64, signed_of(bytes, type->size));
        else
            add_bytes(text, bytes, type->size);
        break;
    case VALUE_UNSIGNED:
        if (type->size <= sizeof(uint64_t))
            add(text, "%" PRIu64, unsigned_of(bytes, type->size));
        else
            add_bytes(text, bytes, type->size);
        break;
    case VALUE_FLOAT:
        add_float(text, bytes, type->size);
        break;
    case VALUE_COMPLEX:
        add_complex(text, type, bytes);
        break;
    case VALUE_BOOL:
        add(text, "%s", unsigned_of(bytes, type->size) ? "true" : "false");
        break;
    case VALUE_CHARACTER:
        add(text, "%" PRId64,
            type->is_unsigned ? (int64_t)unsigned_of(bytes, type->size)
                              : signed_of(bytes, type->size));
        if (type->size == 1) {
            add(text, " '");
            add_character(text, bytes[0], '\'', false);
            add(text, "'");
        }
        break;
    case VALUE_POINTER:
    case VALUE_STRING:
        add(text, "0x%" PRIx64, unsigned_of(bytes, type->size));
        break;
    case VALUE_ENUM:
        add_enum(text, type, bytes);
        break;
    case VALUE_STRUCT:
    case VALUE_COUNTED_STRING:
        add_struct(text, type, bytes);
        break;
    case VALUE_ARRAY:
        add_array(text, type, bytes);
        break;
    case VALUE_BYTES:
    case VALUE_KIND_COUNT:
        add_bytes(text, bytes, type->size);
        break;
    }
}

/* ---- groups ---- */

/* The next `size` bytes, whole words of them. NULL: there are not as many. */
static const uint8_t *take(struct words *words, uint64_t size)
{
    uint64_t count = (size + 7) / 8;
    const uint64_t *at = words->next;
    if (count > (uint64_t)(words->end - words->next))
        return NULL;
    words->next += count;
    return (const uint8_t *)at;
}

static void set_number(struct named_value *value, const struct value_type *type,
                       const uint8_t *bytes)
{
    bool fits = type->size <= sizeof(uint64_t);
    if (type->kind == VALUE_FLOAT) {
        value->kind = NAMED_FLOAT;
        value->real = (double)float_of(bytes, type->size);
    } else if (fits && (type->kind == VALUE_SIGNED || type->kind == VALUE_CHARACTER) &&
               !type->is_unsigned) {
        value->kind = NAMED_SIGNED;
        value->signed_number = signed_of(bytes, type->size);
    } else if (fits && type->kind != VALUE_STRUCT && type->kind != VALUE_ARRAY &&
               type->kind != VALUE_BYTES && type->kind != VALUE_ENUM &&
               type->kind != VALUE_COMPLEX) {
        value->kind = NAMED_UNSIGNED;
        value->unsigned_number = unsigned_of(bytes, type->size);
    } else {
        value->kind = NAMED_TEXT;
    }
}

/* What follows the word with the count of a value in memory; *size of them, *cut: there were more. */
static const uint8_t *take_memory(struct words *words, uint64_t *size, bool *cut)
{
    if (words->next == words->end)
        return NULL;
    uint64_t count = *words->next++;
    *cut = count & VALUE_CUT;
    *size = count & ~VALUE_CUT;
    return take(words, *size);
}

static void set_string(struct named_value *value, struct text *text, const uint8_t *bytes,
                       uint64_t size, bool cut, struct arena *memory)
{
    char *string = arena_allocate(memory, size + 1);
    memcpy(string, bytes, size);
    string[size] = 0;
    value->kind = NAMED_TEXT;
    value->string = string;
    add_string(text, bytes, size, cut);
}

static bool read_counted_string(struct words *words, const struct value_type *type,
                                struct arena *memory, struct named_value *value, struct text *text)
{
    const uint8_t *fields = take(words, type->size), *bytes;
    uint64_t size;
    bool cut;
    if (!fields || !(bytes = take_memory(words, &size, &cut)))
        return false;
    uint64_t count = unsigned_of(fields + sizeof(uint64_t), sizeof count);
    value->kind = NAMED_TEXT;
    if (count > 0 && size == 0)
        add_value(text, type, fields);
    else
        set_string(value, text, bytes, count < size ? count : size, count > size, memory);
    return true;
}

static bool read_string(struct words *words, struct arena *memory, struct named_value *value,
                        struct text *text)
{
    const uint8_t *pointer = take(words, sizeof(uint64_t)), *bytes;
    uint64_t size;
    bool cut;
    if (!pointer || !(bytes = take_memory(words, &size, &cut)))
        return false;
    uint64_t address = unsigned_of(pointer, sizeof address);
    value->kind = NAMED_UNSIGNED;
    value->unsigned_number = address;
    if (address == 0 || (size == 0 && cut)) {
        add(text, "0x%" PRIx64, address);
        return true;
    }
    set_string(value, text, bytes, size, cut, memory);
    return true;
}

/* False: words are missing. */
static bool read_value(struct words *words, const struct call_value *described,
                       struct arena *memory, struct named_value *value, struct text *text)
{
    const struct value_type *type = described->type;
    if (!type) {
        add(text, "?");
        value->kind = NAMED_TEXT;
        return true;
    }
    if (type->kind == VALUE_STRING && !described->in_memory)
        return read_string(words, memory, value, text);
    if (type->kind == VALUE_COUNTED_STRING && !described->in_memory)
        return read_counted_string(words, type, memory, value, text);
    const uint8_t *bytes;
    uint64_t size = type->size;
    bool cut;
    if (described->in_memory && !take(words, sizeof(uint64_t)))
        return false;
    bytes = described->in_memory ? take_memory(words, &size, &cut) : take(words, size);
    if (!bytes)
        return false;
    if (size < type->size) {
        add(text, "<not readable>");
        value->kind = NAMED_TEXT;
        return true;
    }
    set_number(value, type, bytes);
    add_value(text, type, bytes);
    return true;
}

static const char *name_of(const struct call_value *described, size_t index, struct arena *memory)
{
    char number[32];
    if (described->name)
        return described->name;
    snprintf(number, sizeof number, "#%zu", index + 1);
    return arena_copy_string(memory, number);
}

/* Which function they belong to; NULL: its values are not described. */
static const struct call_values_of_function *
function_of(const struct call_values *values, const struct recorded_group *group, bool is_result)
{
    struct call_values_head head;
    bool known = group->count > 0 && call_values_head_of(group->words[0], &head) &&
                 head.place < values->count && head.is_result == is_result;
    return known ? &values->functions[head.place] : NULL;
}

/* Reads `count` values from the words of the group. Returns how many there were. */
static size_t read_values(const struct recorded_group *group, const struct call_value *described,
                          size_t count, struct arena *memory, struct named_value *found)
{
    struct words left = {group->words + 1, group->words + group->count};
    for (size_t i = 0; i < count; i++) {
        struct text text = {.size = 0};
        text.bytes[0] = 0;
        found[i] = (struct named_value){.name = name_of(&described[i], i, memory)};
        if (!read_value(&left, &described[i], memory, &found[i], &text))
            return i;
        found[i].text = arena_copy_string(memory, text.bytes);
        if (found[i].kind == NAMED_TEXT && !found[i].string)
            named_value_read_number(&found[i]); /* of an enumeration, without a name */
    }
    return count;
}

bool call_values_read_groups(const struct call_values *values, struct recorded_group arguments,
                             struct recorded_group result, struct arena *memory,
                             struct named_values *read)
{
    const struct call_values_of_function *called = function_of(values, &arguments, false);
    const struct call_values_of_function *returned = function_of(values, &result, true);
    size_t most = (called ? called->argument_count : 0) + 1;
    struct named_value *found = arena_allocate(memory, most * sizeof *found);
    *read = (struct named_values){.values = found};
    if (called)
        read->count =
            read_values(&arguments, called->arguments, called->argument_count, memory, found);
    if (returned && returned->result &&
        read_values(&result, returned->result, 1, memory, &found[read->count])) {
        found[read->count++].name = "result";
        read->has_result = true;
    }
    read->text = named_values_join(memory, read);
    return read->count > 0;
}
