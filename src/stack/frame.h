/* A frame: the activation of a function, below its caller's, and the memory that holds a tree's frames.
 *
 * Used by frame_tree.h, which says what frames are and who owns them, and by frame_children.h.
 */
#ifndef MAGIC_TRACE_STACK_FRAME_H
#define MAGIC_TRACE_STACK_FRAME_H

#include "symbol/symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* Index of a frame in its tree. */
typedef uint32_t frame_id;

enum {
    FRAME_NONE = 0,                  /* no frame; the parent of a placeholder */
    FRAME_COUNT_MAXIMUM = UINT32_MAX /* the limit of ids: see frame_tree_full */
};

enum frame_kind {
    FRAME_PLACEHOLDER,   /* the caller of the root; not known yet */
    FRAME_FUNCTION,      /* a function that was called, or in which tracing began */
    FRAME_LOCAL,         /* a function that has called a label inside itself (retpolines do) */
    FRAME_SYSCALL,       /* the kernel, entered by a syscall instruction */
    FRAME_INTERRUPT,     /* the kernel, entered by an interrupt or fault */
    FRAME_UNTRACED,      /* tracing was stopped for some time, by a filter for instance */
    FRAME_SIGNAL,        /* a signal handler; its return address is the interrupted instruction */
    FRAME_SIGNAL_RETURN, /* the restorer that a signal handler returns to; it ends in sigreturn */
    FRAME_LINK           /* was a placeholder: refers to its parent */
};

/* What identifies a frame below its parent: two calls that agree in this share a frame. */
struct activation {
    function_id function;
    enum frame_kind kind;
    uint64_t return_address; /* where execution continues below it when it ends; 0: unknown */
    /* The function that was called here when another one has taken over the frame since by a jump;
     * FUNCTION_UNKNOWN otherwise. With it, a jump from `f.cold` back into `f` finds its frame even
     * if an outer `f` is on the stack, too. */
    function_id origin;
};

enum { FRAME_FUNCTION_BITS = 24, FRAME_KIND_BITS = 4, FRAME_CHOICE_BITS = 2 };
enum { FRAME_FUNCTION_MAXIMUM = (1 << FRAME_FUNCTION_BITS) - 1 };

/* Its start is read by frame_tree_start, its origin by frame_origin. */
struct frame {
    uint64_t return_address;
    frame_id parent; /* or a link to it: use frame_tree_parent */
    union {
        struct {
            uint32_t function : FRAME_FUNCTION_BITS; /* function_id */
            uint32_t kind : FRAME_KIND_BITS;         /* enum frame_kind */
            uint32_t has_origin : 1;
            uint32_t in_table : 1;                     /* see frame_children.h */
            uint32_t start_choice : FRAME_CHOICE_BITS; /* see frame_starts.h */
        };
        uint32_t bits; /* all of these; those that are compared are in the lower bits */
    };
    frame_id first_child; /* the newest of its list; or one of those in the hash table */
    frame_id next;        /* of its parent's children, or in the hash table */
};

enum { FRAME_COMPARED_BITS = FRAME_FUNCTION_BITS + FRAME_KIND_BITS + 1 };

_Static_assert(sizeof(struct frame) == 24, "a frame takes 24 bytes");

enum {
    FRAME_CHUNK_SHIFT = 12,
    FRAME_CHUNK_SIZE =
        1 << FRAME_CHUNK_SHIFT /* frames; chunks never move, so growing copies nothing */
};

struct frame_chunk {
    struct frame frames[FRAME_CHUNK_SIZE];
    function_id *origins; /* see frame_origin, by frame; owned; NULL: no frame has one */
};

/* All frames of a tree, by id. */
struct frame_store {
    struct frame_chunk **chunks; /* owned, with what they point to */
    uint32_t chunk_count, chunk_capacity;
    uint32_t count; /* ids in use, FRAME_NONE included */
};

static inline struct frame *frame_store_at(const struct frame_store *store, frame_id id)
{
    return &store->chunks[id >> FRAME_CHUNK_SHIFT]->frames[id & (FRAME_CHUNK_SIZE - 1)];
}

/* The function that a frame of `function` stores. */
static inline function_id frame_known_function(function_id function)
{
    return function <= FRAME_FUNCTION_MAXIMUM ? function : FUNCTION_UNKNOWN;
}

/* See activation.origin. */
static inline function_id frame_origin(const struct frame_store *store, frame_id frame)
{
    if (!frame_store_at(store, frame)->has_origin)
        return FUNCTION_UNKNOWN;
    return store->chunks[frame >> FRAME_CHUNK_SHIFT]->origins[frame & (FRAME_CHUNK_SIZE - 1)];
}

/* True if `id` is the child of `parent` that is `activation`, whose function must be one that
 * frames can have (frame_known_function). */
static inline bool frame_is_activation(const struct frame_store *store, frame_id id,
                                       frame_id parent, const struct activation *activation)
{
    const struct frame *frame = frame_store_at(store, id);
    bool has_origin = activation->origin != FUNCTION_UNKNOWN;
    uint32_t bits = activation->function | (uint32_t)activation->kind << FRAME_FUNCTION_BITS |
                    (uint32_t)has_origin << (FRAME_FUNCTION_BITS + FRAME_KIND_BITS);
    return frame->return_address == activation->return_address && frame->parent == parent &&
           (frame->bits ^ bits) << (32 - FRAME_COMPARED_BITS) == 0 &&
           (!has_origin || frame_origin(store, id) == activation->origin);
}

#endif
