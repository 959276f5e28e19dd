#include "base/helper_program.h"

#include "base/child_wait.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

pid_t helper_program_start(char *const *arguments, int output, int messages)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    int failure = posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    errno = failure;
    return failure ? -1 : pid;
}

char *helper_program_output(char *const *arguments, bool messages)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    int nowhere = messages ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t pid = helper_program_start(arguments, ends[1], messages ? ends[1] : nowhere);
    close(ends[1]);
    if (nowhere >= 0)
        close(nowhere);
    char *output = pid < 0 ? NULL : file_read_descriptor(ends[0], arguments[0], NULL, NULL);
    close(ends[0]);
    if (pid >= 0)
        child_wait(pid);
    return output;
}
