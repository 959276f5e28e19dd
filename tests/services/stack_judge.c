/* stack_judge [-show N] RECORDING STACKS [FOLDER COUNTS]: compares the call stacks of a whole recording of an attached
 * process with those that independent unwinders found.
 *
 * STACKS: where each thread stood when it was attached to (frozen_stacks.c). With it the first stack of each thread that has
 * run is compared, by return addresses. FOLDER: what marking.c wrote, a file per thread; COUNTS: a line "TID MARKS"
 * for each that had made some when the threads were stopped. The stack at each call of marking_marked is compared with its line.
 *
 * A stack is right when all return addresses agree from the innermost to the last, longer when the trace
 * knows more (the unwinders end in generated code), cut when it knows fewer in a thread that was in generated code when it was
 * attached to (its callers are unknown until control returns to them), shorter when it knows fewer in another one, and wrong
 * otherwise. A line for each kind; exit status 0: none is wrong or shorter; 1: not so; 2: no recording. -show N: N of those.
 */
#include "base/memory.h"
#include "decode/flow.h"
#include "stack/follow.h"
#include "stack/process_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict { RIGHT, LONGER, CUT, SHORTER, WRONG, VERDICTS };

struct known_stack {
    uint32_t tid;
    struct array addresses; /* uint64_t: the program counter, then return addresses */
    bool in_generated_code; /* where the last one is */
};

struct judge {
    struct flow *flow;
    struct array known;   /* struct known_stack, at the beginning */
    const char *folder;   /* of marks; NULL: none */
    const char *counts;   /* file */
    struct array threads; /* struct judged_thread * */
    uint64_t shown_at_most;
};

struct judged_thread {
    struct judge *judge;
    const struct thread *thread;
    struct process_code *code;
    struct thread_stack stack;
    struct array marks; /* frame_id, of marking_marked's caller */
    uint64_t pc;        /* of the first instruction */
    frame_id first;     /* leaf of the first stack; FRAME_NONE: it has not run */
};

/* ---- the decoder's stacks ---- */

static void *begin_thread(void *context, const struct thread *thread)
{
    struct judge *judge = context;
    const struct process *process =
        address_spaces_process(flow_address_spaces(judge->flow), thread->pid);
    struct judged_thread *begun = memory_allocate_zeroed(sizeof *begun);
    begun->judge = judge;
    begun->thread = thread;
    begun->code = process_code_open(process, flow_symbols(judge->flow), NULL);
    begun->marks = array_of(sizeof(frame_id));
    struct code_view view = process_code_view(begun->code);
    thread_stack_init(&begun->stack, &view);
    begun->stack.begins_anywhere = flow_is_snapshot(judge->flow);
    *(struct judged_thread **)array_add(&judge->threads) = begun;
    return begun;
}

static void look_at_beginning(struct judged_thread *thread, const struct flow_event *event)
{
    if (thread->first == FRAME_NONE && event->kind == FLOW_RESUME) {
        thread->pc = event->to;
        thread->first = thread->stack.leaf;
    }
}

static bool is_mark(const struct judged_thread *thread, const struct flow_event *event)
{
    return event->kind == FLOW_CALL &&
           strcmp(symbols_function(flow_symbols(thread->judge->flow), event->function)->name,
                  "marking_marked") == 0;
}

static void take_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct judged_thread *thread = thread_object;
    for (size_t i = 0; i < count; i++) {
        follow_events(&thread->stack, &events[i], 1);
        look_at_beginning(thread, &events[i]);
        if (is_mark(thread, &events[i]))
            *(frame_id *)array_add(&thread->marks) =
                frame_tree_parent(&thread->stack.tree, thread->stack.leaf);
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
    array_free(&thread->marks);
    free(thread);
}

/* Return addresses of a frame and its callers. */
static void collect(const struct judged_thread *thread, frame_id id, struct array *addresses)
{
    addresses->count = 0;
    while (id != FRAME_NONE) {
        const struct frame *frame = frame_tree_at(&thread->stack.tree, id);
        if (frame->kind != FRAME_PLACEHOLDER && frame->return_address)
            *(uint64_t *)array_add(addresses) = frame->return_address;
        id = frame_tree_parent(&thread->stack.tree, id);
    }
}

/* ---- what the unwinders found ---- */

static void read_addresses(const char *line, struct array *addresses)
{
    uint64_t address;
    addresses->count = 0;
    for (int size; sscanf(line, "%" SCNx64 " %n", &address, &size) == 1; line += size)
        *(uint64_t *)array_add(addresses) = address;
}

static bool read_known(struct judge *judge, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!file)
        return false;
    while (getline(&line, &room, file) > 0) {
        struct known_stack *known = array_add(&judge->known);
        char *rest;
        known->tid = (uint32_t)strtoul(line, &rest, 10);
        known->addresses = array_of(sizeof(uint64_t));
        read_addresses(rest, &known->addresses);
        known->in_generated_code = strchr(rest, '?') != NULL;
    }
    free(line);
    fclose(file);
    return true;
}

static const struct known_stack *find_known(const struct judge *judge, uint32_t tid)
{
    for (size_t i = 0; i < judge->known.count; i++) {
        const struct known_stack *known = array_at(&judge->known, i);
        if (known->tid == tid)
            return known;
    }
    return NULL;
}

/* Lines that a thread had written when it was stopped. */
static uint64_t lines_before(const struct judge *judge, uint32_t tid)
{
    FILE *file = fopen(judge->counts, "r");
    unsigned of;
    uint64_t lines, found = 0;
    while (file && fscanf(file, "%u %" SCNu64, &of, &lines) == 2)
        if (of == tid)
            found = lines;
    if (file)
        fclose(file);
    return found;
}

/* ---- comparing ---- */

static enum verdict compare(const uint64_t *shown, size_t shown_count, const uint64_t *known,
                            size_t known_count)
{
    size_t same = 0;
    while (same < shown_count && same < known_count && shown[same] == known[same])
        same++;
    if (same < shown_count && same < known_count)
        return WRONG;
    return shown_count == known_count ? RIGHT : shown_count > known_count ? LONGER : SHORTER;
}

static void print_addresses(const char *title, const uint64_t *addresses, size_t count)
{
    printf("    %s:", title);
    for (size_t i = 0; i < count; i++)
        printf(" %" PRIx64, addresses[i]);
    printf("\n");
}

static void judge_stack(struct judge *judge, uint32_t tid, const char *moment,
                        const struct array *shown, const uint64_t *known, size_t known_count,
                        uint64_t *verdicts)
{
    static const char *const NAMES[] = {"right", "longer", "cut", "shorter", "wrong"};
    const struct known_stack *first = find_known(judge, tid);
    enum verdict verdict = compare(shown->elements, shown->count, known, known_count);
    if (verdict == SHORTER && first && first->in_generated_code)
        verdict = CUT;
    verdicts[verdict]++;
    if (verdict < SHORTER || judge->shown_at_most == 0)
        return;
    judge->shown_at_most--;
    printf("  thread %" PRIu32 ", %s: %s\n", tid, moment, NAMES[verdict]);
    print_addresses("shown", shown->elements, shown->count);
    print_addresses("unwound", known, known_count);
}

enum { SYSCALL_SIZE = 2 };

static bool stands_at(uint64_t address, uint64_t pc)
{
    return address == pc || address == pc - SYSCALL_SIZE;
}

/* A signal that was pending is handled before anything else: the handler returns to where the thread stood. */
static void leave_handler(struct array *shown, uint64_t pc)
{
    uint64_t *addresses = shown->elements;
    if (shown->count == 0 || !stands_at(addresses[0], pc))
        return;
    memmove(addresses, addresses + 1, --shown->count * sizeof *addresses);
}

static void judge_first(struct judged_thread *thread, uint64_t *verdicts)
{
    const struct known_stack *known = find_known(thread->judge, thread->thread->tid);
    if (!known || thread->first == FRAME_NONE)
        return;
    const uint64_t *addresses = known->addresses.elements;
    uint64_t pc = addresses[0];
    if (!stands_at(thread->pc, pc))
        printf("  thread %" PRIu32 " begins at %" PRIx64 ", not at %" PRIx64 "\n",
               thread->thread->tid, thread->pc, pc);
    struct array shown = array_of(sizeof(uint64_t));
    collect(thread, thread->first, &shown);
    leave_handler(&shown, pc);
    judge_stack(thread->judge, thread->thread->tid, "first stack", &shown, addresses + 1,
                known->addresses.count - 1, verdicts);
    array_free(&shown);
}

static void judge_marks(struct judged_thread *thread, uint64_t *verdicts)
{
    char name[4096];
    struct judge *judge = thread->judge;
    uint32_t tid = thread->thread->tid;
    snprintf(name, sizeof name, "%s/%" PRIu32, judge->folder, tid);
    FILE *file = fopen(name, "r");
    char *line = NULL;
    size_t room = 0, next = 0;
    struct array shown = array_of(sizeof(uint64_t)), known = array_of(sizeof(uint64_t));
    for (uint64_t skipped = lines_before(judge, tid); file && getline(&line, &room, file) > 0;) {
        if (skipped > 0) {
            skipped--;
            continue;
        }
        if (next == thread->marks.count)
            break;
        collect(thread, *(frame_id *)array_at(&thread->marks, next++), &shown);
        read_addresses(line, &known);
        judge_stack(judge, tid, "mark", &shown, known.elements, known.count, verdicts);
    }
    if (next < thread->marks.count)
        printf("  thread %" PRIu32 " has %zu marks of which nobody knows\n", tid,
               thread->marks.count - next);
    free(line);
    if (file)
        fclose(file);
    array_free(&shown);
    array_free(&known);
}

static bool print_verdicts(const char *what, const uint64_t *verdicts)
{
    printf("%s: %" PRIu64 " right, %" PRIu64 " longer, %" PRIu64 " cut, %" PRIu64
           " shorter, %" PRIu64 " wrong\n",
           what, verdicts[RIGHT], verdicts[LONGER], verdicts[CUT], verdicts[SHORTER],
           verdicts[WRONG]);
    return verdicts[SHORTER] == 0 && verdicts[WRONG] == 0;
}

static bool judge_all(struct judge *judge)
{
    uint64_t firsts[VERDICTS] = {0}, marks[VERDICTS] = {0};
    for (size_t i = 0; i < judge->threads.count; i++) {
        struct judged_thread *thread = *(struct judged_thread **)array_at(&judge->threads, i);
        judge_first(thread, firsts);
        if (judge->folder)
            judge_marks(thread, marks);
        free_thread(thread);
    }
    bool firsts_are_right = print_verdicts("first stacks", firsts);
    return print_verdicts("marks", marks) && firsts_are_right;
}

static void free_judge(struct judge *judge)
{
    for (size_t i = 0; i < judge->known.count; i++)
        array_free(&((struct known_stack *)array_at(&judge->known, i))->addresses);
    array_free(&judge->known);
    array_free(&judge->threads);
    flow_close(judge->flow);
}

int main(int argc, char **argv)
{
    struct judge judge = {.known = array_of(sizeof(struct known_stack)),
                          .threads = array_of(sizeof(struct judged_thread *))};
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "-show") == 0) {
        judge.shown_at_most = strtoull(argv[2], NULL, 10);
        at = 3;
    }
    if ((argc - at != 2 && argc - at != 4) || !read_known(&judge, argv[at + 1])) {
        fprintf(stderr, "Usage: stack_judge [-show N] RECORDING STACKS [FOLDER COUNTS]\n");
        return 2;
    }
    if (argc - at == 4) {
        judge.folder = argv[at + 2];
        judge.counts = argv[at + 3];
    }
    struct flow_options options = {.cores = 1};
    struct error error;
    judge.flow = flow_open(argv[at], &options, &error);
    struct flow_sink sink = {
        .context = &judge, .begin = begin_thread, .events = take_events, .end = end_thread};
    if (!judge.flow || !flow_decode(judge.flow, &sink, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    bool right = judge_all(&judge);
    free_judge(&judge);
    return right ? 0 : 1;
}
