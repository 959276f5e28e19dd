#include "stack/frame_tree.h"

#include "base/memory.h"

#include <stdlib.h>

static void add_chunk(struct frame_tree *tree)
{
    if (tree->frames.chunk_count == tree->frames.chunk_capacity) {
        tree->frames.chunk_capacity += tree->frames.chunk_capacity / 2 + 8;
        tree->frames.chunks = memory_resize(tree->frames.chunks, tree->frames.chunk_capacity *
                                                                     sizeof(*tree->frames.chunks));
    }
    struct frame_chunk *chunk = memory_allocate(sizeof(*chunk));
    chunk->origins = NULL;
    tree->frames.chunks[tree->frames.chunk_count++] = chunk;
}

static frame_id add_frame(struct frame_tree *tree, const struct frame *frame)
{
    frame_id id = tree->frames.count++;
    if (id >> FRAME_CHUNK_SHIFT == tree->frames.chunk_count)
        add_chunk(tree);
    *frame_tree_at(tree, id) = *frame;
    return id;
}

void frame_tree_init(struct frame_tree *tree)
{
    *tree = (struct frame_tree){
        .returns = array_of(sizeof(struct learned_return)),
        .joined = array_of(sizeof(struct learned_return)),
        .limit = FRAME_COUNT_MAXIMUM,
    };
    frame_children_init(&tree->children);
    frame_starts_init(&tree->starts);
    frame_tree_add_placeholder(tree);
}

void frame_tree_free(struct frame_tree *tree)
{
    for (uint32_t i = 0; i < tree->frames.chunk_count; i++) {
        free(tree->frames.chunks[i]->origins);
        free(tree->frames.chunks[i]);
    }
    free(tree->frames.chunks);
    array_free(&tree->returns);
    array_free(&tree->joined);
    frame_starts_free(&tree->starts);
    frame_children_free(&tree->children);
    *tree = (struct frame_tree){0};
}

frame_id frame_tree_add_placeholder(struct frame_tree *tree)
{
    return add_frame(tree, &(struct frame){.kind = FRAME_PLACEHOLDER});
}

static void add_origin(struct frame_tree *tree, frame_id frame, function_id origin)
{
    struct frame_chunk *chunk = tree->frames.chunks[frame >> FRAME_CHUNK_SHIFT];
    if (chunk->origins == NULL)
        chunk->origins = memory_allocate(FRAME_CHUNK_SIZE * sizeof(*chunk->origins));
    chunk->origins[frame & (FRAME_CHUNK_SIZE - 1)] = origin;
    frame_tree_at(tree, frame)->has_origin = true;
}

static frame_id add_child(struct frame_tree *tree, frame_id parent,
                          const struct activation *activation)
{
    frame_id id = add_frame(tree, &(struct frame){
                                      .parent = parent,
                                      .function = activation->function,
                                      .return_address = activation->return_address,
                                      .kind = activation->kind,
                                  });
    if (activation->origin != FUNCTION_UNKNOWN)
        add_origin(tree, id, activation->origin);
    frame_children_add(&tree->children, &tree->frames, id);
    return id;
}

frame_id frame_tree_child_slowly(struct frame_tree *tree, frame_id parent,
                                 const struct activation *activation, bool *added)
{
    struct activation known = *activation;
    known.function = frame_known_function(activation->function);
    frame_id id = frame_children_find(&tree->children, &tree->frames, parent, &known);
    *added = id == FRAME_NONE;
    return *added ? add_child(tree, parent, &known) : id;
}

frame_id frame_tree_find_child(struct frame_tree *tree, frame_id parent,
                               const struct activation *activation)
{
    return frame_children_find(&tree->children, &tree->frames, parent, activation);
}

void frame_tree_set_start(struct frame_tree *tree, frame_id frame, uint64_t start)
{
    function_id function = frame_tree_at(tree, frame)->function;
    frame_tree_at(tree, frame)->start_choice =
        frame_starts_add(&tree->starts, frame, function, start);
}

/* Return addresses are learned nearly always in the order of frame ids. */
static void learn_return(struct array *learned, frame_id frame, uint64_t address)
{
    *(struct learned_return *)array_insert(learned, array_find_key(learned, frame)) =
        (struct learned_return){frame, address};
}

/* 0: none was learned. */
static uint64_t learned_return(const struct array *learned, frame_id frame)
{
    size_t index = array_find_key(learned, frame);
    const struct learned_return *returns = learned->elements;
    return index < learned->count && returns[index].frame == frame ? returns[index].address : 0;
}

uint64_t frame_tree_return_address(const struct frame_tree *tree, frame_id frame)
{
    uint64_t address = frame_tree_at(tree, frame)->return_address;
    if (address == 0)
        address = learned_return(&tree->joined, frame);
    if (address == 0)
        address = learned_return(&tree->returns, frame_tree_parent(tree, frame));
    return address;
}

void frame_tree_learn_return(struct frame_tree *tree, frame_id frame, uint64_t address)
{
    if (address != 0 && frame_tree_return_address(tree, frame) == 0)
        learn_return(&tree->joined, frame, address);
}

frame_id frame_tree_root(const struct frame_tree *tree, frame_id leaf)
{
    frame_id parent = frame_tree_parent(tree, leaf);
    while (frame_tree_at(tree, parent)->kind != FRAME_PLACEHOLDER) {
        leaf = parent;
        parent = frame_tree_parent(tree, leaf);
    }
    return leaf;
}

void frame_tree_link(struct frame_tree *tree, frame_id placeholder, frame_id parent)
{
    struct frame *link = frame_tree_at(tree, placeholder);
    link->kind = FRAME_LINK;
    link->parent = parent;
}

void frame_tree_unlink(struct frame_tree *tree, frame_id placeholder)
{
    struct frame *link = frame_tree_at(tree, placeholder);
    link->kind = FRAME_PLACEHOLDER;
    link->parent = FRAME_NONE;
}

void frame_tree_discover(struct frame_tree *tree, frame_id placeholder, function_id function,
                         uint64_t address, uint64_t start)
{
    learn_return(&tree->returns, placeholder, address);
    frame_id above = frame_tree_add_placeholder(tree);
    struct frame *frame = frame_tree_at(tree, placeholder);
    frame->parent = above;
    frame->return_address = 0;
    frame->function = frame_known_function(function);
    frame->kind = FRAME_FUNCTION;
    frame_tree_set_start(tree, placeholder, start);
    frame_children_add(&tree->children, &tree->frames, placeholder);
}

/* A placeholder has no return address, so the field is free for this. */
enum { OUTERMOST = 1, BEGUN = 2 };

void frame_tree_set_outermost(struct frame_tree *tree, frame_id placeholder)
{
    frame_tree_at(tree, placeholder)->return_address = OUTERMOST;
}

bool frame_tree_is_outermost(const struct frame_tree *tree, frame_id placeholder)
{
    return frame_tree_at(tree, placeholder)->return_address == OUTERMOST;
}

void frame_tree_set_begun(struct frame_tree *tree, frame_id placeholder)
{
    frame_tree_at(tree, placeholder)->return_address = BEGUN;
}

bool frame_tree_has_begun(const struct frame_tree *tree, frame_id placeholder)
{
    const struct frame *frame = frame_tree_at(tree, placeholder);
    return frame->kind == FRAME_PLACEHOLDER && frame->return_address == BEGUN;
}
