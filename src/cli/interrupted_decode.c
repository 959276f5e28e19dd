#include "cli/interrupted_decode.h"

#include "cli/options/shell_word.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A signal handler has no other way to learn anything. Written before the handler is installed,
 * then constant. */
static char message[4096];

static void say_and_die(int signal)
{
    /* Nothing can be done when stderr is gone. */
    ssize_t written = write(STDERR_FILENO, message, strlen(message));
    (void)written;
    raise(signal); /* SA_RESETHAND: the default action, once this handler returns */
}

void interrupted_decode_begin(const char *directory)
{
    char *path = shell_word(directory);
    snprintf(
        message, sizeof message,
        "\n[ Got signal, decoding stopped. ]\n[ The recording is kept: magic-trace decode %s ]\n",
        path);
    free(path);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        if (sigaction(signals[i], NULL, &before) != 0 || before.sa_handler == SIG_IGN)
            continue;
        struct sigaction action = {.sa_handler = say_and_die, .sa_flags = (int)SA_RESETHAND};
        sigaction(signals[i], &action, NULL);
    }
}

void interrupted_decode_end(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == say_and_die)
            signal(signals[i], SIG_DFL);
    }
}
