/* A program that runs natively at first, and is recorded from the moment in which one of its threads arrives at a place
 * (-record-from): the recorder's side. The attacher does the work (inject/attacher.h).
 *
 * Used by the engine's record(), from the thread that starts the program and waits for it.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_LATE_START_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_LATE_START_H

#include "engine/engine.h"
#include "engine/translator/arena.h"
#include "engine/translator/inject/attacher.h"
#include "process/launch.h"

enum late_start_state {
    LATE_START_NATIVE, /* the place was not reached yet */
    LATE_START_TRACED,
    LATE_START_OVER, /* natively again, or it could not be taken over */
};

struct late_start {
    /* By the caller; borrowed. */
    const struct record_options *wanted;
    struct attacher *attacher; /* has begun */
    struct translator_arena *arena;
    const struct runtime_image *image;
    void (*about_to_trace)(void *context, pid_t pid);
    void *context;

    int descriptor; /* readable when late_start_serve, or another's work that `also` stands for, is due */
    pid_t pid;
    enum late_start_state state;
    bool recorded; /* it was traced */
};

/* `also`: another descriptor to wait for. */
bool late_start_begin(struct late_start *start, int also, struct error *error);

/* Releases the held program up to its exec; it runs natively then. On an error it has ended, and nothing is left to free. */
bool late_start_launch(struct late_start *start, struct held_program *held, struct error *error);

/* Takes it over when it has arrived, and lets it go when the recording is frozen. To be called when `descriptor` is readable,
 * and when the recording was frozen. */
void late_start_serve(struct late_start *start);

/* The program has ended, or was let go. Whether it was recorded; else the error says why not. */
bool late_start_end(struct late_start *start, struct error *error);

#endif
