#include "engine/translator/translator.h"

#include "base/child_wait.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/pt_packets_setup.h"
#include "engine/recording_clock.h"
#include "engine/recording_directory.h"
#include "engine/supervise.h"
#include "engine/translator/arena.h"
#include "engine/translator/exec_requests.h"
#include "engine/translator/finish.h"
#include "engine/translator/inject/attach_refusals.h"
#include "engine/translator/inject/attacher.h"
#include "engine/translator/inject/inject.h"
#include "engine/translator/inject/release.h"
#include "engine/translator/kept_mappings.h"
#include "engine/translator/late_start.h"
#include "process/exec_stop.h"
#include "process/parent_death.h"
#include "process/processes.h"
#include "process/program.h"
#include "process/seen_files.h"
#include "process/vdso.h"
#include "recording/flags.h"
#include "recording/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* What -snapshot-size asks for are bytes of packets. A log of the same path is two to seven times as
 * large, and where a thread's stack is copied into it, so that its callers are known, some of the
 * ring cannot be used: of a small one nearly all. */
static const uint64_t smallest_ring_size = UINT64_C(1) << 20, largest_ring_size = UINT64_C(64)
                                                                                  << 30;
/* Rings that are drained while their writers clear what is ahead of them need more room, and no more. */
static const uint64_t smallest_drained_size = UINT64_C(4) << 20, full_execution_size = UINT64_C(32)
                                                                                       << 20;
/* Bytes of log between time stamps: some hundred nanoseconds of most programs. */
enum { STAMP_INTERVAL = 640 }; /* ns between time stamps */

/* ---- probing ---- */

/* A container's seccomp rules, or yama's strictest setting, may forbid ptrace. */
static bool may_trace_children(struct error *error)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        if (parent_death_signal(parent, SIGKILL))
            pause();
        _exit(0);
    }
    bool ok = child > 0 && ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0;
    int reason = errno;
    if (child > 0) {
        kill(child, SIGKILL);
        child_wait(child);
    }
    return ok || error_set_errno(error, ERROR_UNSUPPORTED, reason,
                                 "a process may not trace its own child (ptrace)");
}

static void probe(struct engine_probe *probe)
{
    struct error error;
    *probe = (struct engine_probe){0};
    probe->available = may_trace_children(&error) && inject_possible(&error);
    if (probe->available) {
        snprintf(probe->why, sizeof probe->why, "translation within the program");
        return;
    }
    snprintf(probe->why, sizeof probe->why, "%.500s", error.text);
    snprintf(probe->advice, sizeof probe->advice,
             "A container's seccomp profile, or kernel.yama.ptrace_scope = 3, may be in the way.");
}

/* ---- starting ---- */

struct recording {
    const struct record_options *wanted;
    const char *directory;
    struct recording_clock clock;
    struct translator_arena arena;
    struct off_cpu *off_cpu; /* NULL: it is not known when threads are not running */
    struct runtime_image image;
    struct session session;
    struct signals signals;
    struct exec_requests requests;
    struct attacher attacher;
    struct late_start late_start;
    struct seen_files
        seen;   /* by the processes that were attached to, and by programs that were executed */
    char *path; /* of the program, as execve gets it */
    const char *real_path; /* of the ELF file that this comes to, without symbolic links */
};

/* Returns how many places there are. */
static uint32_t set_places(struct tr_trigger_place *places, const struct trigger *wanted)
{
    uint32_t count = 0;
    for (size_t i = 0; i < wanted->place_count; i++) {
        struct stat status;
        /* The file has gone since it was looked at: it is not going to run. */
        if (stat(wanted->places[i].path, &status) == 0)
            places[count++] = (struct tr_trigger_place){status.st_dev, status.st_ino,
                                                        wanted->places[i].file_offset};
    }
    return count;
}

static void set_trigger(struct tr_options *options, const struct recording_clock *clock,
                        const struct trigger *wanted)
{
    options->passes_time = wanted->passes_time;
    options->multi_snapshot = wanted->multi_snapshot;
    options->immediate_stop = wanted->immediate_stop;
    options->duration_threshold = recording_clock_ticks(clock, wanted->duration_threshold_ns);
    options->longer_than = recording_clock_ticks(clock, wanted->longer_than_ns);
    options->on_cpu = wanted->on_cpu;
    options->delay_threshold = recording_clock_ticks(clock, wanted->delay_threshold_ns);
    options->place_count = set_places(options->places, wanted);
}

static const uint8_t value_sources[] = {
    [VALUE_OF_REGISTER] = TR_VALUE_REGISTER, [VALUE_OF_VECTOR] = TR_VALUE_VECTOR,
    [VALUE_OF_STACK] = TR_VALUE_STACK,       [VALUE_OF_MEMORY] = TR_VALUE_MEMORY,
    [VALUE_OF_STRING] = TR_VALUE_STRING,
};

_Static_assert((int)CHOSEN_PLACES == (int)TR_VALUE_PLACES &&
                   (int)CHOSEN_STEPS == (int)TR_VALUE_STEPS && VALUE_CUT == TR_VALUE_CUT,
               "layout.h");

static void set_chosen(struct tr_options *options, const struct chosen_functions *chosen)
{
    for (size_t i = 0; i < chosen->places.count; i++) {
        const struct chosen_place *place = array_at(&chosen->places, i);
        struct tr_value_place *set = &options->value_places[i];
        struct stat status = {0}; /* a file that has gone since it was looked at has no inode */
        stat(place->path, &status);
        *set = (struct tr_value_place){.place = {status.st_dev, status.st_ino, place->file_offset},
                                       .first = (uint16_t)place->first,
                                       .arguments = (uint8_t)place->arguments,
                                       .results = (uint8_t)place->results};
    }
    for (size_t i = 0; i < chosen->steps.count; i++) {
        const struct value_step *step = array_at(&chosen->steps, i);
        options->value_steps[i] = (struct tr_value_step){value_sources[step->source], step->number,
                                                         step->size, step->offset};
    }
    options->value_place_count = (uint32_t)chosen->places.count;
    options->value_step_count = (uint32_t)chosen->steps.count;
}

static int by_file(const void *left, const void *right)
{
    const struct tr_trigger_place *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->file_offset < b->file_offset ? -1 : a->file_offset > b->file_offset;
}

/* For the processes: no place comes twice, because functions of several names do. */
static void store_selected(struct translator_arena *arena,
                           const struct selected_functions *selected)
{
    struct tr_trigger_place *places = (void *)(arena->bytes + arena->control->selected_offset);
    const char *path = NULL;
    struct stat status = {0};
    for (size_t i = 0; i < selected->places.count; i++) {
        const struct selected_place *place = array_at(&selected->places, i);
        if (place->path != path && stat(place->path, &status) != 0)
            status.st_ino = 0; /* it has gone since it was looked at: it is not going to run */
        path = place->path;
        places[i] = (struct tr_trigger_place){status.st_dev, status.st_ino, place->file_offset};
    }
    if (selected->places.count == 0)
        return;
    qsort(places, selected->places.count, sizeof *places, by_file);
    size_t kept = 1;
    for (size_t i = 1; i < selected->places.count; i++)
        if (by_file(&places[kept - 1], &places[i]) != 0)
            places[kept++] = places[i];
    arena->control->options.selected_count = (uint32_t)kept;
}

/* Of the disk that will have the recording, in the folder that is there; bytes. */
static uint64_t free_space(const char *directory)
{
    struct statvfs disk;
    return statvfs(directory, &disk) == 0 ? disk.f_bavail * disk.f_frsize : UINT64_MAX;
}

/* A ring that the disk cannot hold becomes a smaller one of the end: its chunks are smaller, too. */
static uint64_t ring_size(const struct record_options *wanted, uint64_t space)
{
    enum { SHARE = 2 }; /* of the space, of one thread's ring: packets are to have some, too */
    bool drained = wanted->full_execution || wanted->trigger.multi_snapshot;
    uint64_t smallest = drained ? smallest_drained_size : smallest_ring_size;
    uint64_t size =
        wanted->full_execution ? full_execution_size : wanted->snapshot_size * TR_LOG_PER_PACKETS;
    while (size > largest_ring_size || (size > smallest && size > space / SHARE))
        size /= 2;
    return size > smallest ? size : smallest;
}

static struct tr_options make_options(const struct record_options *wanted,
                                      const struct recording_clock *clock, uint64_t space)
{
    struct tr_options options = {
        .clock = wanted->clock,
        .full_execution = wanted->full_execution,
        .multi_thread = wanted->multi_thread,
        .follow = wanted->follow,
        .hold_inputs = wanted->hold_inputs,
        .ring_size = ring_size(wanted, space),
        .snapshot_size = wanted->snapshot_size,
        .tsc_hz = clock->hz,
        .bus_ratio = clock->bus_ratio,
        .stamp_ticks = clock->hz / 1000 * STAMP_INTERVAL / 1000 / 1000,
        .lossless = true,
        .attached = wanted->pid_count > 0 || wanted->from.name,
        .start_tsc = clock->start.tsc,
        .start_monotonic_ns = clock->start.monotonic_ns,
        .start_realtime_ns = clock->start.realtime_ns,
    };
    set_trigger(&options, clock, &wanted->trigger);
    options.until_count = set_places(options.until_places, &wanted->until);
    options.start_count = set_places(options.start_places, &wanted->start);
    set_chosen(&options, &wanted->chosen);
    options.selected_count = (uint32_t)wanted->selected.places.count;
    return options;
}

/* What is known before the end, so that a killed magic-trace leaves a recording that says what it
 * is. */
static struct session session_at_start(const struct recording *recording)
{
    const struct record_options *wanted = recording->wanted;
    struct session session = {
        .version = MAGIC_TRACE_VERSION,
        .engine = translator_engine.name,
        .clock = record_clock_name(wanted->clock),
        .command = (const char **)wanted->command,
        .program = recording->real_path,
        .full_execution = wanted->full_execution,
        .multi_thread = wanted->multi_thread,
        .follow = wanted->follow,
        .snapshot_size = wanted->snapshot_size,
        .trigger = wanted->trigger.name,
        .exit_status = -1,
    };
    /* Ticks that are instructions have no time of day, and would not repeat if they had. */
    if (wanted->clock != RECORD_CLOCK_INSTRUCTIONS) {
        session.wall_clock_ns = recording->clock.start.realtime_ns;
        session.wall_clock_at = recording->clock.start.monotonic_ns;
    }
    return session;
}

static struct injection injection_of(struct recording *recording)
{
    struct injection injection = {
        .arena = recording->arena.path,
        .arena_file = -1,
        .arena_size = recording->arena.size,
        .open_size = recording->arena.geometry.log_offset + recording->arena.geometry.log_size,
        .image = &recording->image,
    };
    return injection;
}

/* ---- when threads are not running ---- */

static void report_unknown_off_cpu(const struct error *why)
{
    log_status("Time in which threads were not running will count as theirs: %s", why->text);
}

static void open_off_cpu(struct recording *recording)
{
    struct error why;
    if (recording->wanted->clock == RECORD_CLOCK_INSTRUCTIONS)
        return;
    char *folder = memory_format("%s/translator", recording->directory);
    recording->off_cpu = off_cpu_open(&recording->arena, folder, &kernel_real, &why);
    free(folder);
    if (!recording->off_cpu)
        report_unknown_off_cpu(&why);
}

static void watch_off_cpu(struct recording *recording, pid_t pid)
{
    struct error why;
    if (recording->off_cpu && !off_cpu_watch(recording->off_cpu, (uint32_t)pid, &why))
        report_unknown_off_cpu(&why);
}

static bool launch_program(struct recording *recording, struct held_program *held,
                           struct error *error)
{
    held->fixed_addresses = recording->wanted->clock == RECORD_CLOCK_INSTRUCTIONS;
    return launch_held(held, recording->path, recording->wanted->command, environ,
                       &recording->signals, error);
}

static void look_at_files(struct recording *recording, pid_t pid)
{
    bool is_same = process_namespaces_are_same(getpid(), pid);
    pid_t number = is_same ? pid : process_number_within(pid);
    seen_files_add(&recording->seen, (uint32_t)number, pid);
}

static void about_to_trace(void *context, pid_t pid)
{
    struct recording *recording = context;
    watch_off_cpu(recording, pid);
    look_at_files(recording, pid);
}

/* The program runs natively when this returns true. */
static bool start_late(struct recording *recording, struct child *child, struct error *error)
{
    struct held_program held = {.tracer = recording->attacher.pid};
    recording->late_start = (struct late_start){
        .wanted = recording->wanted,
        .attacher = &recording->attacher,
        .arena = &recording->arena,
        .image = &recording->image,
        .about_to_trace = about_to_trace,
        .context = recording,
    };
    if (!late_start_begin(&recording->late_start, recording->requests.descriptor, error))
        return false;
    bool ok = launch_program(recording, &held, error) &&
              late_start_launch(&recording->late_start, &held, error);
    if (!ok)
        close(recording->late_start.descriptor);
    *child = held.child;
    return ok;
}

/* The program runs when this returns true. */
static bool start(struct recording *recording, struct child *child, struct error *error)
{
    struct held_program held = {0};
    struct injection injection = injection_of(recording);
    struct error reason;
    if (!translator_arena_reserve_table(&recording->arena, &injection.start.table) ||
        !translator_arena_reserve_slot(&recording->arena, &injection.start.slot))
        return error_set(error, ERROR_IO, "%s has no place for a thread", recording->arena.path);
    if (!launch_program(recording, &held, error) || !exec_stop_reach(&held, error))
        return false;
    *child = held.child;
    watch_off_cpu(recording, child->pid);
    injection.start.pid = (uint32_t)child->pid;
    if (inject_watched(child->pid, &injection, &reason))
        return true;
    error_set(error, ERROR_UNSUPPORTED, "cannot trace %s: %s.", recording->wanted->command[0],
              reason.text);
    exec_stop_give_up(child);
    return false;
}

/* ---- recording ---- */

static void freeze(void *recording)
{
    translator_arena_freeze(&((struct recording *)recording)->arena);
}

static void serve(void *context)
{
    struct recording *recording = context;
    exec_requests_serve(&recording->requests);
    if (recording->wanted->from.name)
        late_start_serve(&recording->late_start);
}

/* The number by which the arena knows the process. */
static uint32_t number_of(const struct translator_arena *arena, pid_t pid)
{
    bool has_namespaces = atomic_load(&arena->control->has_namespaces);
    return (uint32_t)(has_namespaces ? process_number_within(pid) : pid);
}

static bool has_left(void *context, pid_t pid)
{
    const struct translator_arena *arena = &((const struct recording *)context)->arena;
    return translator_arena_has_left(arena, number_of(arena, pid));
}

/* The attacher maps the arena, too. */
static bool is_followed(pid_t pid, const void *context)
{
    const struct recording *recording = context;
    const struct translator_arena *arena = &recording->arena;
    uint32_t number = number_of(arena, pid);
    bool may_be_child =
        translator_arena_awaits_child(arena) && !translator_arena_has_left(arena, number);
    return pid != recording->attacher.pid &&
           (may_be_child || translator_arena_traces(arena, number)) &&
           process_maps_file(pid, &arena->file);
}

static bool executes(void *context)
{
    return exec_requests_are_open(&((const struct recording *)context)->requests);
}

static struct supervision supervision_of(struct recording *recording)
{
    struct tr_control *control = recording->arena.control;
    return (struct supervision){
        .program.signals = &recording->signals,
        .shared = {&control->frozen, &control->snapshots, &control->freeze_at,
                   &control->longest_delay},
        .has_trigger =
            recording->arena.options.place_count > 0 || recording->arena.options.until_count > 0,
        .has_delay_threshold = recording->arena.options.delay_threshold > 0,
        .ticks_per_second = recording->clock.hz,
        .filled_folder = recording->wanted->full_execution ? recording->directory : NULL,
        .freeze = freeze,
        .serve = serve,
        .descriptor = recording->requests.descriptor,
        .has_left = has_left,
        .executes = executes,
        .recording = recording,
        .is_traced = {process_maps_file, &recording->arena.file},
        .is_followed = {recording->wanted->follow ? is_followed : NULL, recording},
    };
}

static void report_missed_end(const struct recording *recording, const struct record_result *result)
{
    const struct trigger *until = &recording->wanted->until;
    if (until->name && !result->interrupted &&
        !atomic_load(&recording->arena.control->until_reached))
        log_status("%s was not reached by a traced thread: the recording ends with the program.",
                   until->name);
}

/* The program's life. False when it was not started. */
static bool run(struct recording *recording, struct record_result *result, struct error *error)
{
    if (!exec_requests_begin(&recording->requests, &recording->arena, &recording->image,
                             &recording->seen, error))
        return false;
    struct supervision supervision = supervision_of(recording);
    bool late = recording->wanted->from.name;
    bool ok = (late ? start_late : start)(recording, &supervision.program.child, error);
    if (ok) {
        supervision.descriptor = late ? recording->late_start.descriptor : supervision.descriptor;
        recording->requests.program = supervision.program.child.pid;
        recording->session.exit_status = result->exit_status = supervise(&supervision);
        result->interrupted = supervision.program.interrupts > 0;
        report_missed_end(recording, result);
    }
    freeze(recording);
    exec_requests_end(&recording->requests);
    if (ok && late)
        ok = late_start_end(&recording->late_start, error);
    return ok;
}

/* ---- attached processes ---- */

static void let_go(struct recording *recording)
{
    unsigned left =
        attacher_release_all(&recording->attacher, &recording->arena, &recording->image);
    if (left > 0)
        log_warning(
            "%u of the processes still have threads that have not left the translator. They do "
            "at their next system call, or soon; attaching once more clears up after them.",
            left);
}

static bool take_all_over(struct recording *recording, struct error *error)
{
    const struct record_options *wanted = recording->wanted;
    for (size_t i = 0; i < wanted->pid_count; i++)
        about_to_trace(recording, wanted->pids[i]);
    for (size_t i = 0; i < wanted->pid_count; i++)
        if (!attacher_take_over(&recording->attacher, wanted->pids[i], error))
            return false;
    return true;
}

/* Until the recording is frozen; all processes run natively afterwards. False: none was traced. */
static bool trace_attached(struct recording *recording, struct record_result *result,
                           struct error *error)
{
    const struct record_options *wanted = recording->wanted;
    if (!exec_requests_begin(&recording->requests, &recording->arena, &recording->image,
                             &recording->seen, error))
        return false;
    struct supervision supervision = supervision_of(recording);
    bool ok = take_all_over(recording, error);
    if (ok) {
        record_options_attached(wanted);
        kept_mappings_begin(&recording->arena, recording->directory, &recording->seen);
        result->interrupted = supervise_attached(&supervision, wanted->pids, wanted->pid_count);
    }
    freeze(recording);
    exec_requests_end(
        &recording->requests); /* first: a traced thread cannot be stopped by another */
    let_go(recording);
    return ok;
}

/* ---- finishing ---- */

static struct recording_clock clock_of(const struct tr_options *options)
{
    return (struct recording_clock){
        .clock = (enum record_clock)options->clock,
        .hz = options->tsc_hz,
        .bus_ratio = options->bus_ratio,
        .start = {options->start_tsc, options->start_monotonic_ns, options->start_realtime_ns},
    };
}

static void add_totals(struct record_result *result, const struct collection *collection,
                       const struct tr_control *control)
{
    result->instructions = collection->instructions;
    result->bytes = collection->bytes;
    result->hits = atomic_load(&control->hits);
    result->snapshots = atomic_load(&control->snapshots);
    result->unseen_hits = atomic_load(&control->unseen_hits);
    result->suspended_calls = atomic_load(&control->suspended_calls);
}

static bool explain_nothing_recorded(const struct collection *collection,
                                     const struct session *session, struct error *error)
{
    const char *name = session->command ? session->command[0] : "the program";
    int status = session->exit_status;
    if (collection->untraced_count > 0 && collection->untraced[0].cause)
        return error_set(error, ERROR_NOT_FOUND, "nothing was recorded: %s ran untraced: %s", name,
                         collection->untraced[0].cause);
    if (!session->command)
        return error_set(
            error, ERROR_NOT_FOUND,
            "nothing was recorded: the threads that are recorded slept all the time.%s",
            session->multi_thread ? "" : " " FLAG_MULTI_THREAD " records all of them.");
    if (status != -1 && WIFSIGNALED(status))
        return error_set(error, ERROR_NOT_FOUND,
                         "nothing was recorded: %s was killed by signal %d (%s) at once", name,
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return error_set(error, ERROR_NOT_FOUND, "nothing was recorded of %s", name);
}

/* The frozen arena -> perf.data and session.json. `watched` as in recorded.h. When it was not written the arena is
 * as before, and the error says so. */
static bool finish(const char *directory, struct translator_arena *arena,
                   struct transcoding *transcoding, struct session *session,
                   char *const *command_line, bool watched, struct seen_files *seen,
                   struct record_result *result, struct error *error)
{
    struct recording_clock clock = clock_of(&arena->options);
    struct collection collection = {
        .command_line = command_line,
        .clock = recording_clock_conversion(&clock),
    };
    translator_arena_settle(arena);
    bool ok = translator_finish(arena, directory, transcoding, watched, seen, &collection, error);
    collection_describe(&collection, session);
    session->switches = collection.recorded.off_cpu != NULL;
    ok = ok && session_write(session, directory, error);
    collection_withdraw(session);
    if (!ok && error->code == ERROR_NOT_FOUND)
        explain_nothing_recorded(&collection, session, error);
    if (ok) {
        add_totals(result, &collection, arena->control);
    } else {
        collection_explain_kept(error, directory, "translator");
    }
    collection_free(&collection);
    return ok;
}

/* Nothing was recorded: removes all that would look like a recording. */
static void forget_recording(const char *directory)
{
    char *images = memory_format("%s/images", directory);
    char *session = memory_format("%s/session.json", directory);
    file_remove_tree(images, NULL);
    unlink(session);
    free(images);
    free(session);
    translator_arena_remove(directory);
}

/* ---- recording ---- */

static bool run_and_finish(struct recording *recording, struct record_result *result,
                           struct error *error)
{
    struct transcoding *transcoding =
        transcoding_begin(&recording->arena, recording->directory, recording->off_cpu, error);
    if (!transcoding)
        return false;
    bool attaches = recording->wanted->pid_count > 0;
    if (!(attaches ? trace_attached : run)(recording, result, error)) {
        transcoding_finish(transcoding, NULL, NULL);
        transcoding_close(transcoding);
        return false;
    }
    return finish(recording->directory, &recording->arena, transcoding, &recording->session,
                  recording->wanted->magic_trace_command, !attaches, &recording->seen, result,
                  error);
}

/* What an error leaves that can still be finished stays. */
static bool keeps_what_was_recorded(const struct record_result *result, const struct error *error)
{
    return result->exit_status >= 0 && error->code == ERROR_IO;
}

static bool record_with_arena(struct recording *recording, struct record_result *result,
                              struct error *error)
{
    inject_store_image(recording->arena.bytes, &recording->image);
    release_mark_image(recording->arena.bytes + TR_IMAGE_OFFSET, &recording->image, getpid());
    vdso_keep(recording->directory);
    recording->session = session_at_start(recording);
    if (!session_write(&recording->session, recording->directory, error) ||
        (recording->wanted->wants_values &&
         !call_values_write(&recording->wanted->chosen.values, recording->directory, error)) ||
        !signals_hold(&recording->signals, error))
        return false;
    const struct record_options *wanted = recording->wanted;
    bool ok = !recording->arena.options.attached ||
              attacher_begin(&recording->attacher, &recording->arena, &recording->image,
                             &wanted->from, wanted->magic_trace_command, error);
    ok = ok && run_and_finish(recording, result, error);
    attacher_release_all(&recording->attacher, &recording->arena, &recording->image);
    signals_release(&recording->signals, result->interrupted);
    return ok;
}

static bool record_into(struct recording *recording, struct record_result *result,
                        struct error *error)
{
    recording->clock = recording_clock_start(recording->wanted->clock);
    struct tr_options options =
        make_options(recording->wanted, &recording->clock, free_space(recording->directory));
    if (!translator_arena_create(&recording->arena, recording->directory, &options, error))
        return false;
    store_selected(&recording->arena, &recording->wanted->selected);
    open_off_cpu(recording);
    recording->seen = seen_files_begin();
    bool ok = record_with_arena(recording, result, error);
    seen_files_free(&recording->seen);
    off_cpu_close(recording->off_cpu);
    translator_arena_close(&recording->arena);
    if (ok)
        translator_arena_remove(recording->directory);
    else if (!keeps_what_was_recorded(result, error))
        forget_recording(recording->directory);
    return ok;
}

static bool record(const struct record_options *wanted, struct record_result *result,
                   struct error *error)
{
    struct error unheard;
    if (!error)
        error = &unheard;
    *result = (struct record_result){.exit_status = -1};
    struct recording recording = {.wanted = wanted};
    struct program program = {0};
    char *directory = NULL;
    if (runtime_image_embedded(&recording.image, error) &&
        program_resolve(&program, wanted->command, error) &&
        exec_stop_allowed(program.path, error)) {
        recording.path = program_find(wanted->command[0], error);
        recording.real_path = program.real_path;
        directory = recording_directory_absolute(wanted->directory, error);
    }
    recording.directory = directory;
    bool ok = recording.path && directory && record_into(&recording, result, error);
    free(directory);
    free(recording.path);
    program_free(&program);
    runtime_image_free(&recording.image);
    return ok;
}

static bool attach(const struct record_options *wanted, struct record_result *result,
                   struct error *error)
{
    struct error unheard;
    if (!error)
        error = &unheard;
    *result = (struct record_result){.exit_status = -1};
    struct recording recording = {.wanted = wanted};
    if (!attach_allows_list(wanted->pids, wanted->pid_count, error) ||
        !runtime_image_embedded(&recording.image, error))
        return false;
    char *directory = recording_directory_absolute(wanted->directory, error);
    char *executable = process_executable(wanted->pids[0]);
    recording.directory = directory;
    recording.real_path = executable;
    bool ok = directory && record_into(&recording, result, error);
    free(executable);
    free(directory);
    runtime_image_free(&recording.image);
    return ok;
}

/* ---- salvage ---- */

static bool salvage_arena(const char *directory, struct translator_arena *arena,
                          struct error *error)
{
    struct session session;
    if (!session_read(&session, directory, error) && error->code != ERROR_NOT_FOUND)
        return false;
    struct record_result result = {0};
    static char *const unknown_command[] = {"magic-trace", NULL};
    char *const *command_line = session.command ? (char *const *)session.command : unknown_command;
    translator_arena_freeze(arena);
    char *folder = memory_format("%s/translator", directory);
    struct off_cpu *off_cpu = off_cpu_salvage(arena, folder);
    free(folder);
    struct transcoding *transcoding = transcoding_begin(arena, directory, off_cpu, error);
    struct seen_files seen = seen_files_begin();
    bool ok = transcoding && finish(directory, arena, transcoding, &session, command_line, false,
                                    &seen, &result, error);
    seen_files_free(&seen);
    off_cpu_close(off_cpu);
    session_free(&session);
    return ok;
}

static bool salvage(const char *directory, struct error *error)
{
    struct error unheard, missing = {0};
    struct translator_arena arena;
    if (!error)
        error = &unheard;
    char *absolute = recording_directory_absolute(directory, error);
    if (!absolute)
        return false;
    bool ok = true;
    if (translator_arena_open(&arena, absolute, &missing)) {
        ok = salvage_arena(absolute, &arena, error);
        translator_arena_close(&arena);
        if (ok)
            translator_arena_remove(absolute);
    } else if (missing.code != ERROR_NOT_FOUND) {
        ok = error_set(error, missing.code, "%s", missing.text);
    }
    free(absolute);
    return ok;
}

/* ---- the engine ---- */

/* System calls of what runs natively have to come to the runtime: runtime/translator/selected_calls.h. */
static bool can_dispatch_system_calls(struct error *error)
{
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0 ||
           error_set(error, ERROR_UNSUPPORTED,
                     FLAG_ONLY " needs Linux 5.11 or later (Syscall User Dispatch).");
}

static bool serves(const struct record_options *options, struct error *error)
{
    if (options->selective && !can_dispatch_system_calls(error))
        return false;
    return processor_options_served(&options->processor, 0, translator_engine.name, error);
}

const struct engine translator_engine = {
    .name = "translator",
    .times_calls = true,
    .reads_values = true,
    .selects_calls = true,
    .records_between = true,
    .counts_repeat = true,
    .has_clocks = true,
    .description = "runs the program's own code in copies that log its path; exact, on any "
                   "machine, 1.5 to 4 times slower",
    .probe = probe,
    .serves = serves,
    .record = record,
    .attaches_to = attach_is_likely,
    .attach = attach,
    .salvage = salvage,
    .unfinished_name = "translator",
};
