#include "decode/step_counts.h"

static void keep_error(struct step_counts *counts, const struct flow_step *step)
{
    if (counts->errors.count == STEP_COUNTS_ERRORS_AT_MOST)
        return;
    struct step_error *kept = array_add(&counts->errors);
    *kept = (struct step_error){.has_thread = step->thread,
                                .tid = step->thread ? step->thread->tid : 0,
                                .address = step->from,
                                .offset = step->offset,
                                .error = step->error};
}

static void count_step(void *context, const struct flow_step *step)
{
    struct step_counts *counts = context;
    counts->kinds[step->kind]++;
    if (step->kind == STEP_ERROR)
        keep_error(counts, step);
}

struct step_counts step_counts_of(const struct flow *flow)
{
    struct step_counts counts = {.errors = array_of(sizeof(struct step_error))};
    const struct flow_observer observer = {.context = &counts, .step = count_step};
    flow_steps(flow, &observer);
    return counts;
}

void step_counts_free(struct step_counts *counts)
{
    array_free(&counts->errors);
}
