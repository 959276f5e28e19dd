#include "cli/options/options.h"

#include "base/edit_distance.h"
#include "base/memory.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options return FIRST_CODE + row, so that they cannot be taken for getopt's own '?' and ':'. */
enum { FIRST_CODE = 256, HELP_CODE = FIRST_CODE - 1 };

/* getopt's table: every option that can be had, its letter as an option of its own, and -help. A
 * letter is no short option in getopt's sense, because then `-ouput x` would mean "write to
 * `uput`". What is unavailable is not in it, so that it does not make a beginning ambiguous. */
static struct option *make_table(const struct option_spec *specs)
{
    size_t count = 0;
    while (specs[count].name)
        count++;
    struct option *table = memory_allocate_zeroed((2 * count + 2) * sizeof *table);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (specs[i].unavailable)
            continue;
        struct option option = {.name = specs[i].name,
                                .has_arg = specs[i].argument ? required_argument : no_argument,
                                .val = FIRST_CODE + (int)i};
        table[used++] = option;
        option.name = specs[i].letter;
        if (option.name)
            table[used++] = option;
    }
    table[used] = (struct option){.name = "help", .has_arg = no_argument, .val = HELP_CODE};
    return table;
}

static size_t count_specs(const struct option_spec *specs)
{
    size_t count = 0;
    while (specs && specs[count].name)
        count++;
    return count;
}

static struct option_spec *joined(const struct option_spec *specs, const struct option_spec *common)
{
    size_t own = count_specs(specs), shared = count_specs(common);
    struct option_spec *all = memory_allocate_zeroed((own + shared + 1) * sizeof *all);
    memcpy(all, specs, own * sizeof *all);
    if (shared)
        memcpy(all + own, common, shared * sizeof *all);
    return all;
}

void option_reader_open(struct option_reader *reader, const struct option_spec *specs,
                        const struct option_spec *common, int argc, char **argv)
{
    *reader = (struct option_reader){.argc = argc, .argv = argv, .next = 1};
    reader->specs = joined(specs, common);
    reader->long_options = make_table(reader->specs);
    optind = 0; /* makes glibc start a new walk */
    opterr = 0;
}

void option_reader_close(struct option_reader *reader)
{
    free(reader->long_options);
    free(reader->specs);
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

/* An option that is understood but cannot be had, by name or beginning; NULL when it is none. */
static const struct option_spec *find_unavailable(const struct option_spec *specs, const char *name)
{
    size_t length = strlen(name);
    for (const struct option_spec *spec = specs; spec->name && length; spec++)
        if (spec->unavailable && strncmp(spec->name, name, length) == 0)
            return spec;
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
static int explain(const struct option_reader *reader, int code)
{
    const char *argument = optind > 0 && optind <= reader->argc ? reader->argv[optind - 1] : "";
    if (strcmp(argument, "-?") == 0)
        return OPTION_HELP;
    char *name = bare_name(argument);
    const struct option_spec *unavailable = find_unavailable(reader->specs, name);
    if (code == ':')
        fprintf(stderr, "magic-trace: %s needs a value behind it.\n", argument);
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
    return OPTION_ERROR;
}

int option_reader_next(struct option_reader *reader)
{
    /* '+': stop at the first operand. ':': tell a missing value from an unknown option. */
    optopt = 0;
    int code = getopt_long_only(reader->argc, reader->argv, "+:", reader->long_options, NULL);
    reader->next = optind;
    reader->value = optarg;
    if (code == -1)
        return OPTION_END;
    if (code == '?' || code == ':')
        return explain(reader, code);
    return code == HELP_CODE ? OPTION_HELP : reader->specs[code - FIRST_CODE].id;
}

int option_reader_next_or_operand(struct option_reader *reader)
{
    int option = option_reader_next(reader);
    if (option != OPTION_END || reader->next >= reader->argc)
        return option;
    reader->value = reader->argv[reader->next];
    optind = ++reader->next;
    return OPTION_OPERAND;
}
