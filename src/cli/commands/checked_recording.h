/* One recording of a program that says itself what it has done, and what its trace shows of that.
 *
 * The program is magic-trace as checked_program.h has it. Used by hardware_check.c.
 */
#ifndef MAGIC_TRACE_CLI_COMMANDS_CHECKED_RECORDING_H
#define MAGIC_TRACE_CLI_COMMANDS_CHECKED_RECORDING_H

#include "cli/commands/checked_program.h"
#include "cli/recording_folder.h"
#include "engine/registry.h"
#include "stack/timeline.h"

struct checked_recording {
    const struct engine *engine;
    const char *program; /* magic-trace's own path; borrowed */
    struct recording_folder folder;
    char *work_file;               /* owned: where the program says what it has done */
    struct record_options options; /* the caller changes what it wants otherwise */
    struct record_result result;
    struct checked_work done;
    struct timeline *timeline; /* NULL: not decoded */
    uint64_t calls;            /* of the function that was counted, in the trace */
    uint64_t kernel_calls;     /* of functions with the kernel's addresses */
    uint64_t longest_call;     /* ns */
    unsigned tracks;           /* on which the function was called */
    struct timeline_statistics statistics;
};

/* Makes the folder and the options of a whole run. End in any case. */
bool checked_recording_begin(struct checked_recording *recording, const struct engine *engine,
                             const char *program, struct error *error);
void checked_recording_end(struct checked_recording *recording);

/* The trigger becomes the program's function for that. */
bool checked_recording_find_trigger(struct checked_recording *recording, struct error *error);

/* Records the program doing `work`. ERROR_UNSUPPORTED: the engine cannot, here or so. */
bool checked_recording_make(struct checked_recording *recording, const char *work,
                            struct error *error);

/* Decodes it and counts the calls of `function`. */
bool checked_recording_decode(struct checked_recording *recording, const char *function,
                              struct error *error);

#endif
