#include "runtime/qemu_plugin/process.h"

#include "engine/packets/private_file.h"
#include "runtime/qemu_plugin/kept_ranges.h"
#include "runtime/qemu_plugin/trigger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    NO_RING = -1, /* as the serial of a record */
    LARGEST_PSB_INTERVAL = 4096,
    LEAST_PSBS = 4, /* in a full snapshot ring, so that little is lost before the first */
};

static struct qemu_control *control_of(const struct process *process)
{
    return process->log.control;
}

bool process_begin(struct process *process, const char *directory)
{
    if (strlen(directory) + sizeof "/soft/control" > sizeof process->directory)
        return false;
    strcpy(process->directory, directory);
    snprintf(process->control_path, sizeof process->control_path, "%s/soft/control",
             process->directory);
    if (!sideband_open(&process->log, process->control_path))
        return false;
    process->pid = getpid();
    pthread_mutex_init(&process->lock, NULL);
    process->code.log = &process->log;
    process->code.directory = process->directory;
    return true;
}

/* --- Time --- */

static struct thread *thread_of_owner(struct pt_encoder_owner *owner)
{
    return (struct thread *)(void *)owner;
}

static uint64_t time_now(struct pt_encoder_owner *owner)
{
    struct thread *thread = thread_of_owner(owner);
    uint64_t now = qemu_clock_now(&thread->clock, thread->encoder);
    trigger_tick(control_of(thread->process), now);
    return now;
}

static bool make_room(struct pt_encoder_owner *owner)
{
    struct thread *thread = thread_of_owner(owner);
    const struct qemu_options *options = &control_of(thread->process)->options;
    if (!ring_advance(&thread->ring))
        return false;
    if (options->trigger.multi_snapshot && !options->full_execution) {
        struct sideband_subject subject = thread_subject(thread);
        kept_ranges_settle(&thread->ring, &thread->process->log, &subject);
    }
    return true;
}

static uint64_t last_time(const struct thread *thread)
{
    return thread->encoder->last_time ? thread->encoder->last_time : thread->clock.floor;
}

uint64_t process_seen(struct process *process, const struct thread *except)
{
    pthread_mutex_lock(&process->lock);
    uint64_t seen = process->seen_by_dead;
    for (const struct thread *thread = process->threads; thread; thread = thread->next)
        if (thread != except && thread->clock.floor > seen)
            seen = thread->clock.floor;
    pthread_mutex_unlock(&process->lock);
    return seen;
}

/* The time for an event in a thread that is not recorded: no later than any recorded thread can see
 * it. */
static uint64_t earliest_time(struct process *process)
{
    pthread_mutex_lock(&process->lock);
    uint64_t earliest = UINT64_MAX;
    for (const struct thread *thread = process->threads; thread; thread = thread->next)
        if (last_time(thread) < earliest)
            earliest = last_time(thread);
    pthread_mutex_unlock(&process->lock);
    return earliest == UINT64_MAX ? atomic_load(&control_of(process)->latest) : earliest;
}

struct sideband_subject thread_subject(const struct thread *thread)
{
    bool recorded = thread_is_recorded(thread);
    return (struct sideband_subject){
        .pid = thread->process->pid,
        .tid = thread->tid,
        .serial = recorded ? thread->ring.header->serial : (uint32_t)NO_RING,
        .time = recorded ? last_time(thread) : earliest_time(thread->process),
    };
}

/* Ticks between a moment and what ran before it: distinct even in whole nanoseconds. */
enum { MOMENT_DISTANCE = 16 };

uint64_t thread_new_moment(struct thread *thread)
{
    pt_encoder_emit(thread->encoder);
    thread->clock.floor += MOMENT_DISTANCE;
    return thread->clock.floor;
}

/* --- Creation --- */

static void be_idle(struct thread *thread)
{
    thread->idle = (struct pt_encoder){.owner = &thread->owner, .stopped = 1};
    thread->idle.previous = &pt_code_block_none;
    thread->encoder = &thread->idle;
}

static bool begin_ring(struct thread *thread)
{
    struct process *process = thread->process;
    struct qemu_control *control = control_of(process);
    be_idle(thread);
    if (sideband_frozen(&process->log))
        return false;
    if (!ring_create(&thread->ring, control, process->directory, process->pid, thread->tid))
        return false;
    struct pt_encoder *encoder = ring_encoder(&thread->ring);
    encoder->owner = &thread->owner;
    encoder->stop = &control->frozen;
    encoder->coarse_time = control->options.coarse_time != 0;
    encoder->periods = control->options.periods != 0;
    uint64_t kept = control->options.full_execution ? LARGEST_PSB_INTERVAL * LEAST_PSBS
                                                    : control->options.snapshot_size;
    uint64_t interval = kept / LEAST_PSBS;
    encoder->calls = (struct pt_calls){thread->calls, THREAD_CALLS - 1, .all = true};
    pt_encoder_begin(encoder, (uint8_t)control->options.bus_ratio,
                     interval < LARGEST_PSB_INTERVAL ? (uint32_t)interval : LARGEST_PSB_INTERVAL);
    thread->ring.header->first_time = thread->clock.floor;
    thread->encoder = encoder;
    pthread_mutex_lock(&process->lock);
    thread->next = process->threads;
    process->threads = thread;
    pthread_mutex_unlock(&process->lock);
    return true;
}

/* The program's name: the plugin's argument, or the file that qemu runs. */
static void learn_name(struct process *process)
{
    if (process->name[0] == 0) {
        char *path = (char *)qemu_plugin_path_to_binary();
        const char *slash = path ? strrchr(path, '/') : NULL;
        snprintf(process->name, sizeof process->name, "%s", slash ? slash + 1 : path ? path : "?");
        free(path);
    }
    /* What the kernel would have called it; it knows only qemu. */
    prctl(PR_SET_NAME, process->name);
}

static void begin_first_thread(struct thread *thread)
{
    struct process *process = thread->process;
    qemu_clock_begin(&thread->clock, control_of(process), process->exec_time, process->execed);
    learn_name(process);
    if (!begin_ring(thread))
        return;
    process->code.serial = thread->ring.header->serial;
    struct sideband_subject subject = thread_subject(thread);
    sideband_name(&process->log, &subject, process->execed, process->name);
}

/* No earlier than the event that created it, so that what is mapped by then is mapped for it too.
 * With RECORD_CLOCK_INSTRUCTIONS nothing else relates the times of two threads. */
static uint64_t time_of_birth(struct process *process)
{
    uint64_t latest = atomic_load(&control_of(process)->latest);
    uint64_t birth = atomic_load(&process->birth_time);
    return latest > birth ? latest : birth;
}

static void begin_other_thread(struct thread *thread)
{
    struct process *process = thread->process;
    struct qemu_control *control = control_of(process);
    qemu_clock_begin(&thread->clock, control, time_of_birth(process), false);
    if (!control->options.multi_thread || process->untraced) {
        char name[PROCESS_NAME_SIZE] = "";
        prctl(PR_GET_NAME, name);
        struct sideband_subject subject = thread_subject(thread);
        if (!process->untraced)
            sideband_untraced(&process->log, &subject, UNTRACED_THREAD, name);
        return;
    }
    if (begin_ring(thread)) {
        struct sideband_subject subject = thread_subject(thread);
        sideband_fork(&process->log, &subject, process->pid, process->pid);
    }
}

struct thread *thread_begin(struct process *process)
{
    struct thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->owner = (struct pt_encoder_owner){.time = time_now, .make_room = make_room};
    thread->process = process;
    thread->tid = gettid();
    be_idle(thread);
    if (atomic_exchange(&process->first_thread_began, true))
        begin_other_thread(thread);
    else
        begin_first_thread(thread);
    return thread;
}

/* --- Death --- */

static void unlink_thread(struct thread *thread)
{
    struct process *process = thread->process;
    pthread_mutex_lock(&process->lock);
    if (thread->clock.floor > process->seen_by_dead)
        process->seen_by_dead = thread->clock.floor;
    for (struct thread **link = &process->threads; *link; link = &(*link)->next)
        if (*link == thread) {
            *link = thread->next;
            break;
        }
    pthread_mutex_unlock(&process->lock);
}

void thread_note_stop(struct thread *thread)
{
    if (thread_is_recorded(thread))
        atomic_store(&thread->ring.header->ended, 1);
}

void thread_note_go_on(struct thread *thread)
{
    if (thread_is_recorded(thread))
        atomic_store(&thread->ring.header->ended, 0);
}

void thread_end_process(struct thread *thread)
{
    if (!thread_is_recorded(thread))
        return;
    struct sideband_subject subject = thread_subject(thread);
    sideband_exit(&thread->process->log, &subject);
    thread_note_stop(thread);
}

void thread_end(struct thread *thread)
{
    thread_end_process(thread);
    if (thread_is_recorded(thread)) {
        unlink_thread(thread);
        ring_close(&thread->ring);
    }
    free(thread);
}

/* --- fork --- */

/* The other threads' states and rings stay theirs in the parent; this process does not use them any
 * more.
 */
static void forget_threads(struct process *process, const struct thread *except)
{
    for (struct thread *thread = process->threads, *next; thread; thread = next) {
        next = thread->next;
        ring_close(&thread->ring);
        if (thread != except)
            free(thread);
    }
    process->threads = NULL;
}

void process_forked(struct thread *thread)
{
    struct process *process = thread->process;
    struct qemu_control *control = control_of(process);
    pid_t parent = process->pid, parent_thread = thread->tid;
    process->pid = getpid();
    thread->tid = gettid();
    thread->suspended = NULL;
    if (process->untraced)
        return;
    /* The threads that held these in the parent do not exist here. */
    pthread_mutex_init(&process->lock, NULL);
    atomic_store(&process->handlers.lock, 0);
    atomic_store(&process->order.several, false);
    forget_threads(process, thread);
    be_idle(thread);
    qemu_clock_begin(&thread->clock, control, time_of_birth(process), false);
    if (!control->options.follow) {
        process->untraced = true;
        struct sideband_subject subject = thread_subject(thread);
        sideband_untraced(&process->log, &subject, UNTRACED_PROCESS, process->name);
    } else if (begin_ring(thread)) {
        pt_encoder_restore_calls(thread->encoder, &thread->calls_at_fork);
        process->code.serial = thread->ring.header->serial;
        process->code.dumps = 0;
        struct sideband_subject subject = thread_subject(thread);
        sideband_fork(&process->log, &subject, parent, parent_thread);
    }
}
