/* insn_judge [-branches|-print-branches] RECORDING: decodes with libipt's instruction decoder, one
 * instruction at a time.
 *
 * -branches prints a count and a hash of the branches of each thread instead of what was executed,
 * -print-branches prints each of them, too (branch_log.h).
 *
 * Independent of src/decode in all but the cutting of rings: another decoder of libipt, code read
 * by callback from the address space instead of sections, no caches. Slow (some million
 * instructions per second) and plain. Errors go to stdout too, with their place: exit status 1 when
 * there was any.
 */
#include "branch_log.h"
#include "judge.h"
#include "judged_recording.h"

#include <stdlib.h>
#include <string.h>

enum { ERRORS_SHOWN_PER_THREAD = 20 };

enum wanted { WANTED_COUNTS, WANTED_BRANCHES, WANTED_EACH_BRANCH, WANTED_NOTHING };

/* The newest instruction, when it is a branch of which is not known yet where it went. */
struct open_branch {
    bool open, conditional;
    uint64_t from, next;
};

struct judge {
    const struct judged_recording *recording;
    struct address_space_cursor cursor;
    struct pt_insn_decoder *decoder;
    struct judgement judgement;
    struct branch_log log;
    struct open_branch branch;
};

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
                     void *context)
{
    struct judge *judge = context;
    size_t done = 0;
    while (done < size) {
        const struct mapping *mapping = address_space_find(&judge->cursor, ip + done);
        if (!mapping || !mapping->file)
            break;
        uint64_t offset = mapping->file_offset + (ip + done - mapping->start);
        uint64_t left = mapping->end - (ip + done);
        if (offset >= mapping->file->view.size)
            break;
        if (left > mapping->file->view.size - offset)
            left = mapping->file->view.size - offset;
        if (left > size - done)
            left = size - done;
        memcpy(buffer + done, mapping->file->view.bytes + offset, left);
        done += left;
    }
    return done ? (int)done : -pte_nomap;
}

static void advance(struct judge *judge, uint64_t time)
{
    address_space_cursor_advance(&judge->cursor, (struct ticks){time});
}

static void report_error(struct judge *judge, int status, uint64_t ip)
{
    uint64_t offset = 0;
    pt_insn_get_offset(judge->decoder, &offset);
    if (judge->judgement.errors++ < ERRORS_SHOWN_PER_THREAD)
        printf("error: tid %u offset %#llx ip %#llx: %s\n", judge->judgement.tid,
               (unsigned long long)offset, (unsigned long long)ip, pt_errstr(pt_errcode(status)));
}

static void branch_arrives(struct judge *judge, uint64_t ip)
{
    struct open_branch *branch = &judge->branch;
    if (branch->open && (!branch->conditional || ip != branch->next))
        branch_log_add(&judge->log, branch->from, ip);
    branch->open = false;
}

static void log_instruction(struct judge *judge, const struct pt_insn *insn)
{
    branch_arrives(judge, insn->ip);
    bool branches = insn->iclass != ptic_other && insn->iclass != ptic_ptwrite;
    judge->branch = (struct open_branch){branches, insn->iclass == ptic_cond_jump, insn->ip,
                                         insn->ip + insn->size};
}

static void log_event(struct judge *judge, const struct pt_event *event)
{
    if (event->status_update)
        return;
    switch (event->type) {
    case ptev_enabled:
        branch_log_add(&judge->log, 0, event->variant.enabled.ip);
        break;
    case ptev_disabled:
        branch_arrives(judge, 0);
        break;
    case ptev_async_disabled:
        branch_arrives(judge, event->variant.async_disabled.at);
        branch_log_add(&judge->log, event->variant.async_disabled.at, 0);
        break;
    case ptev_async_branch:
        branch_arrives(judge, event->variant.async_branch.from);
        branch_log_add(&judge->log, event->variant.async_branch.from,
                       event->variant.async_branch.to);
        break;
    case ptev_overflow:
        judge->branch.open = false;
        break;
    default:
        break;
    }
}

static void count_instruction(struct judgement *judgement, const struct pt_insn *insn)
{
    static const uint8_t reads_own_address[] = {0xe8, 0, 0, 0, 0};
    judgement->instructions++;
    if (insn->iclass == ptic_call)
        judgement->calls += insn->size != sizeof(reads_own_address) ||
                            memcmp(insn->raw, reads_own_address, sizeof(reads_own_address)) != 0;
    else if (insn->iclass == ptic_return)
        judgement->returns++;
    else if (insn->iclass == ptic_far_call)
        judgement->syscalls++;
}

static int take_event(struct judge *judge)
{
    struct pt_event event;
    int status = pt_insn_event(judge->decoder, &event, sizeof(event));
    if (status < 0)
        return status;
    if (event.has_tsc)
        advance(judge, event.tsc);
    log_event(judge, &event);
    if (event.type == ptev_async_disabled || event.type == ptev_async_branch)
        judge->judgement.interrupts++;
    return status;
}

/* The packets end, but the newest branch is among them: where it went is the next instruction,
 * which nothing says has run. */
static void take_last_branch(struct judge *judge)
{
    struct pt_insn insn = {.ip = 0};
    if (!judge->branch.open)
        return;
    pt_insn_next(judge->decoder, &insn, sizeof(insn));
    if (insn.iclass != ptic_error && insn.size)
        branch_arrives(judge, insn.ip);
}

/* From one PSB to the next error or to the end. */
static void judge_synchronised(struct judge *judge, int status)
{
    struct pt_insn insn = {.ip = 0};
    uint64_t time = 0;
    if (pt_insn_time(judge->decoder, &time, NULL, NULL) == 0)
        advance(judge, time);
    judge->branch.open = false;
    while (status >= 0) {
        if (status & pts_event_pending) {
            status = take_event(judge);
            continue;
        }
        if (status & pts_eos) {
            take_last_branch(judge);
            return;
        }
        status = pt_insn_next(judge->decoder, &insn, sizeof(insn));
        if (insn.iclass != ptic_error && insn.size) {
            count_instruction(&judge->judgement, &insn);
            log_instruction(judge, &insn);
        }
    }
    if (status != -pte_eos)
        report_error(judge, status, insn.ip);
}

/* Whether the recording was made by software of ours: all time that passes is in CYC packets, which count ticks of the TSC. */
static bool counts_ticks(const struct pt_setup *setup)
{
    return setup->tsc_ctc_numerator == 0 && !(setup->config & setup->mtc_bit);
}

/* A TSC packet with a time before what the packets before it add up to: decoders that add would stay ahead from there on. */
static void judge_time(struct judge *judge, const struct pt_config *config)
{
    struct pt_packet packet;
    uint64_t time = 0, offset = 0;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
    pt_pkt_sync_set(decoder, 0);
    while (pt_pkt_get_offset(decoder, &offset) == 0 &&
           pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0) {
        if (packet.type == ppt_cyc)
            time += packet.payload.cyc.value;
        if (packet.type != ppt_tsc)
            continue;
        if (packet.payload.tsc.tsc < time && judge->judgement.errors++ < ERRORS_SHOWN_PER_THREAD)
            printf("error: tid %u offset %#" PRIx64 ": the time goes back by %" PRIu64 " ticks\n",
                   judge->judgement.tid, offset, time - packet.payload.tsc.tsc);
        time = packet.payload.tsc.tsc;
    }
    pt_pkt_free_decoder(decoder);
}

static void judge_segment(struct judge *judge, const struct trace_segment *segment)
{
    struct pt_config config;
    uint8_t *copy;
    const uint8_t *bytes = trace_segment_bytes(segment, &copy);
    judged_recording_config(judge->recording, &config, bytes, segment->size);
    if (counts_ticks(&judge->recording->data.setup))
        judge_time(judge, &config);
    config.flags.variant.insn.enable_tick_events = 1;
    judge->decoder = pt_insn_alloc_decoder(&config);
    pt_image_set_callback(pt_insn_get_image(judge->decoder), read_code, judge);
    for (;;) {
        int status = pt_insn_sync_forward(judge->decoder);
        if (status == -pte_eos)
            break;
        if (status < 0)
            report_error(judge, status, 0);
        else
            judge_synchronised(judge, status);
    }
    pt_insn_free_decoder(judge->decoder);
    free(copy);
}

static uint64_t judge_stream(const struct judged_recording *recording,
                             const struct trace_stream *stream, enum wanted wanted)
{
    struct judge judge = {
        .recording = recording,
        .judgement = {.tid = stream->tid},
        .log = {.tid = stream->tid, .print = wanted == WANTED_EACH_BRANCH},
    };
    const struct process *process = judged_recording_process(recording, stream);
    if (!process) {
        printf("error: tid %u belongs to no known process\n", stream->tid);
        return 1;
    }
    address_space_cursor_init(&judge.cursor, process);
    for (size_t i = 0; i < stream->segments.count; i++)
        judge_segment(&judge, trace_segment_at(stream, i));
    address_space_cursor_free(&judge.cursor);
    if (wanted == WANTED_COUNTS)
        print_judgement(&judge.judgement);
    else
        branch_log_end(&judge.log);
    return judge.judgement.errors;
}

static enum wanted read_wanted(int argc, char **argv)
{
    if (argc == 2)
        return WANTED_COUNTS;
    if (argc == 3 && strcmp(argv[1], "-branches") == 0)
        return WANTED_BRANCHES;
    if (argc == 3 && strcmp(argv[1], "-print-branches") == 0)
        return WANTED_EACH_BRANCH;
    return WANTED_NOTHING;
}

int main(int argc, char **argv)
{
    enum wanted wanted = read_wanted(argc, argv);
    struct judged_recording recording;
    struct error error;
    uint64_t errors = 0;
    if (wanted == WANTED_NOTHING) {
        fprintf(stderr, "Usage: insn_judge [-branches|-print-branches] RECORDING\n");
        return 2;
    }
    if (!judged_recording_open(&recording, argv[argc - 1], &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    for (size_t i = 0; i < recording.streams.streams.count; i++) {
        const struct trace_stream *stream = trace_stream_at(&recording.streams, i);
        if (stream->tid != UINT32_MAX)
            errors += judge_stream(&recording, stream, wanted);
    }
    judged_recording_close(&recording);
    return errors != 0;
}
