#include "cli/options/timer_resolution.h"

#include "cli/options/sexp.h"

#include <string.h>
#include <strings.h>

/* The fields are four bits wide (IA32_RTIT_CTL, SDM volume 3). */
enum { LARGEST_FIELD = 15 };
static const uint64_t largest_frequency = 1000000;

static bool is_flag(enum timer_field field)
{
    return field == TIMER_CYC || field == TIMER_MTC || field == TIMER_NORETCOMP;
}

static bool parse_plain(struct timer_resolution *resolution, const char *text)
{
    static const struct {
        const char *name;
        enum timer_kind kind;
    } names[] = {{"Low", TIMER_LOW}, {"Normal", TIMER_NORMAL}, {"High", TIMER_HIGH}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(text, names[i].name) != 0)
            continue;
        resolution->kind = names[i].kind;
        return true;
    }
    return false;
}

static bool parse_sample(struct timer_resolution *resolution, const struct sexp_record *record,
                         struct error *error)
{
    resolution->kind = TIMER_SAMPLE;
    const struct sexp_field *field = &record->fields[0];
    if (record->count == 1 && strcmp(field->name, "freq") == 0 && !*field->kind &&
        sexp_number(field->value, &resolution->frequency) && resolution->frequency > 0 &&
        resolution->frequency <= largest_frequency)
        return true;
    return error_set(error, ERROR_USAGE,
                     "-timer-resolution (Sample((freq N))) takes a number of samples per second, 1 "
                     "to 1000000, as N.");
}

static bool set_field(struct timer_resolution *resolution, const struct sexp_field *given,
                      struct error *error)
{
    for (unsigned field = 0; field < TIMER_FIELDS; field++) {
        if (strcmp(given->name, timer_field_names[field]) != 0)
            continue;
        bool flag = false;
        uint64_t value = 0;
        bool ok = !*given->kind && !resolution->given[field] &&
                  (is_flag(field) ? sexp_boolean(given->value, &flag)
                                  : sexp_number(given->value, &value) && value <= LARGEST_FIELD);
        if (!ok)
            return error_set(
                error, ERROR_USAGE, "-timer-resolution Custom takes %s once, with %s, not `%s`.",
                given->name, is_flag(field) ? "true or false" : "a number up to 15", given->value);
        resolution->given[field] = true;
        resolution->values[field] = is_flag(field) ? flag : (uint8_t)value;
        return true;
    }
    return error_set(error, ERROR_USAGE,
                     "-timer-resolution Custom has no field %s. There are cyc, cyc_thresh, mtc, "
                     "mtc_period, noretcomp and psb_period.",
                     given->name);
}

static bool parse_custom(struct timer_resolution *resolution, const struct sexp_record *record,
                         struct error *error)
{
    resolution->kind = TIMER_CUSTOM;
    for (size_t i = 0; i < record->count; i++)
        if (!set_field(resolution, &record->fields[i], error))
            return false;
    return true;
}

bool timer_resolution_parse(struct timer_resolution *resolution, const char *text,
                            struct error *error)
{
    *resolution = (struct timer_resolution){0};
    struct sexp_record record;
    if (parse_plain(resolution, text))
        return true;
    if (sexp_read_record(&record, text)) {
        if (strcasecmp(record.constructor, "Sample") == 0)
            return parse_sample(resolution, &record, error);
        if (strcasecmp(record.constructor, "Custom") == 0)
            return parse_custom(resolution, &record, error);
    }
    return error_set(error, ERROR_USAGE,
                     "-timer-resolution is Low, Normal, High, '(Sample((freq N)))' or "
                     "'(Custom((cyc true)(cyc_thresh 1)...))', not `%s`.",
                     text);
}
