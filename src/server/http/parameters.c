#include "server/http/parameters.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parameters_add(struct parameters *parameters, const char *name, const char *value)
{
    if (parameters->count == PARAMETERS_MAX)
        return false;
    parameters->entries[parameters->count++] =
        (struct parameter){.name = name, .value = value ? value : ""};
    return true;
}

const char *parameters_find(const struct parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->entries[i].name, name) == 0)
            return parameters->entries[i].value;
    return NULL;
}

/* Digits alone: strtoull would accept signs and blanks. `end` is after them. */
static bool parse_digits(const char *text, uint64_t *value, const char **end)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *after;
    errno = 0;
    *value = strtoull(text, &after, 10);
    *end = after;
    return errno == 0;
}

static bool missing(const char *name, struct error *error)
{
    return error_set(error, ERROR_USAGE, "the parameter `%s` is missing.", name);
}

bool parameter_number(const struct parameters *parameters, const char *name, uint64_t standard,
                      uint64_t least, uint64_t most, uint64_t *value, struct error *error)
{
    const char *text = parameters_find(parameters, name), *end;
    *value = standard;
    if (!text)
        return true;
    if (parse_digits(text, value, &end) && *end == 0 && *value >= least && *value <= most)
        return true;
    return error_set(error, ERROR_USAGE, "`%s` is a whole number from %llu to %llu, not `%.60s`.",
                     name, (unsigned long long)least, (unsigned long long)most, text);
}

bool parameter_required(const struct parameters *parameters, const char *name, uint64_t most,
                        uint64_t *value, struct error *error)
{
    if (!parameters_find(parameters, name))
        return missing(name, error);
    return parameter_number(parameters, name, 0, 0, most, value, error);
}

/* What strtod takes besides, hexadecimal numbers, "inf" and "nan", is refused. */
static bool parse_real(const char *text, double *value)
{
    if (strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*value);
}

bool parameter_time(const struct parameters *parameters, const char *name, uint64_t standard,
                    uint64_t most, uint64_t *value, struct error *error)
{
    const char *text = parameters_find(parameters, name), *end;
    double real;
    *value = standard < most ? standard : most;
    if (!text)
        return true;
    if (parse_digits(text, value, &end) && *end == 0) {
        *value = *value < most ? *value : most;
        return true;
    }
    if (!parse_real(text, &real))
        return error_set(error, ERROR_USAGE, "`%s` is a time in nanoseconds, not `%.60s`.", name,
                         text);
    if (real <= 0)
        *value = 0;
    else if (real >= (double)most)
        *value = most;
    else
        *value = (uint64_t)real;
    return true;
}

bool parameter_share(const struct parameters *parameters, const char *name, double standard,
                     double *value, struct error *error)
{
    const char *text = parameters_find(parameters, name);
    *value = standard;
    if (!text || (parse_real(text, value) && *value >= 0 && *value <= 1))
        return true;
    return error_set(error, ERROR_USAGE, "`%s` is a number from 0 to 1, not `%.60s`.", name, text);
}

bool parameter_choice(const struct parameters *parameters, const char *name,
                      const char *const *words, size_t *choice, struct error *error)
{
    const char *text = parameters_find(parameters, name);
    *choice = 0;
    if (!text)
        return true;
    for (; words[*choice]; ++*choice)
        if (strcmp(words[*choice], text) == 0)
            return true;
    return error_set(error, ERROR_USAGE, "`%s` cannot be `%.60s`; `%s` is an example.", name, text,
                     words[0]);
}

bool parameter_list(const struct parameters *parameters, const char *name, uint32_t bound,
                    struct array *numbers, struct error *error)
{
    const char *text = parameters_find(parameters, name);
    if (!text || !*text)
        return true;
    for (;; text++) {
        uint64_t number;
        const char *end;
        if (!parse_digits(text, &number, &end) || (*end != ',' && *end != 0))
            return error_set(error, ERROR_USAGE,
                             "`%s` is a list of numbers with commas between them.", name);
        if (number >= bound)
            return error_set(error, ERROR_USAGE, "`%s` has %llu, and the largest there is is %llu.",
                             name, (unsigned long long)number, (unsigned long long)bound - 1);
        *(uint32_t *)array_add(numbers) = (uint32_t)number;
        if (*end == 0)
            return true;
        text = end;
    }
}
