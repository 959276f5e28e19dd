#include "cli/options/options.h"

#include "base/edit_distance.h"
#include "base/memory.h"
#include "base/printable.h"
#include "cli/command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

int option_set_flag(const struct option_spec *option, const struct command *command, void *target,
                    const char *value)
{
    *(bool *)((char *)target + option->field) = true;
    return 0;
}

int option_set_text(const struct option_spec *option, const struct command *command, void *target,
                    const char *value)
{
    *(const char **)((char *)target + option->field) = value;
    return 0;
}

int option_set_place(const struct option_spec *option, const struct command *command, void *target,
                     const char *value)
{
    if (!*value)
        return command_usage_error(command, "-%s needs the name of a place.", option->name);
    return option_set_text(option, command, target, value);
}

int option_set_value(const struct option_spec *option, const struct command *command, void *target,
                     const char *value)
{
    struct option_value found;
    int status = option_find_value(option, command, value, &found);
    if (status == 0)
        memcpy((char *)target + option->field, &found.value, sizeof found.value);
    return status;
}

int option_find_value(const struct option_spec *option, const struct command *command,
                      const char *text, struct option_value *value)
{
    for (size_t i = 0; option->values(i, value); i++)
        if (strcmp(value->name, text) == 0)
            return 0;
    char *names = option_value_names(option->values);
    int status = command_usage_error(command, "-%s is %s, not `%s`.", option->name, names, text);
    free(names);
    return status;
}

char *option_value_names(option_value_at *values)
{
    struct option_value value, following;
    char *names = memory_copy_string("");
    for (size_t i = 0; values(i, &value); i++) {
        const char *separator = i == 0 ? "" : values(i + 1, &following) ? ", " : " or ";
        char *longer = memory_format("%s%s%s", names, separator, value.name);
        free(names);
        names = longer;
    }
    return names;
}

bool option_value_of_table(const struct option_value *table, size_t count, size_t index,
                           struct option_value *value)
{
    if (index < count)
        *value = table[index];
    return index < count;
}

/* ---- reading ---- */

/* Options return FIRST_CODE + row, so that they cannot be taken for getopt's own '?' and ':'. */
enum { FIRST_CODE = 256, HELP_CODE = FIRST_CODE - 1 };

/* getopt's table: every available option, its letter as an option of its own, and -help. A letter
 * is no short option in getopt's sense, because then `-ouput x` would mean "write to `uput`".
 * Options that are not available are left out, so that they do not make a prefix ambiguous. */
static struct option *make_table(const struct option_row *rows)
{
    size_t count = 0;
    while (rows[count].spec)
        count++;
    struct option *table = memory_allocate_zeroed((2 * count + 2) * sizeof *table);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct option_spec *spec = rows[i].spec;
        if (spec->unavailable)
            continue;
        struct option option = {.name = spec->name,
                                .has_arg = spec->argument ? required_argument : no_argument,
                                .val = FIRST_CODE + (int)i};
        table[used++] = option;
        option.name = spec->letter;
        if (option.name)
            table[used++] = option;
    }
    table[used] = (struct option){.name = "help", .has_arg = no_argument, .val = HELP_CODE};
    return table;
}

void option_reader_open(struct option_reader *reader, struct option_row *rows, int argc,
                        char **argv)
{
    *reader = (struct option_reader){.rows = rows, .argc = argc, .argv = argv, .next = 1};
    reader->long_options = make_table(rows);
    optind = 0; /* makes glibc start a new walk */
    opterr = 0;
}

void option_reader_close(struct option_reader *reader)
{
    free(reader->long_options);
    free(reader->rows);
    *reader = (struct option_reader){0};
}

/* The table's name in `argument` ("--output=x" -> "output"), copied; the caller frees. */
static char *bare_name(const char *argument)
{
    argument += strspn(argument, "-");
    char *name = memory_copy_string(argument);
    name[strcspn(name, "=")] = 0;
    return name;
}

/* An option that is not available, by name or prefix; NULL: it is no such option. */
static const struct option_spec *find_unavailable(const struct option_row *rows, const char *name)
{
    size_t length = strlen(name);
    for (const struct option_row *row = rows; row->spec && length; row++)
        if (row->spec->unavailable && strncmp(row->spec->name, name, length) == 0)
            return row->spec;
    return NULL;
}

static size_t count_fitting(const struct option *options, const char *name)
{
    size_t length = strlen(name), fitting = 0;
    for (const struct option *option = options; option->name && length; option++)
        fitting += strncmp(option->name, name, length) == 0;
    return fitting;
}

static void explain_ambiguous(const struct option *options, const char *argument, const char *name)
{
    fprintf(stderr, "magic-trace: %s could be", argument);
    const char *separator = " ";
    for (const struct option *option = options; option->name; option++) {
        if (strncmp(option->name, name, strlen(name)) != 0)
            continue;
        fprintf(stderr, "%s-%s", separator, option->name);
        separator = " or ";
    }
    fputs(". Type more of the one you mean.\n", stderr);
}

static void explain_unknown(const struct option *options, const char *argument, const char *name)
{
    struct closest_names closest = closest_names_to(name);
    for (const struct option *option = options; option->name; option++)
        closest_names_offer(&closest, option->name);
    if (closest.names[0])
        fprintf(stderr, "magic-trace: there is no option %s. Did you mean -%s?\n", argument,
                closest.names[0]);
    else
        fprintf(stderr, "magic-trace: there is no option %s; -help lists those there are.\n",
                argument);
}

/* `code` is getopt's '?' or ':'. */
static enum option_event explain(const struct option_reader *reader, int code)
{
    const char *argument = optind > 0 && optind <= reader->argc ? reader->argv[optind - 1] : "";
    if (strcmp(argument, "-?") == 0)
        return OPTION_HELP;
    char *escaped = printable_copy(argument, PRINTABLE_NAME);
    argument = escaped ? escaped : argument;
    char *name = bare_name(argument);
    const struct option_spec *unavailable = find_unavailable(reader->rows, name);
    if (code == ':')
        fprintf(stderr, "magic-trace: %s needs a value after it.\n", argument);
    else if (optopt != 0) /* getopt knew the option */
        fprintf(stderr, "magic-trace: -%s takes no value.\n", name);
    else if (count_fitting(reader->long_options, name) > 1)
        explain_ambiguous(reader->long_options, argument, name);
    else if (unavailable)
        fprintf(stderr, "magic-trace: -%s cannot be used: %s\n", unavailable->name,
                unavailable->unavailable);
    else
        explain_unknown(reader->long_options, argument, name);
    free(name);
    free(escaped);
    return OPTION_ERROR;
}

enum option_event option_reader_next(struct option_reader *reader)
{
    /* '+': stop at the first operand. ':': distinguish a missing value from an unknown option. */
    optopt = 0;
    int code = getopt_long_only(reader->argc, reader->argv, "+:", reader->long_options, NULL);
    reader->next = optind;
    reader->value = optarg;
    if (code == -1)
        return OPTION_END;
    if (code == '?' || code == ':')
        return explain(reader, code);
    if (code == HELP_CODE)
        return OPTION_HELP;
    const struct option_row *row = &reader->rows[code - FIRST_CODE];
    reader->option = row->spec;
    reader->target = row->target;
    return OPTION_TAKEN;
}

enum option_event option_reader_next_or_operand(struct option_reader *reader)
{
    enum option_event event = option_reader_next(reader);
    if (event != OPTION_END || reader->next >= reader->argc)
        return event;
    reader->value = reader->argv[reader->next];
    optind = ++reader->next;
    return OPTION_OPERAND;
}
