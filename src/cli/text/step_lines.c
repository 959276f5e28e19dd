#include "cli/text/step_lines.h"

#include "base/printable.h"
#include "decode/flow.h"

#include <inttypes.h>
#include <stdlib.h>

struct printer {
    const struct step_lines_options *options;
    FILE *stream;
};

static void print_place(const struct printer *printer, const struct flow_step *step,
                        uint64_t address)
{
    if (step->space == NULL || address == 0) {
        fputs("[unknown]", printer->stream);
        return;
    }
    struct function_bounds bounds = code_space_function(step->space, address);
    const struct function *function = symbols_function(step->space->symbols, bounds.function);
    char *escaped = printable_copy(function->name, PRINTABLE_NAME);
    fprintf(printer->stream, "%s+0x%" PRIx64, escaped ? escaped : function->name,
            address - bounds.start);
    free(escaped);
}

static void print_places(const struct printer *printer, const struct flow_step *step)
{
    if (!printer->options->symbols)
        return;
    fputc('\t', printer->stream);
    print_place(printer, step, step->from);
    if (step->kind == STEP_INSTRUCTION)
        return;
    fputs(" => ", printer->stream);
    print_place(printer, step, step->to);
}

static void print_branch(const struct printer *printer, const struct flow_step *step)
{
    fprintf(printer->stream, " %" PRIx64 " %" PRIx64 " %s", step->from, step->to,
            flow_step_name(step->kind));
    if (step->kind == STEP_ERROR)
        fprintf(printer->stream, " %" PRIx64 " %s", step->offset, decode_error_text(step->error));
    print_places(printer, step);
}

static void print_instruction(const struct printer *printer, const struct flow_step *step)
{
    fprintf(printer->stream, " %" PRIx64, step->from);
    print_places(printer, step);
}

/* Whether the kind of line was asked for. */
static bool is_wanted(const struct printer *printer, const struct flow_step *step)
{
    if (step->kind == STEP_NOT_TAKEN)
        return false;
    bool missing =
        step->kind == STEP_ERROR || step->kind == STEP_OVERFLOW || step->kind == STEP_LOST;
    return missing || (step->kind == STEP_INSTRUCTION) == printer->options->instructions;
}

static void print_step(void *context, const struct flow_step *step)
{
    const struct printer *printer = context;
    if (!is_wanted(printer, step))
        return;
    if (step->thread)
        fprintf(printer->stream, "tid %" PRIu32, step->thread->tid);
    else
        fputs("tid ?", printer->stream);
    if (step->kind == STEP_INSTRUCTION)
        print_instruction(printer, step);
    else
        print_branch(printer, step);
    fputc('\n', printer->stream);
}

static struct flow *open_packets(const char *recording, const struct flow_options *options,
                                 struct error *error)
{
    struct flow *flow = flow_open(recording, options, error);
    if (!flow || flow_perf_data(flow)->has_setup)
        return flow;
    bool sampled = flow_is_sampled(flow);
    flow_close(flow);
    if (sampled)
        error_set(error, ERROR_FORMAT,
                  "%s holds samples of call stacks: there are no packets in it, and no single "
                  "branches. Record without -sampling.",
                  recording);
    else
        error_set(error, ERROR_FORMAT,
                  "%s is text that perf script has printed: there are no packets in it. Give the "
                  "recording that it was made of.",
                  recording);
    return NULL;
}

bool step_lines_print(const char *recording, const struct step_lines_options *options, FILE *stream,
                      struct error *error)
{
    struct printer printer = {.options = options, .stream = stream};
    const struct flow_observer observer = {
        .context = &printer, .instructions = options->instructions, .step = print_step};
    const struct flow_options decoding = {.decoder = FLOW_DECODER_NATIVE};
    struct flow *flow = open_packets(recording, &decoding, error);
    if (!flow)
        return false;
    flow_steps(flow, &observer);
    const struct error *damage = flow_damage(flow);
    if (damage)
        *error = *damage;
    flow_close(flow);
    return !damage;
}
