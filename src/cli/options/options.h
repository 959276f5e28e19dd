/* Options of a subcommand: tables, read with glibc's getopt_long_only.
 *
 * `-flag`, `--flag`, `-flag=value` and unique prefixes of flags are all the same, as in
 * Jane Street's magic-trace. A row of a table is all there is to an option: its help, its text in the man page
 * (manual/), the values it takes, and the function that applies it.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_OPTIONS_H
#define MAGIC_TRACE_CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct option;
struct option_spec;

/* Why options of Jane Street's magic-trace are not available: -z-print-events, -z-print-perf-commands. */
#define PERF_PRINTS                                                                                \
    "events are printed by `perf script --itrace=bei -i DIR/perf.data`, with a recording kept by " \
    "-working-directory DIR. Leave it out."
#define NO_PERF_COMMANDS "no perf is run: recordings are made and decoded here. Leave it out."

/* One of the words that an option takes as its value. */
struct option_value {
    const char *name;
    int value;           /* what option_set_value() stores */
    const char *summary; /* for help page and man page; NULL: not shown */
    const char *manual;  /* for the man page, in the text form of option_spec; NULL: the summary */
};

/* Enumerates the values of an option from 0: false at the end. */
typedef bool option_value_at(size_t index, struct option_value *value);

/* Applies an option of the command line to `target`, the struct that the option's group fills;
 * `value` is NULL for a flag. 0, or the exit status after a message. */
typedef int option_apply(const struct option_spec *option, const struct command *command,
                         void *target, const char *value);

struct option_spec {
    const char *name;     /* without dashes; NULL ends the table */
    const char *letter;   /* short form, one letter; NULL: none */
    const char *argument; /* name of the value in help and man page; NULL: a flag without value */
    const char *help;     /* one or more lines, the first without indentation; NULL: not shown in
                             help and man page */
    const char *manual;   /* for the man page; NULL: what help says. Plain text: -flag, `literal`,
                           ARGUMENT, $VARIABLE, /path and page(1) are recognized; an empty line
                           begins a paragraph, lines indented by two blanks are shown as they are */
    option_value_at *values; /* the words it takes; NULL: others */
    option_apply *apply;
    size_t field;            /* offset in the target of what option_set_...() sets */
    const char *unavailable; /* not NULL: the option is recognized but not available; why, as a
                                full sentence. `apply` is not called */
};

/* Options, and where in the command's request lies the struct that they fill. */
struct option_group {
    const struct option_spec *options; /* ended by a row without name; NULL ends the groups */
    size_t target;
};

/* An option and the target of its group. */
struct option_row {
    const struct option_spec *spec; /* NULL ends the rows */
    size_t target;
};

/* ---- ready-made option_apply functions ---- */

/* Sets the bool at option->field. */
option_apply option_set_flag;
/* Sets the const char * at option->field to the value, which lives as long as argv. */
option_apply option_set_text;
/* The same for names of places in a program, which are not empty. */
option_apply option_set_place;
/* Sets the enum or int at option->field to the option_value of that name; a usage error lists the
 * names. */
option_apply option_set_value;

/* The option_value called `text`: 0, or the exit status after a message that lists the names. */
int option_find_value(const struct option_spec *option, const struct command *command,
                      const char *text, struct option_value *value);

/* "fxt or folded", "lbr, dwarf or fp": the names for messages. The caller frees. */
char *option_value_names(option_value_at *values);

/* For option_value_at functions of fixed tables. */
bool option_value_of_table(const struct option_value *table, size_t count, size_t index,
                           struct option_value *value);

/* ---- reading a command line ---- */

enum option_event {
    OPTION_TAKEN,   /* `option`, `value` and `target` say which */
    OPTION_END,     /* no more options: operands begin at option_reader.next */
    OPTION_ERROR,   /* a message was printed */
    OPTION_HELP,    /* -help or -? */
    OPTION_OPERAND, /* in `value` */
};

/* One walk over a command line; a process has one at a time, since getopt keeps its state in the C
 * library. */
struct option_reader {
    struct option_row *rows;     /* owned */
    struct option *long_options; /* owned */
    int argc;
    char **argv;
    const struct option_spec *option; /* returned last */
    size_t target;                    /* of its group */
    const char *value;                /* NULL for a flag */
    int next;                         /* index in argv of the first argument not consumed yet */
};

/* The reader owns `rows`, as of command_options(). */
void option_reader_open(struct option_reader *reader, struct option_row *rows, int argc,
                        char **argv);

/* Stops at the first operand with OPTION_END, so that whatever follows a program's name belongs to
 * the program. */
enum option_event option_reader_next(struct option_reader *reader);

/* The same for commands whose options may also follow their operands: OPTION_END comes at the end
 * of the command line. */
enum option_event option_reader_next_or_operand(struct option_reader *reader);

void option_reader_close(struct option_reader *reader);

#endif
