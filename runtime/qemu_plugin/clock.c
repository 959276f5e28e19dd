#include "runtime/qemu_plugin/clock.h"

#include "base/tsc.h"
#include "runtime/qemu_plugin/block_cost.h"
#include "runtime/qemu_plugin/clock_history.h"

enum {
    UNIT_SCALE = 1024, /* of qemu_clock.unit */
    INITIAL_UNIT = BLOCK_COST_TICKS * UNIT_SCALE,
    LEAST_UNIT = UNIT_SCALE / 8, /* below it the steps would be 0 */
    /* A sample moves the unit by this part of it: the first ones find its size, then they refine.
     */
    FAST_LEARNING = 8,
    SLOW_LEARNING = 64,
    OLD = 16, /* samples after which a loop no longer shows the cost of new code */
    /* Ticks, 30 ms. In an interval that much too long the thread did not run, or a loop without
     * packets has done more than the encoder counts: that is the program's time. */
    LONGEST_TRANSLATION = 1 << 26,
    LEAST_SAMPLE = 128,       /* units: shorter intervals measure the clock itself */
    LONGEST_SAMPLE = 1 << 25, /* ticks: in a longer one the thread did not run, or cost wrapped */

    INSTRUCTION_CLOCK_START = 1 << 20, /* perf takes time 0 for "no time" */
    INSTRUCTION_CLOCK_SYSTEM_CALL = 1000,
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void look(struct qemu_clock *clock, uint64_t host, uint64_t cost)
{
    clock->looked = host;
    clock->cost_looked = cost;
}

static uint64_t host_to_time(const struct qemu_clock *clock, uint64_t host)
{
    return host - atomic_load_explicit(&clock->control->stolen, memory_order_relaxed);
}

/* Subtracts up to `amount` ticks before `host` from the time of all threads. */
static void steal(struct qemu_clock *clock, uint64_t host, uint64_t amount, uint64_t seen)
{
    struct qemu_control *control = clock->control;
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
    uint64_t before = atomic_fetch_add(&control->stolen, amount);
    clock_history_add(&control->history, host, before + amount);
}

void qemu_clock_begin(struct qemu_clock *clock, struct qemu_control *control, uint64_t floor,
                      bool start_stolen)
{
    *clock = (struct qemu_clock){
        .control = control,
        .kind = (enum record_clock)control->options.clock,
        .floor = floor,
        .base = later(floor, INSTRUCTION_CLOCK_START),
        .unit = INITIAL_UNIT,
        .samples = FAST_LEARNING,
    };
    uint64_t host = tsc_now();
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
static void learn_unit(struct qemu_clock *clock, uint64_t ticks, uint64_t cost)
{
    if (clock->age >= OLD || cost < LEAST_SAMPLE || ticks > LONGEST_SAMPLE)
        return;
    uint64_t step = clock->unit / clock->samples;
    if (ticks * UNIT_SCALE > cost * clock->unit)
        clock->unit += step;
    else if (clock->unit > LEAST_UNIT)
        clock->unit -= step;
    if (clock->samples < SLOW_LEARNING)
        clock->samples++;
}

static uint64_t default_now(struct qemu_clock *clock, const struct pt_encoder *encoder)
{
    uint64_t host = tsc_now();
    uint64_t cost = pt_encoder_cost(encoder);
    clock->age++;
    learn_unit(clock, host - clock->looked, cost - clock->cost_looked);
    look(clock, host, cost);
    return host_to_time(clock, host);
}

uint64_t qemu_clock_now(struct qemu_clock *clock, const struct pt_encoder *encoder)
{
    uint64_t now;
    switch (clock->kind) {
    case RECORD_CLOCK_INSTRUCTIONS:
        now = clock->base + pt_encoder_instructions(encoder);
        break;
    case RECORD_CLOCK_HOST:
        now = tsc_now();
        break;
    default:
        now = default_now(clock, encoder);
        break;
    }
    clock->floor = later(now, clock->floor);
    return clock->floor;
}

void qemu_clock_emulator_worked(struct qemu_clock *clock, const struct pt_encoder *encoder,
                                uint64_t cold, uint64_t seen)
{
    if (clock->kind != RECORD_CLOCK_DEFAULT)
        return;
    uint64_t host = tsc_now();
    uint64_t cost = pt_encoder_cost(encoder);
    uint64_t passed = host - clock->looked;
    uint64_t charged = (cost - clock->cost_looked) * clock->unit / UNIT_SCALE;
    look(clock, host, cost - cold);
    clock->age = 0;
    if (charged < passed && passed - charged < LONGEST_TRANSLATION)
        steal(clock, host, passed - charged, later(seen, clock->floor));
}

void qemu_clock_publish(struct qemu_clock *clock)
{
    uint64_t now = clock->floor;
    uint64_t latest = atomic_load(&clock->control->latest);
    while (latest < now && !atomic_compare_exchange_weak(&clock->control->latest, &latest, now))
        ;
}

void qemu_clock_catch_up(struct qemu_clock *clock)
{
    clock->floor = later(clock->floor, atomic_load(&clock->control->latest));
}

void qemu_clock_enter_kernel(struct qemu_clock *clock, const struct pt_encoder *encoder)
{
    if (clock->kind == RECORD_CLOCK_INSTRUCTIONS) {
        clock->base += INSTRUCTION_CLOCK_SYSTEM_CALL;
        return;
    }
    qemu_clock_publish(clock);
    clock->stolen_before = atomic_load(&clock->control->stolen);
}

/* What was stolen while this thread slept is time that did pass. */
static void give_back(struct qemu_clock *clock)
{
    struct qemu_control *control = clock->control;
    uint64_t stolen = atomic_load(&control->stolen);
    while (stolen > clock->stolen_before &&
           !atomic_compare_exchange_weak(&control->stolen, &stolen, clock->stolen_before))
        ;
    clock_history_add(&control->history, tsc_now(), clock->stolen_before);
}

void qemu_clock_leave_kernel(struct qemu_clock *clock, const struct pt_encoder *encoder, bool slept)
{
    if (clock->kind == RECORD_CLOCK_INSTRUCTIONS)
        return;
    if (clock->kind == RECORD_CLOCK_DEFAULT && slept)
        give_back(clock);
    qemu_clock_catch_up(clock);
    look(clock, tsc_now(), pt_encoder_cost(encoder));
}
