#include "stack/frame_tree.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKET_COUNT = 256, FRAMES_PER_BUCKET = 2 };

/* Ids of the frames one event may add: a discovered caller's new placeholder, a segment's
 * placeholder and root. */
enum { FRAMES_PER_EVENT = 4 };

static frame_id add_frame(struct frame_tree *tree, const struct frame *frame)
{
    frame_id id = tree->count++;
    if (id >> FRAME_CHUNK_SHIFT == tree->chunks.count)
        *(struct frame **)array_add(&tree->chunks) =
            memory_allocate(FRAME_CHUNK_SIZE * sizeof(struct frame));
    *frame_tree_at(tree, id) = *frame;
    return id;
}

void frame_tree_init(struct frame_tree *tree)
{
    *tree = (struct frame_tree){
        .chunks = array_of(sizeof(struct frame *)),
        .returns = array_of(sizeof(struct learned_return)),
        .origins = array_of(sizeof(struct frame_origin)),
        .limit = FRAME_COUNT_MAXIMUM,
        .buckets = memory_allocate_zeroed(FIRST_BUCKET_COUNT * sizeof(frame_id)),
        .bucket_count = FIRST_BUCKET_COUNT,
    };
    frame_starts_init(&tree->starts);
    frame_tree_add_placeholder(tree);
}

void frame_tree_free(struct frame_tree *tree)
{
    for (size_t i = 0; i < tree->chunks.count; i++)
        free(*(struct frame **)array_at(&tree->chunks, i));
    array_free(&tree->chunks);
    array_free(&tree->returns);
    array_free(&tree->origins);
    frame_starts_free(&tree->starts);
    free(tree->buckets);
    *tree = (struct frame_tree){0};
}

bool frame_tree_full(const struct frame_tree *tree)
{
    return tree->count > tree->limit - FRAMES_PER_EVENT;
}

frame_id frame_tree_add_placeholder(struct frame_tree *tree)
{
    return add_frame(tree, &(struct frame){.kind = FRAME_PLACEHOLDER});
}

/* Multiplication by odd constants (the fractional parts of the golden ratio and of sqrt(3)) spreads
 * the few bits in which neighbouring frames differ over the upper half of the word, which is what
 * is kept. */
static uint32_t hash_child(frame_id parent, function_id function, uint64_t return_address)
{
    uint64_t hash = return_address * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= ((uint64_t)parent << 32 | function) * UINT64_C(0xbb67ae8584caa73b);
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static void insert(struct frame_tree *tree, frame_id id)
{
    struct frame *frame = frame_tree_at(tree, id);
    uint32_t hash = hash_child(frame->parent, frame->function, frame->return_address);
    frame_id *bucket = &tree->buckets[hash & (tree->bucket_count - 1)];
    frame->next_in_bucket = *bucket;
    *bucket = id;
}

static void grow_buckets(struct frame_tree *tree)
{
    free(tree->buckets);
    tree->bucket_count *= 2;
    tree->buckets = memory_allocate_zeroed((size_t)tree->bucket_count * sizeof(frame_id));
    for (frame_id id = 1; id < tree->count; id++)
        if (frame_tree_at(tree, id)->kind != FRAME_PLACEHOLDER &&
            frame_tree_at(tree, id)->kind != FRAME_LINK)
            insert(tree, id);
}

static void add_to_hash_table(struct frame_tree *tree, frame_id id)
{
    /* Growing by counting all frames, placeholders too, is only a little early. It inserts `id` as
     * well. */
    if (tree->count / FRAMES_PER_BUCKET > tree->bucket_count &&
        tree->bucket_count <= UINT32_MAX / 2)
        grow_buckets(tree);
    else
        insert(tree, id);
}

function_id frame_tree_origin(const struct frame_tree *tree, frame_id frame)
{
    if (!frame_tree_at(tree, frame)->has_origin)
        return FUNCTION_UNKNOWN;
    const struct frame_origin *origins = tree->origins.elements;
    size_t low = 0, high = tree->origins.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (origins[middle].frame <= frame)
            low = middle;
        else
            high = middle;
    }
    return origins[low].origin;
}

/* Ids grow, so the list is in their order. */
static void add_origin(struct frame_tree *tree, frame_id frame, function_id origin)
{
    frame_tree_at(tree, frame)->has_origin = true;
    *(struct frame_origin *)array_add(&tree->origins) = (struct frame_origin){frame, origin};
}

static bool is_activation(const struct frame_tree *tree, frame_id id, frame_id parent,
                          const struct activation *activation)
{
    const struct frame *frame = frame_tree_at(tree, id);
    return frame->parent == parent && frame->function == activation->function &&
           frame->return_address == activation->return_address && frame->kind == activation->kind &&
           frame_tree_origin(tree, id) == activation->origin;
}

static frame_id find_in_hash_table(const struct frame_tree *tree, frame_id parent,
                                   const struct activation *activation)
{
    uint32_t hash = hash_child(parent, activation->function, activation->return_address);
    frame_id id = tree->buckets[hash & (tree->bucket_count - 1)];
    while (id != FRAME_NONE && !is_activation(tree, id, parent, activation))
        id = frame_tree_at(tree, id)->next_in_bucket;
    return id;
}

static function_id known_function(function_id function)
{
    return function <= FRAME_FUNCTION_MAXIMUM ? function : FUNCTION_UNKNOWN;
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
    add_to_hash_table(tree, id);
    return id;
}

frame_id frame_tree_child(struct frame_tree *tree, frame_id parent, const struct activation *called,
                          bool *added)
{
    struct activation known = *called;
    const struct activation *activation = &known;
    known.function = known_function(called->function);
    frame_id id = frame_tree_at(tree, parent)->last_child;
    *added = false;
    if (id != FRAME_NONE && is_activation(tree, id, parent, activation))
        return id;
    if (id != FRAME_NONE)
        id = find_in_hash_table(tree, parent, activation);
    if (id == FRAME_NONE) {
        *added = true;
        id = add_child(tree, parent, activation);
    }
    frame_tree_at(tree, parent)->last_child = id;
    return id;
}

void frame_tree_set_start(struct frame_tree *tree, frame_id frame, uint64_t start)
{
    function_id function = frame_tree_at(tree, frame)->function;
    frame_tree_at(tree, frame)->start_choice =
        frame_starts_add(&tree->starts, frame, function, start);
}

uint64_t frame_tree_start(const struct frame_tree *tree, frame_id id)
{
    const struct frame *frame = frame_tree_at(tree, id);
    return frame_starts_get(&tree->starts, id, frame->function, frame->start_choice);
}

/* Index of the first learned return whose caller is not smaller than `caller`. */
static size_t find_learned(const struct frame_tree *tree, frame_id caller)
{
    const struct learned_return *returns = tree->returns.elements;
    size_t low = 0, high = tree->returns.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (returns[middle].caller < caller)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Callers are nearly always discovered in the order of their ids. */
static void learn_return(struct frame_tree *tree, frame_id caller, uint64_t address)
{
    size_t index = find_learned(tree, caller);
    array_add(&tree->returns);
    struct learned_return *returns = tree->returns.elements;
    memmove(&returns[index + 1], &returns[index],
            (tree->returns.count - 1 - index) * sizeof(*returns));
    returns[index] = (struct learned_return){caller, address};
}

uint64_t frame_tree_return_address(const struct frame_tree *tree, frame_id frame)
{
    uint64_t address = frame_tree_at(tree, frame)->return_address;
    if (address != 0)
        return address;
    frame_id caller = frame_tree_parent(tree, frame);
    size_t index = find_learned(tree, caller);
    const struct learned_return *returns = tree->returns.elements;
    bool learned = index < tree->returns.count && returns[index].caller == caller;
    return learned ? returns[index].address : 0;
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

void frame_tree_discover(struct frame_tree *tree, frame_id placeholder, function_id function,
                         uint64_t address, uint64_t start)
{
    learn_return(tree, placeholder, address);
    frame_id above = frame_tree_add_placeholder(tree);
    struct frame *frame = frame_tree_at(tree, placeholder);
    frame->parent = above;
    frame->return_address = 0;
    frame->function = known_function(function);
    frame->kind = FRAME_FUNCTION;
    frame_tree_set_start(tree, placeholder, start);
    frame_tree_at(tree, above)->last_child = placeholder;
    add_to_hash_table(tree, placeholder);
}

/* A placeholder returns nowhere: the field is free. */
enum { OUTERMOST = 1 };

void frame_tree_set_outermost(struct frame_tree *tree, frame_id placeholder)
{
    frame_tree_at(tree, placeholder)->return_address = OUTERMOST;
}

bool frame_tree_is_outermost(const struct frame_tree *tree, frame_id placeholder)
{
    return frame_tree_at(tree, placeholder)->return_address == OUTERMOST;
}
