#include "analysis/attribution.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares of all differences, or of a node's. */
static const double NAMED = 0.02;  /* of the whole: smaller parts are not followed */
static const double COVERED = 0.7; /* of a node's: the parts that are followed must have */
static const double CARRIED = 0.5; /* of a node's: a part with that much carries it */
static const double ALONE =
    2.0 / 3; /* of a node's: a part with that much is the cause, not the node */

static const double MORE = 2; /* times as many calls are more of them */

static const double FINE = 0.001; /* of a node's time: a smaller part is not looked into */

/* Where usual calls take next to no time, a nanosecond more says nothing about how long a call takes. */
static const double LEAST_TIME = 1; /* ns */

struct search {
    const struct attribution_request *request;
    const struct context_tree *tree;
    double whole; /* the difference of the root */
    double size;  /* of which a part must have NAMED to be named */
    double rest;
    /* By node, owned: how many times its usual time is expected. Slow calls per usual one; and below
     * a node whose calls are a cause of their own, times as much as it is called more often. */
    double *scale;
    double *gross;    /* by node, owned: the sizes of all differences in it and below, added up */
    bool *has_own;    /* by node, owned: it is of the program's own code, or calls some */
    double *by_group; /* owned; what gross_difference() adds up in, all 0 when it returns */
    uint32_t *first_child, *next_sibling; /* by node; 0: none; owned */
    struct array *causes;
    struct array parts;     /* of struct small_part */
    struct array scattered; /* of struct scattered_cause */
};

/* A node with all below it, or the own code of a node, which is no cause by itself; but what it has
 * in common with others may be one. */
struct small_part {
    uint32_t node;
    bool is_spread; /* its difference is worth naming, but none of its parts' is */
    bool is_own_code;
    double left; /* of its difference: what no cause has taken */
};

struct scattered_cause {
    enum cause_kind kind;
    uint64_t key; /* the same for what is one cause */
    uint32_t node;
    size_t part;
    double extra;
};

/* ---- differences of a node ---- */

static const struct context_node *node_at(const struct search *search, uint32_t number)
{
    return context_tree_node(search->tree, number);
}

static double extra_of(const struct search *search, uint32_t number)
{
    const struct context_sums *sides = node_at(search, number)->sides;
    return (double)sides[CONTEXT_SLOW].total -
           search->scale[number] * (double)sides[CONTEXT_USUAL].total;
}

static double extra_self_of(const struct search *search, uint32_t number)
{
    const struct context_sums *sides = node_at(search, number)->sides;
    return (double)sides[CONTEXT_SLOW].self -
           search->scale[number] * (double)sides[CONTEXT_USUAL].self;
}

static bool is_outside(const struct search *search, uint32_t number)
{
    return search->request->is_outside[node_at(search, number)->group];
}

static bool is_own(const struct search *search, uint32_t number)
{
    return search->request->is_own[node_at(search, number)->group];
}

static bool is_worth_naming(const struct search *search, double extra)
{
    return extra != 0 && fabs(extra) >= NAMED * search->size;
}

/* ---- nodes that wait to be visited ---- */

static void push(struct array *waiting, uint32_t number)
{
    *(uint32_t *)array_add(waiting) = number;
}

static uint32_t pop(struct array *waiting)
{
    return *(uint32_t *)array_at(waiting, --waiting->count);
}

static void push_children(const struct search *search, struct array *waiting, uint32_t number)
{
    for (uint32_t i = search->first_child[number]; i; i = search->next_sibling[i])
        push(waiting, i);
}

/* ---- causes ---- */

static uint32_t find_carrier(const struct search *search, uint32_t number)
{
    double enough = CARRIED * fabs(extra_of(search, number));
    for (;;) {
        uint32_t best = 0;
        for (uint32_t i = search->first_child[number]; i; i = search->next_sibling[i])
            if (fabs(extra_of(search, i)) >= enough &&
                (!best || fabs(extra_of(search, i)) > fabs(extra_of(search, best))))
                best = i;
        if (!best)
            return number;
        number = best;
    }
}

static uint32_t greatest_child(const struct search *search, uint32_t number)
{
    uint32_t best = number;
    double greatest = extra_self_of(search, number);
    for (uint32_t i = search->first_child[number]; i; i = search->next_sibling[i])
        if (extra_of(search, i) > greatest) {
            best = i;
            greatest = extra_of(search, i);
        }
    return best;
}

/* Whether it matters which function left the program. */
static bool is_of_caller(const struct search *search, enum cause_kind kind, uint32_t number)
{
    return kind == CAUSE_OUTSIDE && node_at(search, number)->group != search->request->preempted;
}

static uint32_t caller_group(const struct search *search, uint32_t number)
{
    return node_at(search, node_at(search, number)->parent)->group;
}

/* The same function in several places is one cause. */
static struct cause *find_same(const struct search *search, enum cause_kind kind, uint32_t number)
{
    for (size_t i = 0; i < search->causes->count; i++) {
        struct cause *cause = array_at(search->causes, i);
        uint32_t other = cause->node;
        if (is_of_caller(search, kind, number) &&
            caller_group(search, other) != caller_group(search, number))
            continue;
        if (cause->kind == kind && node_at(search, other)->group == node_at(search, number)->group)
            return cause;
    }
    return NULL;
}

static double size_of(const struct search *search, enum cause_kind kind, uint32_t number)
{
    return kind == CAUSE_SELF ? extra_self_of(search, number) : extra_of(search, number);
}

/* Of a cause outside of the program, the calls of the function that left it. */
static void add_sums(const struct search *search, struct cause *cause, uint32_t number,
                     bool is_greatest)
{
    const struct context_node *node = node_at(search, number), *called = node;
    if (is_of_caller(search, cause->kind, number))
        called = node_at(search, node->parent);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        struct cause_sums *sums = &cause->sides[side];
        const struct context_sums *more = &node->sides[side];
        sums->calls += called->sides[side].calls;
        sums->time += cause->kind == CAUSE_SELF ? more->self : more->total;
        if (is_greatest)
            sums->present = node->present[side];
    }
}

static void name_cause(struct search *search, enum cause_kind kind, uint32_t number, double extra)
{
    struct cause *cause = find_same(search, kind, number);
    if (!cause) {
        cause = array_add(search->causes);
        cause->kind = kind;
        cause->node = number;
    }
    bool is_greatest =
        fabs(size_of(search, kind, number)) >= fabs(size_of(search, kind, cause->node));
    if (is_greatest) {
        cause->node = number;
        cause->carrier = kind == CAUSE_SELF   ? number
                         : kind == CAUSE_MORE ? greatest_child(search, number)
                                              : find_carrier(search, number);
    }
    cause->nodes++;
    cause->extra += extra;
    add_sums(search, cause, number, is_greatest);
}

static void add_cause(struct search *search, enum cause_kind kind, uint32_t number, double extra)
{
    if (is_worth_naming(search, extra))
        name_cause(search, kind, number, extra);
    else
        search->rest += extra;
}

/* ---- from the root on ---- */

/* Whether the parts that are worth naming have most of the node's difference. */
static bool can_be_followed(const struct search *search, uint32_t number)
{
    double extra = extra_of(search, number), self = extra_self_of(search, number);
    double left = extra, greatest = fabs(self);
    if (is_worth_naming(search, self))
        left -= self;
    for (uint32_t i = search->first_child[number]; i; i = search->next_sibling[i]) {
        double part = extra_of(search, i);
        if (is_worth_naming(search, part))
            left -= part;
        if (fabs(part) > greatest)
            greatest = fabs(part);
    }
    if (fabs(left) > (1 - COVERED) * fabs(extra))
        return false;
    return is_own(search, number) || greatest >= CARRIED * fabs(extra);
}

/* Whether a single activation has most of the greater side's time. */
static bool is_one_call(const struct search *search, uint32_t number)
{
    const struct context_node *node = node_at(search, number);
    const struct context_sums *greater =
        &node->sides[extra_of(search, number) > 0 ? CONTEXT_SLOW : CONTEXT_USUAL];
    uint64_t looked_at =
        search->tree->calls[extra_of(search, number) > 0 ? CONTEXT_SLOW : CONTEXT_USUAL];
    return !node->is_recursive && greater->calls > 2 * looked_at &&
           (double)greater->longest >= CARRIED * (double)greater->total;
}

/* How many times as often as expected the node is called; both sides have it. */
static double calls_ratio(const struct search *search, uint32_t number)
{
    const struct context_sums *sides = node_at(search, number)->sides;
    return (double)sides[CONTEXT_SLOW].calls /
           (search->scale[number] * (double)sides[CONTEXT_USUAL].calls);
}

/* The differences in the node and below, if `factor` times the expected time were: of each function by itself, wherever it is called
 * from, their sizes added up. */
static double gross_difference(const struct search *search, uint32_t number, double factor)
{
    const double fine = FINE * (double)node_at(search, number)->sides[CONTEXT_SLOW].total;
    double gross = 0;
    struct array waiting = array_of(sizeof(uint32_t)), groups = array_of(sizeof(uint32_t));
    push(&waiting, number);
    while (waiting.count > 0) {
        uint32_t at = pop(&waiting);
        const struct context_node *node = node_at(search, at);
        const struct context_sums *slow = &node->sides[CONTEXT_SLOW];
        const struct context_sums *usual = &node->sides[CONTEXT_USUAL];
        double expected = factor * search->scale[at];
        bool is_fine = (double)slow->total + expected * (double)usual->total < fine;
        double takes = (double)(is_fine ? slow->total : slow->self);
        double took = (double)(is_fine ? usual->total : usual->self);
        search->by_group[node->group] += takes - expected * took;
        push(&groups, node->group);
        if (!is_fine)
            push_children(search, &waiting, at);
    }
    for (size_t i = 0; i < groups.count; i++) {
        double *sum = &search->by_group[*(uint32_t *)array_at(&groups, i)];
        gross += fabs(*sum);
        *sum = 0;
    }
    array_free(&groups);
    array_free(&waiting);
    return gross;
}

/* Whether all that the node does differs by one factor, rather than parts of it by themselves. How
 * often an interpreter calls itself varies by chance: if that were the cause, all that it calls would
 * vary with it. */
static bool is_uniform(const struct search *search, uint32_t number)
{
    if (!is_worth_naming(search, search->gross[number]))
        return true;
    const struct context_sums *sides = node_at(search, number)->sides;
    double as_it_is = gross_difference(search, number, 1);
    double whole = (double)sides[CONTEXT_SLOW].total /
                   (search->scale[number] * fmax((double)sides[CONTEXT_USUAL].total, LEAST_TIME));
    return gross_difference(search, number, calls_ratio(search, number)) < as_it_is ||
           gross_difference(search, number, whole) < as_it_is;
}

/* Whether the difference is one of how often the node is called, rather than of how long each call
 * takes: of the two factors the greater. */
static bool is_by_calls(const struct search *search, uint32_t number)
{
    const struct context_sums *sides = node_at(search, number)->sides;
    const struct context_sums *slow = &sides[CONTEXT_SLOW], *usual = &sides[CONTEXT_USUAL];
    if (slow->calls == 0 || usual->calls == 0 || is_one_call(search, number))
        return false;
    double calls = calls_ratio(search, number);
    double slow_time = (double)slow->total / (double)slow->calls;
    double usual_time = fmax((double)usual->total / (double)usual->calls, LEAST_TIME);
    bool is_greater = extra_of(search, number) > 0 ? calls > 1 && calls * usual_time >= slow_time
                                                   : calls < 1 && calls * usual_time <= slow_time;
    return is_greater && is_uniform(search, number);
}

/* Whether the node does more: its longer code, calls that it makes more often, and calls that only slow calls
 * make have nearly all of its difference together, but none of them has it alone. Then it is a loop
 * that runs longer, or work of several steps, and the steps say less than the node. */
static bool does_more(const struct search *search, uint32_t number)
{
    double extra = extra_of(search, number), self = extra_self_of(search, number);
    double more = fmax(self, 0), greatest = fmax(self, 0);
    if (search->request->is_symmetric || number == STACK_ROOT || extra <= 0)
        return false;
    for (uint32_t i = search->first_child[number]; i; i = search->next_sibling[i]) {
        double part = extra_of(search, i);
        const struct context_sums *sides = node_at(search, i)->sides;
        bool is_more = !is_outside(search, i) &&
                       (double)sides[CONTEXT_SLOW].calls >=
                           MORE * search->scale[i] * (double)sides[CONTEXT_USUAL].calls;
        if (part > 0 && is_more)
            more += part;
        if (part > greatest)
            greatest = part;
    }
    return more >= COVERED * extra && more > self && greatest < ALONE * extra;
}

/* CAUSE_REST: both sides have the node, and it is of the program. */
static enum cause_kind kind_by_presence(const struct search *search, uint32_t number)
{
    const struct context_sums *sides = node_at(search, number)->sides;
    if (is_outside(search, number))
        return CAUSE_OUTSIDE;
    if (sides[CONTEXT_USUAL].calls == 0)
        return CAUSE_ONLY_SLOW;
    return sides[CONTEXT_SLOW].calls == 0 ? CAUSE_ONLY_USUAL : CAUSE_REST;
}

/* CAUSE_REST: the node is no cause itself, and is followed into its parts. */
static enum cause_kind kind_of(const struct search *search, uint32_t number)
{
    enum cause_kind kind = kind_by_presence(search, number);
    if (kind != CAUSE_REST)
        return kind;
    bool by_calls = is_by_calls(search, number), can_follow = can_be_followed(search, number);
    /* That the function calls itself more often says little, if what it calls says more. */
    if (by_calls && !(number == STACK_ROOT && can_follow))
        return CAUSE_CALLS;
    if (search->first_child[number] == 0)
        return CAUSE_SELF;
    if (does_more(search, number))
        return CAUSE_MORE;
    return can_follow ? CAUSE_REST : CAUSE_SPREAD;
}

static void add_part(struct search *search, uint32_t number, double extra, bool is_spread)
{
    *(struct small_part *)array_add(&search->parts) =
        (struct small_part){.node = number, .is_spread = is_spread, .left = extra};
}

static void scatter(struct search *search, enum cause_kind kind, uint32_t number, double extra,
                    size_t part)
{
    const struct context_node *node = node_at(search, number);
    uint64_t key = node->group;
    if (is_of_caller(search, kind, number))
        key |= (uint64_t)caller_group(search, number) << 32;
    if (extra != 0)
        *(struct scattered_cause *)array_add(&search->scattered) =
            (struct scattered_cause){kind, key, number, part, extra};
}

static void add_own_code(struct search *search, enum cause_kind kind, uint32_t number, double extra)
{
    scatter(search, kind, number, extra, search->parts.count);
    *(struct small_part *)array_add(&search->parts) =
        (struct small_part){.node = number, .is_own_code = true, .left = extra};
}

/* Follows the difference of the node into its parts. */
static void follow(struct search *search, struct array *waiting, uint32_t number)
{
    double self = extra_self_of(search, number);
    /* kind_of() follows nothing but the root that is called more often. */
    bool by_calls = number == STACK_ROOT && is_by_calls(search, number);
    enum cause_kind kind = by_calls ? CAUSE_CALLS : CAUSE_SELF;
    for (uint32_t i = search->first_child[number]; i; i = search->next_sibling[i]) {
        if (is_worth_naming(search, extra_of(search, i)))
            push(waiting, i);
        else
            add_part(search, i, extra_of(search, i), false);
    }
    if (is_worth_naming(search, self))
        add_cause(search, kind, number, self);
    else
        add_own_code(search, kind, number, self);
}

/* The difference that the number of calls makes by itself. */
static double extra_of_calls(const struct search *search, uint32_t number)
{
    double usual = (double)node_at(search, number)->sides[CONTEXT_USUAL].total;
    return (calls_ratio(search, number) - 1) * search->scale[number] * usual;
}

/* Whether a node that is called more often, or less, has other differences besides that are worth
 * naming. Where it is called so much more often that this is nearly all of the factor, it has not:
 * that each call takes longer, too, comes with their number. */
static bool has_more_than_calls(const struct search *search, uint32_t number)
{
    const struct context_sums *sides = node_at(search, number)->sides;
    if (!search->request->is_symmetric || search->first_child[number] == 0 ||
        !is_worth_naming(search, extra_of_calls(search, number)))
        return false;
    double whole = (double)sides[CONTEXT_SLOW].total /
                   (search->scale[number] * (double)sides[CONTEXT_USUAL].total);
    if (fabs(log(calls_ratio(search, number))) >= ALONE * fabs(log(whole)))
        return false;
    double all = gross_difference(search, number, 1);
    double left = gross_difference(search, number, calls_ratio(search, number));
    return is_worth_naming(search, left) && left > (1 - COVERED) * all && left < all;
}

/* Names the part of the difference that the number of calls makes. What is left of it is measured by
 * the time that so many calls usually take. */
static void split_off_calls(struct search *search, uint32_t number)
{
    const double factor = calls_ratio(search, number);
    name_cause(search, CAUSE_CALLS, number, extra_of_calls(search, number));
    struct array waiting = array_of(sizeof(uint32_t));
    push(&waiting, number);
    while (waiting.count > 0) {
        uint32_t at = pop(&waiting);
        search->scale[at] *= factor;
        push_children(search, &waiting, at);
    }
    array_free(&waiting);
}

static void search_from_root(struct search *search)
{
    struct array waiting = array_of(sizeof(uint32_t));
    array_add(&waiting);
    while (waiting.count > 0) {
        uint32_t number = pop(&waiting);
        enum cause_kind kind = kind_of(search, number);
        if (kind == CAUSE_CALLS && has_more_than_calls(search, number)) {
            split_off_calls(search, number);
            push(&waiting, number);
        } else if (kind == CAUSE_REST)
            follow(search, &waiting, number);
        else if (kind == CAUSE_SPREAD)
            add_part(search, number, extra_of(search, number), true);
        else
            add_cause(search, kind, number, extra_of(search, number));
    }
    array_free(&waiting);
}

/* ---- what is scattered over many places ---- */

/* Like kind_of(), but a function of a library is looked into only where it calls the program, and
 * CAUSE_REST is the node's own code alone. */
static enum cause_kind scattered_kind(const struct search *search, uint32_t number)
{
    enum cause_kind kind = kind_by_presence(search, number);
    if (kind != CAUSE_REST)
        return kind;
    if (is_by_calls(search, number))
        return CAUSE_CALLS;
    if (search->first_child[number] == 0)
        return CAUSE_SELF;
    return search->has_own[number] ? CAUSE_REST : CAUSE_SPREAD;
}

/* What the part consists of, down to where calls begin to differ. */
static void scatter_part(struct search *search, size_t part)
{
    struct array waiting = array_of(sizeof(uint32_t));
    push(&waiting, ((struct small_part *)array_at(&search->parts, part))->node);
    while (waiting.count > 0) {
        uint32_t number = pop(&waiting);
        enum cause_kind kind = scattered_kind(search, number);
        if (kind != CAUSE_REST) {
            scatter(search, kind, number, extra_of(search, number), part);
            continue;
        }
        scatter(search, CAUSE_SELF, number, extra_self_of(search, number), part);
        push_children(search, &waiting, number);
    }
    array_free(&waiting);
}

static int compare_scattered(const void *left, const void *right)
{
    const struct scattered_cause *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind > b->kind ? 1 : -1;
    if (a->key != b->key)
        return a->key > b->key ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

static bool is_one_cause(const struct scattered_cause *a, const struct scattered_cause *b)
{
    return a->kind == b->kind && a->key == b->key;
}

/* A function that is called more often, or takes longer, in many places, in none of them worth
 * naming, is one cause. */
static void name_scattered(struct search *search)
{
    struct scattered_cause *all = search->scattered.elements;
    size_t count = search->scattered.count;
    if (count > 1)
        qsort(all, count, sizeof *all, compare_scattered);
    for (size_t i = 0, end; i < count; i = end) {
        double extra = 0;
        for (end = i; end < count && is_one_cause(&all[i], &all[end]); end++)
            extra += all[end].extra;
        bool is_named =
            is_worth_naming(search, extra) || find_same(search, all[i].kind, all[i].node);
        for (size_t j = i; is_named && j < end; j++) {
            name_cause(search, all[j].kind, all[j].node, all[j].extra);
            ((struct small_part *)array_at(&search->parts, all[j].part))->left -= all[j].extra;
        }
    }
}

static bool is_of_calls(const struct cause *cause)
{
    return cause->kind == CAUSE_ONLY_SLOW || cause->kind == CAUSE_ONLY_USUAL ||
           cause->kind == CAUSE_CALLS;
}

/* `from` becomes part of `cause`. */
static void merge_causes(struct cause *cause, const struct cause *from)
{
    if (fabs(from->extra) > fabs(cause->extra)) {
        cause->node = from->node;
        cause->carrier = from->carrier;
    }
    if (cause->kind != from->kind)
        cause->kind = CAUSE_CALLS;
    cause->nodes += from->nodes;
    cause->extra += from->extra;
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        cause->sides[side].calls += from->sides[side].calls;
        cause->sides[side].time += from->sides[side].time;
    }
}

/* A function that some callers call for the first time and others more often is called more often. */
static void merge_calls(struct search *search)
{
    struct cause *all = search->causes->elements;
    for (size_t i = 0; i < search->causes->count; i++)
        for (size_t j = search->causes->count; is_of_calls(&all[i]) && j-- > i + 1;) {
            if (!is_of_calls(&all[j]) ||
                node_at(search, all[i].node)->group != node_at(search, all[j].node)->group)
                continue;
            merge_causes(&all[i], &all[j]);
            all[j] = all[--search->causes->count];
        }
}

/* Causes of the small parts, if both sides are of interest; what is left of them is spread, or rest. */
static void gather_parts(struct search *search)
{
    if (search->request->is_symmetric) {
        for (size_t i = 0; i < search->parts.count; i++)
            if (!((struct small_part *)array_at(&search->parts, i))->is_own_code)
                scatter_part(search, i);
        name_scattered(search);
    }
    for (size_t i = 0; i < search->parts.count; i++) {
        const struct small_part *part = array_at(&search->parts, i);
        if (part->is_spread)
            add_cause(search, CAUSE_SPREAD, part->node, part->left);
        else
            search->rest += part->left;
    }
    if (search->request->is_symmetric)
        merge_calls(search);
}

/* Recursive calls have no node of their own. */
static void link_to_parent(struct search *search, uint32_t number)
{
    const struct context_node *node = node_at(search, number);
    if (number == STACK_ROOT || node->target != number)
        return;
    search->next_sibling[number] = search->first_child[node->parent];
    search->first_child[node->parent] = number;
}

/* What has the sign of the whole difference answers why there is one; it comes first. */
static int compare_causes(const void *left, const void *right, void *whole)
{
    const struct cause *a = left, *b = right;
    const double sign = *(const double *)whole < 0 ? -1 : 1;
    if ((sign * a->extra > 0) != (sign * b->extra > 0))
        return sign * a->extra > 0 ? -1 : 1;
    if (fabs(a->extra) != fabs(b->extra))
        return fabs(a->extra) > fabs(b->extra) ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Takes the smallest causes off the list, but never the first, until it is short enough. */
static void cut(struct search *search)
{
    struct array *causes = search->causes;
    struct cause *all = causes->elements;
    while (causes->count > search->request->causes_max) {
        size_t smallest = causes->count - 1;
        for (size_t i = smallest; i > 0; i--)
            if (fabs(all[i].extra) < fabs(all[smallest].extra))
                smallest = i;
        search->rest += all[smallest].extra;
        causes->count--;
        memmove(&all[smallest], &all[smallest + 1], (causes->count - smallest) * sizeof *all);
    }
}

static void put_in_order(struct search *search)
{
    struct array *causes = search->causes;
    if (causes->count > 1)
        qsort_r(causes->elements, causes->count, causes->element_size, compare_causes,
                &search->whole);
    cut(search);
    if (search->rest == 0)
        return;
    struct cause *rest = array_add(causes);
    rest->kind = CAUSE_REST;
    rest->extra = search->rest;
}

/* Parents have smaller numbers. Returns one more than the greatest group. */
static uint32_t look_below(struct search *search)
{
    uint32_t groups = 0;
    for (uint32_t i = context_tree_size(search->tree); i-- > 0;) {
        const struct context_node *node = node_at(search, i);
        if (node->group >= groups)
            groups = node->group + 1;
        link_to_parent(search, i);
        search->gross[i] += fabs(extra_self_of(search, i));
        search->has_own[i] |= is_own(search, i);
        if (i == STACK_ROOT)
            break;
        search->gross[node->parent] += search->gross[i];
        search->has_own[node->parent] |= search->has_own[i];
    }
    return groups;
}

static void prepare(struct search *search)
{
    const struct context_tree *tree = search->tree;
    const size_t count = context_tree_size(tree);
    const double scale = (double)tree->calls[CONTEXT_SLOW] / (double)tree->calls[CONTEXT_USUAL];
    search->scale = memory_allocate(count * sizeof *search->scale);
    search->gross = memory_allocate_zeroed(count * sizeof *search->gross);
    search->has_own = memory_allocate_zeroed(count * sizeof *search->has_own);
    search->first_child = memory_allocate_zeroed(count * sizeof *search->first_child);
    search->next_sibling = memory_allocate_zeroed(count * sizeof *search->next_sibling);
    for (size_t i = 0; i < count; i++)
        search->scale[i] = scale;
    search->by_group = memory_allocate_zeroed(look_below(search) * sizeof *search->by_group);
    search->whole = extra_of(search, STACK_ROOT);
    search->size = search->request->is_symmetric ? search->gross[STACK_ROOT] : fabs(search->whole);
}

double attribute(const struct attribution_request *request, struct array *causes)
{
    struct search search = {
        .request = request,
        .tree = request->tree,
        .causes = causes,
        .parts = array_of(sizeof(struct small_part)),
        .scattered = array_of(sizeof(struct scattered_cause)),
    };
    prepare(&search);
    search_from_root(&search);
    gather_parts(&search);
    put_in_order(&search);
    array_free(&search.parts);
    array_free(&search.scattered);
    free(search.scale);
    free(search.gross);
    free(search.has_own);
    free(search.by_group);
    free(search.first_child);
    free(search.next_sibling);
    return search.whole;
}
