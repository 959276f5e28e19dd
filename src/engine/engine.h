/* An engine: one way of recording a program.
 *
 * The command line chooses one (registry.h), fills in the options and calls record(). One folder per
 * engine.
 */
#ifndef MAGIC_TRACE_ENGINE_ENGINE_H
#define MAGIC_TRACE_ENGINE_ENGINE_H

#include "base/error.h"
#include "base/log.h"
#include "engine/functions/chosen_functions.h"
#include "engine/functions/selected_functions.h"
#include "engine/processor_options.h"
#include "engine/trigger/trigger.h"

#include <stdint.h>
#include <sys/types.h>

enum record_clock {
    RECORD_CLOCK_DEFAULT,      /* the engine's best: see docs/time.md */
    RECORD_CLOCK_HOST,         /* the raw clock of this machine */
    RECORD_CLOCK_INSTRUCTIONS, /* one instruction, one tick: repeatable */
};

/* Optimizations of the packets to leave out, to test decoders. */
struct record_packets {
    bool coarse_time; /* no CYC packets: only rare TSC packets carry the time ... */
    bool periods;     /* ... and MTC packets */
    bool all_returns; /* no return compression: each return has a TIP packet with its target */
};

struct record_options {
    /* Of record(): argv of the program, NULL-terminated; command[0] as the user typed it. */
    char **command;
    /* Of attach(): the processes, at least one. */
    const pid_t *pids;
    size_t pid_count;
    /* Of attach(): called when all of them are recorded, in the process that called attach(); NULL: nobody wants to know. */
    void (*attached)(void *context);
    void *attached_context;
    const char *directory; /* the recording's folder: exists, empty of older recordings */
    enum record_clock clock;
    uint64_t snapshot_size; /* bytes kept per thread; a power of two, at least 4096 */
    bool sized;             /* the user gave it; else it is a default that may be lowered */
    bool full_execution;    /* keep everything, not only the last snapshot_size bytes */
    bool multi_thread;
    bool follow;          /* child processes too */
    bool follow_required; /* of attach(): the user asked for that, so that the engine has to */
    /* Random numbers and the time of day are the same in every run, where the engine can. */
    bool hold_inputs;
    struct record_packets packets;      /* the qemu engine's; others write all */
    struct processor_options processor; /* of engines that use the processor's own trace */
    bool triggered;         /* a trigger is wanted, which is found when the engine was chosen */
    struct trigger trigger; /* when to take a snapshot; without a name: at the end */
    bool bounded; /* -record-from or -record-until was given; found when the engine was chosen */
    /* What lies between is recorded: from the first arrival at one of these places to the next one at one of those. Without a
     * name: from the program's beginning, to its end. */
    struct trigger from, until;
    struct trigger
        start; /* with trigger.on_cpu: where programs note the time that they pass with hits */
    bool wants_values; /* -args was given; its functions are found when the engine was chosen */
    bool selective;    /* -only was given; its functions are found when the engine was chosen */
    struct selected_functions
        selected; /* what is recorded, with all that they call; empty: everything */
    struct chosen_functions chosen; /* whose arguments and results are recorded; empty: none */
    char **magic_trace_command;     /* our own argv, for the recording's header */
};

/* For attach(): all processes are recorded. */
static inline void record_options_attached(const struct record_options *options)
{
    log_status("Attached. Press Ctrl-C to stop recording.");
    if (options->attached)
        options->attached(options->attached_context);
}

/* The processes have ended, and what they have started, which -follow records, too, has not. */
static inline void record_options_outlived(const struct record_options *options)
{
    log_status("%s. What was started meanwhile is still recorded: Ctrl-C ends the recording, and "
               "that goes on.",
               options->command ? "The program has ended"
                                : "The processes that were attached to have ended");
}

/* What came of a recording. */
struct record_result {
    int exit_status;       /* of the program, as from waitpid; of attach(): -1 */
    bool interrupted;      /* Ctrl-C ended the recording before the program ended */
    uint64_t instructions; /* executed while traced; 0 unknown */
    uint64_t bytes;        /* of packets kept */
    uint64_t hits;         /* of the trigger, those that its conditions rejected included */
    uint64_t snapshots;    /* taken because of them */
    uint64_t unseen_hits;  /* in threads that were not traced; not counted as hits */
    uint64_t
        suspended_calls; /* of selected functions: their threads changed to other stacks before they returned */
    /* What the program asked the kernel for, and would have got without the engine: a sentence or more; NULL: nothing is known
     * of the kind. */
    const char *refused;
};

/* What an engine can do here. */
struct engine_probe {
    bool available;
    char why[512];    /* one line: what it would use, or what is missing */
    char advice[512]; /* what to install or set to make it available or better; "" when nothing */
};

struct engine {
    const char *name;        /* as given to -engine */
    const char *former_name; /* which -engine takes, too; NULL: none */
    const char *description; /* one line, for help pages and doctor */
    const char *manual;   /* for man pages: text as in cli/options/options.h; NULL: description */
    bool is_hardware;     /* it uses the processor's own trace: what `doctor` checks */
    bool samples_alone;   /* it cannot but sample: choosing it is choosing -sampling */
    bool times_calls;     /* it can take a snapshot where a call ends: -longer-than */
    bool reads_values;    /* it can record arguments and results: -args */
    bool selects_calls;   /* it can record the calls of some functions alone: -only */
    bool records_between; /* it can begin and end at places: -record-from, -record-until */
    bool counts_repeat;   /* runs count the same: each instruction in its function, inputs held */
    bool has_clocks;      /* it has those of -clock; else the machine's alone */
    /* A name in a recording's folder that exists until the recording is finished; it shows a
     * recording that still runs or whose magic-trace was killed; NULL: none. */
    const char *unfinished_name;
    void (*probe)(struct engine_probe *probe);
    /* Whether the engine supports these options on this machine: False with the option and the
     * reason. Called after the probe; command, pids and directory are not known yet. NULL: all
     * options. */
    bool (*serves)(const struct record_options *options, struct error *error);
    /* Runs options->command to its end (or to Ctrl-C), leaving perf.data and session.json in the
     * directory. False when nothing was recorded; the program's own failure is not an error of
     * ours. NULL when the engine only attaches. */
    bool (*record)(const struct record_options *options, struct record_result *result,
                   struct error *error);
    /* Whether it can attach to the process, as far as can be seen without touching it: the reason is the end of a
     * sentence; ERROR_NOT_FOUND: the process does not exist. NULL: to all. */
    bool (*attaches_to)(pid_t pid, struct error *error);
    /* Records the processes that run already, until the snapshot is taken (with multi_snapshot:
     * until Ctrl-C) or all of them have ended; they go on as they were. NULL when the engine
     * cannot. */
    bool (*attach)(const struct record_options *options, struct record_result *result,
                   struct error *error);
    /* Why the program may have been killed by this signal under the engine, and not without it: a
     * sentence or more; NULL: the engine does not know. NULL when the engine changes nothing. */
    const char *(*explain_signal)(int signal);
    /* Finishes what a killed magic-trace left in a recording folder, so that it can be decoded.
     * Also true for one that is finished. NULL when the engine never leaves an unfinished
     * recording. */
    bool (*salvage)(const char *directory, struct error *error);
};

#endif
