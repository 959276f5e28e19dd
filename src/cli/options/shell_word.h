/* A path as one word of a command line, so that a command in a message can be copied into a shell.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_SHELL_WORD_H
#define MAGIC_TRACE_CLI_OPTIONS_SHELL_WORD_H

/* `text` itself when a shell takes it as it is, else in single quotes. Owned by the caller. */
char *shell_word(const char *text);

#endif
