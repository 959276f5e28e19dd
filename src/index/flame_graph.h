/* The stacks of a range, added up to a tree (docs/viewer.md section 1, "The flame graph").
 *
 * Called by the server.
 */
#ifndef MAGIC_TRACE_INDEX_FLAME_GRAPH_H
#define MAGIC_TRACE_INDEX_FLAME_GRAPH_H

#include "index/trace_index.h"

struct flame_node {
    uint32_t parent;      /* index among the nodes of this answer; of the root its own, 0 */
    uint32_t group;       /* UINT32_MAX: the root */
    uint64_t calls;       /* that overlap the range; of the root 0 */
    uint64_t total, self; /* ns within the range */
    uint64_t omitted;     /* ns of children that are too narrow to be reported */
};

struct flame_request {
    struct index_tracks tracks;
    struct index_range range;
    double share;
    bool on_cpu; /* without the time in which threads were not running */
};

/* Appends struct flame_node, the root first, parents before children, widest child first. Nodes
 * narrower than `request->share` (0 to 1) of the root are left out, with all below them. Memory while it is
 * made grows with the stacks that differ, 100 bytes each. */
bool index_flame_graph(const struct trace_index *index, const struct flame_request *request,
                       struct array *nodes, struct error *error);

#endif
