#include "engine/perf/perf_control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *const lines[] = {
    [PERF_COMMAND_ENABLE] = "enable\n",
    [PERF_COMMAND_DISABLE] = "disable\n",
    [PERF_COMMAND_SNAPSHOT] = "snapshot\n",
    [PERF_COMMAND_STOP] = "stop\n",
};

bool perf_control_open(struct perf_control *control, struct error *error)
{
    *control = (struct perf_control){.commands = {-1, -1}, .acks = {-1, -1}};
    if (pipe2(control->commands, O_CLOEXEC) == 0 && pipe2(control->acks, O_CLOEXEC) == 0 &&
        fcntl(control->acks[0], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(control->commands[1], F_SETFL, O_NONBLOCK) == 0)
        return true;
    error_set_errno(error, ERROR_IO, errno, "cannot make a pipe to control perf");
    perf_control_close(control);
    return false;
}

void perf_control_close(struct perf_control *control)
{
    const int descriptors[] = {control->commands[0], control->commands[1], control->acks[0],
                               control->acks[1]};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    *control = (struct perf_control){.commands = {-1, -1}, .acks = {-1, -1}};
}

bool perf_control_send(struct perf_control *control, enum perf_command command)
{
    size_t length = strlen(lines[command]);
    if (control->awaited_count == PERF_COMMANDS_AWAITED ||
        write(control->commands[1], lines[command], length) != (ssize_t)length)
        return false;
    control->awaited[control->awaited_count++] = command;
    return true;
}

/* Whether another whole acknowledgement came: the line, whose NUL is of no interest. */
static bool take_ack(struct perf_control *control)
{
    char byte;
    while (read(control->acks[0], &byte, 1) == 1)
        if (byte == '\n')
            return true;
    return false;
}

bool perf_control_next_ack(struct perf_control *control, enum perf_command *command)
{
    if (!take_ack(control) || control->awaited_count == 0)
        return false;
    *command = control->awaited[0];
    control->awaited_count--;
    memmove(control->awaited, control->awaited + 1,
            control->awaited_count * sizeof *control->awaited);
    return true;
}
