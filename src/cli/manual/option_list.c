#include "cli/manual/option_list.h"

#include "cli/manual/mdoc.h"
#include "cli/options/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void option_list_write_sentence(FILE *stream, const char *help)
{
    char *sentence = mdoc_sentence(help);
    mdoc_write_text(stream, sentence, NULL);
    free(sentence);
}

/* ".It Fl output Ar file , Fl o Ar file" */
static void write_heading(FILE *stream, const struct option_spec *option)
{
    const char *names[] = {option->name, option->letter};
    fprintf(stream, ".It");
    for (size_t i = 0; i < 2 && names[i]; i++) {
        fprintf(stream, "%s Fl %s", i ? " ," : "", names[i]);
        if (!option->argument)
            continue;
        fprintf(stream, " Ar ");
        bool is_literal = *option->argument == '"'; /* and not a name for what is given */
        for (const char *c = option->argument; *c; c++) {
            if (is_literal)
                fprintf(stream, *c == '"' ? "\\(dq" : *c == ' ' ? "\\ " : "%c", *c);
            else
                fputc(tolower((unsigned char)*c), stream);
        }
    }
    fputc('\n', stream);
}

static void write_values(FILE *stream, const struct option_spec *option)
{
    struct option_value value;
    const char *widest = "";
    for (size_t i = 0; option->values(i, &value); i++)
        if (value.summary && strlen(value.name) > strlen(widest))
            widest = value.name;
    fprintf(stream, ".Bl -tag -width %s\n", widest);
    for (size_t i = 0; option->values(i, &value); i++) {
        if (!value.summary)
            continue;
        fprintf(stream, ".It Cm %s\n", value.name);
        if (value.manual)
            mdoc_write_text(stream, value.manual, NULL);
        else
            option_list_write_sentence(stream, value.summary);
    }
    fputs(".El\n", stream);
}

static void write_option(FILE *stream, const struct option_spec *option)
{
    if (!option->help)
        return;
    write_heading(stream, option);
    if (option->manual)
        mdoc_write_text(stream, option->manual, option->argument);
    else
        option_list_write_sentence(stream, option->help);
    if (option->values)
        write_values(stream, option);
}

void option_list_write(FILE *stream, const struct command *command)
{
    struct option_row *options = command_options(command);
    for (const struct option_row *row = options; row->spec; row++)
        write_option(stream, row->spec);
    free(options);
}
