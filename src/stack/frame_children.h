/* Finding a frame's children.
 *
 * Most frames have few children: a list, the newest first. The children of a frame with many are in
 * a hash table, one for the whole tree. So the data for a call are near the caller in memory, even
 * with millions of frames. Children that are called again and again need no search: the last ones
 * found are cached by their hash.
 *
 * A part of frame_tree, which alone calls it.
 */
#ifndef MAGIC_TRACE_STACK_FRAME_CHILDREN_H
#define MAGIC_TRACE_STACK_FRAME_CHILDREN_H

#include "stack/frame_tree.h"

void frame_children_init(struct frame_children *children);
void frame_children_free(struct frame_children *children);

/* The child of `parent` that is `activation`; FRAME_NONE if not found. */
frame_id frame_children_find(struct frame_tree *tree, frame_id parent,
                             const struct activation *activation);

/* `child` must be new to its parent. */
void frame_children_add(struct frame_tree *tree, frame_id child);

#endif
