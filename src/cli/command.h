/* A subcommand of magic-trace: what may stand behind the program's name.
 *
 * Each command has a file of its own (run.c, decode.c, ...) that defines its `struct command`;
 * commands.c lists them. main.c finds the command and calls it, help.c prints what is said here.
 */
#ifndef MAGIC_TRACE_CLI_COMMAND_H
#define MAGIC_TRACE_CLI_COMMAND_H

#include "base/error.h"
#include "cli/options/options.h"

#include <stdbool.h>

/* Exit statuses besides 0 (DESIGN.md section 7, the original's too). */
enum {
    EXIT_STATUS_ERROR = 1,
    EXIT_STATUS_USAGE = 2, /* the command line makes no sense */
};

struct command {
    const char *name;
    const char *alias;       /* NULL: none */
    const char *summary;     /* one line, for the list of commands */
    const char *operands;    /* what follows the options, as in a synopsis */
    const char *description; /* paragraphs of at most 80 columns, each ended by a newline */
    const struct option_spec *options;        /* ended by a row without name */
    const struct option_spec *common_options; /* shared with other commands; NULL: none */
    /* argv[0] is the command's name, argv[argc] is NULL. Returns the exit status. */
    int (*run)(const struct command *command, int argc, char **argv);
};

extern const struct command run_command;
extern const struct command attach_command;
extern const struct command decode_command;
extern const struct command view_command;
extern const struct command report_command;
extern const struct command export_command;
extern const struct command dump_command;
extern const struct command doctor_command;
extern const struct command version_command;
extern const struct command help_command;

/* All commands in the order of the help page, ended by NULL. */
const struct command *const *command_all(void);

/* By name, alias, or a beginning that fits one command alone. NULL, after a message on stderr that
 * says what was probably meant, when there is none. */
const struct command *command_find(const char *name);

/* Prints the help page of one command on stdout. */
void command_print_help(const struct command *command);

/* For commands without options of their own: reads -help. COMMAND_GOES_ON with *first at the first
 * operand, or the exit status after the help page or a message. */
enum { COMMAND_GOES_ON = -1 };
int command_read_help_option(const struct command *command, int argc, char **argv, int *first);

/* The same for commands that take no operands either. */
int command_read_nothing(const struct command *command, int argc, char **argv);

/* For commands whose options may stand behind their operands: hands each option, and each operand
 * as OPTION_OPERAND, to `apply`, which gives 0 or the exit status after a message. COMMAND_GOES_ON
 * when all were taken, or the exit status after the help page or a message. */
typedef int command_apply(const struct command *command, void *request, int option,
                          const char *value);
int command_read_options(const struct command *command, int argc, char **argv, command_apply *apply,
                         void *request);

/* One line on stderr that points to the help page; returns EXIT_STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int command_usage_error(const struct command *command,
                                                              const char *format, ...);

/* Tells `error` on stderr, behind what was printed so far; returns the exit status it means. */
int command_fail(const struct error *error);

#endif
