#include "made_run.h"

enum {
    RETURNS_REMEMBERED = 64, /* by processors */
    BITS_MAX = 47,
    NESTED_AT_MOST = 5,
    TICKS_PER_ROUND = 1 << 20, /* more than all the cycles of a round */
};

struct run {
    struct fixture *fixture;
    const struct run_choices *choices;
    uint64_t random;
    char bits[BITS_MAX + 1]; /* not written yet, ... */
    unsigned bit_count;
    struct array deferred; /* uint64_t: ... and the targets of indirect branches among them */
    unsigned remembered;   /* calls that returns may be compressed for */
    unsigned nested;
    uint64_t cycles_left; /* of this round */
    bool patched;
};

static unsigned draw(struct run *run, unsigned limit)
{
    run->random = run->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((run->random >> 33) % limit);
}

static bool happens(struct run *run, unsigned percent)
{
    return draw(run, 100) < percent;
}

/* Packets. */

static void may_report_time(struct run *run)
{
    if (!happens(run, run->choices->cyc_percent))
        return;
    uint64_t cycles = 1 + draw(run, run->choices->longest_cyc);
    if (cycles > run->cycles_left)
        return;
    run->cycles_left -= cycles;
    packets_cyc(&run->fixture->packets, cycles);
}

static void write_out(struct run *run)
{
    if (run->bit_count) {
        may_report_time(run);
        run->bits[run->bit_count] = 0;
        packets_tnt(&run->fixture->packets, run->bits);
    }
    for (size_t i = 0; i < run->deferred.count; i++)
        packets_tip(&run->fixture->packets, *(uint64_t *)array_at(&run->deferred, i));
    run->bit_count = 0;
    run->deferred.count = 0;
}

static void bit(struct run *run, bool taken)
{
    run->bits[run->bit_count++] = taken ? 'T' : 'N';
    if (run->bit_count == run->choices->tnt_bits)
        write_out(run);
}

static void tip(struct run *run, uint64_t ip)
{
    write_out(run);
    may_report_time(run);
    packets_tip(&run->fixture->packets, ip);
}

/* An indirect branch. */
static void go_to(struct run *run, uint64_t ip)
{
    if (run->bit_count && happens(run, run->choices->deferred_percent))
        *(uint64_t *)array_add(&run->deferred) = ip;
    else
        tip(run, ip);
}

/* The program. Each function returns to `back`, which its call has left on the stack, if it is
 * still on the processor's return stack. */

static void call(struct run *run)
{
    if (run->remembered < RETURNS_REMEMBERED)
        run->remembered++;
}

static void return_to(struct run *run, uint64_t back, bool called)
{
    bool compressed = called && run->remembered && happens(run, run->choices->compressed_percent);
    if (run->remembered)
        run->remembered--;
    if (compressed)
        bit(run, true);
    else
        tip(run, back); /* is never deferred (SDM, "Indirect Transfer Compression for Returns") */
}

static void run_indirect(struct run *run, uint64_t back, bool called);

static void run_recursive(struct run *run, uint64_t back)
{
    unsigned depth = draw(run, run->choices->deepest + 1);
    for (unsigned i = 0; i < depth; i++) {
        bit(run, false);
        call(run);
    }
    bit(run, true);
    for (unsigned i = 0; i < depth; i++)
        return_to(run, at("recursive_after_call"), true);
    return_to(run, back, true);
}

static void run_tail(struct run *run, uint64_t back)
{
    write_out(run);
    may_report_time(run);
    packets_disable(&run->fixture->packets);
    may_report_time(run);
    packets_enable(&run->fixture->packets, at("tail_after_syscall"));
    return_to(run, back, true);
}

static void run_caml(struct run *run, uint64_t back)
{
    go_to(run, at("leaf"));
    call(run);
    return_to(run, at("traps_pop"), true);
    return_to(run, back, true);
}

static void run_caller(struct run *run)
{
    call(run);
    return_to(run, at("caller_after_call"), true);
    bit(run, happens(run, 50));
}

/* The function that something has jumped or called to. */
static void run_any(struct run *run, uint64_t back)
{
    static const char *const plain[] = {"leaf", "falls", "jumps_away", "noted", "handler"};
    switch (draw(run, 10)) {
    case 0:
        go_to(run, at("recursive"));
        call(run);
        run_recursive(run, back);
        return;
    case 1:
        go_to(run, at("half"));
        call(run);
        bit(run, happens(run, 50));
        break;
    case 2:
        go_to(run, at("caller")); /* and then a tail call */
        call(run);
        run_caller(run);
        go_to(run, at("leaf"));
        break;
    case 3:
        if (run->nested == NESTED_AT_MOST)
            return run_any(run, back);
        go_to(run, at("indirect"));
        call(run);
        run_indirect(run, back, true);
        return;
    case 4:
        go_to(run, at("caml_start_program"));
        call(run);
        run_caml(run, back);
        return;
    case 5:
        go_to(run, at("stack_loader"));
        call(run);
        go_to(run, at("stack_loader_target"));
        break;
    case 6:
        go_to(run, at("patched"));
        call(run);
        if (!run->patched)
            go_to(run, at("leaf"));
        break;
    case 7:
        if (!run->choices->syscalls)
            return run_any(run, back);
        go_to(run, at("tail"));
        call(run);
        run_tail(run, back);
        return;
    case 8:
        go_to(run, at("calls_chooser"));
        call(run);
        call(run);
        go_to(run, at("chooser_choice"));
        return_to(run, at("calls_chooser_after_call"), true);
        break;
    default:
        go_to(run, at(plain[draw(run, sizeof(plain) / sizeof(*plain))]));
        call(run);
        break;
    }
    return_to(run, back, true);
}

/* An indirect call to something, from the beginning of `indirect` on. */
static void run_indirect(struct run *run, uint64_t back, bool called)
{
    run->nested++;
    run_any(run, at("indirect_after_call"));
    run->nested--;
    return_to(run, back, called);
}

/* Within recursion, after TNT bits. */
static void stop_and_go_on(struct run *run)
{
    static const uint8_t trace_stop[] = {0x02, 0x83};
    go_to(run, at("recursive"));
    for (unsigned i = 0; i < 6; i++)
        bit(run, false);
    write_out(run);
    packets_raw(&run->fixture->packets, trace_stop, sizeof(trace_stop));
    packets_enable(&run->fixture->packets, at("indirect"));
    run->remembered = 0;
}

static void begin_round(struct run *run, unsigned round)
{
    const struct run_choices *choices = run->choices;
    struct packets *packets = &run->fixture->packets;
    uint64_t time = (uint64_t)(round + 1) * TICKS_PER_ROUND;
    write_out(run);
    run->cycles_left = TICKS_PER_ROUND / 2;
    if (round && choices->rounds_between_psbs && round % choices->rounds_between_psbs == 0) {
        packets_psb(packets, time, at("indirect"));
        run->remembered = 0;
    } else if (choices->cyc_percent) {
        packets_tsc(packets, time);
    }
}

/* The page is replaced, the first time by other code, in the middle of a round that does not run
 * it. */
static void patch(struct run *run, unsigned round)
{
    fixture_patch(run->fixture, (uint64_t)(round + 1) * TICKS_PER_ROUND + 64);
    for (unsigned i = 0; i < 50; i++) {
        packets_cyc(&run->fixture->packets, 9);
        go_to(run, at("recursive"));
        call(run);
        run_recursive(run, at("indirect_after_call"));
        return_to(run, at("indirect"), false);
        write_out(run);
    }
    run->patched = true;
}

void run_make(struct fixture *fixture, const struct run_choices *choices)
{
    struct run run = {.fixture = fixture,
                      .choices = choices,
                      .deferred = array_of(sizeof(uint64_t)),
                      .random = choices->seed};
    packets_psb(&fixture->packets, 1000, 0);
    packets_enable(&fixture->packets, at("indirect"));
    for (unsigned round = 0; packets_size(&fixture->packets) < choices->size; round++) {
        begin_round(&run, round);
        if (choices->rounds_between_patches && round % choices->rounds_between_patches == 7)
            patch(&run, round);
        uint64_t random = run.random;
        for (unsigned i = 0; i < choices->repeats; i++) {
            run.random = random;
            run_indirect(&run, at("indirect"), false);
            if (choices->trace_stops)
                stop_and_go_on(&run);
        }
    }
    write_out(&run);
    array_free(&run.deferred);
}
