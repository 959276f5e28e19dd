#include "engine/sample_event.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "perf_event/permissions.h"
#include "perf_event/sideband.h"
#include "recording/flags.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOW_FREQUENCY = 1000, /* as -timer-resolution of Jane Street's magic-trace has them */
    NORMAL_FREQUENCY = 10000,
    SAVED_STACK = 8192, /* bytes; perf's own default */
};

/* All that a program's callers can be found from: what calls keep, and where it is. */
static const uint64_t saved_registers =
    (UINT64_C(1) << PERF_REG_X86_AX) | (UINT64_C(1) << PERF_REG_X86_BX) |
    (UINT64_C(1) << PERF_REG_X86_CX) | (UINT64_C(1) << PERF_REG_X86_DX) |
    (UINT64_C(1) << PERF_REG_X86_SI) | (UINT64_C(1) << PERF_REG_X86_DI) |
    (UINT64_C(1) << PERF_REG_X86_BP) | (UINT64_C(1) << PERF_REG_X86_SP) |
    (UINT64_C(1) << PERF_REG_X86_IP) | (UINT64_C(0xff) << PERF_REG_X86_R8);

/* ---- attributes ---- */

static void set_scope(struct perf_event_attr *attributes, enum trace_scope scope)
{
    attributes->exclude_kernel = scope == TRACE_USER;
    attributes->exclude_user = scope == TRACE_KERNEL;
    attributes->exclude_hv = 1;
    attributes->exclude_callchain_kernel = scope == TRACE_USER;
}

static void set_callgraph(struct perf_event_attr *attributes, enum callgraph_mode mode)
{
    attributes->sample_type |= PERF_SAMPLE_CALLCHAIN;
    attributes->exclude_callchain_user = mode != CALLGRAPH_FRAME_POINTERS;
    switch (mode) {
    case CALLGRAPH_LBR:
    case CALLGRAPH_LBR_NO_STITCH:
        attributes->sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attributes->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
                                         PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
        break;
    case CALLGRAPH_DWARF:
        attributes->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attributes->sample_regs_user = saved_registers;
        attributes->sample_stack_user = SAVED_STACK;
        break;
    case CALLGRAPH_DEFAULT:
    case CALLGRAPH_FRAME_POINTERS:
        break;
    }
}

struct perf_event_attr sample_event(const struct sampling_means *means, enum trace_scope scope)
{
    struct perf_event_attr attributes = {
        .type = means->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = means->cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = means->frequency,
        .freq = 1,
        .sample_type = SIDEBAND_SAMPLE_TYPE | PERF_SAMPLE_PERIOD,
        .sample_id_all = 1,
        .disabled = 1,
    };
    set_scope(&attributes, scope);
    set_callgraph(&attributes, means->callgraph);
    return attributes;
}

struct perf_event_attr sample_extra_event(const struct extra_event *event, enum trace_scope scope)
{
    struct perf_event_attr attributes = {
        .type = event->kind->type,
        .size = sizeof attributes,
        .config = event->kind->config,
        .freq = event->by_frequency,
        .sample_freq = event->count,
        .precise_ip = event->precision < EVENT_PRECISION_HIGHEST ? event->precision : 0,
        .sample_type = SIDEBAND_SAMPLE_TYPE | PERF_SAMPLE_PERIOD,
        .sample_id_all = 1,
        .disabled = 1,
    };
    set_scope(&attributes, scope);
    /* The kernel switches threads in the kernel: without that part they would never be seen. */
    if (event->kind->type == PERF_TYPE_SOFTWARE && attributes.config != PERF_COUNT_SW_PAGE_FAULTS)
        attributes.exclude_kernel = 0;
    return attributes;
}

const char *sample_event_name(char *name, size_t size, const char *kind, enum trace_scope scope)
{
    static const char *const suffixes[] = {
        [TRACE_USER] = ":u", [TRACE_USER_AND_KERNEL] = "", [TRACE_KERNEL] = ":k"};
    snprintf(name, size, "%s%s", kind, suffixes[scope]);
    return name;
}

const char *callgraph_mode_name(enum callgraph_mode mode)
{
    static const char *const names[] = {
        [CALLGRAPH_DEFAULT] = "default",
        [CALLGRAPH_LBR] = "lbr",
        [CALLGRAPH_LBR_NO_STITCH] = "lbr-no-stitch",
        [CALLGRAPH_DWARF] = "dwarf",
        [CALLGRAPH_FRAME_POINTERS] = "fp",
    };
    return names[mode];
}

/* ---- what works here ---- */

/* By opening the event on ourselves, where it is not started. 0 or an errno. */
static int try_event(const struct kernel *kernel, const struct perf_event_attr *attributes)
{
    int event = kernel->open_event(kernel, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return errno;
    close(event);
    return 0;
}

/* The kernel's limit for all users, which it lowers by itself when interrupts take too long;
 * UINT64_MAX: it has none. */
static uint64_t highest_frequency(const struct kernel *kernel)
{
    char *path = memory_format("%s/sys/kernel/perf_event_max_sample_rate", kernel->proc);
    char *text = file_read(path, NULL, NULL);
    uint64_t rate = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    free(path);
    return rate ? rate : UINT64_MAX;
}

static uint64_t wanted_frequency(const struct timer_resolution *timer, uint64_t highest)
{
    switch (timer->kind) {
    case TIMER_LOW:
        return LOW_FREQUENCY;
    case TIMER_HIGH:
        return highest == UINT64_MAX ? NORMAL_FREQUENCY : highest;
    case TIMER_SAMPLE:
        return timer->frequency;
    case TIMER_NORMAL:
    case TIMER_CUSTOM:
        break;
    }
    return NORMAL_FREQUENCY;
}

static uint64_t find_frequency(const struct kernel *kernel, const struct timer_resolution *timer)
{
    uint64_t highest = highest_frequency(kernel), wanted = wanted_frequency(timer, highest);
    if (wanted <= highest)
        return wanted;
    log_warning("sampling %llu times a second and not %llu: the kernel allows no more. "
                "`sudo sysctl kernel.perf_event_max_sample_rate=%llu` changes that.",
                (unsigned long long)highest, (unsigned long long)wanted,
                (unsigned long long)wanted);
    return highest;
}

/* Whether the processor can remember which calls are open, and the kernel lets it. */
static bool remembers_calls(const struct sampling_means *means, const struct kernel *kernel,
                            enum trace_scope scope)
{
    struct sampling_means remembering = *means;
    remembering.callgraph = CALLGRAPH_LBR;
    const struct perf_event_attr attributes = sample_event(&remembering, scope);
    return means->cycles && try_event(kernel, &attributes) == 0;
}

static bool choose_callgraph(struct sampling_means *means, const struct kernel *kernel,
                             const struct processor_options *options, struct error *error)
{
    enum callgraph_mode wanted = options->callgraph;
    means->callgraph = wanted;
    if (wanted != CALLGRAPH_DEFAULT && wanted != CALLGRAPH_LBR && wanted != CALLGRAPH_LBR_NO_STITCH)
        return true;
    bool remembers = remembers_calls(means, kernel, options->scope);
    if (wanted == CALLGRAPH_DEFAULT)
        means->callgraph = remembers ? CALLGRAPH_LBR : CALLGRAPH_DWARF;
    return remembers || wanted == CALLGRAPH_DEFAULT ||
           error_set(error, ERROR_UNSUPPORTED,
                     FLAG_CALLGRAPH_MODE
                     " %s needs a processor that remembers its last branches "
                     "(Intel's LBR) and a kernel that offers it, which virtual machines rarely do. "
                     "Use " FLAG_CALLGRAPH_MODE
                     " dwarf, or fp for programs built with frame pointers.",
                     callgraph_mode_name(wanted));
}

bool sampling_means_find(struct sampling_means *means, const struct kernel *kernel,
                         const struct processor_options *options, struct error *error)
{
    *means = (struct sampling_means){.cycles = true,
                                     .callgraph = CALLGRAPH_FRAME_POINTERS,
                                     .frequency = find_frequency(kernel, &options->timer)};
    struct perf_event_attr attributes = sample_event(means, options->scope);
    int problem = try_event(kernel, &attributes);
    if (problem) {
        means->cycles = false;
        attributes = sample_event(means, options->scope);
        problem = try_event(kernel, &attributes);
    }
    const struct event_request request = {
        .what = "sample call stacks", .attributes = &attributes, .cpu = -1};
    if (problem)
        return event_refused(error, kernel, &request, problem);
    return choose_callgraph(means, kernel, options, error);
}
