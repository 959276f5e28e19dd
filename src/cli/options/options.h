/* Options of a subcommand: tables, read with glibc's getopt_long_only.
 *
 * `-flag`, `--flag`, `-flag=value` and unique prefixes of flags are all the same, as in the
 * original. Options end at the first operand, so that whatever follows a program's name belongs to
 * the program.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_OPTIONS_H
#define MAGIC_TRACE_CLI_OPTIONS_OPTIONS_H

struct option;

/* Why options of the original cannot be had: -z-print-events, -z-print-perf-commands. */
#define PERF_PRINTS                                                                                \
    "events are printed by `perf script --itrace=bei -i DIR/perf.data`, with a recording kept by " \
    "-working-directory DIR. Leave it out."
#define NO_PERF_COMMANDS "no perf is run: recordings are made and decoded here. Leave it out."

struct option_spec {
    const char *name;     /* without dashes; NULL ends the table */
    const char *letter;   /* short form, one letter; NULL: none */
    int id;               /* what option_reader_next returns: 0 or more, the command's own enum */
    const char *argument; /* name of the value in the help page; NULL: a flag without value */
    const char *help;     /* one or more lines, the first without indentation; NULL: not shown */
    const char *unavailable; /* not NULL: the flag is understood but cannot be had; why, as a full
                                sentence */
};

enum {
    OPTION_END = -1,   /* no more options: operands begin at option_reader.next */
    OPTION_ERROR = -2, /* a message was printed */
    OPTION_HELP = -3,  /* -help or -? */
    OPTION_OPERAND = -4,
};

/* One walk over a command line; a process has one at a time, since getopt keeps its state in the C
 * library. */
struct option_reader {
    struct option_spec *specs;   /* owned */
    struct option *long_options; /* owned */
    int argc;
    char **argv;
    const char *value; /* of the option returned last; NULL for a flag */
    int next;          /* index in argv of the first argument not consumed yet */
};

/* `common`: options that the command shares with others; NULL: none. */
void option_reader_open(struct option_reader *reader, const struct option_spec *specs,
                        const struct option_spec *common, int argc, char **argv);

/* The id of the next option, or OPTION_END, OPTION_ERROR, OPTION_HELP. */
int option_reader_next(struct option_reader *reader);

/* The same for commands whose options may also stand behind their operands: an operand is
 * OPTION_OPERAND, in `value`; OPTION_END comes at the end of the command line. */
int option_reader_next_or_operand(struct option_reader *reader);

void option_reader_close(struct option_reader *reader);

#endif
