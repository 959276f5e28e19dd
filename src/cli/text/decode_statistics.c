#include "cli/text/decode_statistics.h"

#include "decode/pt/packet_counts.h"
#include "decode/step_counts.h"

#include <inttypes.h>
#include <jansson.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct stage_seconds stage_seconds_now(void)
{
    return (struct stage_seconds){read_clock(CLOCK_MONOTONIC),
                                  read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

struct stage_seconds stage_seconds_since(struct stage_seconds start)
{
    struct stage_seconds now = stage_seconds_now();
    return (struct stage_seconds){now.elapsed - start.elapsed, now.processor - start.processor};
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *packets_to_json(const struct packet_counts *counts)
{
    json_t *object = json_object();
    for (int kind = 0; kind < PT_PACKET_KINDS; kind++)
        if (counts->kinds[kind] > 0)
            set_count(object, pt_packet_name(kind), counts->kinds[kind]);
    return object;
}

static void set_packets(json_t *object, const struct perf_data *data)
{
    const struct packet_counts counts = packet_counts_of(data);
    json_object_set_new(object, "packets", packets_to_json(&counts));
    set_count(object, "stray_bytes", counts.stray_bytes);
}

static void set_decoding(json_t *object, const struct flow_statistics *flow)
{
    set_count(object, "bytes", flow->bytes);
    set_count(object, "instructions", flow->instructions);
    set_count(object, "flow_events", flow->events);
    set_count(object, "error_count", flow->errors);
    set_count(object, "overflows", flow->overflows);
}

static void set_text(json_t *object, const struct flow_statistics *flow)
{
    set_count(object, "text_lines", flow->text_lines);
    set_count(object, "text_branches", flow->text.branches);
    set_count(object, "text_samples", flow->text.samples);
    set_count(object, "text_unreadable_lines", flow->text.unreadable);
}

static void set_samples(json_t *object, const struct flow_statistics *flow)
{
    set_count(object, "samples", flow->samples);
    set_count(object, "cut_samples", flow->cut_samples);
    set_count(object, "lost_records", flow->lost_samples);
}

static void set_stacks(json_t *object, const struct timeline_statistics *statistics)
{
    set_count(object, "threads", statistics->threads);
    set_count(object, "calls", statistics->spans);
    set_count(object, "gaps", statistics->gaps);
    set_count(object, "unwound", statistics->unwound);
    set_count(object, "repaired", statistics->repaired);
}

static json_t *branches_to_json(const struct step_counts *counts)
{
    static const struct {
        enum flow_step_kind kind;
        const char *key;
    } classes[] = {
        {STEP_TAKEN, "conditional_taken"},
        {STEP_NOT_TAKEN, "conditional_not_taken"},
        {STEP_JUMP, "jump"},
        {STEP_CALL, "call"},
        {STEP_RETURN, "return"},
        {STEP_FAR_CALL, "far_call"},
        {STEP_FAR_RETURN, "far_return"},
        {STEP_FAR_JUMP, "far_jump"},
        {STEP_INTERRUPT, "interrupt"},
        {STEP_ABORT, "abort"},
        {STEP_START, "start"},
        {STEP_END, "end"},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        set_count(object, classes[i].key, counts->kinds[classes[i].kind]);
    return object;
}

static json_t *error_to_json(const struct step_error *error)
{
    json_t *object = json_object();
    char address[32];
    snprintf(address, sizeof address, "%" PRIx64, error->address);
    json_object_set_new(object, "tid", error->has_thread ? json_integer(error->tid) : json_null());
    json_object_set_new(object, "address", error->address ? json_string(address) : json_null());
    set_count(object, "packet_offset", error->offset);
    json_object_set_new(object, "reason", json_string(decode_error_text(error->error)));
    return object;
}

static void set_steps(json_t *object, const struct flow *flow)
{
    struct step_counts counts = step_counts_of(flow);
    json_object_set_new(object, "branches", branches_to_json(&counts));
    json_t *errors = json_array();
    for (size_t i = 0; i < counts.errors.count; i++)
        json_array_append_new(errors, error_to_json(array_at(&counts.errors, i)));
    json_object_set_new(object, "errors", errors);
    step_counts_free(&counts);
}

static json_t *seconds_to_json(const struct stage_seconds *seconds)
{
    json_t *object = json_object();
    json_object_set_new(object, "elapsed", json_real(seconds->elapsed));
    json_object_set_new(object, "processor", json_real(seconds->processor));
    return object;
}

static void set_seconds(json_t *object, const struct decode_stages *stages)
{
    json_t *seconds = json_object();
    json_object_set_new(seconds, "decoding", seconds_to_json(&stages->decoding));
    json_object_set_new(seconds, "writing", seconds_to_json(&stages->writing));
    json_object_set_new(object, "seconds", seconds);
}

void decode_statistics_print(const struct timeline *timeline, const struct decode_stages *stages,
                             FILE *stream)
{
    const struct timeline_statistics statistics = timeline_statistics(timeline);
    json_t *object = json_object();
    set_decoding(object, &statistics.flow);
    if (statistics.flow.text_lines > 0) {
        set_text(object, &statistics.flow);
    } else if (statistics.flow.samples > 0) {
        set_samples(object, &statistics.flow);
    } else {
        const struct flow *flow = timeline_flow(timeline);
        set_packets(object, flow_perf_data(flow));
        set_steps(object, flow);
    }
    set_stacks(object, &statistics);
    set_seconds(object, stages);
    json_dumpf(object, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputc('\n', stream);
    json_decref(object);
}
