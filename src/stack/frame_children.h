/* Finding a frame's children again.
 *
 * The children of most frames are few: they are a list, the newest first. The children of a frame
 * that has many are in a hash table, one for the whole tree. So what is looked at for a call lies
 * near the caller in memory, also when there are millions of frames. What is met again and again is
 * found without a search: the children found last are remembered by their hash.
 *
 * The part of frame_tree that it alone calls.
 */
#ifndef MAGIC_TRACE_STACK_FRAME_CHILDREN_H
#define MAGIC_TRACE_STACK_FRAME_CHILDREN_H

#include "stack/frame_tree.h"

void frame_children_init(struct frame_children *children);
void frame_children_free(struct frame_children *children);

/* The child of `parent` that is `activation`; FRAME_NONE when there is none. */
frame_id frame_children_find(struct frame_tree *tree, frame_id parent,
                             const struct activation *activation);

/* `child` is one that its parent does not have yet. */
void frame_children_add(struct frame_tree *tree, frame_id child);

#endif
