#include "cli/choose.h"

#include "base/child_wait.h"
#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    LISTED_AT_ONCE = 40, /* more do not fit on a screen */
    LISTED_WITHOUT_TERMINAL = 20,
};

static long nothing_chosen(const char *what, const char *how, struct error *error)
{
    error_set(error, ERROR_NOT_FOUND, "No %s selected. Choose one of the list, or name it: %s.",
              what, how);
    return CHOSEN_NOTHING;
}

/* ---- fzf ---- */

struct finder {
    pid_t pid;
    int input, output;
};

/* fzf opens the terminal by itself: for the keys, and stderr for what it draws. */
static bool finder_start(struct finder *finder, char *path, const char *what)
{
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0)
        return false;
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        close(input[1]);
        return false;
    }
    char *prompt = memory_format("--prompt=%s> ", what);
    char *arguments[] = {path, "--with-nth=2..", "--no-multi", prompt, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    bool started = posix_spawn(&finder->pid, path, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    free(prompt);
    close(input[0]);
    close(output[1]);
    finder->input = input[1];
    finder->output = output[0];
    if (!started) {
        close(finder->input);
        close(finder->output);
    }
    return started;
}

/* A finder that has its answer reads no more, which is no error. */
static void finder_offer(const struct finder *finder, const char *const *names, size_t count)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    FILE *input = fdopen(finder->input, "w");
    for (size_t i = 0; input && i < count; i++)
        if (fprintf(input, "%zu %s\n", i, names[i]) < 0)
            break;
    if (input)
        fclose(input);
    else
        close(finder->input);
    sigaction(SIGPIPE, &before, NULL);
}

static long finder_answer(const struct finder *finder, size_t count)
{
    char *answer = file_read_descriptor(finder->output, "fzf", NULL, NULL);
    close(finder->output);
    int status = child_wait(finder->pid);
    char *end = answer;
    long chosen = answer ? strtol(answer, &end, 10) : CHOSEN_NOTHING;
    if (status != 0 || end == answer || chosen < 0 || (size_t)chosen >= count)
        chosen = CHOSEN_NOTHING;
    free(answer);
    return chosen;
}

/* ---- a numbered list ---- */

static bool contains(const char *name, const char *part)
{
    return strcasestr(name, part) != NULL;
}

static size_t matches(const char *const *names, size_t count, const char *part)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += contains(names[i], part);
    return found;
}

static void list_matches(const char *const *names, size_t count, const char *part, FILE *stream)
{
    for (size_t i = 0; i < count; i++)
        if (contains(names[i], part))
            fprintf(stream, "%6zu  %s\n", i + 1, names[i]);
}

/* The number that stands before one of the names listed; CHOSEN_NOTHING: they have no such number. */
static long listed_number(const char *const *names, size_t count, const char *part,
                          const char *answer)
{
    char *end;
    unsigned long number = strtoul(answer, &end, 10);
    bool listed = *answer >= '0' && *answer <= '9' && *end == 0 && number >= 1 && number <= count &&
                  contains(names[number - 1], part) &&
                  matches(names, count, part) <= LISTED_AT_ONCE;
    return listed ? (long)number - 1 : CHOSEN_NOTHING;
}

/* A number of the list, or a part of a name, which makes the list shorter. */
static long choose_from_list(const char *const *names, size_t count, const char *what,
                             FILE *terminal)
{
    char *line = NULL, *part = memory_copy_string("");
    size_t size = 0;
    long chosen = CHOSEN_NOTHING;
    for (;;) {
        size_t found = matches(names, count, part);
        if (found == 0)
            fprintf(terminal, "No %s contains `%s`.\n", what, part);
        else if (found <= LISTED_AT_ONCE)
            list_matches(names, count, part, terminal);
        else
            fprintf(terminal, "%zu to choose from: too many to list.\n", found);
        fprintf(terminal, "Number of the %s, or part of its name: ", what);
        fflush(terminal);
        ssize_t length = getline(&line, &size, terminal);
        if (length <= 0)
            break;
        line[strcspn(line, "\r\n")] = 0;
        if (!*line)
            break;
        chosen = listed_number(names, count, part, line);
        if (chosen != CHOSEN_NOTHING)
            break;
        free(part);
        part = memory_copy_string(line);
    }
    free(line);
    free(part);
    return chosen;
}

/* ---- without a terminal ---- */

static long list_only(const char *const *names, size_t count, const char *what, const char *how,
                      struct error *error)
{
    for (size_t i = 0; i < count && i < LISTED_WITHOUT_TERMINAL; i++)
        fprintf(stderr, "    %s\n", names[i]);
    if (count > LISTED_WITHOUT_TERMINAL)
        fprintf(stderr, "    ... and %zu more\n", count - LISTED_WITHOUT_TERMINAL);
    error_set(error, ERROR_NOT_FOUND,
              "there are %zu to choose from, and no terminal to choose one at. Name the %s: %s.",
              count, what, how);
    return CHOSEN_NOTHING;
}

long choose(const char *const *names, size_t count, const char *what, const char *how,
            struct error *error)
{
    int descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return list_only(names, count, what, how, error);
    long chosen = CHOSEN_NOTHING;
    char *path = file_find_program("fzf");
    struct finder finder;
    if (path && finder_start(&finder, path, what)) {
        finder_offer(&finder, names, count);
        chosen = finder_answer(&finder, count);
        close(descriptor);
    } else {
        FILE *terminal = fdopen(descriptor, "r+");
        if (terminal) {
            chosen = choose_from_list(names, count, what, terminal);
            fclose(terminal);
        } else {
            close(descriptor);
        }
    }
    free(path);
    return chosen == CHOSEN_NOTHING ? nothing_chosen(what, how, error) : chosen;
}
