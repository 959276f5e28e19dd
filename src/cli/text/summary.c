#include "cli/text/summary.h"

#include "base/log.h"
#include "cli/options/quantity.h"
#include "cli/options/shell_word.h"
#include "output/duration.h"
#include "recording/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_contents(const struct trace_summary *summary)
{
    const struct timeline_statistics *statistics = &summary->statistics;
    char length[64] = "", duration[DURATION_TEXT_SIZE];
    const struct trace_contents *contents = &summary->contents;
    if (contents->length)
        snprintf(length, sizeof length, " over %s", duration_format(duration, contents->length));
    const struct flow_statistics *flow = &statistics->flow;
    bool is_text = flow->text_lines > 0;
    bool is_sampled = is_text ? flow->text.branches == 0 : flow->sampled;
    uint64_t count = is_sampled ? flow->samples + flow->text.samples
                     : is_text  ? flow->text.branches
                                : flow->instructions;
    log_status("%s %s%s in %s thread%s%s: %s %s from %s of %s.",
               quantity_count(contents->calls).text, is_sampled ? "span" : "call",
               plural(contents->calls), quantity_count(statistics->threads).text,
               plural(statistics->threads), length, quantity_count(count).text,
               is_sampled ? "samples"
               : is_text  ? "branches"
                          : "instructions",
               quantity_bytes(flow->bytes).text,
               is_text      ? "text"
               : is_sampled ? "records"
                            : "packets");
    if (is_sampled)
        log_status(
            "These are samples, not calls: how often a function was called is not known, and "
            "times are as exact as samples are dense.");
}

static void print_skipped_text(const struct flow_statistics *flow)
{
    const struct perf_text_statistics *text = &flow->text;
    uint64_t samples = text->branches ? text->samples : 0;
    char other[64] = "", unreadable[64] = "";
    if (text->other)
        snprintf(other, sizeof other, " (the first: %s)", text->other_event);
    if (text->unreadable)
        snprintf(unreadable, sizeof unreadable, " (the first: line %" PRIu64 ")",
                 text->first_unreadable);
    if (text->other || text->unreadable || samples)
        log_status("Skipped in the text: %s unreadable line%s%s, %s record%s of events that are "
                   "not shown%s, %s sample%s beside the branches.",
                   quantity_count(text->unreadable).text, plural(text->unreadable), unreadable,
                   quantity_count(text->other).text, plural(text->other), other,
                   quantity_count(samples).text, plural(samples));
}

static void print_damaged_debug(const struct timeline_statistics *statistics)
{
    if (statistics->damaged_debug)
        log_warning("the debug information of %s is damaged: some of its inlined functions are not "
                    "shown. Build or install it again; -no-inlined does without.",
                    statistics->damaged_debug);
}

static void print_lost_samples(const struct flow_statistics *flow)
{
    if (flow->sampled && !flow->samples)
        log_warning("no sample was taken: what was recorded ran for less time than is between two "
                    "samples. Sample more often (-timer-resolution High), or record every branch "
                    "(without -sampling).");
    if (flow->cut_samples)
        log_status("The callers of %s sample%s are not all known; what stands for them says why.",
                   quantity_count(flow->cut_samples).text, plural(flow->cut_samples));
    if (flow->lost_samples)
        log_status("%s record%s lost, because the disk or the processor was too slow: sample less "
                   "often, or record with larger buffers (perf record -m).",
                   quantity_count(flow->lost_samples).text,
                   flow->lost_samples == 1 ? " was" : "s were");
}

static void print_flaws(const struct trace_summary *summary)
{
    const struct timeline_statistics *statistics = &summary->statistics;
    if (statistics->gaps)
        log_status("%s gap%s in the trace (%s decode error%s, %s overflow%s): look for them in "
                   "`magic-trace report -tree`.",
                   quantity_count(statistics->gaps).text, plural(statistics->gaps),
                   quantity_count(statistics->flow.errors).text, plural(statistics->flow.errors),
                   quantity_count(statistics->flow.overflows).text,
                   plural(statistics->flow.overflows));
    if (statistics->repaired)
        log_status("%s event%s did not fit the call stack and %s repaired.",
                   quantity_count(statistics->repaired).text, plural(statistics->repaired),
                   statistics->repaired == 1 ? "was" : "were");
}

static void print_untraced(const struct session *session)
{
    enum { SHOWN = 5 };
    for (size_t i = 0; i < session->untraced_count && i < SHOWN; i++) {
        const struct session_untraced *untraced = &session->untraced[i];
        const char *name = untraced->name && *untraced->name ? untraced->name : "a program";
        char what[64] = "";
        if (untraced->threads > 1)
            snprintf(what, sizeof what, " (%u threads)", untraced->threads);
        if (untraced->flag)
            log_status("Ran untraced: %s%s, process %u. %s would have shown it.", name, what,
                       untraced->pid, untraced->flag);
        else if (untraced->cause)
            log_status("Ran untraced: %s%s, process %u: %s.", name, what, untraced->pid,
                       untraced->cause);
        else
            log_status("Ran untraced: %s%s, process %u, which this engine cannot trace.", name,
                       what, untraced->pid);
    }
    if (session->untraced_count > SHOWN)
        log_status("Ran untraced: %zu more.", session->untraced_count - SHOWN);
}

static void print_session(const char *directory)
{
    struct session session;
    struct error error;
    if (session_read(&session, directory, &error)) {
        print_untraced(&session);
        session_free(&session);
    } else if (error.code == ERROR_FORMAT) {
        log_warning("%s What ran untraced and the time of day are not known.", error.text);
    }
}

static void print_other_snapshots(const struct recording *recording)
{
    for (size_t i = 1; i < recording->file_count; i++) {
        char *path = shell_word(recording->files[i]);
        log_status("There is another snapshot: magic-trace decode %s", path);
        free(path);
    }
}

void summary_print(const struct trace_summary *summary, const struct recording *recording)
{
    print_contents(summary);
    print_flaws(summary);
    print_lost_samples(&summary->statistics.flow);
    print_damaged_debug(&summary->statistics);
    print_skipped_text(&summary->statistics.flow);
    if (!recording)
        return;
    if (recording->directory)
        print_session(recording->directory);
    print_other_snapshots(recording);
}
