/* magic-trace attach: record processes that run already, decode the recording, write the trace. */
#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/choose.h"
#include "cli/command.h"
#include "cli/process_list.h"
#include "cli/recording_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum attach_option { ATTACH_PID };

static const struct option_spec attach_options[] = {
    {"pid", "p", ATTACH_PID, "PID[,PID]",
     "the processes; without it you choose one of those\nthat run", NULL},
    {0},
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

/* 0 with everything read, -1 after help, or the exit status after a message. */
static int read_options(const struct command *self, int argc, char **argv,
                        struct recording_request *request, struct array *pids)
{
    struct option_reader reader;
    option_reader_open(&reader, attach_options, recording_options, argc, argv);
    int option = OPTION_END, status = 0;
    while (status == 0 && (option = option_reader_next(&reader)) >= 0)
        status = option == ATTACH_PID
                     ? add_pids(self, reader.value, pids)
                     : recording_request_option(request, self, option, reader.value);
    int next = reader.next;
    option_reader_close(&reader);
    if (status)
        return status;
    if (option == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (option == OPTION_HELP) {
        command_print_help(self);
        return -1;
    }
    if (next < argc)
        return command_usage_error(self,
                                   "attach takes no operands, and there is `%s`. Processes "
                                   "are named with -pid; programs are started with "
                                   "`magic-trace run`.",
                                   argv[next]);
    return recording_request_check(request, self);
}

static bool find_trigger(struct recording_request *request, pid_t pid, struct error *error)
{
    if (!request->trigger && !request->symbol_part)
        return true;
    struct objects objects;
    bool ok = objects_of_process(&objects, pid, error) &&
              recording_request_find_trigger(request, &objects, error);
    objects_free(&objects);
    return ok;
}

static int attach(struct recording_request *request, struct array *pids)
{
    struct error error = {0};
    const struct engine *engine =
        recording_request_choose_engine(request, ENGINE_TO_ATTACH, &error);
    if (!engine || (pids->count == 0 && !choose_process(pids, &error)) ||
        !find_trigger(request, *(pid_t *)array_at(pids, 0), &error))
        return command_fail(&error);
    request->record.pids = pids->elements;
    request->record.pid_count = pids->count;
    return recording_request_carry_out(request, engine, ENGINE_TO_ATTACH, NULL).status;
}

static int run_attach(const struct command *self, int argc, char **argv)
{
    struct recording_request request = recording_request_new(argv - 1);
    struct array pids = array_of(sizeof(pid_t));
    int status = read_options(self, argc, argv, &request, &pids);
    if (status == 0)
        status = attach(&request, &pids);
    else if (status < 0)
        status = 0;
    array_free(&pids);
    recording_request_free(&request);
    return status;
}

const struct command attach_command = {
    .name = "attach",
    .summary = "record a process that runs already",
    .operands = "",
    .description =
        "Records a process that runs already and writes its trace; the process goes on\n"
        "as it was. With Intel PT, the last moments before the -trigger, Ctrl-C or its\n"
        "end. Without, samples of its stacks (-sampling); or, with -trigger, the next\n"
        "call of the function until it returns, stepped instruction by instruction: the\n"
        "thread that makes it is slow meanwhile, a thousand times and more.\n",
    .options = attach_options,
    .common_options = recording_options,
    .run = run_attach,
};
