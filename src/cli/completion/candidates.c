#include "cli/completion/candidates.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/process_list.h"
#include "engine/functions/function_patterns.h"
#include "engine/objects.h"
#include "symbol/function_list.h"

#include <stdlib.h>
#include <string.h>

/* The summary on one line. NULL: none. */
static void write_summary(FILE *stream, const char *summary)
{
    if (summary)
        fputc('\t', stream);
    for (const char *c = summary; c && *c; c++)
        fputc(*c == '\n' || *c == '\t' ? ' ' : *c, stream);
    fputc('\n', stream);
}

static bool begins_with(const char *word, const char *beginning)
{
    return strncmp(word, beginning, strlen(beginning)) == 0;
}

/* False: not, what is typed begins otherwise. */
static bool offer(FILE *stream, const struct typed_command *typed, const char *word,
                  const char *summary)
{
    if (!begins_with(word, typed->word))
        return false;
    fprintf(stream, "%.*s%s", typed->lead_length, typed->lead ? typed->lead : "", word);
    write_summary(stream, summary);
    return true;
}

/* The last part of a list, which begins at `last` within the word. */
static struct typed_command part_of_list(const struct typed_command *typed, const char *last)
{
    struct typed_command part = *typed;
    part.lead = typed->lead ? typed->lead : typed->word;
    part.lead_length = (int)(last - part.lead);
    part.word = last;
    return part;
}

/* ---- names ---- */

static void offer_commands(FILE *stream, const struct typed_command *typed)
{
    for (const struct command *const *command = command_all(); *command; command++)
        offer(stream, typed, (*command)->name, (*command)->summary);
}

/* With one dash or two, as the user began it. */
static void offer_options(FILE *stream, const struct typed_command *typed)
{
    const char *dashes = begins_with(typed->word, "--") ? "--" : "-";
    static const struct option_spec help = {.name = "help", .help = "print the help page"};
    for (const struct option_row *row = typed->options;; row++) {
        const struct option_spec *option = row->spec ? row->spec : &help;
        char *word = memory_format("%s%s", dashes, option->name);
        if (option->help)
            offer(stream, typed, word, option->help);
        free(word);
        if (!row->spec)
            return;
    }
}

/* ---- values ---- */

static void offer_words(FILE *stream, const struct typed_command *typed)
{
    struct option_value value;
    for (size_t i = 0; typed->option->values(i, &value); i++)
        offer(stream, typed, value.name, value.summary);
}

static void offer_files(FILE *stream, const struct typed_command *typed)
{
    fputs(":files\n", stream);
}

static void offer_folders(FILE *stream, const struct typed_command *typed)
{
    fputs(":folders\n", stream);
}

static void offer_processes(FILE *stream, const struct typed_command *typed)
{
    const char *comma = strrchr(typed->word, ',');
    const struct typed_command part = part_of_list(typed, comma ? comma + 1 : typed->word);
    struct process_list list;
    process_list_read(&list);
    for (size_t i = 0; i < list.pids.count; i++) {
        const char *name = *(const char **)array_at(&list.names, i);
        size_t digits = strcspn(name, " ");
        char *word = memory_format("%.*s", (int)digits, name);
        offer(stream, &part, word, name + digits + 1);
        free(word);
    }
    process_list_free(&list);
}

/* The files with the code of the process or program that the command line names; none when there is no such. */
static void find_objects(struct objects *objects, const struct typed_command *typed)
{
    char *const command[] = {(char *)typed->program, NULL};
    *objects = (struct objects){.paths = array_of(sizeof(char *))};
    if (typed->pids)
        objects_of_process(objects, (pid_t)strtol(typed->pids, NULL, 10), NULL);
    else if (typed->program)
        objects_of_command(objects, command, NULL);
}

/* Whether the shell takes it for one word without quotes. */
static bool is_plain(const char *name)
{
    return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@%+-"
                             "/")] == 0;
}

/* Returns how many. Names that the shell would need in quotes are offered as they are in the symbol table. */
static size_t offer_functions_of(FILE *stream, const struct typed_command *typed,
                                 const char *object)
{
    struct function_list list;
    size_t offered = 0;
    if (function_list_open(&list, object, NULL))
        for (size_t i = 0; i < list.functions.count; i++) {
            const struct listed_function *function = array_at(&list.functions, i);
            bool plain = is_plain(function->name);
            if (plain || is_plain(function->symbol))
                offered += offer(stream, typed, plain ? function->name : function->symbol,
                                 plain ? NULL : function->name);
        }
    function_list_close(&list);
    return offered;
}

/* Of the executable; where it has none that begins so, of its libraries, which would drown its own. */
static void offer_functions(FILE *stream, const struct typed_command *typed)
{
    struct objects objects;
    find_objects(&objects, typed);
    char *const *paths = objects.paths.elements;
    size_t own = objects.paths.count ? offer_functions_of(stream, typed, paths[0]) : 0;
    for (size_t i = 1; !own && i < objects.paths.count; i++)
        offer_functions_of(stream, typed, paths[i]);
    objects_free(&objects);
}

static void offer_more_functions(FILE *stream, const struct typed_command *typed)
{
    const char *last = typed->word;
    for (const char *end; *(end = function_pattern_end(last)); last = end + 1)
        ;
    const struct typed_command part = part_of_list(typed, last);
    offer_functions(stream, &part);
}

static void offer_value(FILE *stream, const struct typed_command *typed)
{
    static const struct {
        const char *argument;
        void (*offer)(FILE *stream, const struct typed_command *typed);
    } kinds[] = {
        {"FILE", offer_files},      {"DIR", offer_folders},    {"PID", offer_processes},
        {"PLACE", offer_functions}, {"PART", offer_functions}, {"NAMES", offer_more_functions},
    };
    if (typed->option->values) {
        offer_words(stream, typed);
        return;
    }
    size_t length = strcspn(typed->option->argument, "[");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].argument) == length &&
            strncmp(kinds[i].argument, typed->option->argument, length) == 0)
            kinds[i].offer(stream, typed);
}

/* ---- operands ---- */

/* "bash|zsh|fish": the operand is one of these words; operands in capitals are names for something else. */
static void offer_operand_words(FILE *stream, const struct typed_command *typed)
{
    const char *at = typed->command->operands;
    while (*at) {
        size_t length = strcspn(at, "|");
        char *word = memory_format("%.*s", (int)length, at);
        offer(stream, typed, word, NULL);
        free(word);
        at += length + (at[length] == '|');
    }
}

static void offer_operands(FILE *stream, const struct typed_command *typed)
{
    const char *operands = typed->command->operands;
    if (typed->place == TYPED_PROGRAM_ARGUMENT)
        fprintf(stream, ":program %d\n", typed->program_index);
    else if (typed_command_takes_no_operand(typed->command))
        offer_options(stream, typed);
    else if (strcmp(operands, "[COMMAND]") == 0)
        offer_commands(stream, typed);
    else if (operands[strspn(operands, "abcdefghijklmnopqrstuvwxyz|")] == 0)
        offer_operand_words(stream, typed);
    else
        offer_files(stream, typed);
}

void candidates_write(FILE *stream, const struct typed_command *typed)
{
    switch (typed->place) {
    case TYPED_COMMAND:
        offer_commands(stream, typed);
        break;
    case TYPED_OPTION:
        offer_options(stream, typed);
        break;
    case TYPED_VALUE:
        offer_value(stream, typed);
        break;
    case TYPED_OPERAND:
    case TYPED_PROGRAM_ARGUMENT:
        offer_operands(stream, typed);
        break;
    }
}
