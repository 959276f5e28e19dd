#include "cli/completion/typed_command.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ARGUMENT = 2 }; /* after magic-trace and the command's name */

/* "COMMAND [ARGUMENTS]", perhaps after an option that is needed, or in brackets after `--`. `help` takes a COMMAND of ours. */
static bool takes_program(const struct command *command)
{
    return strstr(command->operands, "COMMAND [ARGUMENTS]") != NULL;
}

bool typed_command_takes_no_operand(const struct command *command)
{
    return !*command->operands || strncmp(command->operands, "[--", strlen("[--")) == 0;
}

/* `separated`: a `--` stands before it. */
static bool operand_is_program(const struct command *command, bool separated)
{
    return takes_program(command) && (separated || !typed_command_takes_no_operand(command));
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

struct command_line {
    char *const *words;
    int count, cursor;
};

/* Fish leaves out an empty word at the cursor. */
static const char *word_at(const struct command_line *line, int index)
{
    return index < line->count ? line->words[index] : "";
}

/* Whether the words after it are none of ours. `separated`: a `--` stands before it. */
static bool read_operand(struct typed_command *typed, const struct command_line *line, int index,
                         bool separated)
{
    bool is_program = operand_is_program(typed->command, separated);
    if (index == line->cursor || (is_program && line->cursor > index)) {
        typed->place = is_program ? TYPED_PROGRAM_ARGUMENT : TYPED_OPERAND;
        typed->word = word_at(line, line->cursor);
    }
    if (is_program) {
        typed->program_index = index;
        typed->program = index == line->cursor ? NULL : line->words[index];
    }
    return is_program;
}

static void read_arguments(struct typed_command *typed, const struct command_line *line)
{
    const struct option_spec *pending = NULL; /* its value comes next */
    bool separated = false;
    for (int i = FIRST_ARGUMENT; i < line->count || i == line->cursor; i++) {
        const char *word = word_at(line, i);
        bool at_cursor = i == line->cursor;
        if (pending && strcmp(word, "=") == 0) {
            if (at_cursor)
                cursor_at_value(typed, pending, "");
        } else if (pending) {
            if (at_cursor)
                cursor_at_value(typed, pending, word);
            else
                set_value(typed, pending, word);
            pending = NULL;
        } else if (!separated && !at_cursor && strcmp(word, "--") == 0) {
            separated = true;
        } else if (!separated && *word == '-') {
            pending = read_option(typed, word, at_cursor);
        } else if (read_operand(typed, line, i, separated)) {
            return;
        }
    }
}

void typed_command_read(struct typed_command *typed, char *const *words, int count, int cursor)
{
    const struct command_line line = {words, count, cursor};
    *typed = (struct typed_command){.place = TYPED_COMMAND, .word = word_at(&line, cursor)};
    if (cursor < FIRST_ARGUMENT || !(typed->command = command_find(words[1])))
        return;
    typed->options = command_options(typed->command);
    typed->place = TYPED_OPERAND;
    read_arguments(typed, &line);
}

void typed_command_free(struct typed_command *typed)
{
    free(typed->options);
    *typed = (struct typed_command){0};
}
