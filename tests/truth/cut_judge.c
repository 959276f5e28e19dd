/* cut_judge [-all N] [-name NAME] [-stitching off] [-recorded off] RECORDING TRUTH CUT: how right
 * the call stacks of a recording are that has lost packets.
 *
 * CUT is RECORDING without the packets that cut_recording cut out; the true stacks of RECORDING,
 * from TRUTH, are those of CUT's events. Prints, over all threads,
 *   how many events are left, and how many of them have the right stack, from root to leaf;
 *   the same of those whose root is the thread's first function: nothing is missing then, and what
 *   is wrong was claimed, not left out;
 *   of the true frames that stay active from before a loss to after it, how many are one span in
 *   the trace; and how many spans go on over a loss though no true frame does.
 * To compare with: without stitching, and without what the recorder writes about stacks (hardware
 * writes nothing); no frame counts as one span then.
 * The first N wrong stacks are shown. Exit status 0, or 2 when nothing could be judged.
 */
#include "base/memory.h"
#include "decode/flow.h"
#include "event_places.h"
#include "spans_across.h"
#include "stack/follow.h"
#include "stack/process_code.h"
#include "stack_comparison.h"
#include "truth_alignment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread in the whole recording and in the cut one. */
struct cut_thread {
    struct cut_judge *judge;
    const struct thread *whole_thread;
    struct truth_alignment truth;
    bool lost;          /* the whole recording and the truth could not be brought together */
    struct array whole; /* struct flow_event: those that concern the truth */
    struct array nodes; /* true_node after each of them */

    const struct thread *cut_thread; /* NULL: nothing is left of it */
    struct process_code *code;
    struct thread_stack stack;
    struct array cut;    /* struct flow_event: those and gaps */
    struct array frames; /* frame_id after each of them */
    struct judged_pairs pairs;
};

struct result {
    uint64_t whole, left, placed, right, rooted, rooted_right;
    uint64_t losses, open, kept, invented;
};

struct cut_judge {
    bool no_stitching, nothing_recorded;
    struct flow *whole, *cut;
    const char *directory;
    uint64_t shown_at_most, shown;
    struct array threads; /* struct cut_thread * */
    struct array ids;     /* function_id in `whole` by that in `cut`, plus 1; 0: not asked yet */
    struct array losses;  /* struct loss_spans: in which to count spans */
    struct result result;
};

static struct cut_thread *thread_at(const struct cut_judge *judge, size_t index)
{
    return *(struct cut_thread **)array_at(&judge->threads, index);
}

/* --- The whole recording --- */

static void *begin_whole(void *context, const struct thread *thread)
{
    struct cut_judge *judge = context;
    struct cut_thread *begun = memory_allocate_zeroed(sizeof *begun);
    const struct process *process =
        address_spaces_process(flow_address_spaces(judge->whole), thread->pid);
    begun->judge = judge;
    begun->whole_thread = thread;
    begun->whole = begun->cut = array_of(sizeof(struct flow_event));
    begun->nodes = array_of(sizeof(true_node));
    begun->frames = array_of(sizeof(frame_id));
    truth_walk_init(&begun->truth.walk, judge->directory, thread, process,
                    flow_symbols(judge->whole));
    judged_pairs_init(&begun->pairs);
    *(struct cut_thread **)array_add(&judge->threads) = begun;
    return begun;
}

static void take_whole(void *thread_object, const struct flow_event *events, size_t count)
{
    struct cut_thread *thread = thread_object;
    for (size_t i = 0; i < count && !thread->lost; i++) {
        if (!truth_alignment_concerns(&events[i]))
            continue;
        thread->lost = !truth_alignment_follow(&thread->truth, &events[i]);
        if (thread->lost)
            return;
        *(struct flow_event *)array_add(&thread->whole) = events[i];
        *(true_node *)array_add(&thread->nodes) = true_stack_leaf(&thread->truth.walk.stack);
    }
}

static void end_whole(void *thread_object)
{
    truth_alignment_finish(&((struct cut_thread *)thread_object)->truth);
}

/* --- The cut recording --- */

static void *begin_cut(void *context, const struct thread *thread)
{
    struct cut_judge *judge = context;
    const struct process *process =
        address_spaces_process(flow_address_spaces(judge->cut), thread->pid);
    for (size_t i = 0; i < judge->threads.count; i++) {
        struct cut_thread *begun = thread_at(judge, i);
        if (begun->cut_thread || begun->whole_thread->tid != thread->tid ||
            begun->whole_thread->pid != thread->pid)
            continue;
        begun->cut_thread = thread;
        begun->code = process_code_open(process, flow_symbols(judge->cut), NULL);
        struct code_view view = process_code_view(begun->code);
        thread_stack_init(&begun->stack, &view);
        begun->stack.no_stitching = judge->no_stitching;
        return begun;
    }
    return NULL;
}

static bool is_reported(const struct flow_event *event)
{
    return event->kind == FLOW_CALLER || event->kind == FLOW_STACK ||
           event->kind == FLOW_COPIED_STACKS;
}

static void take_cut(void *thread_object, const struct flow_event *events, size_t count)
{
    struct cut_thread *thread = thread_object;
    for (size_t i = 0; thread && i < count; i++) {
        if (thread->judge->nothing_recorded && is_reported(&events[i]))
            continue;
        follow_events(&thread->stack, &events[i], 1);
        if (!truth_alignment_concerns(&events[i]) && events[i].kind != FLOW_GAP)
            continue;
        *(struct flow_event *)array_add(&thread->cut) = events[i];
        *(frame_id *)array_add(&thread->frames) = thread->stack.leaf;
    }
}

static void end_cut(void *thread_object)
{
    struct cut_thread *thread = thread_object;
    if (thread)
        follow_end(&thread->stack, &(struct follow_ending){.time = thread->cut_thread->ended});
}

static void free_thread(struct cut_thread *thread)
{
    if (thread->cut_thread) {
        thread_stack_free(&thread->stack);
        process_code_close(thread->code);
    }
    array_free(&thread->whole);
    array_free(&thread->nodes);
    array_free(&thread->cut);
    array_free(&thread->frames);
    truth_walk_free(&thread->truth.walk);
    judged_pairs_free(&thread->pairs);
    free(thread);
}

/* --- Placing the events --- */

static const struct flow_event *cut_event(const struct cut_thread *thread, size_t index)
{
    return array_at(&thread->cut, index);
}

static const struct flow_event *whole_event(const struct cut_thread *thread, long index)
{
    return array_at(&thread->whole, (size_t)index);
}

static true_node node_at(const struct cut_thread *thread, long index)
{
    return *(true_node *)array_at(&thread->nodes, (size_t)index);
}

static uint32_t depth_at(const struct cut_thread *thread, long index)
{
    return true_tree_at(&thread->truth.walk.stack.tree, node_at(thread, index))->depth;
}

/* The true functions, root first, that are active from event `before` to event `after`. */
static void collect_open(const struct cut_thread *thread, long before, long after,
                         struct array *functions)
{
    const struct true_tree *tree = &thread->truth.walk.stack.tree;
    struct array left = array_of(sizeof(function_id)), right = array_of(sizeof(function_id));
    size_t open = depth_at(thread, before);
    for (long i = before; i <= after; i++)
        if (depth_at(thread, i) < open)
            open = depth_at(thread, i);
    collect_true(tree, node_at(thread, before), &left);
    collect_true(tree, node_at(thread, after), &right);
    size_t same = count_same_callers(&left, &right);
    for (size_t i = 0; i < (same < open ? same : open); i++)
        *(function_id *)array_add(functions) = *(function_id *)array_at(&left, left.count - 1 - i);
    array_free(&left);
    array_free(&right);
}

/* Between events `before` and `after` of the whole recording packets were lost, and in the cut one
 * from `gap` to `next`. */
static void note_loss(struct cut_thread *thread, long before, long after,
                      const struct flow_event *gap, const struct flow_event *next)
{
    struct cut_judge *judge = thread->judge;
    struct array functions = array_of(sizeof(function_id));
    collect_open(thread, before, after, &functions);
    struct loss_spans loss = {.pid = thread->cut_thread->pid,
                              .tid = thread->cut_thread->tid,
                              .begin = gap->time,
                              .end = next->time,
                              .names = array_of(sizeof(const char *))};
    for (size_t i = 0; i < functions.count; i++)
        *(const char **)array_add(&loss.names) =
            symbols_function(flow_symbols(judge->whole), *(function_id *)array_at(&functions, i))
                ->name;
    *(struct loss_spans *)array_add(&judge->losses) = loss;
    array_free(&functions);
}

static void add_pair(struct cut_thread *thread, size_t index, long place)
{
    judged_pairs_add(&thread->pairs, &(struct judged_pair){
                                         .frame = *(frame_id *)array_at(&thread->frames, index),
                                         .node = node_at(thread, place),
                                         .first = index + 1,
                                         .event = *cut_event(thread, index),
                                     });
    thread->judge->result.placed++;
}

static bool is_loss(const struct flow_event *event)
{
    return event->kind == FLOW_GAP;
}

/* After a loss the first event is a RESUME in the middle of a function, at a PSB: no event of the
 * whole recording. Its stack is that of the event before. */
static bool resumes_at_psb(const struct cut_thread *thread, size_t index)
{
    return index > 0 && is_loss(cut_event(thread, index - 1)) &&
           cut_event(thread, index)->kind == FLOW_RESUME && index + 1 < thread->cut.count &&
           !is_loss(cut_event(thread, index + 1));
}

/* Finds the place of event `index` again, at or after `least`; false when it has none. */
static bool place_again(struct cut_thread *thread, size_t index, long least, long *place)
{
    bool psb = resumes_at_psb(thread, index);
    long found = find_place(&thread->whole, least, &thread->cut, index + psb);
    if (found == NO_PLACE || found < psb)
        return false;
    *place = found - psb;
    return true;
}

static void place_events(struct cut_thread *thread)
{
    long next = 0, last = NO_PLACE, least = 0; /* in the whole recording */
    const struct flow_event *loss = NULL;
    for (size_t i = 0; i < thread->cut.count; i++) {
        const struct flow_event *event = cut_event(thread, i);
        if (is_loss(event)) {
            thread->judge->result.losses++;
            loss = event;
            least = next;
            continue;
        }
        thread->judge->result.left++;
        long place = next;
        bool known = !loss && place < (long)thread->whole.count &&
                     is_same_event(whole_event(thread, place), event);
        if (!known && !place_again(thread, i, least, &place))
            continue;
        if (loss && last != NO_PLACE)
            note_loss(thread, last, place, loss, event);
        loss = NULL;
        add_pair(thread, i, place);
        last = place;
        next = place + 1;
    }
}

/* --- Comparing --- */

/* Both recordings have symbols of their own, with ids of their own. */
static bool is_same_function(const struct function *left, const struct function *right)
{
    return left->start == right->start && strcmp(left->name, right->name) == 0 &&
           (left->object == right->object ||
            (left->object && right->object && strcmp(left->object, right->object) == 0));
}

static function_id find_in_whole(const struct cut_judge *judge, function_id in_cut, size_t count)
{
    const struct function *wanted = symbols_function(flow_symbols(judge->cut), in_cut);
    for (function_id id = 0; id < count; id++)
        if (is_same_function(symbols_function(flow_symbols(judge->whole), id), wanted))
            return id;
    return UINT32_MAX;
}

static size_t count_functions(const struct cut_judge *judge)
{
    function_id most = FUNCTION_FIRST;
    for (size_t i = 0; i < judge->threads.count; i++) {
        const struct true_tree *tree = &thread_at(judge, i)->truth.walk.stack.tree;
        for (size_t j = 0; j < tree->nodes.count; j++)
            if (true_tree_at(tree, (true_node)j)->function >= most)
                most = true_tree_at(tree, (true_node)j)->function + 1;
    }
    return most;
}

/* From ids of the cut recording to those of the whole one. */
static void translate(struct cut_judge *judge, struct array *functions, size_t count)
{
    for (size_t i = 0; i < functions->count; i++) {
        function_id *id = array_at(functions, i);
        while (judge->ids.count <= *id)
            array_add(&judge->ids);
        uint32_t *known = array_at(&judge->ids, *id);
        if (*known == 0)
            *known = find_in_whole(judge, *id, count) + 1;
        *id = *known - 1;
    }
}

static void print_names(const struct cut_judge *judge, const char *title,
                        const struct array *functions)
{
    printf("    %s, %zu deep:", title, functions->count);
    for (size_t i = functions->count; i-- > 0;) {
        function_id id = *(function_id *)array_at(functions, i);
        printf(" %s",
               id == UINT32_MAX ? "?" : symbols_function(flow_symbols(judge->whole), id)->name);
    }
    printf("\n");
}

static void print_difference(const struct cut_thread *thread, const struct judged_pair *pair,
                             const struct array *reconstructed, const struct array *truth)
{
    printf("  tid %u: wrong after %" PRIu64 " events, first event %" PRIu64 ", time %" PRIu64
           ", from %#" PRIx64 " to %#" PRIx64 "\n",
           thread->whole_thread->tid, pair->count, pair->first, pair->event.time.value,
           pair->event.from, pair->event.to);
    print_names(thread->judge, "reconstructed", reconstructed);
    print_names(thread->judge, "true", truth);
}

static bool has_true_root(const struct array *reconstructed, const struct array *truth)
{
    return reconstructed->count > 0 && truth->count > 0 &&
           count_same_callers(reconstructed, truth) > 0;
}

static void compare(struct cut_thread *thread, size_t function_count)
{
    struct cut_judge *judge = thread->judge;
    const struct truth_walk *walk = &thread->truth.walk;
    struct array reconstructed = array_of(sizeof(function_id));
    struct array truth = array_of(sizeof(function_id));
    for (size_t i = 0; i < thread->pairs.pairs.count; i++) {
        const struct judged_pair *pair = judged_pair_at(&thread->pairs, i);
        collect_reconstructed(&thread->stack, pair->frame, &reconstructed);
        translate(judge, &reconstructed, function_count);
        collect_true(&walk->stack.tree, pair->node, &truth);
        bool right = is_right(walk, pair, &reconstructed, &truth);
        bool rooted = right || has_true_root(&reconstructed, &truth);
        judge->result.right += right ? pair->count : 0;
        judge->result.rooted += rooted ? pair->count : 0;
        judge->result.rooted_right += rooted && right ? pair->count : 0;
        if (!right && judge->shown++ < judge->shown_at_most)
            print_difference(thread, pair, &reconstructed, &truth);
    }
    array_free(&reconstructed);
    array_free(&truth);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static void print_result(const char *name, const struct result *result)
{
    printf("%s: %" PRIu64 " losses, %" PRIu64 " of %" PRIu64 " events left, %" PRIu64
           " placed; %" PRIu64 " right (%.2f %%); %" PRIu64 " rooted, %" PRIu64
           " right (%.2f %%); %" PRIu64 " frames across, %" PRIu64 " one span (%.2f %%), %" PRIu64
           " wrongly\n",
           name, result->losses, result->left, result->whole, result->placed, result->right,
           percent(result->right, result->left), result->rooted, result->rooted_right,
           percent(result->rooted_right, result->rooted), result->open, result->kept,
           percent(result->kept, result->open), result->invented);
}

static void judge_threads(struct cut_judge *judge)
{
    size_t function_count = count_functions(judge);
    for (size_t i = 0; i < judge->threads.count; i++) {
        struct cut_thread *thread = thread_at(judge, i);
        if (thread->lost)
            printf("  tid %u: lost alignment with the truth\n", thread->whole_thread->tid);
        judge->result.whole += thread->whole.count;
        if (!thread->cut_thread)
            continue;
        place_events(thread);
        compare(thread, function_count);
    }
}

static bool count_spans(struct cut_judge *judge, const char *cut, struct error *error)
{
    bool as_shown = !judge->no_stitching && !judge->nothing_recorded;
    if (as_shown && !spans_across(cut, &judge->losses, error))
        return false;
    for (size_t i = 0; i < judge->losses.count; i++) {
        struct loss_spans *loss = array_at(&judge->losses, i);
        judge->result.open += loss->names.count;
        judge->result.kept += loss->kept;
        judge->result.invented += loss->invented;
        array_free(&loss->names);
    }
    array_free(&judge->losses);
    return true;
}

static bool decode(struct flow **flow, const char *path, const struct flow_sink *sink,
                   struct error *error)
{
    struct flow_options options = {.no_inlined = true, .cores = 1};
    *flow = flow_open(path, &options, error);
    return *flow && flow_decode(*flow, sink, error);
}

int main(int argc, char **argv)
{
    struct cut_judge judge = {.threads = array_of(sizeof(struct cut_thread *)),
                              .ids = array_of(sizeof(uint32_t)),
                              .losses = array_of(sizeof(struct loss_spans))};
    const char *name = "all";
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-all") == 0)
            judge.shown_at_most = strtoull(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "-name") == 0)
            name = argv[at + 1];
        else if (strcmp(argv[at], "-stitching") == 0)
            judge.no_stitching = strcmp(argv[at + 1], "off") == 0;
        else if (strcmp(argv[at], "-recorded") == 0)
            judge.nothing_recorded = strcmp(argv[at + 1], "off") == 0;
    }
    if (argc - at != 3) {
        fprintf(stderr,
                "Usage: cut_judge [-all N] [-name NAME] [-stitching off] [-recorded off] RECORDING "
                "TRUTH CUT\n");
        return 2;
    }
    judge.directory = argv[at + 1];
    struct error error;
    struct flow_sink whole = {
        .context = &judge, .begin = begin_whole, .events = take_whole, .end = end_whole};
    struct flow_sink cut = {
        .context = &judge, .begin = begin_cut, .events = take_cut, .end = end_cut};
    if (!decode(&judge.whole, argv[at], &whole, &error) ||
        !decode(&judge.cut, argv[at + 2], &cut, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    judge_threads(&judge);
    if (!count_spans(&judge, argv[at + 2], &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    print_result(name, &judge.result);
    for (size_t i = 0; i < judge.threads.count; i++)
        free_thread(thread_at(&judge, i));
    array_free(&judge.threads);
    array_free(&judge.ids);
    flow_close(judge.whole);
    flow_close(judge.cut);
    return 0;
}
