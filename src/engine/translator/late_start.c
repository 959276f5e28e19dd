#include "engine/translator/late_start.h"

#include "base/child_wait.h"
#include "base/log.h"
#include "engine/translator/inject/stopped_threads.h"
#include "process/debug_registers.h"
#include "recording/flags.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

static bool add(int epoll, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

bool late_start_begin(struct late_start *start, int also, struct error *error)
{
    if (!debug_registers_fire())
        return error_set(error, ERROR_UNSUPPORTED,
                         DEBUG_REGISTERS_SILENT
                         ". " FLAG_RECORD_FROM
                         " waits for one. Without it the program is recorded from its beginning.");
    start->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (start->descriptor >= 0 && add(start->descriptor, also) &&
        add(start->descriptor, start->attacher->line))
        return true;
    error_set_errno(error, ERROR_IO, errno, "cannot wait for the program (epoll)");
    if (start->descriptor >= 0)
        close(start->descriptor);
    return false;
}

/* ---- the program's beginning ---- */

static bool cannot_trace(const struct late_start *start, const struct error *reason,
                         struct error *error)
{
    return error_set(error, reason->code, "cannot trace %s: %s.", start->wanted->command[0],
                     reason->text);
}

bool late_start_launch(struct late_start *start, struct held_program *held, struct error *error)
{
    struct error reason;
    start->pid = held->child.pid;
    if (!attacher_hold(start->attacher, start->pid, start->wanted->follow, &reason)) {
        launch_give_up(held);
        return cannot_trace(start, &reason, error);
    }
    launch_let_go(held);
    bool ready = attacher_runs_to_exec(start->attacher, &reason);
    if (!launch_outcome(held, error))
        return false;
    if (ready) {
        log_status("The program runs natively until it reaches %s.", start->wanted->from.name);
        return true;
    }
    child_wait(start->pid);
    close(held->child.descriptor);
    return cannot_trace(start, &reason, error);
}

/* ---- its trace ---- */

static void begin_to_trace(struct late_start *start)
{
    struct error error;
    start->about_to_trace(start->context, start->pid);
    start->recorded = attacher_take_over(start->attacher, start->pid, &error);
    start->state = start->recorded ? LATE_START_TRACED : LATE_START_OVER;
    if (start->recorded)
        log_status("%s was reached: recording.", start->wanted->from.name);
    else
        log_warning("%s was reached, but %s The program runs on natively.",
                    start->wanted->from.name, error.text);
}

/* The kernel has let its threads go, but their breakpoints are still there. */
static void stand_in_for_attacher(struct late_start *start)
{
    enum { TRIES = 50 };
    struct stopped_threads stopped;
    struct error error = {.code = ERROR_IO};
    epoll_ctl(start->descriptor, EPOLL_CTL_DEL, start->attacher->line, NULL);
    start->state = LATE_START_OVER;
    for (int i = 0; error.code == ERROR_IO && i < TRIES; i++) {
        if (!threads_stop(&stopped, start->pid, &error))
            continue;
        threads_clear_breakpoints(&stopped);
        threads_go_on(&stopped);
        error.code = ERROR_NONE;
    }
    log_warning("%s was killed: the program runs on natively, and nothing is recorded of it.",
                THREADS_STOPPER);
}

static void look_for_arrival(struct late_start *start)
{
    switch (attacher_report(start->attacher)) {
    case ATTACHER_REACHED:
        begin_to_trace(start);
        break;
    case ATTACHER_KILLED:
        stand_in_for_attacher(start);
        break;
    case ATTACHER_SILENT:
        break;
    }
}

static void let_go(struct late_start *start)
{
    epoll_ctl(start->descriptor, EPOLL_CTL_DEL, start->attacher->line, NULL);
    attacher_release_all(start->attacher, start->arena, start->image);
    if (atomic_load(&start->arena->control->until_reached))
        log_status("%s was reached: the recording has ended, the program runs on natively.",
                   start->wanted->until.name);
    start->state = LATE_START_OVER;
}

void late_start_serve(struct late_start *start)
{
    bool frozen = atomic_load(&start->arena->control->frozen);
    if (start->state == LATE_START_NATIVE)
        look_for_arrival(start);
    else if (start->state == LATE_START_TRACED && frozen)
        let_go(start);
}

bool late_start_end(struct late_start *start, struct error *error)
{
    close(start->descriptor);
    return start->recorded ||
           error_set(error, ERROR_NOT_FOUND,
                     "nothing was recorded: %s ended before it had reached %s (" FLAG_RECORD_FROM
                     ").",
                     start->wanted->command[0], start->wanted->from.name);
}
