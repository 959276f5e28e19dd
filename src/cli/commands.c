#include "base/array.h"
#include "base/edit_distance.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/options/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct command *const *command_all(void)
{
    static const struct command *const commands[] = {
        &run_command,
        &attach_command,
        &decode_command,
        &view_command,
        &report_command,
        &explain_command,
        &compare_command,
        &check_command,
        &export_command,
        &query_command,
        &dump_command,
        &doctor_command,
        &install_command,
        &completion_command,
        &version_command,
        &help_command,
        NULL,
    };
    return commands;
}

static bool is_named(const struct command *command, const char *name)
{
    return strcmp(command->name, name) == 0 ||
           (command->alias && strcmp(command->alias, name) == 0);
}

static const struct command *find_by_prefix(const char *name)
{
    const struct command *found = NULL;
    size_t length = strlen(name);
    for (const struct command *const *command = command_all(); *command && length; command++) {
        const char *alias = (*command)->alias;
        if (strncmp((*command)->name, name, length) != 0 &&
            !(alias && strncmp(alias, name, length) == 0))
            continue;
        if (found)
            return NULL;
        found = *command;
    }
    return found;
}

const struct command *command_find(const char *name)
{
    for (const struct command *const *command = command_all(); *command; command++)
        if (is_named(*command, name))
            return *command;
    const struct command *found = find_by_prefix(name);
    if (found)
        return found;

    struct closest_names closest = closest_names_to(name);
    for (const struct command *const *command = command_all(); *command; command++) {
        closest_names_offer(&closest, (*command)->name);
        if ((*command)->alias)
            closest_names_offer(&closest, (*command)->alias);
    }
    char *escaped = printable_copy(name, PRINTABLE_NAME);
    name = escaped ? escaped : name;
    if (closest.names[0])
        fprintf(stderr, "magic-trace: there is no command `%s`. Did you mean `%s`?\n", name,
                closest.names[0]);
    else
        fprintf(stderr,
                "magic-trace: there is no command `%s`. `magic-trace help` lists them; to trace a "
                "program: `magic-trace run %s`.\n",
                name, name);
    free(escaped);
    return NULL;
}

int command_usage_error(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text;
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return EXIT_STATUS_USAGE;
    char *escaped = printable_copy(text, PRINTABLE_TEXT);
    fprintf(stderr, "magic-trace: %s\nTry `magic-trace help %s`.\n", escaped ? escaped : text,
            command->name);
    free(escaped);
    free(text);
    return EXIT_STATUS_USAGE;
}

static void add_rows(struct array *rows, const struct option_group *groups)
{
    for (const struct option_group *group = groups; group && group->options; group++)
        for (const struct option_spec *spec = group->options; spec->name; spec++)
            *(struct option_row *)array_add(rows) = (struct option_row){spec, group->target};
}

struct option_row *command_options(const struct command *command)
{
    struct array rows = array_of(sizeof(struct option_row));
    add_rows(&rows, command->options);
    add_rows(&rows, command->common_options);
    *(struct option_row *)array_add(&rows) = (struct option_row){0};
    return rows.elements;
}

/* What remains to be done after the last event of a reader. */
static int conclude(const struct command *command, struct option_reader *reader,
                    enum option_event event, int status)
{
    option_reader_close(reader);
    if (status)
        return status;
    if (event == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (event != OPTION_HELP)
        return COMMAND_GOES_ON;
    command_print_help(stdout, command);
    return 0;
}

static int apply(const struct option_reader *reader, const struct command *command, void *request)
{
    return reader->option->apply(reader->option, command, (char *)request + reader->target,
                                 reader->value);
}

int command_read_leading_options(const struct command *command, int argc, char **argv,
                                 void *request, int *first)
{
    struct option_reader reader;
    option_reader_open(&reader, command_options(command), argc, argv);
    enum option_event event = OPTION_END;
    int status = 0;
    while (status == 0 && (event = option_reader_next(&reader)) == OPTION_TAKEN)
        status = apply(&reader, command, request);
    *first = reader.next;
    return conclude(command, &reader, event, status);
}

int command_read_options_alone(const struct command *command, int argc, char **argv, void *request)
{
    int first;
    int status = command_read_leading_options(command, argc, argv, request, &first);
    if (status == COMMAND_GOES_ON && first < argc)
        return command_usage_error(command, "%s takes no operands, and there is `%s`.",
                                   command->name, argv[first]);
    return status;
}

int command_read_options(const struct command *command, int argc, char **argv, void *request,
                         command_take_operand *take)
{
    struct option_reader reader;
    option_reader_open(&reader, command_options(command), argc, argv);
    enum option_event event = OPTION_TAKEN;
    int status = 0;
    while (status == 0) {
        event = option_reader_next_or_operand(&reader);
        if (event == OPTION_TAKEN)
            status = apply(&reader, command, request);
        else if (event == OPTION_OPERAND)
            status = take(command, request, reader.value);
        else
            break;
    }
    return conclude(command, &reader, event, status);
}

/* Texts that end with what the system said, or with a name, lack the period of a sentence. */
static bool ends_sentence(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && strchr(".?!\n", text[length - 1]);
}

int command_fail(const struct error *error)
{
    log_progress_end();
    fflush(stdout);
    char *escaped = printable_copy(error->text, PRINTABLE_TEXT);
    fprintf(stderr, "magic-trace: %s%s\n", escaped ? escaped : error->text,
            ends_sentence(error->text) ? "" : ".");
    free(escaped);
    return error->code == ERROR_USAGE ? EXIT_STATUS_USAGE : EXIT_STATUS_ERROR;
}
