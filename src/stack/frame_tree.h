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
#include "stack/frame.h"
#include "stack/frame_children.h"
#include "stack/frame_starts.h"

#include <stdbool.h>
#include <stdint.h>

struct frame_tree {
    struct frame_store frames;
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
    return frame_store_at(&tree->frames, id);
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
    return tree->frames.count > tree->limit - FRAMES_PER_EVENT;
}

/* A new segment's placeholder. The tree must not be full. */
frame_id frame_tree_add_placeholder(struct frame_tree *tree);

/* See activation.origin. */
static inline function_id frame_tree_origin(const struct frame_tree *tree, frame_id frame)
{
    return frame_origin(&tree->frames, frame);
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
    frame_id recent =
        *frame_children_recent(&tree->children, hash); /* FRAME_NONE is never a child */
    if (activation->function > FRAME_FUNCTION_MAXIMUM ||
        !frame_is_activation(&tree->frames, recent, parent, activation))
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

/* The stack below `placeholder` was seen to begin: as far as is known it has no other caller. */
void frame_tree_set_begun(struct frame_tree *tree, frame_id placeholder);
bool frame_tree_has_begun(const struct frame_tree *tree, frame_id placeholder);

#endif
