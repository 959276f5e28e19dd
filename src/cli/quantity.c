#include "cli/quantity.h"

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

/* Three significant digits: `value` is at least 1 unless it counts the smallest unit. */
static struct quantity_text scaled(double value, const char *unit)
{
    struct quantity_text result;
    int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    snprintf(result.text, sizeof result.text, "%.*f %s", decimals, value, unit);
    return result;
}

struct quantity_text quantity_bytes(uint64_t bytes)
{
    struct quantity_text result;
    if (bytes < 1000) {
        snprintf(result.text, sizeof result.text, "%llu bytes", (unsigned long long)bytes);
        return result;
    }
    if (bytes < 1000000)
        return scaled((double)bytes / 1e3, "kB");
    return bytes < 1000000000 ? scaled((double)bytes / 1e6, "MB")
                              : scaled((double)bytes / 1e9, "GB");
}
