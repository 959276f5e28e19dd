/* A subcommand of magic-trace.
 *
 * Each command has a file of its own (run.c, decode.c, ...) that defines its `struct command`;
 * commands.c lists them. main.c finds the command and calls it; help.c prints the help page, and
 * manual/ the options of the man page, from what is said here.
 */
#ifndef MAGIC_TRACE_CLI_COMMAND_H
#define MAGIC_TRACE_CLI_COMMAND_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct option_group; /* cli/options/options.h */
struct option_row;

/* Exit statuses besides 0, the same as those of Jane Street's magic-trace. */
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
    const struct option_group *options;        /* ended by a group without options; NULL: none */
    const struct option_group *common_options; /* likewise, shared with other commands */
    /* argv[0] is the command's name, argv[argc] is NULL. Returns the exit status. */
    int (*run)(const struct command *command, int argc, char **argv);
};

extern const struct command run_command;
extern const struct command attach_command;
extern const struct command decode_command;
extern const struct command view_command;
extern const struct command report_command;
extern const struct command explain_command;
extern const struct command compare_command;
extern const struct command check_command;
extern const struct command export_command;
extern const struct command query_command;
extern const struct command dump_command;
extern const struct command doctor_command;
extern const struct command completion_command;
extern const struct command install_command;
extern const struct command version_command;
extern const struct command help_command;

/* All commands in the order of the help page, ended by NULL. */
const struct command *const *command_all(void);

/* By name, alias, or a beginning that fits one command alone. NULL, after a message on stderr that
 * says what was probably meant, when there is none. */
const struct command *command_find(const char *name);

/* All options of a command, ended by a row without spec. The caller frees. */
struct option_row *command_options(const struct command *command);

/* Prints the help page of one command. */
void command_print_help(FILE *stream, const struct command *command);

/* Reads the options and applies them to `request`. COMMAND_GOES_ON when all were applied, or the
 * exit status after the help page or a message. */
enum { COMMAND_GOES_ON = -1 };

/* Up to the first operand, whose index in argv becomes *first. */
int command_read_leading_options(const struct command *command, int argc, char **argv,
                                 void *request, int *first);

/* The same for commands that take no operands. */
int command_read_options_alone(const struct command *command, int argc, char **argv, void *request);

/* For commands whose options may also follow their operands: hands each operand to `take`, which
 * gives 0 or the exit status after a message. */
typedef int command_take_operand(const struct command *command, void *request, const char *operand);
int command_read_options(const struct command *command, int argc, char **argv, void *request,
                         command_take_operand *take);

/* One line on stderr that points to the help page; returns EXIT_STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int command_usage_error(const struct command *command,
                                                              const char *format, ...);

/* Prints `error` on stderr, after what was printed so far; returns the exit status it means. */
int command_fail(const struct error *error);

#endif
