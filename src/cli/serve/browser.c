#include "cli/serve/browser.h"

#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What opens addresses: that of the desktop (freedesktop.org's xdg-utils), and Debian's. */
static const char *const openers[] = {"xdg-open", "x-www-browser", NULL};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool browser_is_there(void)
{
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

static char *find_opener(void)
{
    char *found = NULL;
    for (size_t i = 0; openers[i] && !found; i++)
        found = file_find_program(openers[i]);
    return found;
}

/* In a session of its own, so that Ctrl-C here does not end the browser, and with the signals that
 * are blocked here at their usual effect. */
static bool start(const char *program, const char *address, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char *const arguments[] = {(char *)program, (char *)address, NULL};
    bool ok = posix_spawn(pid, program, &files, &attributes, arguments, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

bool browser_open(const char *address)
{
    char *program = find_opener();
    pid_t pid;
    bool ok = program && start(program, address, &pid);
    free(program);
    return ok;
}
