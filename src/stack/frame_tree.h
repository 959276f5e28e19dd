/* Frames: the activations of functions that a thread has executed, as a tree that only grows.
 *
 * A call stack is one frame: the leaf, with its parents. So the whole history of a thread is a list
 * of leaves over time (history.h), and no stack is ever copied.
 *
 * Frames are interned: calling the same function again from the same place on the same stack gives
 * the same frame. A real program has thousands of times fewer distinct stacks than calls, so the
 * tree stays small beside the history (8 bytes per event); in the worst case, when every call makes
 * a stack never seen before, a frame costs 24 bytes, 2 to 4 where it has many siblings, and 4 where
 * functions take over each other's frames. That is at most 16 per event, since every second event
 * of a long trace is a return. Data that few frames have are stored outside of them (starts,
 * origins, returns). What differs between two calls of one frame (time, reason of the end, whether
 * it was inferred) is in the history.
 *
 * Unknown callers: the callers of the first frame of a segment are unknown until control returns to
 * them. A *placeholder*, the parent of the outermost known frame, stands for them. When a return
 * discovers the caller, the placeholder itself becomes that caller, below a new placeholder: every
 * stack recorded so far gains its new root in O(1). A placeholder has a kind of its own, not a
 * special name, so no symbol can be confused with it. When it turns out later that the root's
 * caller is a frame of the tree (stitching.h), the placeholder becomes a *link* to it, which
 * frame_tree_parent follows.
 *
 * Used by thread_stack, which adds frames, and replay, which reads them. Not shared between
 * threads.
 */
#ifndef MAGIC_TRACE_STACK_FRAME_TREE_H
#define MAGIC_TRACE_STACK_FRAME_TREE_H

#include "base/array.h"
#include "stack/frame_starts.h"
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

/* Its start and origin are read by frame_tree_start and frame_tree_origin. */
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
    function_id *origins; /* see frame_tree_origin, by frame; owned; NULL: no frame has one */
};

/* 16 KiB per thread stay in the cache, and hold the children that a program uses for a while. */
enum { FRAME_RECENT_BITS = 12, FRAME_RECENT_COUNT = 1 << FRAME_RECENT_BITS };

/* Where children are found again; see frame_children.h. */
struct frame_children {
    frame_id *recent;      /* the last ones found, by their hash; owned */
    frame_id *buckets;     /* owned */
    uint32_t bucket_count; /* a power of two */
    uint32_t in_table;     /* frames */
};

struct frame_tree {
    struct frame_chunk **chunks; /* owned, with what they point to */
    uint32_t chunk_count, chunk_capacity;
    uint32_t count; /* ids in use, FRAME_NONE included */
    uint32_t limit; /* FRAME_COUNT_MAXIMUM, less in tests */
    struct frame_children children;
    struct array returns; /* struct learned_return, by caller: of the frames that it had called */
    struct array joined;  /* struct learned_return, by frame: its own */
    struct frame_starts starts;
};

/* Where the callee of a discovered caller returned to. Stored with the caller because the callee
 * may be several frames, one after the other: the root and those that took it over by a tail call.
 */
struct learned_return {
    frame_id frame;
    uint64_t address;
};

void frame_tree_init(struct frame_tree *tree);
void frame_tree_free(struct frame_tree *tree);

static inline struct frame *frame_tree_at(const struct frame_tree *tree, frame_id id)
{
    return &tree->chunks[id >> FRAME_CHUNK_SHIFT]->frames[id & (FRAME_CHUNK_SIZE - 1)];
}

/* The frame that `id` refers to: itself unless it has become a link. */
static inline frame_id frame_tree_resolve(const struct frame_tree *tree, frame_id id)
{
    while (frame_tree_at(tree, id)->kind == FRAME_LINK)
        id = frame_tree_at(tree, id)->parent;
    return id;
}

static inline frame_id frame_tree_parent(const struct frame_tree *tree, frame_id id)
{
    return frame_tree_resolve(tree, frame_tree_at(tree, id)->parent);
}

/* How many frames one event may add: a discovered caller's new placeholder, a segment's placeholder
 * and root. */
enum { FRAMES_PER_EVENT = 4 };

/* True when there might be too few ids left for another event. The owner then adds no more frames.
 */
static inline bool frame_tree_full(const struct frame_tree *tree)
{
    return tree->count > tree->limit - FRAMES_PER_EVENT;
}

/* A new segment's placeholder. The tree must not be full. */
frame_id frame_tree_add_placeholder(struct frame_tree *tree);

/* The function that a frame of `function` stores. */
static inline function_id frame_known_function(function_id function)
{
    return function <= FRAME_FUNCTION_MAXIMUM ? function : FUNCTION_UNKNOWN;
}

/* See activation.origin. */
static inline function_id frame_tree_origin(const struct frame_tree *tree, frame_id frame)
{
    if (!frame_tree_at(tree, frame)->has_origin)
        return FUNCTION_UNKNOWN;
    return tree->chunks[frame >> FRAME_CHUNK_SHIFT]->origins[frame & (FRAME_CHUNK_SIZE - 1)];
}

/* --- Finding recent children; frame_children.h has the rest. --- */

/* True if `id` is the child of `parent` that is `activation`, whose function must be one that
 * frames can have (frame_known_function). */
static inline bool frame_is_activation(const struct frame_tree *tree, frame_id id, frame_id parent,
                                       const struct activation *activation)
{
    const struct frame *frame = frame_tree_at(tree, id);
    bool has_origin = activation->origin != FUNCTION_UNKNOWN;
    uint32_t bits = activation->function | (uint32_t)activation->kind << FRAME_FUNCTION_BITS |
                    (uint32_t)has_origin << (FRAME_FUNCTION_BITS + FRAME_KIND_BITS);
    return frame->return_address == activation->return_address && frame->parent == parent &&
           (frame->bits ^ bits) << (32 - FRAME_COMPARED_BITS) == 0 &&
           (!has_origin || frame_tree_origin(tree, id) == activation->origin);
}

/* Multiplication by an odd constant (the fractional part of the golden ratio) spreads the few bits
 * in which neighbouring frames differ over the upper half of the word, which is the part that is
 * used. */
static inline uint32_t frame_hash(frame_id parent, function_id function, uint64_t return_address)
{
    uint64_t hash = return_address ^ ((uint64_t)parent << 32 | function);
    return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The slot that may hold the child with this hash. */
static inline frame_id *frame_recent_slot(const struct frame_tree *tree, uint32_t hash)
{
    return &tree->children.recent[hash >> (32 - FRAME_RECENT_BITS)];
}

/* frame_tree_child for a child that was not found recently, or does not exist. */
frame_id frame_tree_child_slowly(struct frame_tree *tree, frame_id parent,
                                 const struct activation *activation, bool *added);

/* The child of `parent` that is `activation`. *added: it is new, and the caller sets its start.
 * Functions beyond FRAME_FUNCTION_MAXIMUM become FUNCTION_UNKNOWN. The tree must not be full.
 */
static inline frame_id frame_tree_child(struct frame_tree *tree, frame_id parent,
                                        const struct activation *activation, bool *added)
{
    uint32_t hash = frame_hash(parent, activation->function, activation->return_address);
    frame_id recent = *frame_recent_slot(tree, hash); /* FRAME_NONE is never a child */
    if (activation->function > FRAME_FUNCTION_MAXIMUM ||
        !frame_is_activation(tree, recent, parent, activation))
        return frame_tree_child_slowly(tree, parent, activation, added);
    *added = false;
    return recent;
}

/* The same, but FRAME_NONE if not found. */
frame_id frame_tree_find_child(struct frame_tree *tree, frame_id parent,
                               const struct activation *activation);

/* Where the frame's function begins in the process; 0: unknown. To be set once per frame. */
void frame_tree_set_start(struct frame_tree *tree, frame_id frame, uint64_t start);
static inline uint64_t frame_tree_start(const struct frame_tree *tree, frame_id id)
{
    const struct frame *frame = frame_tree_at(tree, id);
    return frame_starts_get(&tree->starts, id, frame->function, frame->start_choice);
}

/* Where execution continues below `frame` when it ends, even if that became known only afterwards;
 * 0: unknown. */
uint64_t frame_tree_return_address(const struct frame_tree *tree, frame_id frame);

/* `frame`, an outermost known one, turns out to return to `address` (0: unknown). Must be called
 * before its placeholder is linked, because its new parent may have learned where another callee
 * returned to. */
void frame_tree_learn_return(struct frame_tree *tree, frame_id frame, uint64_t address);

/* The outermost known frame of the stack whose leaf is `leaf`. */
frame_id frame_tree_root(const struct frame_tree *tree, frame_id leaf);

/* The caller that `placeholder` stands for turns out to be `parent`, a frame or placeholder of
 * another stack: all stacks below it gain its ancestors. `parent` must not be below `placeholder`.
 */
void frame_tree_link(struct frame_tree *tree, frame_id placeholder, frame_id parent);

/* The opposite: the link `placeholder` is a placeholder again, and the stacks below it have no known ancestors. */
void frame_tree_unlink(struct frame_tree *tree, frame_id placeholder);

/* Turns a placeholder into the frame that it stood for, below a new placeholder: its callee has
 * returned to `address` in `function`, which begins at `start`. The tree must not be full. */
void frame_tree_discover(struct frame_tree *tree, frame_id placeholder, function_id function,
                         uint64_t address, uint64_t start);

/* The stack's root has no caller: the placeholder above it will never be discovered. */
void frame_tree_set_outermost(struct frame_tree *tree, frame_id placeholder);
bool frame_tree_is_outermost(const struct frame_tree *tree, frame_id placeholder);

#endif
