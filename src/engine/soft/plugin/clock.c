#include "engine/soft/plugin/clock.h"

#include <x86intrin.h>

enum {
    COST_SCALE = 1024,            /* of soft_clock.cost */
    INITIAL_COST = COST_SCALE,    /* one tick per unit, until something has been measured */
    LEAST_COST = COST_SCALE / 16, /* below it the steps would be 0 */
    LEARNING = 32,                /* a sample moves the cost by this part of it */
    UNITS_PER_BLOCK =
        8, /* a block costs this much (the callback, qemu's jump) beside its instructions */
    LEAST_SAMPLE = 256, /* units: shorter intervals measure the clock itself */

    INSTRUCTION_CLOCK_START = 1 << 20, /* perf takes time 0 for "no time" */
    INSTRUCTION_CLOCK_SYSTEM_CALL = 1000,
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What the thread has done so far. Not strictly growing: instructions that did not run after all
 * are taken back. */
static uint64_t work_done(const struct pt_encoder *encoder)
{
    uint64_t blocks = encoder->blocks + (encoder->work >> PT_WORK_BLOCK_SHIFT);
    return pt_encoder_instructions(encoder) + blocks * UNITS_PER_BLOCK;
}

static void look(struct soft_clock *clock, uint64_t host, uint64_t work)
{
    clock->looked = host;
    clock->work_looked = work;
}

static uint64_t host_to_time(const struct soft_clock *clock, uint64_t host)
{
    return host - atomic_load_explicit(&clock->control->stolen, memory_order_relaxed);
}

/* Takes up to `amount` ticks before `host` out of everybody's time. */
static void steal(struct soft_clock *clock, uint64_t host, uint64_t amount, uint64_t seen)
{
    struct soft_control *control = clock->control;
    uint64_t until = atomic_load(&control->stolen_until), start;
    do {
        start = later(host - amount, until);
        if (start >= host)
            return;
    } while (!atomic_compare_exchange_weak(&control->stolen_until, &until, host));
    amount = host - start;
    uint64_t time = host_to_time(clock, host);
    if (time <= seen)
        return;
    if (amount > time - seen)
        amount = time - seen;
    atomic_fetch_add(&control->stolen, amount);
}

void soft_clock_begin(struct soft_clock *clock, struct soft_control *control, uint64_t floor,
                      bool start_stolen)
{
    *clock = (struct soft_clock){
        .control = control,
        .kind = (enum record_clock)control->options.clock,
        .floor = floor,
        .base = later(floor, INSTRUCTION_CLOCK_START),
        .cost = INITIAL_COST,
    };
    uint64_t host = __rdtsc();
    look(clock, host, 0);
    uint64_t time = host_to_time(clock, host);
    if (clock->kind == RECORD_CLOCK_INSTRUCTIONS)
        clock->floor = clock->base;
    else if (clock->kind == RECORD_CLOCK_DEFAULT && start_stolen && time > floor)
        steal(clock, host, time - floor, floor);
    else
        clock->floor = later(floor, time);
}

/* A running median: a sample moves it by a small step, however far off the sample is. The mean
 * would follow the intervals in which the thread was not running. */
static void learn_cost(struct soft_clock *clock, uint64_t ticks, uint64_t work)
{
    if (work < LEAST_SAMPLE || work >> 40 != 0)
        return;
    uint64_t cost = ticks * COST_SCALE / work;
    uint64_t step = clock->cost / LEARNING;
    if (cost > clock->cost)
        clock->cost += step;
    else if (clock->cost > LEAST_COST)
        clock->cost -= step;
}

static uint64_t default_now(struct soft_clock *clock, const struct pt_encoder *encoder)
{
    uint64_t host = __rdtsc();
    uint64_t work = work_done(encoder);
    learn_cost(clock, host - clock->looked, work - clock->work_looked);
    look(clock, host, work);
    return host_to_time(clock, host);
}

uint64_t soft_clock_now(struct soft_clock *clock, const struct pt_encoder *encoder)
{
    uint64_t now;
    switch (clock->kind) {
    case RECORD_CLOCK_INSTRUCTIONS:
        now = clock->base + pt_encoder_instructions(encoder);
        break;
    case RECORD_CLOCK_HOST:
        now = __rdtsc();
        break;
    default:
        now = default_now(clock, encoder);
        break;
    }
    clock->floor = later(now, clock->floor);
    return clock->floor;
}

void soft_clock_emulator_worked(struct soft_clock *clock, const struct pt_encoder *encoder,
                                uint64_t seen)
{
    if (clock->kind != RECORD_CLOCK_DEFAULT)
        return;
    uint64_t host = __rdtsc();
    uint64_t work = work_done(encoder);
    uint64_t passed = host - clock->looked;
    uint64_t done = work > clock->work_looked ? work - clock->work_looked : 0;
    uint64_t charged = done * clock->cost / COST_SCALE;
    look(clock, host, work);
    if (charged < passed)
        steal(clock, host, passed - charged, later(seen, clock->floor));
}

void soft_clock_enter_kernel(struct soft_clock *clock, const struct pt_encoder *encoder)
{
    if (clock->kind == RECORD_CLOCK_INSTRUCTIONS) {
        clock->base += INSTRUCTION_CLOCK_SYSTEM_CALL;
        return;
    }
    struct soft_control *control = clock->control;
    uint64_t now = clock->floor;
    uint64_t latest = atomic_load(&control->latest);
    while (latest < now && !atomic_compare_exchange_weak(&control->latest, &latest, now))
        ;
    clock->stolen_before = atomic_load(&control->stolen);
}

/* What was stolen while this thread slept is time that did pass. */
static void give_back(struct soft_clock *clock)
{
    struct soft_control *control = clock->control;
    uint64_t stolen = atomic_load(&control->stolen);
    while (stolen > clock->stolen_before &&
           !atomic_compare_exchange_weak(&control->stolen, &stolen, clock->stolen_before))
        ;
}

void soft_clock_leave_kernel(struct soft_clock *clock, const struct pt_encoder *encoder, bool slept)
{
    if (clock->kind == RECORD_CLOCK_INSTRUCTIONS)
        return;
    if (clock->kind == RECORD_CLOCK_DEFAULT && slept)
        give_back(clock);
    clock->floor = later(clock->floor, atomic_load(&clock->control->latest));
    look(clock, __rdtsc(), work_done(encoder));
}
