/* marker_judge [-all N] [-reports off] RECORDING MARKERS: compares the call stack at every call of truth_marker
 * (marker.h) in a recording with the callers that an unwinder found there, a line each in the file MARKERS.
 *
 * With fewer calls in the recording than lines, the recording has the last ones. Calls of several threads are put in the order of their
 * times: the program takes care that they are far enough apart.
 *
 * One line: calls; how many have the right stack; how many lack callers that are not known, and show nothing wrong; how
 * many show a function that was not there. -reports off: without what a recorder reports of stacks: the stack pointer,
 * callchains; as recordings of real hardware. -all N shows N that are not right.
 *
 * A stack that the program made itself begins with a function that nobody called: what the unwinder takes for its caller
 * may be missing.
 *
 * Exit status 0: all are right, or with -reports off no function was invented; 1: not so; 2: no recording.
 */
#include "base/memory.h"
#include "decode/flow.h"
#include "image/address_space.h"
#include "stack/follow.h"
#include "stack/process_code.h"
#include "stack_comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judge {
    struct flow *flow;
    struct array markers; /* char *, a line of the file each */
    uint64_t shown_at_most;
    bool without_reports;
    struct array threads; /* struct judged_thread * */
    struct array calls;   /* struct marker_call, of all threads */
};

/* A call of truth_marker. */
struct marker_call {
    struct ticks time;
    struct judged_thread *thread;
    frame_id frame;
};

struct judged_thread {
    struct judge *judge;
    const struct thread *thread;
    struct process_code *code;
    struct thread_stack stack;
    struct ticks first, last; /* of its events; first.value 0: none yet */
    bool has_calls;
};

static const char *name_of(const struct judge *judge, function_id function)
{
    return symbols_function(flow_symbols(judge->flow), function)->name;
}

/* ---- the decoder's calls ---- */

static void *begin_thread(void *context, const struct thread *thread)
{
    struct judge *judge = context;
    const struct process *process =
        address_spaces_process(flow_address_spaces(judge->flow), thread->pid);
    struct judged_thread *begun = memory_allocate_zeroed(sizeof *begun);
    begun->judge = judge;
    begun->thread = thread;
    begun->code = process_code_open(process, flow_symbols(judge->flow), NULL);
    struct code_view view = process_code_view(begun->code);
    thread_stack_init(&begun->stack, &view);
    begun->stack.begins_anywhere = flow_is_snapshot(judge->flow);
    *(struct judged_thread **)array_add(&judge->threads) = begun;
    return begun;
}

/* False when the event holds nothing else. */
static bool hide_reports(struct flow_event *event)
{
    if (event->kind == FLOW_RETURN || event->kind == FLOW_JUMP || event->kind == FLOW_COPY)
        event->next = 0;
    return event->kind != FLOW_STACK && event->kind != FLOW_CALLER &&
           event->kind != FLOW_COPIED_STACKS;
}

static bool is_marker(const struct judged_thread *thread, const struct flow_event *event)
{
    return event->kind == FLOW_CALL &&
           strstr(name_of(thread->judge, event->function), "truth_marker_here") != NULL;
}

static void take_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct judged_thread *thread = thread_object;
    for (size_t i = 0; i < count; i++) {
        struct flow_event event = events[i];
        if (thread->judge->without_reports && !hide_reports(&event))
            continue;
        follow_events(&thread->stack, &event, 1);
        thread->last = event.time;
        if (thread->first.value == 0)
            thread->first = event.time;
        if (!is_marker(thread, &event))
            continue;
        thread->has_calls = true;
        *(struct marker_call *)array_add(&thread->judge->calls) =
            (struct marker_call){event.time, thread, thread->stack.leaf};
    }
}

static void end_thread(void *thread_object)
{
    struct judged_thread *thread = thread_object;
    follow_end(&thread->stack, &(struct follow_ending){.time = thread->thread->ended});
}

static void free_thread(struct judged_thread *thread)
{
    thread_stack_free(&thread->stack);
    process_code_close(thread->code);
    free(thread);
}

/* ---- what the unwinder found ---- */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A function may have been made to look as if it had called before it began (__start_context). */
static function_id function_of_call(struct symbols *symbols, const struct mapping *mapping,
                                    uint64_t address)
{
    struct function_bounds next = symbols_find(symbols, mapping, address + 1);
    return next.start == address + 1 ? next.function
                                     : symbols_find(symbols, mapping, address).function;
}

/* FUNCTION_UNKNOWN: not found. */
static function_id function_in(const struct judged_thread *thread,
                               const struct address_space_cursor *space, const char *file,
                               uint64_t offset)
{
    for (size_t i = 0; i < space->mapping_count; i++) {
        const struct mapping *mapping = &space->mappings[i];
        const char *path = mapping->file ? mapping->file->path : "";
        uint64_t size = mapping->end - mapping->start;
        if (strcmp(last_name(path), last_name(file)) == 0 && offset >= mapping->file_offset &&
            offset - mapping->file_offset < size)
            return function_of_call(flow_symbols(thread->judge->flow), mapping,
                                    mapping->start + offset - mapping->file_offset);
    }
    return FUNCTION_UNKNOWN;
}

/* A handler's caller, for an unwinder, is what it returns to; the trace shows that when it has, and, of a handler whose
 * beginning it lacks, as the caller that the handler has returned to. */
static void drop_restorers(const struct judge *judge, struct array *functions)
{
    function_id *kept = functions->elements, *end = kept + functions->count;
    for (const function_id *next = kept; next < end; next++)
        if (strcmp(name_of(judge, *next), "__restore_rt") != 0)
            *kept++ = *next;
    functions->count = (size_t)(kept - (function_id *)functions->elements);
}

static void collect_unwound(const struct judged_thread *thread,
                            const struct address_space_cursor *space, const char *line,
                            struct array *functions)
{
    char file[1024];
    uint64_t offset;
    int size;
    functions->count = 0;
    for (; sscanf(line, "%1023[^+]+%" SCNx64 " %n", file, &offset, &size) == 2; line += size)
        *(function_id *)array_add(functions) = function_in(thread, space, file, offset);
    drop_restorers(thread->judge, functions);
}

/* ---- comparing ---- */

struct result {
    uint64_t calls, right, incomplete, invented;
};

static bool begins_a_thread(const struct judge *judge, function_id function)
{
    const char *name = name_of(judge, function);
    return strncmp(name, "_start", 6) == 0 || strncmp(name, "clone", 5) == 0 ||
           strncmp(name, "__clone", 7) == 0;
}

/* Functions without names are known by addresses to which control has come, which the unwinder has not: they may be any. */
static bool are_same(function_id shown, function_id unwound)
{
    return shown == unwound || unwound == FUNCTION_UNKNOWN;
}

static size_t count_agreeing(const struct array *shown, const struct array *unwound)
{
    size_t same = 0;
    while (same < shown->count && same < unwound->count &&
           are_same(*(function_id *)array_at(shown, same), *(function_id *)array_at(unwound, same)))
        same++;
    return same;
}

static bool is_whole(const struct judge *judge, const struct array *shown,
                     const struct array *unwound)
{
    return shown->count == unwound->count ||
           (shown->count + 1 == unwound->count &&
            !begins_a_thread(judge, *(function_id *)array_at(unwound, shown->count)));
}

static void print_stack(const struct judge *judge, const char *title, const struct array *functions)
{
    printf("    %s:", title);
    for (size_t i = 0; i < functions->count; i++)
        printf("%s %s", i ? " <" : "", name_of(judge, *(function_id *)array_at(functions, i)));
    printf("\n");
}

static void compare(const struct judged_thread *thread, frame_id frame, size_t marker,
                    const struct address_space_cursor *space, struct result *result)
{
    struct judge *judge = thread->judge;
    struct array shown = array_of(sizeof(function_id)), unwound = array_of(sizeof(function_id));
    collect_reconstructed(&thread->stack, frame, &shown);
    drop_restorers(thread->judge, &shown);
    collect_unwound(thread, space, *(char **)array_at(&judge->markers, marker), &unwound);
    bool agrees = count_agreeing(&shown, &unwound) == shown.count;
    bool right = agrees && is_whole(judge, &shown, &unwound);
    result->calls++;
    result->right += right;
    result->incomplete += agrees && !right;
    result->invented += !agrees;
    if (!right && judge->shown_at_most > 0) {
        judge->shown_at_most--;
        printf("  marker %zu is %s\n", marker + 1, agrees ? "incomplete" : "wrong");
        print_stack(judge, "shown", &shown);
        print_stack(judge, "unwound", &unwound);
    }
    array_free(&shown);
    array_free(&unwound);
}

static int compare_times(const void *left, const void *right)
{
    const struct marker_call *a = left, *b = right;
    return (a->time.value > b->time.value) - (a->time.value < b->time.value);
}

static void judge_call(const struct marker_call *call, size_t marker, struct result *result)
{
    const struct judged_thread *thread = call->thread;
    const struct process *process =
        address_spaces_process(flow_address_spaces(thread->judge->flow), thread->thread->pid);
    if (!process)
        return;
    struct address_space_cursor space;
    address_space_cursor_init(&space, process);
    address_space_cursor_advance(&space, thread->last);
    compare(thread, call->frame, marker, &space, result);
    address_space_cursor_free(&space);
}

/* From when on the recording has all threads that call. */
static uint64_t common_beginning(const struct judge *judge)
{
    uint64_t latest = 0;
    for (size_t i = 0; i < judge->threads.count; i++) {
        const struct judged_thread *thread =
            *(struct judged_thread *const *)array_at(&judge->threads, i);
        if (thread->has_calls && thread->first.value > latest)
            latest = thread->first.value;
    }
    return latest;
}

/* Sorts the calls, and drops those of a snapshot that begin before it has all threads. */
static void prepare_calls(struct judge *judge)
{
    struct marker_call *calls = judge->calls.elements;
    size_t count = judge->calls.count, early = 0;
    uint64_t begins = flow_is_snapshot(judge->flow) ? common_beginning(judge) : 0;
    qsort(calls, count, sizeof *calls, compare_times);
    while (early < count && calls[early].time.value < begins)
        early++;
    memmove(calls, calls + early, (count - early) * sizeof *calls);
    judge->calls.count = count - early;
}

static struct result judge_all(struct judge *judge)
{
    struct result result = {0};
    prepare_calls(judge);
    size_t calls = judge->calls.count, markers = judge->markers.count;
    if (calls > markers) {
        printf("  %zu calls of truth_marker in the recording, %zu known\n", calls, markers);
        result.invented += calls - markers;
        calls = markers;
    }
    for (size_t i = 0; i < calls; i++)
        judge_call(array_at(&judge->calls, i), markers - calls + i, &result);
    for (size_t i = 0; i < judge->threads.count; i++)
        free_thread(*(struct judged_thread **)array_at(&judge->threads, i));
    array_free(&judge->threads);
    array_free(&judge->calls);
    printf("%" PRIu64 " markers, %" PRIu64 " right, %" PRIu64 " incomplete, %" PRIu64 " invented\n",
           result.calls, result.right, result.incomplete, result.invented);
    return result;
}

static bool read_markers(struct judge *judge, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!file)
        return false;
    while (getline(&line, &room, file) > 0)
        *(char **)array_add(&judge->markers) = strdup(line);
    free(line);
    fclose(file);
    return true;
}

static int usage(void)
{
    fprintf(stderr, "Usage: marker_judge [-all N] [-reports off] RECORDING MARKERS\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct judge judge = {.markers = array_of(sizeof(char *)),
                          .threads = array_of(sizeof(struct judged_thread *)),
                          .calls = array_of(sizeof(struct marker_call))};
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-all") == 0)
            judge.shown_at_most = strtoull(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "-reports") == 0)
            judge.without_reports = strcmp(argv[at + 1], "off") == 0;
        else
            return usage();
    }
    if (argc - at != 2 || !read_markers(&judge, argv[at + 1]))
        return usage();
    struct flow_options options = {.cores = 1};
    struct error error;
    judge.flow = flow_open(argv[at], &options, &error);
    struct flow_sink sink = {
        .context = &judge, .begin = begin_thread, .events = take_events, .end = end_thread};
    if (!judge.flow || !flow_decode(judge.flow, &sink, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    struct result result = judge_all(&judge);
    flow_close(judge.flow);
    for (size_t i = 0; i < judge.markers.count; i++)
        free(*(char **)array_at(&judge.markers, i));
    array_free(&judge.markers);
    bool good = judge.without_reports ? result.invented == 0 : result.right == result.calls;
    return good && result.calls > 0 ? 0 : 1;
}
