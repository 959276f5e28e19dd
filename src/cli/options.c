#include "cli/options.h"

#include "base/memory.h"
#include "cli/nearest.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long options return FIRST_CODE + row, so that they cannot be taken for a letter or for getopt's
 * '?' and ':'. */
enum { FIRST_CODE = 256 };

static size_t count_specs(const struct option_spec *specs)
{
    size_t count = 0;
    while (specs[count].name)
        count++;
    return count;
}

void option_reader_open(struct option_reader *reader, const struct option_spec *specs, int argc,
                        char **argv)
{
    size_t count = count_specs(specs);
    *reader = (struct option_reader){.specs = specs, .argc = argc, .argv = argv, .next = 1};
    reader->long_options = memory_allocate_zeroed((count + 2) * sizeof *reader->long_options);
    for (size_t i = 0; i < count; i++)
        reader->long_options[i] =
            (struct option){.name = specs[i].name,
                            .has_arg = specs[i].argument ? required_argument : no_argument,
                            .val = FIRST_CODE + (int)i};
    reader->long_options[count] =
        (struct option){.name = "help", .has_arg = no_argument, .val = FIRST_CODE + (int)count};
    optind = 0; /* makes glibc start a new walk */
    opterr = 0;
}

void option_reader_close(struct option_reader *reader)
{
    free(reader->long_options);
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

static void explain_unknown(const struct option_reader *reader, const char *argument)
{
    char *name = bare_name(argument);
    size_t length = strlen(name), fitting = 0;
    for (const struct option *option = reader->long_options; option->name; option++)
        fitting += length > 0 && strncmp(option->name, name, length) == 0;
    if (fitting > 1) {
        fprintf(stderr, "magic-trace: %s could be", argument);
        const char *separator = " ";
        for (const struct option *option = reader->long_options; option->name; option++) {
            if (strncmp(option->name, name, length) != 0)
                continue;
            fprintf(stderr, "%s-%s", separator, option->name);
            separator = " or ";
        }
        fputs(". Type more of the one you mean.\n", stderr);
    } else {
        struct nearest nearest = nearest_to(name);
        for (const struct option *option = reader->long_options; option->name; option++)
            nearest_offer(&nearest, option->name);
        if (nearest.best)
            fprintf(stderr, "magic-trace: there is no option %s. Did you mean -%s?\n", argument,
                    nearest.best);
        else
            fprintf(stderr, "magic-trace: there is no option %s.\n", argument);
    }
    free(name);
}

static int explain(const struct option_reader *reader, int code)
{
    /* getopt moves past what it could not use, except in a group of short options, where optopt is
     * the letter. */
    const char *argument = optind > 0 && optind <= reader->argc ? reader->argv[optind - 1] : "";
    if (code == ':') {
        fprintf(stderr, "magic-trace: %s needs a value behind it.\n", argument);
        return OPTION_ERROR;
    }
    if (strcmp(argument, "-?") == 0)
        return OPTION_HELP;
    const char *equals = strchr(argument, '=');
    if (equals && optopt >= FIRST_CODE)
        fprintf(stderr, "magic-trace: %.*s takes no value.\n", (int)(equals - argument), argument);
    else
        explain_unknown(reader, argument);
    return OPTION_ERROR;
}

static const struct option_spec *find_spec(const struct option_reader *reader, int code)
{
    size_t count = count_specs(reader->specs);
    if (code >= FIRST_CODE)
        return code < FIRST_CODE + (int)count ? &reader->specs[code - FIRST_CODE] : NULL;
    for (size_t i = 0; i < count; i++)
        if (reader->specs[i].letter == code)
            return &reader->specs[i];
    return NULL;
}

int option_reader_next(struct option_reader *reader)
{
    /* '+': stop at the first operand. ':': tell a missing value from an unknown option. */
    char letters[64] = "+:";
    size_t used = 2;
    for (const struct option_spec *spec = reader->specs; spec->name; spec++) {
        if (!spec->letter || used + 3 > sizeof letters)
            continue;
        letters[used++] = spec->letter;
        if (spec->argument)
            letters[used++] = ':';
    }
    letters[used] = 0;

    int code = getopt_long_only(reader->argc, reader->argv, letters, reader->long_options, NULL);
    reader->next = optind;
    reader->value = optarg;
    if (code == -1)
        return OPTION_END;
    if (code == '?' || code == ':')
        return explain(reader, code);
    const struct option_spec *spec = find_spec(reader, code);
    if (!spec)
        return OPTION_HELP;
    if (spec->unavailable) {
        fprintf(stderr, "magic-trace: -%s cannot be used: %s\n", spec->name, spec->unavailable);
        return OPTION_ERROR;
    }
    return spec->id;
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
