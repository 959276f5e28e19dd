#include "analysis/renamed_functions.h"

#include "base/memory.h"
#include "base/short_name.h"

#include <stdlib.h>
#include <string.h>

/* A function that only one side has. */
struct single {
    uint32_t id;
    enum context_side side;
    uint64_t calls;
    uint64_t place; /* hash of the paths that call it, with their calls, and of what it calls */
    char *name;     /* short; owned */
    bool is_taken;
};

static uint64_t mix(uint64_t number)
{
    number ^= number >> 31;
    number *= UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

/* Sums do not depend on the order in which nodes are met. */
static void add_nodes(const struct context_tree *tree, const struct function_ids *ids,
                      struct single *singles, const uint32_t *number_of)
{
    for (uint32_t i = 1; i < context_tree_size(tree); i++) {
        const struct context_node *node = context_tree_node(tree, i);
        const struct context_node *parent = context_tree_node(tree, node->parent);
        uint64_t calls = node->sides[CONTEXT_A].calls + node->sides[CONTEXT_B].calls;
        if (calls == 0)
            continue;
        uint32_t single = number_of[node->group], caller = NO_FUNCTION;
        if (parent->group < ids->count)
            caller = number_of[parent->group];
        if (single != NO_FUNCTION) {
            singles[single].calls += calls;
            /* A caller that is itself renamed has no number that both sides know. */
            uint32_t known = caller == NO_FUNCTION ? parent->group : NO_FUNCTION;
            singles[single].place += mix(mix((uint64_t)known << 1) + calls);
        }
        if (caller != NO_FUNCTION && single == NO_FUNCTION)
            singles[caller].place += mix((uint64_t)node->group << 1 | 1);
    }
}

static bool have_same_name(const struct single *a, const struct single *b)
{
    return strcmp(a->name, b->name) == 0;
}

static bool have_same_place(const struct single *a, const struct single *b)
{
    return a->calls > 0 && a->place == b->place && a->calls == b->calls;
}

typedef bool pair_test(const struct single *a, const struct single *b);

/* The only one of the other side that fits; NULL: none fits, or several. */
static struct single *find_only(const struct single *single, struct single *all, size_t count,
                                pair_test *fits)
{
    struct single *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (all[i].side == single->side || all[i].is_taken || !fits(single, &all[i]))
            continue;
        if (found)
            return NULL;
        found = &all[i];
    }
    return found;
}

static void pair_up(struct single *all, size_t count, pair_test *fits, struct array *pairs)
{
    for (size_t i = 0; i < count; i++) {
        struct single *a = &all[i];
        struct single *b =
            a->side == CONTEXT_A && !a->is_taken ? find_only(a, all, count, fits) : NULL;
        if (!b || find_only(b, all, count, fits) != a)
            continue;
        a->is_taken = b->is_taken = true;
        *(struct renamed_pair *)array_add(pairs) = (struct renamed_pair){a->id, b->id};
    }
}

void find_renamed(const struct context_tree *tree, const struct function_ids *ids,
                  struct array *pairs)
{
    enum { SINGLES_MAX = 4000 }; /* pairs are looked for one by one */
    uint32_t *number_of = memory_allocate((ids->count + 1) * sizeof *number_of);
    struct array singles = array_of(sizeof(struct single));
    for (uint32_t id = 0; id <= ids->count; id++) {
        number_of[id] = NO_FUNCTION;
        if (id == ids->count || singles.count == SINGLES_MAX ||
            (ids->groups[0][id] == NO_FUNCTION) == (ids->groups[1][id] == NO_FUNCTION))
            continue;
        number_of[id] = (uint32_t)singles.count;
        struct single *single = array_add(&singles);
        single->id = id;
        single->side = ids->groups[0][id] == NO_FUNCTION ? CONTEXT_B : CONTEXT_A;
        single->name = short_name(function_ids_function(ids, id).name);
    }
    if (singles.count > 0)
        add_nodes(tree, ids, singles.elements, number_of);
    pair_up(singles.elements, singles.count, have_same_name, pairs);
    pair_up(singles.elements, singles.count, have_same_place, pairs);
    for (size_t i = 0; i < singles.count; i++)
        free(((struct single *)array_at(&singles, i))->name);
    array_free(&singles);
    free(number_of);
}
