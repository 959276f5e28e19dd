/* The transcoder: random ways through real code, and each kind of record by itself; the packets are
 * decoded by libipt. */
#include "engine/translator/transcoder.h"

#include "random_walk.h"

#include <intel-pt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- Transcoding --- */

struct packets {
    uint8_t *bytes;
    size_t size;
    uint64_t instructions, losses;
    struct error damage;
};

static struct packets transcode(struct made_arena *made)
{
    struct transcoder *transcoder = calloc(1, sizeof *transcoder);
    char folder[96];
    snprintf(folder, sizeof folder, "%s/translator", made->directory);
    struct transcoder_shared shared = {.arena = &made->arena,
                                       .folder = folder,
                                       .fragments = fragments_open(&made->arena),
                                       .ways = ways_open()};
    struct error error;
    if (!transcoder_begin(transcoder, &shared, made->slot, &error))
        fail_msg("%s", error.text);
    transcoder_begin_ring(transcoder);
    transcoder_read(transcoder);
    transcoder_finish(transcoder);
    const struct pt_encoder *encoder = transcoder->encoder;
    struct packets packets = {
        .size = atomic_load(&encoder->head),
        .instructions = pt_encoder_instructions(encoder),
        .losses = encoder->losses,
        .damage = transcoder->damage,
    };
    packets.bytes = malloc(packets.size + PT_DRAIN_SIZE);
    memcpy(packets.bytes, transcoder->file.packets, packets.size);
    packets.size += pt_encoder_drain(encoder, packets.bytes + packets.size);
    transcoder_close(transcoder);
    fragments_close(shared.fragments);
    ways_close(shared.ways);
    free(transcoder);
    return packets;
}

/* --- What libipt makes of the packets --- */

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
                     void *context)
{
    uint64_t first = (uint64_t)(uintptr_t)walked_code, end = (uint64_t)(uintptr_t)walked_end;
    if (ip < first || ip >= end)
        return -pte_nomap;
    if (size > end - ip)
        size = end - ip;
    memcpy(buffer, (const void *)(uintptr_t)ip, size);
    return (int)size;
}

struct decoded {
    struct array instructions; /* of uint64_t */
    struct array times;        /* of uint64_t: of each, in ticks; 0: not known */
    int status;                /* of libipt, at the end */
};

static int take_events(struct pt_insn_decoder *decoder, int status)
{
    while (status >= 0 && status & pts_event_pending) {
        struct pt_event event;
        status = pt_insn_event(decoder, &event, sizeof event);
    }
    return status;
}

static struct decoded decode(const struct packets *packets)
{
    struct decoded decoded = {array_of(sizeof(uint64_t)), array_of(sizeof(uint64_t)), 0};
    struct pt_config config;
    pt_config_init(&config);
    config.begin = packets->bytes;
    config.end = packets->bytes + packets->size;
    config.cpuid_0x15_eax = 1;
    config.cpuid_0x15_ebx = 1;
    config.nom_freq = 26;
    struct pt_insn_decoder *decoder = pt_insn_alloc_decoder(&config);
    struct pt_image *image = pt_image_alloc(NULL);
    pt_image_set_callback(image, read_code, NULL);
    pt_insn_set_image(decoder, image);
    int status = pt_insn_sync_forward(decoder);
    while (status >= 0) {
        status = take_events(decoder, status);
        if (status < 0 || status & pts_eos)
            break;
        struct pt_insn instruction;
        status = pt_insn_next(decoder, &instruction, sizeof instruction);
        if (status < 0)
            break;
        *(uint64_t *)array_add(&decoded.instructions) = instruction.ip;
        uint64_t time = 0;
        pt_insn_time(decoder, &time, NULL, NULL);
        *(uint64_t *)array_add(&decoded.times) = time;
    }
    decoded.status = status;
    pt_image_free(image);
    pt_insn_free_decoder(decoder);
    return decoded;
}

static void free_decoded(struct decoded *decoded)
{
    array_free(&decoded->instructions);
    array_free(&decoded->times);
}

static uint64_t value_at(const struct array *array, size_t index)
{
    return *(uint64_t *)array_at(array, index);
}

/* --- Random ways --- */

static void expect_way(const struct walk_options *options)
{
    enum { LAST_FRAGMENT = 100 }; /* instructions that a killed thread may have run unseen */
    struct made_arena made;
    struct walk walk;
    made_arena_open(&made, NULL);
    walk_make(&walk, options);
    walk_log(&walk, &made);
    assert_true(made.position < MADE_RING);
    struct packets packets = transcode(&made);
    if (packets.damage.code != ERROR_NONE)
        fail_msg("seed %u: %s", options->seed, packets.damage.text);
    assert_int_equal(packets.losses, 0);
    struct decoded decoded = decode(&packets);
    struct array expected = walk_instructions(&walk);
    size_t count = decoded.instructions.count;
    for (size_t i = 0; i < count && i < expected.count; i++)
        if (value_at(&decoded.instructions, i) != value_at(&expected, i))
            fail_msg("seed %u: instruction %zu of %zu is at %+lld of the code, not at %+lld",
                     options->seed, i, count,
                     (long long)(value_at(&decoded.instructions, i) - (uintptr_t)walked_code),
                     (long long)(value_at(&expected, i) - (uintptr_t)walked_code));
    if (decoded.status != -pte_eos && decoded.status < 0)
        fail_msg("seed %u: libipt: %s after %zu of %zu instructions", options->seed,
                 pt_errstr(pt_errcode(decoded.status)), count, expected.count);
    assert_true(count <= expected.count + 20);
    assert_true(count + LAST_FRAGMENT >= expected.count);
    array_free(&expected);
    free_decoded(&decoded);
    free(packets.bytes);
    walk_free(&walk);
    made_arena_close(&made);
}

static void random_ways_are_decoded_as_they_were(void **state)
{
    for (unsigned seed = 1; seed <= 30; seed++)
        expect_way(&(struct walk_options){.seed = seed, .steps = 3000});
}

static void random_ways_with_signals_are_decoded_as_they_were(void **state)
{
    for (unsigned seed = 1; seed <= 30; seed++)
        expect_way(&(struct walk_options){.seed = seed, .steps = 1000, .signals = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ways_are_decoded_as_they_were),
        cmocka_unit_test(random_ways_with_signals_are_decoded_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
