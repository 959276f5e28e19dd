/* magic-trace attach: record processes that run already, decode the recording, write the trace. */
#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/attached_command.h"
#include "cli/choose.h"
#include "cli/command.h"
#include "cli/existing_children.h"
#include "cli/options/options.h"
#include "cli/process_list.h"
#include "cli/recording_request.h"
#include "recording/flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct attach_request {
    struct recording_request recording; /* first, for the shared options */
    struct array pids;
    char **command; /* that runs meanwhile; NULL: none */
};

static bool is_known(const struct array *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++)
        if (*(pid_t *)array_at(pids, i) == pid)
            return true;
    return false;
}

/* Adds a list with commas to `pids`. 0, or the exit status after a message. */
static int add_pids(const struct command *self, const char *list, struct array *pids)
{
    const char *text = list;
    for (;;) {
        char *end;
        errno = 0;
        long pid = strtol(text, &end, 10);
        if (end == text || errno || pid <= 0 || pid > INT32_MAX || (*end && *end != ','))
            return command_usage_error(self,
                                       "-pid is a process's number, or several with commas, "
                                       "not `%s`.",
                                       list);
        if (is_known(pids, (pid_t)pid))
            return command_usage_error(self, "Duplicate PIDs were passed: %ld.", pid);
        *(pid_t *)array_add(pids) = (pid_t)pid;
        if (!*end)
            return 0;
        text = end + 1;
    }
}

static bool choose_process(struct array *pids, struct error *error)
{
    struct process_list list;
    process_list_read(&list);
    long chosen = choose(list.names.elements, list.names.count, "process", "-pid PID", error);
    if (chosen != CHOSEN_NOTHING)
        *(pid_t *)array_add(pids) = *(pid_t *)array_at(&list.pids, (size_t)chosen);
    process_list_free(&list);
    return chosen != CHOSEN_NOTHING;
}

static int take_pids(const struct option_spec *option, const struct command *self, void *target,
                     const char *value)
{
    return add_pids(self, value, &((struct attach_request *)target)->pids);
}

static const struct option_spec attach_options[] = {
    {.name = "pid",
     .letter = "p",
     .argument = "PID[,PID]",
     .help = "the processes; without it you choose one of those\nthat run",
     .manual = "The processes. Triggers are looked for in the executable of the first one and in "
               "what it has mapped, then in those of the others. Without this option you choose "
               "one of the processes that run.",
     .apply = take_pids},
    {.name = &FLAG_FOLLOW[1],
     .help = "trace the child processes that they make, too",
     .manual =
         "Trace the child processes that they make from then on, too, and theirs, also across "
         "execve(2). Those that run already are not recorded; a message names them, with the list "
         "for "
         "-pid that records them, too. "
         "When the processes of -pid have ended, the recording goes on as long as these run, and a "
         "message says so; Ctrl-C ends it, and they go on as they were.",
     .apply = option_set_flag,
     .field = offsetof(struct attach_request, recording.record.follow_required)},
    {0},
};

static const struct option_group attach_groups[] = {{attach_options, 0}, {0}};

/* Reads everything. COMMAND_GOES_ON, or the exit status. */
static int read_request(const struct command *self, int argc, char **argv,
                        struct attach_request *request)
{
    int first;
    int status = command_read_leading_options(self, argc, argv, request, &first);
    if (status != COMMAND_GOES_ON)
        return status;
    bool separated = first < argc && first > 1 && strcmp(argv[first - 1], "--") == 0;
    if (first < argc && !separated)
        return command_usage_error(
            self,
            "attach takes no operands but a command after `--`, and there is "
            "`%s`. Processes "
            "are named with -pid; programs are recorded with "
            "`magic-trace run`.",
            argv[first]);
    if (separated)
        request->command = argv + first;
    status = recording_request_check(&request->recording, self);
    return status ? status : COMMAND_GOES_ON;
}

static bool find_trigger_in(struct recording_request *request, pid_t pid, struct error *error)
{
    struct objects objects;
    bool ok = objects_of_process(&objects, pid, error) &&
              recording_request_find_trigger(request, &objects, error);
    objects_free(&objects);
    return ok;
}

/* In the first process that has it; the error is that of the first. */
static bool find_trigger(struct recording_request *request, const struct array *pids,
                         struct error *error)
{
    if (!request->trigger && !request->symbol_part)
        return true;
    bool found = find_trigger_in(request, *(pid_t *)array_at(pids, 0), error);
    for (size_t i = 1; !found && i < pids->count && error->code == ERROR_NOT_FOUND; i++)
        found = find_trigger_in(request, *(pid_t *)array_at(pids, i), NULL);
    return found;
}

static bool find_chosen(struct recording_request *request, const struct array *pids,
                        struct error *error)
{
    struct objects objects;
    if (!request->record.wants_values)
        return true;
    bool ok = objects_of_process(&objects, *(pid_t *)array_at(pids, 0), error) &&
              recording_request_find_chosen(request, &objects, error);
    objects_free(&objects);
    return ok;
}

/* As perf record: the status of COMMAND, when all else went well. */
static int status_after(int status, int command)
{
    if (status || command == -1)
        return status;
    return WIFSIGNALED(command) ? 128 + WTERMSIG(command) : WEXITSTATUS(command);
}

static int carry_out(struct recording_request *request, const struct engine *engine,
                     char *const *command)
{
    struct attached_command attached = {0};
    struct error error = {0};
    if (command && !attached_command_prepare(&attached, command, &error))
        return command_fail(&error);
    if (command) {
        request->record.attached = attached_command_go;
        request->record.attached_context = &attached;
    }
    int status = recording_request_carry_out(request, engine, ENGINE_TO_ATTACH, NULL).status;
    return status_after(status, attached_command_end(&attached));
}

static int attach(struct recording_request *request, struct array *pids, char *const *command)
{
    struct error error = {0};
    if (pids->count == 0 && !choose_process(pids, &error))
        return command_fail(&error);
    request->record.pids = pids->elements;
    request->record.pid_count = pids->count;
    const struct engine *engine =
        recording_request_choose_engine(request, ENGINE_TO_ATTACH, &error);
    if (!engine || !find_trigger(request, pids, &error) || !find_chosen(request, pids, &error))
        return command_fail(&error);
    if (request->record.follow_required)
        existing_children_report(pids);
    return carry_out(request, engine, command);
}

static int run_attach(const struct command *self, int argc, char **argv)
{
    struct attach_request request = {.recording = recording_request_new(argv - 1),
                                     .pids = array_of(sizeof(pid_t))};
    int status = read_request(self, argc, argv, &request);
    if (status == COMMAND_GOES_ON)
        status = attach(&request.recording, &request.pids, request.command);
    array_free(&request.pids);
    recording_request_free(&request.recording);
    return status;
}

const struct command attach_command = {
    .name = "attach",
    .summary = "record a process that runs already",
    .operands = "[-- COMMAND [ARGUMENTS]]",
    .description =
        "Records a process that runs already and writes its trace; the process goes on\n"
        "as it was. What is kept are the last moments before the -trigger, Ctrl-C or its\n"
        "end. COMMAND starts when the process is recorded; the recording ends with it, and\n"
        "attach exits with its status. Where the translator engine cannot attach, the\n"
        "trace has samples of stacks (-sampling); or, with -trigger, the next call of the\n"
        "function until it returns, stepped instruction by instruction: the thread that\n"
        "makes it is thousands of times slower meanwhile.\n",
    .options = attach_groups,
    .common_options = recording_options,
    .run = run_attach,
};
