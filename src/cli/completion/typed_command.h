/* A command line that is being typed in a shell, as far as it can be read: which command it is, what stands at the
 * cursor, and which program or process it names.
 *
 * Called by `magic-trace completion`. Words come as the shell splits them: bash makes three of `-engine=qemu`.
 */
#ifndef MAGIC_TRACE_CLI_COMPLETION_TYPED_COMMAND_H
#define MAGIC_TRACE_CLI_COMPLETION_TYPED_COMMAND_H

#include "cli/command.h"
#include "cli/options/options.h"

enum typed_place {
    TYPED_COMMAND, /* the name of the command */
    TYPED_OPTION,  /* the name of an option */
    TYPED_VALUE,   /* the value of `option` */
    TYPED_OPERAND,
    TYPED_PROGRAM_ARGUMENT, /* of the program that is to be run, or its name */
};

struct typed_command {
    const struct command *command; /* NULL: still unknown */
    struct option_row *options;    /* of the command; owned */
    enum typed_place place;
    const struct option_spec *option; /* TYPED_VALUE */
    const char *word;                 /* at the cursor: what of the value or name is there */
    const char *lead;                 /* what comes before it in the shell's word, to its `=` */
    int lead_length;                  /* of that */
    const char *program;              /* to be run; NULL: none, or it is at the cursor */
    int program_index;                /* of its word; 0: none */
    const char *pids;                 /* as of `attach -pid`; NULL: none */
};

/* `words` are `count` words, the first of which is magic-trace; the cursor is at the end of `words[cursor]`, which is
 * empty where it is `count`. The result points into `words`. */
void typed_command_read(struct typed_command *typed, char *const *words, int count, int cursor);
void typed_command_free(struct typed_command *typed);

/* Whether the command has none, or has them after `--` alone. */
bool typed_command_takes_no_operand(const struct command *command);

#endif
