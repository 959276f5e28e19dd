/* libxdc_alone LIBRARY RECORDING: what libxdc (github.com/nyx-fuzz/libxdc) needs for the packets of
 * a recording, reporting each edge to a function that counts. Called by bench/decode --libxdc.
 *
 * The library is loaded when this runs, its functions are declared here from its documentation. It
 * knows no return compression, and no packets in which a program or a recorder speaks (MNT,
 * PTWRITE, EXSTOP): these are taken out before. Prints one line of JSON as libipt_alone does.
 */
#include "bench_clock.h"
#include "judged_recording.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    BITMAP = 1 << 16, /* bytes, of a fuzzer's coverage map, which libxdc always wants */
    TRACE_END = 0x55, /* PT_TRACE_END: must follow the packets */
    SUCCESS = 0,      /* decoder_success */
    FILTERS = 4,
};

struct libxdc {
    void *(*init)(uint64_t filters[FILTERS][2], void *(*fetch)(void *, uint64_t, bool *),
                  void *context, void *bitmap, size_t bitmap_size);
    void (*on_edge)(void *decoder, void (*callback)(void *, uint64_t, uint64_t), void *context);
    void (*enable)(void *decoder);
    int (*decode)(void *decoder, uint8_t *bytes, size_t size);
    void (*free)(void *decoder);
};

struct counts {
    uint64_t bytes, edges, errors;
};

/* All pages of a process's code that were asked for: copies, found by a table of chains. */
struct page {
    struct page *next;
    uint64_t address;
    uint8_t bytes[PAGE];
};

struct code {
    struct address_space_cursor cursor;
    struct page *pages[BITMAP];
};

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static struct libxdc load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    struct libxdc libxdc;
    *(void **)&libxdc.init = function(library, "libxdc_init");
    *(void **)&libxdc.on_edge = function(library, "libxdc_register_edge_callback");
    *(void **)&libxdc.enable = function(library, "libxdc_enable_tracing");
    *(void **)&libxdc.decode = function(library, "libxdc_decode");
    *(void **)&libxdc.free = function(library, "libxdc_free");
    return libxdc;
}

static void *fetch_page(void *context, uint64_t address, bool *found)
{
    struct code *code = context;
    address &= ~(uint64_t)(PAGE - 1);
    struct page **chain = &code->pages[address / PAGE % BITMAP];
    for (struct page *page = *chain; page; page = page->next)
        if (page->address == address)
            return *found = true, page->bytes;
    const struct mapping *mapping = address_space_find(&code->cursor, address);
    if (!mapping || !mapping->file)
        return *found = false, NULL;
    uint64_t offset = mapping->file_offset + (address - mapping->start);
    uint64_t size = mapping->file->view.size;
    struct page *page = calloc(1, sizeof(*page));
    page->address = address;
    page->next = *chain;
    *chain = page;
    if (offset < size)
        memcpy(page->bytes, mapping->file->view.bytes + offset,
               size - offset < PAGE ? size - offset : PAGE);
    return *found = true, page->bytes;
}

static void count_edge(void *counts, uint64_t from, uint64_t to)
{
    ((struct counts *)counts)->edges++;
}

static bool says_something(const struct pt_packet *packet)
{
    return packet->type == ppt_mnt || packet->type == ppt_ptw || packet->type == ppt_exstop;
}

static bool has_address(const struct pt_packet *packet)
{
    return (packet->type == ppt_ptw && packet->payload.ptw.ip) ||
           (packet->type == ppt_exstop && packet->payload.exstop.ip);
}

/* A copy without what libxdc does not know, and with its end mark. */
static uint8_t *copy_packets(const struct pt_config *config, size_t *size)
{
    uint8_t *copy = malloc((size_t)(config->end - config->begin) + 1);
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
    struct pt_packet packet;
    uint64_t offset;
    bool drop_address = false;
    *size = 0;
    if (pt_pkt_sync_forward(decoder) >= 0) {
        while (pt_pkt_get_offset(decoder, &offset) >= 0 &&
               pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0) {
            bool drop = says_something(&packet) || (drop_address && packet.type == ppt_fup);
            drop_address = has_address(&packet);
            if (drop)
                continue;
            memcpy(copy + *size, config->begin + offset, packet.size);
            *size += packet.size;
        }
    }
    pt_pkt_free_decoder(decoder);
    copy[*size] = TRACE_END;
    return copy;
}

static double decode_segment(const struct libxdc *libxdc, void *decoder,
                             const struct judged_recording *recording,
                             const struct trace_segment *segment, struct counts *counts)
{
    struct pt_config config;
    uint8_t *joined;
    const uint8_t *bytes = trace_segment_bytes(segment, &joined);
    judged_recording_config(recording, &config, bytes, segment->size);
    size_t size;
    uint8_t *packets = copy_packets(&config, &size);
    double began = bench_cpu_seconds();
    counts->errors += libxdc->decode(decoder, packets, size) != SUCCESS;
    double seconds = bench_cpu_seconds() - began;
    counts->bytes += segment->size;
    free(packets);
    free(joined);
    return seconds;
}

static double decode_stream(const struct libxdc *libxdc, const struct judged_recording *recording,
                            const struct trace_stream *stream, struct counts *counts)
{
    const struct process *process = judged_recording_process(recording, stream);
    if (!process)
        return 0;
    uint64_t filters[FILTERS][2] = {{PAGE, (uint64_t)1 << 47}};
    uint8_t *bitmap = calloc(1, BITMAP);
    struct code *code = calloc(1, sizeof(*code));
    address_space_cursor_init(&code->cursor, process);
    address_space_cursor_advance(&code->cursor, (struct ticks){UINT64_MAX});
    void *decoder = libxdc->init(filters, fetch_page, code, bitmap, BITMAP);
    libxdc->on_edge(decoder, count_edge, counts);
    libxdc->enable(decoder);
    double seconds = 0;
    for (size_t i = 0; i < stream->segments.count; i++)
        seconds += decode_segment(libxdc, decoder, recording, trace_segment_at(stream, i), counts);
    libxdc->free(decoder);
    for (size_t i = 0; i < BITMAP; i++) {
        for (struct page *page = code->pages[i], *next; page; page = next) {
            next = page->next;
            free(page);
        }
    }
    address_space_cursor_free(&code->cursor);
    free(code);
    free(bitmap);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "Usage: libxdc_alone LIBRARY RECORDING\n");
        return 2;
    }
    struct libxdc libxdc = load(argv[1]);
    struct judged_recording recording;
    struct error error;
    double began = bench_cpu_seconds();
    if (!judged_recording_open(&recording, argv[2], &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct counts counts = {0};
    double seconds = 0;
    for (size_t i = 0; i < recording.streams.streams.count; i++)
        seconds +=
            decode_stream(&libxdc, &recording, trace_stream_at(&recording.streams, i), &counts);
    printf("{\"open_seconds\": %.6f, \"seconds\": %.6f, \"bytes\": %" PRIu64 ", \"edges\": %" PRIu64
           ", \"errors\": %" PRIu64 "}\n",
           bench_cpu_seconds() - began - seconds, seconds, counts.bytes, counts.edges,
           counts.errors);
    judged_recording_close(&recording);
    return 0;
}
