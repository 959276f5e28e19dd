/* truth_judge [-all N] [-name NAME] [-pointers off] RECORDING TRUTH: compares the call stack after
 * every flow event of a recording with the true one, which truth_plugin.so has logged into the
 * folder TRUTH.
 *
 * One line per thread and a sum: events, how many of them have the right stack, the deepest one;
 * and how often the reconstruction says that it threw frames away or repaired the stack. The first
 * difference is shown (the first N with -all). Frames that stand for the kernel are not compared.
 *
 * Exit status 0: all stacks are right; 1: not all, or the log and the events could not be brought
 * together ("lost alignment"); 2: no recording.
 */
#include "base/memory.h"
#include "decode/flow.h"
#include "judged_pairs.h"
#include "stack/follow.h"
#include "stack/migrated_stacks.h"
#include "stack/process_code.h"
#include "stack_comparison.h"
#include "truth_alignment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES_SHOWN = 24, /* of each end of a stack */
};

static const char *const kind_names[] = {
    "call",          "return", "jump",      "syscall",    "interrupt", "resume",
    "kernel-return", "stop",   "trap-push", "trap-pop",   "stack",     "caller",
    "gap",           "abort",  "inlined",   "call-value", "copy"};

struct judge {
    struct flow *flow;
    const char *directory; /* of the truth */
    uint64_t shown_at_most;
    bool without_pointers; /* as if no stack pointer was recorded; hardware records none */
    struct array threads;  /* struct judged_thread * */
};

struct judged_thread {
    struct judge *judge;
    const struct thread *thread;
    struct process_code *code;
    struct thread_stack stack;
    struct truth_alignment truth;
    struct judged_pairs pairs;
    uint64_t number; /* of the present event, from 1 */
    uint64_t judged, right;
    uint64_t lost_at; /* number of the event at which the alignment was lost; 0: never */
    struct flow_event lost;
    uint32_t deepest;
};

static void judge_event(struct judged_thread *thread, const struct flow_event *event)
{
    thread->judged++;
    if (thread->lost_at)
        return;
    if (!truth_alignment_follow(&thread->truth, event)) {
        thread->lost_at = thread->number;
        thread->lost = *event;
        return;
    }
    true_node node = true_stack_leaf(&thread->truth.walk.stack);
    uint32_t depth = true_tree_at(&thread->truth.walk.stack.tree, node)->depth;
    if (depth > thread->deepest)
        thread->deepest = depth;
    judged_pairs_add(&thread->pairs, &(struct judged_pair){
                                         .frame = thread->stack.leaf,
                                         .node = node,
                                         .program = truth_walk_program(&thread->truth.walk),
                                         .first = thread->number,
                                         .event = *event,
                                     });
}

/* --- The decoder's calls --- */

static void *begin_thread(void *context, const struct thread *thread)
{
    struct judge *judge = context;
    const struct address_spaces *spaces = flow_address_spaces(judge->flow);
    const struct process *process = address_spaces_process(spaces, thread->pid);
    struct symbols *symbols = flow_symbols(judge->flow);
    struct judged_thread *begun = memory_allocate_zeroed(sizeof *begun);
    begun->judge = judge;
    begun->thread = thread;
    begun->code = process_code_open(process, symbols, NULL);
    struct code_view view = process_code_view(begun->code);
    thread_stack_init(&begun->stack, &view);
    truth_walk_init(&begun->truth.walk, judge->directory, thread, process, symbols);
    judged_pairs_init(&begun->pairs);
    *(struct judged_thread **)array_add(&judge->threads) = begun;
    return begun;
}

/* False when the event holds nothing else. */
static bool hide_pointer(struct flow_event *event)
{
    if (event->kind == FLOW_RETURN || event->kind == FLOW_JUMP || event->kind == FLOW_COPY)
        event->next = 0;
    return event->kind != FLOW_STACK && event->kind != FLOW_COPIED_STACKS;
}

static void take_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct judged_thread *thread = thread_object;
    for (size_t i = 0; i < count; i++) {
        struct flow_event event = events[i];
        if (thread->judge->without_pointers && !hide_pointer(&event))
            continue;
        follow_events(&thread->stack, &event, 1);
        thread->number++;
        if (truth_alignment_concerns(&events[i]))
            judge_event(thread, &events[i]);
    }
}

static void end_thread(void *thread_object)
{
    struct judged_thread *thread = thread_object;
    follow_end(&thread->stack, &(struct follow_ending){.time = thread->thread->ended});
    truth_alignment_finish(&thread->truth);
}

static void free_thread(struct judged_thread *thread)
{
    thread_stack_free(&thread->stack);
    process_code_close(thread->code);
    truth_walk_free(&thread->truth.walk);
    judged_pairs_free(&thread->pairs);
    free(thread);
}

/* --- Showing --- */

static const char *name_of(const struct judged_thread *thread, function_id function)
{
    return symbols_function(flow_symbols(thread->judge->flow), function)->name;
}

static void print_place(struct judged_thread *thread, uint64_t address)
{
    struct function_bounds bounds = truth_walk_function(&thread->truth.walk, address);
    if (address)
        printf("%#" PRIx64 " (%s+%#" PRIx64 ")", address, name_of(thread, bounds.function),
               address - bounds.start);
    else
        printf("nowhere");
}

/* Root first. `same`: as many of the outermost functions are alike in both stacks. */
static void print_stack(const struct judged_thread *thread, const char *title,
                        const struct array *functions, size_t same)
{
    printf("    %s, %zu deep, differs from %zu on:\n     ", title, functions->count, same);
    for (size_t i = 0; i < functions->count; i++) {
        if (i == FRAMES_SHOWN && functions->count > 2 * FRAMES_SHOWN) {
            i = functions->count - FRAMES_SHOWN;
            printf(" > ...");
        }
        function_id function = *(function_id *)array_at(functions, functions->count - 1 - i);
        printf("%s %s", i ? " >" : "", name_of(thread, function));
    }
    printf("\n");
}

static void print_event(struct judged_thread *thread, uint64_t number,
                        const struct flow_event *event)
{
    printf("    event %" PRIu64 ", time %" PRIu64 ", %s from ", number, event->time.value,
           kind_names[event->kind]);
    print_place(thread, event->from);
    printf(" to ");
    print_place(thread, event->to);
    printf("\n");
}

static void print_difference(struct judged_thread *thread, const struct judged_pair *pair,
                             const struct array *reconstructed, const struct array *truth)
{
    size_t same = count_same_callers(reconstructed, truth);
    printf("  tid %u: wrong after %" PRIu64 " events, first\n", thread->thread->tid, pair->count);
    print_event(thread, pair->first, &pair->event);
    print_stack(thread, "reconstructed", reconstructed, same);
    print_stack(thread, "true", truth, same);
}

static void compare_pairs(struct judged_thread *thread, uint64_t *shown)
{
    const struct truth_walk *walk = &thread->truth.walk;
    struct array reconstructed = array_of(sizeof(function_id));
    struct array truth = array_of(sizeof(function_id));
    for (size_t i = 0; i < thread->pairs.pairs.count; i++) {
        const struct judged_pair *pair = judged_pair_at(&thread->pairs, i);
        collect_reconstructed(&thread->stack, pair->frame, &reconstructed);
        collect_true(&walk->stack.tree, pair->node, &truth);
        if (is_right(walk, pair, &reconstructed, &truth))
            thread->right += pair->count;
        else if ((*shown)++ < thread->judge->shown_at_most)
            print_difference(thread, pair, &reconstructed, &truth);
    }
    array_free(&reconstructed);
    array_free(&truth);
}

static void print_lost(struct judged_thread *thread)
{
    printf("  tid %u: lost alignment at\n", thread->thread->tid);
    print_event(thread, thread->lost_at, &thread->lost);
}

struct result {
    uint64_t judged, right, unwound, repaired, lost;
    uint32_t deepest;
};

static void print_result(const char *name, const struct result *result)
{
    double percent = result->judged ? 100.0 * (double)result->right / (double)result->judged : 100;
    if (percent > 99.9994 && result->right < result->judged)
        percent = 99.999;
    printf("%s: %" PRIu64 " events, %" PRIu64 " right (%.3f %%), %u deepest; %" PRIu64
           " unwound, %" PRIu64 " repaired%s\n",
           name, result->judged, result->right, percent, result->deepest, result->unwound,
           result->repaired, result->lost ? ", ALIGNMENT LOST" : "");
}

static struct result judge_thread(struct judged_thread *thread, uint64_t *shown)
{
    compare_pairs(thread, shown);
    if (thread->lost_at)
        print_lost(thread);
    struct result result = {
        .judged = thread->judged,
        .right = thread->right,
        .unwound = thread->stack.statistics.unwound,
        .repaired = thread->stack.statistics.repaired,
        .lost = thread->lost_at != 0,
        .deepest = thread->deepest,
    };
    char name[64];
    snprintf(name, sizeof name, "tid %u", thread->thread->tid);
    print_result(name, &result);
    return result;
}

static struct judged_thread *thread_at(const struct judge *judge, size_t index)
{
    return *(struct judged_thread **)array_at(&judge->threads, index);
}

/* In each process once: with its first thread. */
static void migrate_in_process(const struct judge *judge, size_t first)
{
    struct array stacks = array_of(sizeof(struct thread_stack *));
    uint32_t pid = thread_at(judge, first)->thread->pid;
    for (size_t i = 0; i < judge->threads.count; i++) {
        struct judged_thread *thread = thread_at(judge, i);
        if (thread->thread->pid == pid && i < first) {
            stacks.count = 0;
            break;
        }
        if (thread->thread->pid == pid)
            *(struct thread_stack **)array_add(&stacks) = &thread->stack;
    }
    migrated_stacks_join(stacks.elements, stacks.count, &(uint32_t){0});
    array_free(&stacks);
}

static bool judge_all(struct judge *judge, const char *name)
{
    for (size_t i = 0; i < judge->threads.count; i++)
        migrate_in_process(judge, i);

    struct result sum = {0};
    uint64_t shown = 0;
    for (size_t i = 0; i < judge->threads.count; i++) {
        struct judged_thread *thread = thread_at(judge, i);
        struct result result = judge_thread(thread, &shown);
        sum.judged += result.judged;
        sum.right += result.right;
        sum.unwound += result.unwound;
        sum.repaired += result.repaired;
        sum.lost += result.lost;
        if (result.deepest > sum.deepest)
            sum.deepest = result.deepest;
        free_thread(thread);
    }
    array_free(&judge->threads);
    print_result(name, &sum);
    return sum.right == sum.judged && sum.judged > 0;
}

static int usage(void)
{
    fprintf(stderr, "Usage: truth_judge [-all N] [-name NAME] [-pointers off] RECORDING TRUTH\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct judge judge = {.shown_at_most = 1, .threads = array_of(sizeof(struct judged_thread *))};
    const char *name = "all";
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-all") == 0)
            judge.shown_at_most = strtoull(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "-pointers") == 0)
            judge.without_pointers = strcmp(argv[at + 1], "off") == 0;
        else if (strcmp(argv[at], "-name") == 0)
            name = argv[at + 1];
        else
            return usage();
    }
    if (argc - at != 2)
        return usage();
    judge.directory = argv[at + 1];
    /* One core: what is printed comes in a fixed order. */
    struct flow_options options = {.no_inlined = true, .cores = 1};
    struct error error;
    judge.flow = flow_open(argv[at], &options, &error);
    struct flow_sink sink = {
        .context = &judge, .begin = begin_thread, .events = take_events, .end = end_thread};
    if (!judge.flow || !flow_decode(judge.flow, &sink, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    bool right = judge_all(&judge, name);
    flow_close(judge.flow);
    return right ? 0 : 1;
}
