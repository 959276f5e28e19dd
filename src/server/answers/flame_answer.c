/* /api/flame: the stacks of a range as a tree. */
#include "base/memory.h"
#include "index/flame_graph.h"
#include "server/answers/query.h"

#include <stdlib.h>

enum {
    NODES_MAX = 50000,
    LEVELS_MAX = 1000, /* the page walks the tree by recursion */
};
static const double standard_share = 0.0005;

/* The children of each node, which are written in the order of the nodes. */
struct flame_tree {
    const struct flame_node *nodes;
    size_t count;
    uint32_t *first_child, *next; /* 0: none; the root is no node's child */
    uint32_t *level;
};

static struct flame_tree make_tree(const struct array *nodes)
{
    struct flame_tree tree = {.nodes = nodes->elements, .count = nodes->count};
    tree.first_child = memory_allocate_zeroed(tree.count * sizeof(uint32_t));
    tree.next = memory_allocate_zeroed(tree.count * sizeof(uint32_t));
    tree.level = memory_allocate_zeroed(tree.count * sizeof(uint32_t));
    for (size_t i = tree.count; i-- > 1;) {
        uint32_t parent = tree.nodes[i].parent;
        tree.next[i] = tree.first_child[parent];
        tree.first_child[parent] = (uint32_t)i;
    }
    for (size_t i = 1; i < tree.count; i++)
        tree.level[i] = tree.level[tree.nodes[i].parent] + 1;
    return tree;
}

static void free_tree(struct flame_tree *tree)
{
    free(tree->first_child);
    free(tree->next);
    free(tree->level);
}

/* Nodes that are too deep to be written count as omitted. */
static uint64_t omitted_time(const struct flame_tree *tree, uint32_t node)
{
    uint64_t omitted = tree->nodes[node].omitted;
    if (tree->level[node] >= LEVELS_MAX)
        for (uint32_t child = tree->first_child[node]; child; child = tree->next[child])
            omitted += tree->nodes[child].total;
    return omitted;
}

static void open_node(struct json_text *json, const struct query *query,
                      const struct flame_tree *tree, uint32_t id)
{
    const struct flame_node *node = &tree->nodes[id];
    json_text_open(json, '{');
    if (id == 0) {
        json_text_member_number(json, "group", 0);
        json_text_member_string(json, "name", "");
    } else {
        json_text_member_number(json, "group", node->group);
        json_text_member_string(json, "name", trace_index_function(query->index, node->group).name);
    }
    json_text_member_number(json, "calls", node->calls);
    json_text_member_number(json, "total", node->total);
    json_text_member_number(json, "self", node->self);
    json_text_member_number(json, "omitted", omitted_time(tree, id));
    json_text_key(json, "children");
    json_text_open(json, '[');
}

static void close_node(struct json_text *json)
{
    json_text_close(json, ']');
    json_text_close(json, '}');
}

/* In depth first, without recursion. */
static void write_tree(struct json_text *json, const struct query *query,
                       const struct flame_tree *tree)
{
    uint32_t node = 0;
    open_node(json, query, tree, node);
    for (;;) {
        uint32_t child = tree->level[node] < LEVELS_MAX ? tree->first_child[node] : 0;
        while (!child) {
            close_node(json);
            if (node == 0)
                return;
            child = tree->next[node];
            node = tree->nodes[node].parent;
        }
        node = child;
        open_node(json, query, tree, node);
    }
}

static bool write_flame(const struct query *query, const struct array *nodes,
                        struct http_answer *answer, struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    struct flame_tree tree = make_tree(nodes);
    json_text_open(&json, '{');
    json_text_key(&json, "root");
    write_tree(&json, query, &tree);
    json_text_close(&json, '}');
    free_tree(&tree);
    return query_json_close(&json, error);
}

bool answer_flame(const struct query *query, struct http_answer *answer, struct error *error)
{
    static const char *const times[] = {"wall", "cpu", NULL};
    struct flame_request request = {0};
    size_t time;
    if (!query_range(query, &request.range, error) ||
        !parameter_choice(query->parameters, "time", times, &time, error) ||
        !parameter_share(query->parameters, "share", standard_share, &request.share, error))
        return false;
    request.on_cpu = time > 0;
    struct array ids, nodes = array_of(sizeof(struct flame_node));
    bool ok = query_tracks(query, &ids, &request.tracks, error) &&
              index_flame_graph(query->index, &request, &nodes, error);
    /* Too many to be shown: only wider ones. Deep recursion makes as many nodes as it is deep,
     * however wide; those are cut by their level. */
    while (ok && nodes.count > NODES_MAX && request.share < 0.01) {
        request.share = request.share < 1e-6 ? 1e-6 : request.share * 8;
        array_free(&nodes);
        ok = index_flame_graph(query->index, &request, &nodes, error);
    }
    ok = ok && write_flame(query, &nodes, answer, error);
    array_free(&nodes);
    array_free(&ids);
    return ok;
}
