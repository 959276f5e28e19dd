#include "cli/completion/typed_command.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ARGUMENT = 2 }; /* after magic-trace and the command's name */

bool typed_command_runs_program(const struct command *command)
{
    return strncmp(command->operands, "COMMAND", strlen("COMMAND")) == 0;
}

static bool is_named(const struct option_spec *option, const char *name, size_t length)
{
    const char *names[] = {option->name, option->letter};
    for (size_t i = 0; i < 2 && names[i]; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    return false;
}

/* By its name, or by a beginning that fits it alone. NULL: none fits. */
static const struct option_spec *find_option(const struct option_row *rows, const char *word)
{
    const char *name = word + strspn(word, "-");
    size_t length = strcspn(name, "=");
    const struct option_spec *found = NULL;
    int fitting = 0;
    for (const struct option_row *row = rows; row->spec; row++) {
        if (is_named(row->spec, name, length))
            return row->spec;
        if (strncmp(row->spec->name, name, length) == 0) {
            found = row->spec;
            fitting++;
        }
    }
    return fitting == 1 ? found : NULL;
}

static void set_value(struct typed_command *typed, const struct option_spec *option,
                      const char *value)
{
    if (strcmp(option->name, "pid") == 0)
        typed->pids = value;
}

static void cursor_at_value(struct typed_command *typed, const struct option_spec *option,
                            const char *word)
{
    typed->place = TYPED_VALUE;
    typed->option = option;
    typed->word = word;
}

/* A word that begins with a dash. Returns the option whose value is the next word. */
static const struct option_spec *read_option(struct typed_command *typed, const char *word,
                                             bool at_cursor)
{
    const char *equals = strchr(word, '=');
    if (at_cursor && !equals) {
        typed->place = TYPED_OPTION;
        typed->word = word;
        return NULL;
    }
    const struct option_spec *option = find_option(typed->options, word);
    if (!option || !option->argument)
        return NULL;
    if (!equals)
        return option;
    if (at_cursor) {
        cursor_at_value(typed, option, equals + 1);
        typed->lead = word;
        typed->lead_length = (int)(equals + 1 - word);
    } else {
        set_value(typed, option, equals + 1);
    }
    return NULL;
}

/* Whether the words after it are none of ours. */
static bool read_operand(struct typed_command *typed, char *const *words, int index, int cursor)
{
    bool runs_program = typed_command_runs_program(typed->command);
    if (index == cursor || (runs_program && cursor > index)) {
        typed->place = runs_program ? TYPED_PROGRAM_ARGUMENT : TYPED_OPERAND;
        typed->word = words[cursor];
    }
    if (runs_program) {
        typed->program_index = index;
        typed->program = index == cursor ? NULL : words[index];
    }
    return runs_program;
}

static void read_arguments(struct typed_command *typed, char *const *words, int count, int cursor)
{
    const struct option_spec *pending = NULL; /* its value comes next */
    bool operands = false;
    for (int i = FIRST_ARGUMENT; i < count; i++) {
        const char *word = words[i];
        if (pending && strcmp(word, "=") == 0) {
            if (i == cursor)
                cursor_at_value(typed, pending, "");
        } else if (pending) {
            if (i == cursor)
                cursor_at_value(typed, pending, word);
            else
                set_value(typed, pending, word);
            pending = NULL;
        } else if (!operands && i != cursor && strcmp(word, "--") == 0) {
            operands = true;
        } else if (!operands && *word == '-') {
            pending = read_option(typed, word, i == cursor);
        } else if (read_operand(typed, words, i, cursor)) {
            return;
        }
    }
}

void typed_command_read(struct typed_command *typed, char *const *words, int count, int cursor)
{
    *typed =
        (struct typed_command){.place = TYPED_COMMAND, .word = cursor < count ? words[cursor] : ""};
    if (cursor < FIRST_ARGUMENT || !(typed->command = command_find(words[1])))
        return;
    typed->options = command_options(typed->command);
    typed->place = TYPED_OPERAND;
    read_arguments(typed, words, count, cursor);
}

void typed_command_free(struct typed_command *typed)
{
    free(typed->options);
    *typed = (struct typed_command){0};
}
