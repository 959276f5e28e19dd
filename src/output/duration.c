#include "output/duration.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t nanoseconds;
    int decimals; /* digits down to one nanosecond */
};

static const struct unit UNITS[] = {
    {"ns", 1, 0},
    {"us", 1000, 3},
    {"ms", 1000000, 6},
    {"s", 1000000000, 9},
};
enum { UNIT_COUNT = sizeof UNITS / sizeof UNITS[0] };

static const struct unit *unit_for(uint64_t nanoseconds)
{
    const struct unit *unit = &UNITS[UNIT_COUNT - 1];
    while (unit > UNITS && nanoseconds < unit->nanoseconds)
        unit--;
    return unit;
}

char *duration_format(char text[static DURATION_TEXT_SIZE], uint64_t nanoseconds)
{
    const struct unit *unit = unit_for(nanoseconds);
    if (unit == UNITS) {
        snprintf(text, DURATION_TEXT_SIZE, "%" PRIu64 " ns", nanoseconds);
        return text;
    }
    double value = (double)nanoseconds / (double)unit->nanoseconds;
    /* Rounding must not show "1000.0 us" or five digits. */
    if (value >= 999.95 && unit < &UNITS[UNIT_COUNT - 1]) {
        unit++;
        value = (double)nanoseconds / (double)unit->nanoseconds;
    }
    int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    snprintf(text, DURATION_TEXT_SIZE, "%.*f %s", decimals, value, unit->name);
    return text;
}

char *duration_format_call(char text[static DURATION_TEXT_SIZE], uint64_t nanoseconds)
{
    if (nanoseconds > 0)
        return duration_format(text, nanoseconds);
    snprintf(text, DURATION_TEXT_SIZE, "<1 ns");
    return text;
}

char *duration_format_exact(char text[static DURATION_TEXT_SIZE], uint64_t nanoseconds)
{
    const struct unit *unit = unit_for(nanoseconds);
    uint64_t whole = nanoseconds / unit->nanoseconds, rest = nanoseconds % unit->nanoseconds;
    if (unit->decimals == 0)
        snprintf(text, DURATION_TEXT_SIZE, "%" PRIu64 " %s", whole, unit->name);
    else
        snprintf(text, DURATION_TEXT_SIZE, "%" PRIu64 ".%0*" PRIu64 " %s", whole, unit->decimals,
                 rest, unit->name);
    return text;
}

static const struct unit *find_unit(const char *name)
{
    if (name[0] == 0)
        return &UNITS[0];
    if (strcmp(name, "\xc2\xb5s") == 0 ||
        strcmp(name, "\xce\xbcs") == 0) /* both characters that look like mu */
        return &UNITS[1];
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (strcmp(name, UNITS[i].name) == 0)
            return &UNITS[i];
    return NULL;
}

/* Digits of a fraction count from the left: each is worth a tenth of the one before. Below one
 * nanosecond they are dropped. */
static uint64_t parse_fraction(const char *text, uint64_t one)
{
    uint64_t nanoseconds = 0;
    for (; isdigit((unsigned char)*text); text++) {
        one /= 10;
        nanoseconds += one * (uint64_t)(*text - '0');
    }
    return nanoseconds;
}

bool duration_parse(const char *text, uint64_t *nanoseconds)
{
    const uint64_t limit = INT64_MAX;
    size_t whole_length = strspn(text, "0123456789");
    size_t number_length = whole_length;
    if (text[number_length] == '.')
        number_length += 1 + strspn(text + number_length + 1, "0123456789");
    if (number_length == 0 || (whole_length == 0 && number_length == 1))
        return false;
    const char *name = text + number_length;
    const struct unit *unit = find_unit(name + strspn(name, " "));
    if (!unit)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < whole_length; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > limit / unit->nanoseconds)
            return false;
    }
    *nanoseconds = value * unit->nanoseconds;
    if (text[whole_length] == '.')
        *nanoseconds += parse_fraction(text + whole_length + 1, unit->nanoseconds);
    return *nanoseconds <= limit;
}

bool duration_has_unit(const char *text)
{
    return text[strspn(text, "0123456789. ")] != 0;
}
