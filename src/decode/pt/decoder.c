/* The decoder: its beginning, its loop, and its end. */
#include "decode/pt/decoder.h"

#include "base/memory.h"
#include "decode/pt/decoder_state.h"

#include <stdlib.h>

struct decoder_shared *decoder_shared_open(const struct perf_data *data, struct symbols *symbols)
{
    struct decoder_shared *shared = memory_allocate_zeroed(sizeof(*shared));
    shared->setup = &data->setup;
    shared->errata = errata_of(&data->cpu);
    shared->traced = traced_code_read(data->setup.filters);
    shared->symbols = symbols;
    return shared;
}

void decoder_shared_close(struct decoder_shared *shared)
{
    traced_code_free(&shared->traced);
    free(shared);
}

const char *decoder_error_text(uint8_t code)
{
    return decode_error_text(code);
}

struct decoder_memory *decoder_memory_new(void)
{
    struct decoder_memory *memory = memory_allocate(sizeof(*memory));
    memory->processes = array_of(sizeof(struct tnt_cache *));
    return memory;
}

void decoder_memory_free(struct decoder_memory *memory)
{
    for (size_t i = 0; i < memory->processes.count; i++) {
        struct tnt_cache *tnt_cache = *(struct tnt_cache **)array_at(&memory->processes, i);
        tnt_cache_free(tnt_cache);
        free(tnt_cache);
    }
    array_free(&memory->processes);
    free(memory);
}

struct decoder *decoder_open(struct decoder_shared *shared, struct decoder_memory *memory,
                             const struct decoder_input *input)
{
    struct decoder *decoder = memory_allocate_zeroed(sizeof(*decoder));
    decoder->shared = shared;
    decoder->memory = memory;
    decoder->input = *input;
    decoder->next = input->bytes + input->start;
    decoder->stop = input->bytes + input->stop;
    decoder->end = input->bytes + input->size;
    decoder->mode = decoder->next_mode = X86_MODE_64;
    packet_time_init(&decoder->time, shared->setup);
    control_flow_init(&decoder->flow);
    decoder->flow.observer = input->observer;
    decoder->packet = decoder->next;
    decoder->flow.batch.reorder_buffer = input->reorder_buffer;
    decoder_begin(decoder);
    return decoder;
}

void decoder_close(struct decoder *decoder)
{
    control_flow_free(&decoder->flow);
    free(decoder);
}

void decoder_add_statistics(const struct decoder *decoder, struct flow_statistics *statistics)
{
    statistics->bytes += decoder->input.stop - decoder->input.start;
    statistics->instructions += decoder->flow.position;
}

/* The trace segment ends. */
static void finish_segment(struct decoder *decoder)
{
    struct control_flow *flow = &decoder->flow;
    decoder_report_place(decoder);
    control_flow_time(flow, flow->position, decoder->time.now);
    if (decoder->input.lost_after)
        control_flow_gap(flow, FLOW_GAP_LOST, 0, 0);
    else
        control_flow_end(flow);
    event_batch_flush(&flow->batch, NULL);
}

/* Tracing continues in the next PSB segment, in the state that its PSB gives. */
static void finish_psb_segment(struct decoder *decoder)
{
    decoder_take_next_psb_segment(decoder);
    event_batch_finish(&decoder->flow.batch);
}

bool decoder_run(struct decoder *decoder, uint64_t steps)
{
    while (!decoder->ended && steps) {
        steps--;
        if (decoder->plain && decoder->flow.observer)
            decoder_take_counted_packets(decoder, &steps);
        else if (decoder->plain)
            decoder_take_fast_packets(decoder, &steps);
        if (decoder->next >= decoder->stop) {
            if (decoder->stop == decoder->end)
                finish_segment(decoder);
            else
                finish_psb_segment(decoder);
            decoder->ended = true;
        } else {
            decoder_take_packet(decoder);
            decoder_settle(decoder);
        }
    }
    return !decoder->ended;
}
