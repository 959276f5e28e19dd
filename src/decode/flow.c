#include "decode/flow.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "decode/perf/perf_decoder.h"
#include "decode/pt/decode_jobs.h"
#include "decode/samples/sampled_flow.h"
#include "decode/text/text_error.h"
#include "decode/text/text_flow.h"
#include "decode/trace_marks.h"
#include "image/image_links.h"
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct flow {
    struct flow_options options;
    struct recording recording;
    struct perf_data data;
    struct address_spaces spaces;
    struct symbols *symbols;
    struct trace_streams streams;
    struct decoder_shared *shared;
    struct flow_statistics statistics;
    /* NULL: the recording is not text. If it is text, of the fields above only the symbols are set */
    struct text_flow *text;
    struct call_values call_values;
    struct session session; /* empty if there is none or it cannot be read */
    struct perf_tool perf;  /* of FLOW_DECODER_PERF */
    char *images;           /* the directory where perf finds them (image_links.h) */
    struct error perf_damage;
    bool sampled; /* the recording has samples and no packets */
};

/* The times of samples are nanoseconds, and so are ticks. Samples include the kernel unless it was
 * excluded. */
static void prepare_samples(struct flow *flow)
{
    struct pt_setup *setup = &flow->data.setup;
    flow->sampled = true;
    setup->has_clock = true;
    setup->clock = (struct clock_conversion){.mult = 1};
    for (uint32_t i = 0; i < flow->data.event_count; i++)
        if (sampled_flow_follows(&flow->data, i) && !flow->data.events[i].attribute.exclude_kernel)
            setup->kernel = true;
}

bool flow_finds_inlined(const struct flow *flow)
{
    return !flow->options.no_inlined && !flow->sampled && flow->text == NULL;
}

/* The rest of opening, once the perf data is open. */
static bool open_perf_data(struct flow *flow, struct error *error)
{
    if (sampled_flow_recognizes(&flow->data))
        prepare_samples(flow);
    else if (!flow->data.has_setup)
        return error_set(error, ERROR_FORMAT,
                         "Decoding %s failed: it holds no Intel PT recording, and no samples of "
                         "where time went. Record with `magic-trace run`, `perf record -e "
                         "intel_pt//` or `perf record -g`.",
                         flow->data.path);
    else if (!perf_data_check_packets(&flow->data, error))
        return false;
    if (!address_spaces_build(&flow->spaces, &flow->data, flow->recording.directory, error))
        return false;
    if (flow->recording.directory) {
        session_read(&flow->session, flow->recording.directory, NULL);
        call_values_read(&flow->call_values, flow->recording.directory, NULL);
    }
    flow->symbols = symbols_open(&flow->spaces, flow->options.perf_map_directory);
    if (flow->sampled)
        return true;
    if (flow_finds_inlined(flow))
        symbols_find_inlined(flow->symbols);
    trace_streams_cut(&flow->streams, &flow->data);
    if (flow->options.decoder == FLOW_DECODER_PERF && !flow->recording.files)
        return error_set(
            error, ERROR_USAGE,
            "perf cannot decode what comes through a pipe: write it to a file, and give "
            "that with -decoder perf.");
    if (flow->options.decoder == FLOW_DECODER_PERF)
        return perf_tool_find(&flow->perf, error) &&
               image_links_make(&flow->images, &flow->spaces, error);
    flow->shared = decoder_shared_open(&flow->data, flow->symbols);
    return true;
}

static bool open_recording(struct flow *flow, const char *path, struct error *error)
{
    return recording_open(&flow->recording, path, error) &&
           perf_data_open(&flow->data, flow->recording.files[0], error) &&
           open_perf_data(flow, error);
}

static bool is_stream(const char *path)
{
    struct stat status;
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
}

/* Standard input, a pipe, or a file of text. A pipe can be read only once, so its type is
 * determined after it was read. */
static bool open_input(struct flow *flow, const char *path, struct error *error)
{
    struct file_view view;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (!file_map_input(&view, path, error))
        return false;
    if (perf_data_recognizes(&view))
        return perf_data_open_view(&flow->data, view, name, error) && open_perf_data(flow, error);
    flow->symbols = symbols_open(&flow->spaces, NULL);
    flow->text = text_flow_open(view, name, flow->symbols, flow->options.perf_map_directory);
    return true;
}

static struct perf_script_request perf_request(const struct flow *flow)
{
    return (struct perf_script_request){
        .tool = &flow->perf, .data = flow->recording.files[0], .images = flow->images};
}

static void close_recording(struct flow *flow)
{
    if (flow->shared)
        decoder_shared_close(flow->shared);
    if (flow->text)
        text_flow_close(flow->text);
    trace_streams_free(&flow->streams);
    symbols_close(flow->symbols);
    address_spaces_free(&flow->spaces);
    perf_data_close(&flow->data);
    recording_close(&flow->recording);
    session_free(&flow->session);
    call_values_free(&flow->call_values);
    image_links_remove(flow->images);
    perf_tool_free(&flow->perf);
}

/* Writes all that perf prints of the recording to an unnamed file: its descriptor, or -1. */
static int print_text(const struct flow *flow, struct error *error)
{
    struct perf_script script;
    struct perf_script_request request = perf_request(flow);
    log_status("This perf cannot load filters (before Linux 5.14): reading what it prints.");
    if (!perf_script_start(&script, &request, error))
        return -1;
    bool ok = file_spool(script.output, "what perf script prints", error);
    int text = ok ? fcntl(script.output, F_DUPFD_CLOEXEC, 0) : -1;
    if (ok && text < 0)
        ok = error_set_errno(error, ERROR_IO, errno, "Reading what perf script prints failed");
    if (perf_script_finish(&script, ok ? error : NULL) && ok)
        return text;
    if (text >= 0)
        close(text);
    return -1;
}

/* Replaces a recording that perf can only print by the text that perf prints. */
static bool become_text(struct flow *flow, struct error *error)
{
    int text = print_text(flow, error);
    if (text < 0)
        return false;
    char *path = memory_format("/proc/self/fd/%d", text);
    struct flow_options options = flow->options;
    close_recording(flow);
    *flow = (struct flow){.options = options};
    bool ok = open_input(flow, path, error);
    free(path);
    close(text);
    return ok;
}

struct flow *flow_open(const char *path, const struct flow_options *options, struct error *error)
{
    struct flow *flow = memory_allocate_zeroed(sizeof(*flow));
    flow->options = *options;
    bool ok = is_stream(path) || flow_is_text(path) ? open_input(flow, path, error)
                                                    : open_recording(flow, path, error);
    if (ok && flow->perf.path && !flow->perf.filter)
        ok = become_text(flow, error);
    if (ok)
        return flow;
    flow_close(flow);
    return NULL;
}

void flow_close(struct flow *flow)
{
    close_recording(flow);
    free(flow);
}

bool flow_is_text(const char *path)
{
    return text_flow_recognizes(path);
}

bool flow_has_coarse_times(const struct flow *flow)
{
    return flow->text != NULL;
}

bool flow_is_sampled(const struct flow *flow)
{
    return flow->sampled;
}

bool flow_is_snapshot(const struct flow *flow)
{
    return flow->session.engine != NULL && !flow->session.full_execution;
}

bool flow_follows_event(const struct flow *flow, uint32_t event)
{
    return flow->sampled && sampled_flow_follows(&flow->data, event);
}

static bool decode_by_perf(struct flow *flow, const struct flow_sink *sink, struct error *error)
{
    struct perf_script_request script = perf_request(flow);
    struct perf_decode_request request = {.script = &script,
                                          .data = &flow->data,
                                          .spaces = &flow->spaces,
                                          .streams = &flow->streams,
                                          .symbols = flow->symbols,
                                          .sink = sink,
                                          .options = &flow->options};
    return perf_decode_all(&request, &flow->statistics, &flow->perf_damage, error);
}

static void decode_samples(struct flow *flow, const struct flow_sink *sink)
{
    const char *callgraph = flow->session.callgraph;
    struct sampled_flow_request request = {.data = &flow->data,
                                           .spaces = &flow->spaces,
                                           .symbols = flow->symbols,
                                           .sink = sink,
                                           .options = &flow->options,
                                           .stitch = !callgraph ||
                                                     strcmp(callgraph, "lbr-no-stitch") != 0};
    sampled_flow_decode(&request, &flow->statistics);
}

bool flow_decode(struct flow *flow, const struct flow_sink *sink, struct error *error)
{
    if (flow->sampled) {
        decode_samples(flow, sink);
        return true;
    }
    if (flow->text)
        return text_flow_decode(flow->text, &flow->options, sink, &flow->statistics, error);
    if (flow->perf.path)
        return decode_by_perf(flow, sink, error);
    struct decode_request request = {.data = &flow->data,
                                     .spaces = &flow->spaces,
                                     .streams = &flow->streams,
                                     .shared = flow->shared,
                                     .sink = sink,
                                     .options = &flow->options};
    decode_all(&request, &flow->statistics);
    return true;
}

/* A sink for callers that need no flow events. */

static void *begin_thread(void *context, const struct thread *thread)
{
    return NULL;
}

static void drop_events(void *thread_object, const struct flow_event *events, size_t count)
{
}

static void end_thread(void *thread_object)
{
}

void flow_steps(const struct flow *flow, const struct flow_observer *observer)
{
    static const struct flow_sink sink = {
        .begin = begin_thread, .events = drop_events, .end = end_thread};
    if (flow->text || flow->sampled)
        return;
    const struct flow_options options = {.decoder = FLOW_DECODER_NATIVE,
                                         .progress = flow->options.progress};
    struct decode_request request = {.data = &flow->data,
                                     .spaces = &flow->spaces,
                                     .streams = &flow->streams,
                                     .shared = decoder_shared_open(&flow->data, flow->symbols),
                                     .sink = &sink,
                                     .options = &options,
                                     .observer = observer};
    struct flow_statistics statistics = {0};
    decode_all(&request, &statistics);
    decoder_shared_close(request.shared);
}

const struct text_code *flow_text_code(const struct flow *flow, uint32_t pid)
{
    return flow->text ? text_flow_code(flow->text, pid) : NULL;
}

struct symbols *flow_symbols(const struct flow *flow)
{
    return flow->symbols;
}

const struct address_spaces *flow_address_spaces(const struct flow *flow)
{
    return &flow->spaces;
}

const struct perf_data *flow_perf_data(const struct flow *flow)
{
    return &flow->data;
}

void flow_marks(const struct flow *flow, struct array *marks)
{
    if (flow->text)
        text_flow_marks(flow->text, marks);
    else
        trace_marks_find(marks, &flow->data, &flow->streams);
}

uint64_t flow_wall_clock(const struct flow *flow, struct nanoseconds time)
{
    const struct session *session = &flow->session;
    if (!session->wall_clock_ns)
        return 0;
    return session->wall_clock_ns + (time.value - session->wall_clock_at);
}

bool flow_death(const struct flow *flow, uint32_t pid, uint32_t tid, struct session_death *death)
{
    for (size_t i = 0; i < flow->session.death_count; i++) {
        *death = flow->session.deaths[i];
        if (death->pid == pid && death->tid == tid)
            return true;
    }
    return false;
}

bool flow_read_call_values(const struct flow *flow, struct recorded_group arguments,
                           struct recorded_group result, struct arena *memory,
                           struct named_values *read)
{
    return call_values_read_groups(&flow->call_values, arguments, result, memory, read);
}

const struct session *flow_session(const struct flow *flow)
{
    return &flow->session;
}

struct flow_statistics flow_statistics(const struct flow *flow)
{
    return flow->statistics;
}

const struct error *flow_damage(const struct flow *flow)
{
    if (flow->data.damage.code != ERROR_NONE)
        return &flow->data.damage;
    return flow->perf_damage.code == ERROR_NONE ? NULL : &flow->perf_damage;
}

const char *flow_error_text(uint8_t error)
{
    const char *words = text_error_words(error);
    return words ? words : decoder_error_text(error);
}
