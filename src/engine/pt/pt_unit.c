#include "engine/pt/pt_unit.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "recording/flags.h"

#include <cpuid.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char unit_name[] = "intel_pt";

/* ---- why this machine has no PT unit ---- */

/* The flags of the first processor in /proc/cpuinfo, between spaces; the caller frees. */
static char *read_cpuinfo(const struct kernel *kernel)
{
    char *path = memory_format("%s/cpuinfo", kernel->proc);
    char *text = file_read(path, NULL, NULL);
    free(path);
    return text ? text : memory_copy_string("");
}

static bool has_flag(const char *cpuinfo, const char *flag)
{
    const char *flags = strstr(cpuinfo, "\nflags");
    size_t length = strlen(flag);
    const char *end = flags ? strchr(flags + 1, '\n') : NULL;
    for (const char *at = flags; at && (at = strstr(at, flag)) && (!end || at < end); at += length)
        if (at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n' || at[length] == 0))
            return true;
    return false;
}

/* CPUID leaf 7, EBX bit 25: the processor as it shows itself to us. */
static bool processor_has_unit(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx & 1u << 25;
}

static const char *reason_for_none(const char *cpuinfo)
{
    if (!strstr(cpuinfo, "GenuineIntel"))
        return "the processor is not Intel's, and only Intel's have it. Without " FLAG_ENGINE
               " one is taken that records here";
    if (has_flag(cpuinfo, "intel_pt") || processor_has_unit())
        return "the processor has it, but the kernel does not offer it: it is switched off in the "
               "firmware, used by a hypervisor (kvm_intel.pt_mode), or the kernel was built "
               "without CONFIG_CPU_SUP_INTEL and CONFIG_PERF_EVENTS_INTEL_*. `sudo dmesg | grep "
               "-i pt:` may say which";
    if (has_flag(cpuinfo, "hypervisor"))
        return "this is a virtual machine that does not pass it on. The host has to offer it (for "
               "qemu: -cpu host,intel-pt=on, with kvm_intel.pt_mode=1 on the host), or record on "
               "the host itself";
    return "the processor is too old (Intel has it from Broadwell on), or it is switched off in "
           "the firmware";
}

bool pt_unit_open(struct pmu *unit, const struct kernel *kernel, struct error *error)
{
    if (pmu_open(unit, kernel, unit_name, error))
        return true;
    if (error && error->code != ERROR_NOT_FOUND)
        return false;
    char *cpuinfo = read_cpuinfo(kernel);
    error_set(error, ERROR_UNSUPPORTED, "there is no Intel PT here: %s", reason_for_none(cpuinfo));
    free(cpuinfo);
    return false;
}

/* ---- what to ask for ---- */

/* Fields whose value is a number of a bit in an ability's mask. */
struct choice {
    const char *field, *ability;
};
static const struct choice mtc_period = {"mtc_period", "mtc_periods"};
static const struct choice cyc_thresh = {"cyc_thresh", "cycle_thresholds"};
static const struct choice psb_period = {"psb_period", "psb_periods"};

/* The value nearest to the one wanted that the unit has. */
static uint64_t closest(const struct pmu *unit, const struct choice *choice, unsigned wanted)
{
    uint64_t offered = pmu_capability(unit, choice->ability);
    for (unsigned distance = 0; distance < 64; distance++) {
        if (wanted + distance < 64 && offered >> (wanted + distance) & 1)
            return wanted + distance;
        if (distance <= wanted && offered >> (wanted - distance) & 1)
            return wanted - distance;
    }
    return 0;
}

/* Sets a field that the unit may lack. */
static void request(const struct pmu *unit, struct perf_event_attr *attributes, const char *field,
                    uint64_t value)
{
    pmu_set(unit, attributes, field, value, NULL);
}

/* The defaults of perf record, and packets that programs and the processor add. */
static void ask_for_usual(const struct pmu *unit, struct perf_event_attr *attributes)
{
    request(unit, attributes, "tsc", 1);
    if (pmu_capability(unit, "mtc")) {
        request(unit, attributes, "mtc", 1);
        request(unit, attributes, mtc_period.field, closest(unit, &mtc_period, 3));
    }
    if (pmu_capability(unit, "psb_cyc"))
        request(unit, attributes, psb_period.field, closest(unit, &psb_period, 3));
    request(unit, attributes, "pt", 1);
    request(unit, attributes, "branch", 1);
    if (pmu_capability(unit, "ptwrite")) {
        request(unit, attributes, "ptw", 1);
        request(unit, attributes, "fup_on_ptw", 1);
    }
    if (pmu_capability(unit, "power_event_trace"))
        request(unit, attributes, "pwr_evt", 1);
}

/* Exact times: a CYC packet before each packet that has no time. */
static void ask_for_cycles(const struct pmu *unit, struct perf_event_attr *attributes)
{
    request(unit, attributes, "cyc", 1);
    request(unit, attributes, cyc_thresh.field, closest(unit, &cyc_thresh, 1));
    if (pmu_capability(unit, "mtc"))
        request(unit, attributes, mtc_period.field, closest(unit, &mtc_period, 0));
}

/* The values that are set in `offered`, for messages: "0, 3, 6, 9". */
static void list_values(char *text, size_t size, uint64_t offered)
{
    size_t used = 0;
    *text = 0;
    for (unsigned i = 0; i < 64 && used < size; i++)
        if (offered >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "", i);
}

static bool check_value(const struct pmu *unit, const char *field, uint64_t value,
                        struct error *error)
{
    static const struct choice *const choices[] = {&mtc_period, &cyc_thresh, &psb_period};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (strcmp(choices[i]->field, field) != 0)
            continue;
        uint64_t offered = pmu_capability(unit, choices[i]->ability);
        char values[256];
        list_values(values, sizeof values, offered);
        return value == 0 || (value < 64 && offered >> value & 1) ||
               error_set(error, ERROR_USAGE,
                         "%s=%" PRIu64 " is none that this processor has (it has: %s).", field,
                         value, *values ? values : "none");
    }
    return true;
}

static bool ask_for_custom(const struct pmu *unit, struct perf_event_attr *attributes,
                           const struct timer_resolution *timer, struct error *error)
{
    for (int i = 0; i < TIMER_FIELDS; i++)
        if (timer->given[i] &&
            (!check_value(unit, timer_field_names[i], timer->values[i], error) ||
             !pmu_set(unit, attributes, timer_field_names[i], timer->values[i], error)))
            return false;
    return true;
}

static bool ask_for_timer(const struct pmu *unit, struct perf_event_attr *attributes,
                          const struct timer_resolution *timer, struct error *error)
{
    switch (timer->kind) {
    case TIMER_CUSTOM:
        return ask_for_custom(unit, attributes, timer, error);
    case TIMER_SAMPLE:
        return error_set(error, ERROR_USAGE,
                         FLAG_TIMER_RESOLUTION
                         " (Sample ...) is for sampling: with Intel PT it is Low, "
                         "Normal, High or (Custom ...).");
    case TIMER_LOW:
        return true;
    case TIMER_NORMAL:
    case TIMER_HIGH:
        break;
    }
    if (!pmu_capability(unit, "psb_cyc")) {
        log_warning("this processor is of an older generation, whose Intel PT counts no cycles: "
                    "the times between branches are coarse (" FLAG_TIMER_RESOLUTION " Low).");
        return true;
    }
    ask_for_cycles(unit, attributes);
    if (timer->kind == TIMER_HIGH)
        request(unit, attributes, "noretcomp", 1);
    return true;
}

bool pt_unit_ask(const struct pmu *unit, const struct processor_options *options,
                 struct perf_event_attr *attributes, struct error *error)
{
    *attributes = (struct perf_event_attr){
        .type = unit->type,
        .size = sizeof *attributes,
        .sample_period = 1,
        .disabled = 1,
        .exclude_kernel = options->scope == TRACE_USER,
        .exclude_user = options->scope == TRACE_KERNEL,
        .exclude_hv = 1,
    };
    ask_for_usual(unit, attributes);
    return ask_for_timer(unit, attributes, &options->timer, error);
}

/* ---- decoding parameters ---- */

/* How many ticks of the TSC there are in one of the crystal, whose ticks MTC packets count: from
 * the kernel, else from CPUID leaf 0x15. */
static void find_crystal(const struct pmu *unit, struct pt_setup *setup)
{
    char *path = memory_format("%s/tsc_art_ratio", unit->folder);
    char *text = file_read(path, NULL, NULL);
    unsigned numerator = 0, denominator = 0, ecx, edx;
    if (!text || sscanf(text, "%u:%u", &numerator, &denominator) != 2)
        __get_cpuid_count(0x15, 0, &denominator, &numerator, &ecx, &edx);
    free(text);
    free(path);
    setup->tsc_ctc_numerator = numerator;
    setup->tsc_ctc_denominator = denominator;
}

struct pt_setup pt_unit_setup(const struct pmu *unit, const struct perf_event_attr *attributes,
                              const struct perf_event_mmap_page *page)
{
    struct pt_setup setup = {
        .clock = {.zero = page->time_zero, .mult = page->time_mult, .shift = page->time_shift},
        .has_clock = page->cap_user_time_zero && page->time_mult,
        .config = attributes->config,
        .tsc_bit = pmu_config_bits(unit, "tsc"),
        .no_return_compression_bit = pmu_config_bits(unit, "noretcomp"),
        .mtc_bit = pmu_config_bits(unit, "mtc"),
        .mtc_period_bits = pmu_config_bits(unit, mtc_period.field),
        .cyc_bit = pmu_config_bits(unit, "cyc"),
        .max_nonturbo_ratio = (uint32_t)pmu_number(unit, "max_nonturbo_ratio"),
        .kernel = !attributes->exclude_kernel,
    };
    find_crystal(unit, &setup);
    return setup;
}
