#include "cli/options/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

bool quantity_parse_bytes(const char *text, uint64_t *bytes)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *suffix;
    errno = 0;
    unsigned long long number = strtoull(text, &suffix, 10);
    if (errno)
        return false;
    static const char units[] = "KMGT";
    unsigned shift = 0;
    for (unsigned i = 0; units[i]; i++)
        if (*suffix && toupper((unsigned char)*suffix) == units[i])
            shift = 10 * (i + 1);
    if (shift)
        suffix++;
    if (*suffix && strcasecmp(suffix, "B") != 0 && !(shift && strcasecmp(suffix, "iB") == 0))
        return false;
    if (number > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)number << shift;
    return true;
}

uint64_t quantity_power_of_two(uint64_t value)
{
    uint64_t power = 1;
    while (power && power < value)
        power <<= 1;
    return power;
}

struct quantity_text quantity_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    struct quantity_text result;
    char *out = result.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = 0;
    return result;
}

struct quantity_text quantity_bytes(uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB"};
    enum { UNIT_COUNT = sizeof units / sizeof *units };
    struct quantity_text result;
    if (bytes < 1000) {
        snprintf(result.text, sizeof result.text, "%llu bytes", (unsigned long long)bytes);
        return result;
    }
    double value = (double)bytes / 1e3;
    size_t unit = 0;
    /* Three significant digits, also after rounding: no "1000 kB" and no "10.00 MB". */
    for (; value >= 999.5 && unit + 1 < UNIT_COUNT; unit++)
        value /= 1e3;
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(result.text, sizeof result.text, "%.*f %s", decimals, value, units[unit]);
    return result;
}
