/* libipt_alone packets|blocks RECORDING: what libipt alone needs for the packets of a recording.
 *
 * packets: its packet decoder. blocks: its block decoder as fast as it goes: blocks run on across
 * direct calls and jumps, events are taken and dropped, all code is loaded before. Called by
 * bench/decode. Prints one line of JSON; seconds of processor time. `branches` are those that
 * packets record: TNT bits and TIP packets.
 */
#include "bench_clock.h"
#include "judged_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Code stays mapped, and its blocks remembered, as in src/flow. */
enum { SECTION_CACHE_BYTES = 1 << 30 };

struct counts {
    uint64_t bytes, packets, branches, blocks, instructions, errors;
};

static void count_packet(struct counts *counts, const struct pt_packet *packet)
{
    counts->packets++;
    switch (packet->type) {
    case ppt_tnt_8:
    case ppt_tnt_64:
        counts->branches += packet->payload.tnt.bit_size;
        break;
    case ppt_tip:
        counts->branches++;
        break;
    default:
        break;
    }
}

static void decode_packets(const struct pt_config *config, struct counts *counts)
{
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
    while (decoder && pt_pkt_sync_forward(decoder) >= 0) {
        struct pt_packet packet;
        int status;
        while ((status = pt_pkt_next(decoder, &packet, sizeof(packet))) >= 0)
            count_packet(counts, &packet);
        counts->errors += status != -pte_eos;
    }
    pt_pkt_free_decoder(decoder);
}

static int take_events(struct pt_block_decoder *decoder, int status)
{
    struct pt_event event;
    while (status >= 0 && status & pts_event_pending)
        status = pt_blk_event(decoder, &event, sizeof(event));
    return status;
}

static void decode_blocks(const struct pt_config *config, struct pt_image *image,
                          struct counts *counts)
{
    struct pt_block_decoder *decoder = pt_blk_alloc_decoder(config);
    if (!decoder)
        return;
    pt_blk_set_image(decoder, image);
    int status;
    while ((status = pt_blk_sync_forward(decoder)) >= 0) {
        while ((status = take_events(decoder, status)) >= 0 && !(status & pts_eos)) {
            struct pt_block block;
            status = pt_blk_next(decoder, &block, sizeof(block));
            counts->blocks++;
            counts->instructions += block.ninsn;
            if (status < 0)
                break;
        }
        counts->errors += status < 0 && status != -pte_eos;
    }
    pt_blk_free_decoder(decoder);
}

/* All code that the process ever had, without looking at when. */
static struct pt_image *load_code(const struct process *process,
                                  struct pt_image_section_cache *sections)
{
    struct pt_image *image = pt_image_alloc(NULL);
    for (size_t i = 0; i < process->change_count; i++) {
        const struct mapping *mapping = &process->changes[i].mapping;
        if (process->changes[i].kind != ADDRESS_SPACE_MAP || !mapping->file ||
            !mapping->file->local_path)
            continue;
        int section = pt_iscache_add_file(sections, mapping->file->local_path, mapping->file_offset,
                                          mapping->end - mapping->start, mapping->start);
        if (section > 0)
            pt_image_add_cached(image, sections, section, NULL);
    }
    return image;
}

static void decode_stream(const struct judged_recording *recording, size_t number, bool blocks,
                          struct pt_image_section_cache *sections, struct counts *counts)
{
    const struct trace_stream *stream = trace_stream_at(&recording->streams, number);
    const struct process *process = judged_recording_process(recording, stream);
    if (blocks && !process)
        return;
    struct pt_image *image = blocks ? load_code(process, sections) : NULL;
    for (size_t i = 0; i < stream->segments.count; i++) {
        const struct trace_segment *segment = trace_segment_at(stream, i);
        struct pt_config config;
        uint8_t *copy;
        const uint8_t *bytes = trace_segment_bytes(segment, &copy);
        judged_recording_config(recording, &config, bytes, segment->size);
        if (blocks)
            decode_blocks(&config, image, counts);
        else
            decode_packets(&config, counts);
        counts->bytes += segment->size;
        free(copy);
    }
    pt_image_free(image);
}

int main(int argc, char **argv)
{
    bool blocks = argc == 3 && strcmp(argv[1], "blocks") == 0;
    if (!blocks && (argc != 3 || strcmp(argv[1], "packets") != 0)) {
        fprintf(stderr, "Usage: libipt_alone packets|blocks RECORDING\n");
        return 2;
    }
    struct judged_recording recording;
    struct error error;
    double began = bench_cpu_seconds();
    if (!judged_recording_open(&recording, argv[2], &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double opened = bench_cpu_seconds();
    struct pt_image_section_cache *sections = pt_iscache_alloc(NULL);
    pt_iscache_set_limit(sections, SECTION_CACHE_BYTES);
    struct counts counts = {0};
    for (size_t i = 0; i < recording.streams.streams.count; i++)
        decode_stream(&recording, i, blocks, sections, &counts);
    printf("{\"open_seconds\": %.6f, \"seconds\": %.6f, \"bytes\": %" PRIu64
           ", \"packets\": %" PRIu64 ", \"branches\": %" PRIu64 ", \"blocks\": %" PRIu64
           ", \"instructions\": %" PRIu64 ", \"errors\": %" PRIu64 "}\n",
           opened - began, bench_cpu_seconds() - opened, counts.bytes, counts.packets,
           counts.branches, counts.blocks, counts.instructions, counts.errors);
    pt_iscache_free(sections);
    judged_recording_close(&recording);
    return 0;
}
