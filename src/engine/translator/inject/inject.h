/* Loads the translator's runtime into a new program, before its first instruction.
 *
 * The process is at its exec stop (PTRACE_EVENT_EXEC), and the calling thread is its tracer. The recorder writes the
 * loader (loader.h) into bytes at the end of the vDSO that belong to nothing, and its parameters below the stack
 * pointer; then it sets rip, and the process loads the runtime by itself. So the recorder may die at any moment
 * without harm: before rip is set the program begins natively, and after that it loads the runtime without help.
 *
 * Used for the first program by the engine, which runs nothing that it cannot trace, and for what
 * traced programs execute by exec_requests.c.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_INJECT_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_INJECT_H

#include "base/error.h"
#include "engine/translator/inject/runtime_image.h"
#include "runtime/translator/layout.h"

#include <sys/types.h>

struct injection {
    const char *arena; /* path of the arena, absolute; the image lies in it: inject_store_image */
    int32_t
        arena_file; /* the process's descriptor of the arena, which the loader closes; -1: it opens the path */
    uint64_t arena_size;
    uint64_t open_size; /* control, image and sideband log: from the arena's beginning */
    const struct runtime_image *image;
    /* as layout.h says; pc, image, image_size, arena and name are filled in here */
    struct tr_start start;
};

/* Whether this machine has what the loader needs. */
bool inject_possible(struct error *error);

/* Puts the image where the loader takes it from. `arena` is the beginning of the mapped arena. */
void inject_store_image(uint8_t *arena, const struct runtime_image *image);

/* Where `size` bytes at the end of the process's vDSO are that belong to nothing, if that is the usual one; 0: it has none. */
uint64_t inject_place_of(pid_t pid, uint64_t size);

/* The same, of a stopped process, whose vDSO is looked at. */
bool inject_find_place(pid_t pid, uint64_t size, uint64_t *address, struct error *error);

/* Whether the process can open the arena by its path: it may have another root directory, mount namespace or user. The errors'
 * texts, here and below, are the end of a sentence. */
bool inject_can_open(pid_t pid, const char *arena, struct error *error);

/* Whether it has the address space for the arena, in bytes. */
bool inject_has_space(pid_t pid, uint64_t arena_size, struct error *error);

/* The process goes on, detached, in the loader. False: the error says why not, as the end of a sentence ("it is a
 * 32-bit program"); it is still stopped, and runs natively when it is detached. The caller has seen to it that the process can have the
 * arena and has the address space for it, since the loader reports nothing. */
bool inject(pid_t pid, const struct injection *injection, struct error *error);

/* The same for a process at the stop of its exec, and watches until the loader cannot fail any more: some ten microseconds, and as many
 * switches between processes. Signals that come meanwhile are passed on. ERROR_NOT_FOUND: the
 * process has ended. */
bool inject_watched(pid_t pid, const struct injection *injection, struct error *error);

#endif
