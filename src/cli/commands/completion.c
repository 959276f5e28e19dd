/* magic-trace completion: the completion of its command lines for a shell, and what that asks for. */
#include "cli/completion/candidates.h"
#include "cli/completion/typed_command.h"
#include "cli/installed_files.h"
#include "cli/options/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct completion_request {
    const char
        *cursor; /* number of the word at the cursor, from 0; NULL: a shell's script is asked for */
};

static const struct option_spec completion_options[] = {
    {.name = "at",
     .argument = "N",
     .apply = option_set_text,
     .field = offsetof(struct completion_request, cursor)},
    {0},
};
static const struct option_group completion_groups[] = {{completion_options, 0}, {0}};

static int complete(const struct command *self, const char *cursor, char *const *words, int count)
{
    char *end;
    long index = strtol(cursor, &end, 10);
    if (end == cursor || *end || index < 0 || index > count)
        return command_usage_error(self, "-at is the number of a word, not `%s`.", cursor);
    struct typed_command typed;
    typed_command_read(&typed, words, count, (int)index);
    candidates_write(stdout, &typed);
    typed_command_free(&typed);
    return 0;
}

static int print_script(const struct command *self, const char *shell)
{
    static const char *const scripts[][2] = {
        {"bash", "share/bash-completion/completions/magic-trace"},
        {"zsh", "share/zsh/site-functions/_magic-trace"},
        {"fish", "share/fish/vendor_completions.d/magic-trace.fish"},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        if (strcmp(scripts[i][0], shell) != 0)
            continue;
        const struct installed_file *file = installed_file_find(scripts[i][1]);
        fwrite(file->bytes, 1, file->size, stdout);
        return 0;
    }
    return command_usage_error(self, "completion is for bash, zsh or fish, not for `%s`.", shell);
}

static int run_completion(const struct command *self, int argc, char **argv)
{
    struct completion_request request = {0};
    int first;
    int status = command_read_leading_options(self, argc, argv, &request, &first);
    if (status != COMMAND_GOES_ON)
        return status;
    if (request.cursor)
        return complete(self, request.cursor, argv + first, argc - first);
    if (argc - first != 1)
        return command_usage_error(self, "give one shell: bash, zsh or fish.");
    return print_script(self, argv[first]);
}

const struct command completion_command = {
    .name = "completion",
    .summary = "print what makes a shell complete command lines",
    .operands = "bash|zsh|fish",
    .description =
        "Prints the script by which a shell completes the command lines of magic-trace:\n"
        "commands, options and their values, functions of the program after -trigger,\n"
        "-only and -args, processes after -pid. `magic-trace install` puts the scripts\n"
        "where the shells look for them. Without that:\n"
        "\n"
        "  bash  eval \"$(magic-trace completion bash)\"       in ~/.bashrc\n"
        "  zsh   eval \"$(magic-trace completion zsh)\"        in ~/.zshrc, after compinit\n"
        "  fish  magic-trace completion fish | source        in config.fish\n",
    .options = completion_groups,
    .run = run_completion,
};
