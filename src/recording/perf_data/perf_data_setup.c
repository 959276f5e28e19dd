#include "recording/perf_data/perf_data_setup.h"

#include "recording/perf_data/byte_cursor.h"

#include <stdio.h>
#include <string.h>

/* enum auxtrace_type of tools/perf/util/auxtrace.h */
static const char *auxtrace_kind(uint32_t type)
{
    static const char *const kinds[] = {"nothing", "Intel PT",    "Intel BTS",    "Arm CoreSight",
                                        "Arm SPE", "s390 CPU-MF", "HiSilicon PTT"};
    return type < sizeof kinds / sizeof *kinds ? kinds[type] : "an unknown kind";
}

/* Words that the file does not have are 0, as for a processor without the feature. */
static void take_words(uint64_t words[PT_WORD_COUNT], struct byte_cursor *cursor)
{
    memset(words, 0, PT_WORD_COUNT * sizeof *words);
    for (int i = 0; i < PT_WORD_COUNT && cursor_left(cursor) >= sizeof *words; i++)
        words[i] = cursor_take_u64(cursor);
}

static void decode_clock(struct pt_setup *setup, const uint64_t words[PT_WORD_COUNT])
{
    if (!words[PT_WORD_HAS_CLOCK] || words[PT_WORD_TIME_SHIFT] > 63 ||
        words[PT_WORD_TIME_MULT] == 0 || words[PT_WORD_TIME_MULT] > UINT32_MAX)
        return;
    setup->has_clock = true;
    setup->clock = (struct clock_conversion){
        .zero = words[PT_WORD_TIME_ZERO],
        .mult = (uint32_t)words[PT_WORD_TIME_MULT],
        .shift = (uint16_t)words[PT_WORD_TIME_SHIFT],
    };
}

bool pt_setup_decode(struct pt_setup *setup, const uint8_t *body, size_t size,
                     const struct perf_data_events *events, uint64_t *switches, struct error *error)
{
    struct byte_cursor cursor = {body, body + size, false};
    uint32_t type = cursor_take_u32(&cursor);
    cursor_take_u32(&cursor); /* reserved */
    if (type != AUXTRACE_INFO_INTEL_PT)
        return error_set(error, ERROR_UNSUPPORTED, "its AUX data is of %s, not of Intel PT",
                         auxtrace_kind(type));
    if (cursor_left(&cursor) < PT_WORD_COUNT_MINIMUM * sizeof(uint64_t))
        return error_set(error, ERROR_FORMAT, "its AUXTRACE_INFO record is too short");
    uint64_t words[PT_WORD_COUNT];
    take_words(words, &cursor);
    *setup = (struct pt_setup){
        .tsc_bit = words[PT_WORD_TSC_BIT],
        .no_return_compression_bit = words[PT_WORD_NO_RETURN_COMPRESSION_BIT],
        .mtc_bit = words[PT_WORD_MTC_BIT],
        .mtc_period_bits = words[PT_WORD_MTC_PERIOD_BITS],
        .cyc_bit = words[PT_WORD_CYC_BIT],
        .tsc_ctc_numerator = (uint32_t)words[PT_WORD_TSC_CTC_NUMERATOR],
        .tsc_ctc_denominator = (uint32_t)words[PT_WORD_TSC_CTC_DENOMINATOR],
        .max_nonturbo_ratio = (uint32_t)words[PT_WORD_MAX_NONTURBO_RATIO],
        .per_cpu = words[PT_WORD_PER_CPU] != 0,
        .snapshot = words[PT_WORD_SNAPSHOT] != 0,
    };
    if (words[PT_WORD_FILTER_LENGTH])
        setup->filters = cursor_take_string(&cursor);
    *switches = words[PT_WORD_CONTEXT_SWITCHES];
    decode_clock(setup, words);
    const struct perf_data_event *event = perf_data_events_of_type(events, words[PT_WORD_PMU_TYPE]);
    if (event) {
        setup->config = event->attribute.config;
        setup->kernel = !event->attribute.exclude_kernel;
    }
    return true;
}

struct cpu_identity cpu_identity_parse(const char *text, size_t size)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy), text);
    unsigned family, model, stepping;
    if (sscanf(copy, "GenuineIntel,%5u,%3u,%3u", &family, &model, &stepping) != 3)
        return (struct cpu_identity){0};
    return (struct cpu_identity){
        .family = (uint16_t)family,
        .model = (uint8_t)model,
        .stepping = (uint8_t)stepping,
        .intel = true,
    };
}
