#include "cli/text/code_report.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/salvage.h"
#include "cli/span_input.h"
#include "counts/annotation.h"
#include "output/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AROUND = 10000 /* ns to either side of a time */ };

static bool read_time(const char *option, const char *text, uint64_t *time, struct error *error)
{
    return duration_parse(text, time) ||
           error_set(error, ERROR_USAGE,
                     "%s %s: counts are of a time, like 1.5ms, or of one call (-around NAME#3).",
                     option, text);
}

/* "NAME" or "NAME#3". `name` is made; the caller frees it. */
static void read_call(const char *text, struct counted_part *part, char **name)
{
    const char *hash = strrchr(text, '#');
    char *end = NULL;
    unsigned long number = hash ? strtoul(hash + 1, &end, 10) : 0;
    bool numbered = number > 0 && end && *end == 0;
    *name = numbered ? memory_format("%.*s", (int)(hash - text), text) : memory_copy_string(text);
    part->call_of = *name;
    part->call = numbered ? number : 1;
}

/* Times since the beginning of the trace become the recording's. */
static bool read_part(struct counted_part *part, const struct report_tree_options *moments,
                      uint64_t origin, char **name, struct error *error)
{
    uint64_t from = 0, to = UINT64_MAX - origin, middle;
    *name = NULL;
    if (moments->around && !duration_parse(moments->around, &middle)) {
        read_call(moments->around, part, name);
        return true;
    }
    if (moments->around) {
        from = middle > AROUND ? middle - AROUND : 0;
        to = middle + AROUND;
    }
    if (moments->from && !read_time("-from", moments->from, &from, error))
        return false;
    if (moments->to && !read_time("-to", moments->to, &to, error))
        return false;
    if (moments->from || moments->to || moments->around) {
        part->from.value = origin + from;
        part->to.value = origin + to;
    }
    return true;
}

static bool check_part(const struct code_counts *counts, const struct counted_part *part,
                       struct error *error)
{
    if (counts->executed > 0)
        return true;
    if (part->call_of)
        return error_set(error, ERROR_NOT_FOUND,
                         "-around: call %" PRIu64 " of %s was not recorded: %" PRIu64 " were.",
                         part->call, part->call_of, counts->calls_met);
    return error_set(error, ERROR_NOT_FOUND, "nothing ran in the part that is asked for.");
}

static bool has_packets(const struct flow *flow, const char *path, struct error *error)
{
    return (!flow_is_sampled(flow) && flow_perf_data(flow)->has_setup) ||
           error_set(error, ERROR_FORMAT,
                     "%s has no packets: how often code ran is known of recordings of every "
                     "branch alone, not of samples or text.",
                     path);
}

/* The times of moments count from the trace's beginning, which only a timeline knows. */
static bool open_flow(struct counted_recording *counted, const char *path,
                      const struct report_tree_options *moments, struct error *error)
{
    const struct flow_options options = {.no_inlined = true, .progress = log_progress};
    uint64_t time;
    bool is_at_time = moments->around && duration_parse(moments->around, &time);
    if (moments->from || moments->to || is_at_time)
        counted->timeline = timeline_decode(path, &options, error);
    else
        counted->opened = flow_open(path, &options, error);
    counted->flow = counted->timeline ? timeline_flow(counted->timeline) : counted->opened;
    return counted->flow;
}

bool counted_recording_open(struct counted_recording *counted, const char *path,
                            const struct report_tree_options *moments, bool calls_cost,
                            struct error *error)
{
    *counted = (struct counted_recording){0};
    if (strcmp(path, "-") != 0 && access(path, R_OK) != 0)
        return error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                               "cannot open %s", path);
    if (!span_input_is_recording(path))
        return error_set(error, ERROR_USAGE,
                         "%s is a trace, which does not say how often code ran. Give the recording "
                         "(-working-directory keeps it).",
                         path);
    if (!salvage(path, error) || !open_flow(counted, path, moments, error))
        return false;
    const struct flow *flow = counted->flow;
    uint64_t origin = counted->timeline ? timeline_origin(counted->timeline).value : 0;
    const struct pt_setup *setup = &flow_perf_data(flow)->setup;
    struct counted_part part = {.clock = setup->has_clock ? &setup->clock : NULL,
                                .calls_cost = calls_cost};
    char *name = NULL;
    bool ok = has_packets(flow, path, error) && read_part(&part, moments, origin, &name, error);
    if (ok) {
        code_counts_collect(&counted->counts, flow, &part);
        log_progress_end();
        ok = check_part(&counted->counts, &part, error);
    }
    free(name);
    if (!ok)
        counted_recording_close(counted);
    return ok;
}

void counted_recording_close(struct counted_recording *counted)
{
    code_counts_free(&counted->counts);
    if (counted->timeline)
        timeline_free(counted->timeline);
    if (counted->opened)
        flow_close(counted->opened);
    *counted = (struct counted_recording){0};
}

static struct source_root read_root(char *text)
{
    char *equals = text ? strchr(text, '=') : NULL;
    if (!equals)
        return (struct source_root){NULL, NULL};
    *equals = 0;
    return (struct source_root){text, equals + 1};
}

static bool print(const struct counted_recording *counted,
                  const struct code_report_options *options, struct json_report *json,
                  struct error *error)
{
    struct source_root root = read_root(options->root);
    return (!options->annotate ||
            annotation_print(&counted->counts, options->annotate, json, stdout, error)) &&
           (!options->source ||
            source_listing_print(&counted->counts, options->source, &root, json, stdout, error));
}

static bool print_json(const struct counted_recording *counted,
                       const struct code_report_options *options, struct error *error)
{
    struct json_report json;
    bool annotates = options->annotate != NULL;
    json_report_begin(&json, stdout,
                      annotates ? "\"report\": \"annotation\"" : "\"report\": \"source\"",
                      annotates ? "instructions" : "lines", options->max_bytes);
    bool ok = print(counted, options, &json, error);
    json_report_end(&json);
    return ok;
}

bool code_report_print(const char *path, const struct code_report_options *options,
                       const struct report_tree_options *moments, struct error *error)
{
    struct counted_recording counted;
    if (!counted_recording_open(&counted, path, moments, false, error))
        return false;
    bool ok = options->json ? print_json(&counted, options, error)
                            : print(&counted, options, NULL, error);
    const struct error *damage = ok ? flow_damage(counted.flow) : NULL;
    if (damage)
        *error = *damage;
    counted_recording_close(&counted);
    return ok && !damage;
}
