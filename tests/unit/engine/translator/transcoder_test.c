/* The transcoder: random ways through real code, and each kind of record by itself; the packets are
 * decoded by libipt. */
#include "engine/translator/transcode/transcoder.h"

#include "base/file.h"
#include "engine/translator/transcode/off_cpu_file.h"
#include "packet/call_values_head.h"
#include "packet/callchain_snapshot.h"
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

static void read_packet_bytes(const struct packet_file *file, uint8_t *bytes, size_t size)
{
    struct file_view view;
    assert_true(file_map(&view, file->path, NULL));
    assert_int_equal(view.size, PACKET_RING_PAGE + size);
    memcpy(bytes, view.bytes + PACKET_RING_PAGE, size);
    file_unmap(&view);
}

/* `off_cpu` may be NULL. */
static struct packets transcode_with(struct made_arena *made, struct fragments *fragments,
                                     struct ways *ways, struct off_cpu *off_cpu, bool hurry)
{
    struct transcoder *transcoder = calloc(1, sizeof *transcoder);
    char folder[96];
    snprintf(folder, sizeof folder, "%s/translator", made->directory);
    struct transcoder_shared shared = {.arena = &made->arena,
                                       .folder = folder,
                                       .fragments = fragments,
                                       .ways = ways,
                                       .off_cpu = off_cpu};
    struct error error;
    if (!transcoder_begin(transcoder, &shared, made->slot, made->slot->first_time, &error))
        fail_msg("%s", error.text);
    transcoder_begin_ring(transcoder);
    transcoder_hurry(transcoder, hurry);
    transcoder_read(transcoder);
    transcoder_finish(transcoder);
    const struct pt_encoder *encoder = transcoder->coder.encoder;
    struct packets packets = {
        .size = atomic_load(&encoder->head),
        .instructions = pt_encoder_instructions(encoder),
        .losses = encoder->losses,
        .damage = transcoder->damage,
    };
    packets.bytes = malloc(packets.size + PT_DRAIN_SIZE);
    read_packet_bytes(&transcoder->coder.file, packets.bytes, packets.size);
    packets.size += pt_encoder_drain(encoder, packets.bytes + packets.size);
    transcoder_close(transcoder);
    free(transcoder);
    return packets;
}

/* A recording that a killed magic-trace has left: with what it had read of context switches, if anything. */
static struct packets transcode(struct made_arena *made)
{
    struct fragments *fragments = fragments_open(&made->arena);
    struct ways *ways = ways_open();
    struct off_cpu *off_cpu = off_cpu_salvage(&made->arena, made->directory);
    struct packets packets = transcode_with(made, fragments, ways, off_cpu, false);
    off_cpu_close(off_cpu);
    fragments_close(fragments);
    ways_close(ways);
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
    struct array times;        /* of uint64_t: of each, in ticks */
    struct array events;       /* of struct decoded_event */
    int status;                /* of libipt, at the end */
};

struct decoded_event {
    enum pt_event_type type;
    size_t before; /* instructions before it */
    uint64_t ip;
};

static int take_events(struct pt_insn_decoder *decoder, int status, struct decoded *decoded)
{
    while (status >= 0 && status & pts_event_pending) {
        struct pt_event event;
        status = pt_insn_event(decoder, &event, sizeof event);
        if (status < 0)
            break;
        struct decoded_event *added = array_add(&decoded->events);
        added->type = event.type;
        added->before = decoded->instructions.count;
        if (event.type == ptev_async_disabled)
            added->ip = event.variant.async_disabled.at;
        else if (event.type == ptev_enabled)
            added->ip = event.variant.enabled.ip;
    }
    return status;
}

/* From the first PSB at or after `from` on. */
static struct decoded decode_from(const struct packets *packets, uint64_t from)
{
    struct decoded decoded = {array_of(sizeof(uint64_t)), array_of(sizeof(uint64_t)),
                              array_of(sizeof(struct decoded_event)), 0};
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
    int status = pt_insn_sync_set(decoder, from);
    while (status >= 0) {
        status = take_events(decoder, status, &decoded);
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
    array_free(&decoded->events);
}

static bool is_sound(const struct decoded *decoded)
{
    return decoded->status >= 0 || decoded->status == -pte_eos;
}

static uint64_t value_at(const struct array *array, size_t index)
{
    return *(uint64_t *)array_at(array, index);
}

/* --- Random ways --- */

enum { LAST_FRAGMENT = 100 }; /* instructions that a killed thread may have run unseen */

static void expect_instructions(const struct decoded *decoded, const struct array *expected,
                                unsigned seed)
{
    size_t count = decoded->instructions.count;
    for (size_t i = 0; i < count && i < expected->count; i++)
        if (value_at(&decoded->instructions, i) != value_at(expected, i))
            fail_msg("seed %u: instruction %zu of %zu is at %+lld of the code, not at %+lld", seed,
                     i, count,
                     (long long)(value_at(&decoded->instructions, i) - (uintptr_t)walked_code),
                     (long long)(value_at(expected, i) - (uintptr_t)walked_code));
    if (!is_sound(decoded))
        fail_msg("seed %u: libipt: %s after %zu of %zu instructions", seed,
                 pt_errstr(pt_errcode(decoded->status)), count, expected->count);
    assert_true(count <= expected->count + 20);
    assert_true(count + LAST_FRAGMENT >= expected->count);
}

/* Decoders spread the time between two packets evenly over the instructions between them. */
static void expect_times(const struct decoded *decoded)
{
    enum { FAR = 100 * WALK_TICKS };
    size_t from = 0;
    for (size_t i = 0; i < decoded->times.count; i++) {
        uint64_t begin = value_at(&decoded->times, from), end = value_at(&decoded->times, i);
        for (size_t at = from; begin != end && at < i; at++) {
            uint64_t time = begin + (end - begin) * (at - from) / (i - from);
            uint64_t expected = WALK_START_TIME + WALK_TICKS * at;
            if (time > expected + FAR || time + FAR < expected)
                fail_msg("instruction %zu has time %llu, not about %llu", at,
                         (unsigned long long)time, (unsigned long long)expected);
        }
        if (begin != end)
            from = i;
    }
}

static void expect_packets(const struct packets *packets, const struct walk *walk, unsigned seed)
{
    if (packets->damage.code != ERROR_NONE)
        fail_msg("seed %u: %s", seed, packets->damage.text);
    assert_int_equal(packets->losses, 0);
    struct decoded decoded = decode_from(packets, 0);
    struct array expected = walk_instructions(walk);
    expect_instructions(&decoded, &expected, seed);
    expect_times(&decoded);
    assert_true(packets->instructions >= decoded.instructions.count);
    assert_true(packets->instructions <= decoded.instructions.count + LAST_FRAGMENT);
    array_free(&expected);
    free_decoded(&decoded);
}

static void expect_way(const struct walk_options *options)
{
    struct made_arena made;
    struct walk walk;
    made_arena_open(&made, NULL);
    walk_make(&walk, options);
    walk_log(&walk, &made, NULL);
    assert_true(made.position < MADE_RING);
    struct packets packets = transcode(&made);
    expect_packets(&packets, &walk, options->seed);
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

/* The same log again and again: its ways become chains, which are taken like the ways before. Long ones if the program waits. */
static void expect_repeated_way(const struct walk_options *options, bool hurry)
{
    enum { REPEATS = 20 };
    struct made_arena made;
    struct walk walk;
    made_arena_open(&made, NULL);
    walk_make(&walk, options);
    walk_log(&walk, &made, NULL);
    struct fragments *fragments = fragments_open(&made.arena);
    struct ways *ways = ways_open();
    const struct way_table *table = ways_table(ways, atomic_load(&made.slot->table));
    for (unsigned i = 0; i < REPEATS; i++) {
        struct packets packets = transcode_with(&made, fragments, ways, NULL, hurry);
        expect_packets(&packets, &walk, options->seed);
        free(packets.bytes);
    }
    assert_true(table->chains->count > 0);
    assert_int_equal(table->long_chains && table->long_chains->count > 0, hurry);
    fragments_close(fragments);
    ways_close(ways);
    walk_free(&walk);
    made_arena_close(&made);
}

static void ways_that_repeat_are_decoded_as_they_were(void **state)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        const struct walk_options plain = {.seed = seed, .steps = 3000};
        expect_repeated_way(&plain, false);
        expect_repeated_way(&plain, true);
        expect_repeated_way(&(struct walk_options){.seed = seed, .steps = 1000, .signals = true},
                            false);
    }
}

/* --- Callers after PSBs --- */

struct chain {
    uint64_t psb; /* offset */
    bool whole;
    struct array callers; /* of uint64_t, the innermost first */
};

/* The lists in the packets, of struct chain. */
static struct array read_chains(const struct packets *packets)
{
    struct array chains = array_of(sizeof(struct chain));
    struct pt_config config;
    pt_config_init(&config);
    config.begin = packets->bytes;
    config.end = packets->bytes + packets->size;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    pt_pkt_sync_set(decoder, 0);
    uint64_t psb = 0;
    for (;;) {
        struct pt_packet packet;
        uint64_t offset;
        pt_pkt_get_offset(decoder, &offset);
        if (pt_pkt_next(decoder, &packet, sizeof packet) < 0)
            break;
        if (packet.type == ppt_psb)
            psb = offset;
        if (packet.type != ppt_mnt)
            continue;
        uint64_t payload = packet.payload.mnt.payload;
        if (callchain_is_header(payload)) {
            *(struct chain *)array_add(&chains) =
                (struct chain){psb, callchain_is_whole(payload), array_of(sizeof(uint64_t))};
            continue;
        }
        struct chain *chain = array_at(&chains, chains.count - 1);
        uint64_t caller = payload & (CALLCHAIN_ADDRESS_MASK | CALLCHAIN_INTERRUPTED);
        for (uint32_t i = 0; i <= callchain_repeated(payload); i++)
            *(uint64_t *)array_add(&chain->callers) = caller;
    }
    pt_pkt_free_decoder(decoder);
    return chains;
}

/* What is reported are callers at that place, the innermost ones if not all. */
static bool is_true_chain(const struct chain *chain, const struct walk *walk,
                          const struct walk_step *step)
{
    if (chain->callers.count > step->caller_count ||
        (chain->whole && chain->callers.count < step->caller_count))
        return false;
    for (size_t i = 0; i < chain->callers.count; i++)
        if (value_at(&chain->callers, i) !=
            value_at(&walk->callers, step->first_caller + step->caller_count - 1 - i))
            return false;
    return true;
}

static bool is_returning_from_handler(const struct walk_step *step)
{
    return step->pc >= (uintptr_t)walked_return && step->pc < (uintptr_t)walked_end;
}

/* Returns how many callers were reported. */
static size_t expect_chains(const struct walk_options *options)
{
    struct made_arena made;
    struct walk walk;
    made_arena_open(&made, NULL);
    walk_make(&walk, options);
    walk_log(&walk, &made, NULL);
    struct packets packets = transcode(&made);
    struct array chains = read_chains(&packets);
    struct decoded all = decode_from(&packets, 0);
    size_t reported = 0;
    for (size_t i = 0; i < chains.count; i++) {
        struct chain *chain = array_at(&chains, i);
        struct decoded rest = decode_from(&packets, chain->psb);
        size_t before = all.instructions.count - rest.instructions.count;
        const struct walk_step *step = walk_step_of(&walk, before);
        if (step && !is_returning_from_handler(step) && !is_true_chain(chain, &walk, step))
            fail_msg("seed %u: at instruction %zu, %zu callers, not these %zu", options->seed,
                     before, (size_t)step->caller_count, chain->callers.count);
        reported += chain->callers.count;
        array_free(&chain->callers);
        free_decoded(&rest);
    }
    assert_true(chains.count > 0);
    array_free(&chains);
    free_decoded(&all);
    free(packets.bytes);
    walk_free(&walk);
    made_arena_close(&made);
    return reported;
}

static void callers_are_reported_after_psbs(void **state)
{
    size_t reported = 0;
    for (unsigned seed = 1; seed <= 20; seed++)
        reported += expect_chains(&(struct walk_options){.seed = seed, .steps = 4000});
    assert_true(reported > 100);
}

static void callers_below_handlers_and_longjmps_are_true(void **state)
{
    size_t reported = 0;
    for (unsigned seed = 1; seed <= 40; seed++)
        reported +=
            expect_chains(&(struct walk_options){.seed = seed, .steps = 1000, .signals = true});
    assert_true(reported > 50);
}

/* --- One record at a time --- */

struct places {
    uint64_t start;       /* call first */
    uint64_t first;       /* test; jz */
    uint64_t call;        /* call second; after the jz */
    uint64_t leaf;        /* nop; ret */
    uint64_t handler;     /* push; test; jz */
    uint64_t handler_end; /* after that */
    uint64_t system_call; /* mov; syscall */
};

static struct places find_places(void)
{
    struct places places = {.start = (uintptr_t)walked_code,
                            .leaf = walked_functions[4],
                            .handler = (uintptr_t)walked_handler,
                            .system_call = (uintptr_t)walked_return};
    places.first = made_block_at(places.start, 0).target;
    places.call = made_block_at(places.first, 0).end;
    places.handler_end = made_block_at(places.handler, 0).end;
    return places;
}

static uint32_t fragment_at(struct made_arena *made, uint64_t pc)
{
    return made_fragment(made, &pc, 1, 0);
}

/* A packet, when. */
struct timed_packet {
    enum pt_packet_type type;
    uint64_t time;
};

/* All but those that only have the time, of struct timed_packet. */
static struct array read_packets(const struct packets *packets)
{
    struct array timed = array_of(sizeof(struct timed_packet));
    struct pt_config config;
    struct pt_packet packet;
    uint64_t time = 0;
    pt_config_init(&config);
    config.begin = packets->bytes;
    config.end = packets->bytes + packets->size;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    pt_pkt_sync_set(decoder, 0);
    while (pt_pkt_next(decoder, &packet, sizeof packet) >= 0) {
        if (packet.type == ppt_tsc)
            time = packet.payload.tsc.tsc;
        else if (packet.type == ppt_cyc)
            time += packet.payload.cyc.value;
        else
            *(struct timed_packet *)array_add(&timed) = (struct timed_packet){packet.type, time};
    }
    pt_pkt_free_decoder(decoder);
    return timed;
}

struct scene {
    struct made_arena made;
    struct places at;
    struct packets packets;
    struct decoded decoded;
    struct array timed; /* of struct timed_packet */
};

static struct scene *begin_scene(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    made_arena_open(&scene->made, NULL);
    scene->at = find_places();
    return scene;
}

static void enter(struct scene *scene, uint64_t pc, bool indirect)
{
    made_entry(&scene->made, fragment_at(&scene->made, pc), indirect);
}

/* libipt binds one PTWRITE to an instruction, and may refuse more. */
static void play_without_judge(struct scene *scene)
{
    scene->packets = transcode(&scene->made);
    scene->decoded = decode_from(&scene->packets, 0);
    scene->timed = read_packets(&scene->packets);
}

static void play(struct scene *scene)
{
    play_without_judge(scene);
    if (!is_sound(&scene->decoded))
        fail_msg("libipt: %s", pt_errstr(pt_errcode(scene->decoded.status)));
}

enum { TIME = WALK_START_TIME, END = TIME + 10000 };

/* The log ends before `pc`. */
static void play_until(struct scene *scene, uint64_t pc)
{
    MADE_EVENT(&scene->made, TR_STOP, TR_SLOT_LET_GO, END, pc);
    play(scene);
}

static void end_scene(struct scene *scene)
{
    array_free(&scene->timed);
    free_decoded(&scene->decoded);
    free(scene->packets.bytes);
    made_arena_close(&scene->made);
    free(scene);
}

static void expect_ips(const struct scene *scene, const uint64_t *ips, size_t count)
{
    const struct array *instructions = &scene->decoded.instructions;
    assert_int_equal(scene->packets.damage.code, ERROR_NONE);
    assert_int_equal(instructions->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(value_at(instructions, i), ips[i]);
}

#define EXPECT_IPS(scene, ...)                                                                     \
    expect_ips(scene, (const uint64_t[]){__VA_ARGS__},                                             \
               sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static const struct decoded_event *find_event(const struct scene *scene, enum pt_event_type type,
                                              size_t before)
{
    for (size_t i = 0; i < scene->decoded.events.count; i++) {
        const struct decoded_event *event = array_at(&scene->decoded.events, i);
        if (event->type == type && event->before == before)
            return event;
    }
    return NULL;
}

/* The time of packet number `index` of that type; 0: there is none. */
static uint64_t time_of(const struct scene *scene, enum pt_packet_type type, unsigned index)
{
    for (size_t i = 0; i < scene->timed.count; i++) {
        const struct timed_packet *packet = array_at(&scene->timed, i);
        if (packet->type == type && index-- == 0)
            return packet->time;
    }
    return 0;
}

static void the_log_ends_where_it_says(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->start, true);
    enter(scene, at->first, false);
    MADE_EVENT(&scene->made, TR_STOP, TR_SLOT_LET_GO, TIME + 50, at->first + 2);
    enter(scene, at->leaf, false); /* of nobody */
    play(scene);
    EXPECT_IPS(scene, at->start, at->first);
    const struct decoded_event *end = find_event(scene, ptev_async_disabled, 2);
    assert_non_null(end);
    assert_int_equal(end->ip, at->first + 2);
    end_scene(scene);
}

/* As at the beginning of a chunk, of a thread whose stack cannot be read. */
static void copy_stack(struct scene *scene, uint64_t pc)
{
    MADE_EVENT(&scene->made, TR_CALLS, 0, 0x7fff0000, pc, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* The recording is over at the place at which a chunk begins, where nothing has run of the block yet. */
static void the_log_may_end_where_the_stack_was_copied(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->start, true);
    copy_stack(scene, at->first);
    enter(scene, at->first, false);
    MADE_EVENT(&scene->made, TR_STOP, TR_SLOT_LET_GO, TIME + 50, at->first);
    play(scene);
    EXPECT_IPS(scene, at->start);
    const struct decoded_event *end = find_event(scene, ptev_async_disabled, 1);
    assert_non_null(end);
    assert_int_equal(end->ip, at->first);
    end_scene(scene);
}

static void a_fault_that_the_program_does_not_see_leaves_no_trace(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->start, true);
    enter(scene, at->first, false);
    MADE_EVENT(&scene->made, TR_PARTIAL, 0, at->first + 2);
    enter(scene, at->first + 2, false);
    enter(scene, at->call, false);
    play_until(scene, made_block_at(at->call, 0).target);
    EXPECT_IPS(scene, at->start, at->first, at->first + 2, at->call);
    assert_null(find_event(scene, ptev_async_disabled, 2));
    end_scene(scene);
}

/* Plays a signal at `ip`, after `before` instructions. */
static void play_signal(struct scene *scene, size_t before, uint64_t ip)
{
    MADE_EVENT(&scene->made, TR_HANDLER, 10, TIME + 100, ip, 0x7fff0000, 0x7ffef000,
               scene->at.handler);
    enter(scene, scene->at.handler, false);
    play_until(scene, scene->at.handler_end);
    const struct decoded_event *event = find_event(scene, ptev_async_disabled, before);
    assert_non_null(event);
    assert_int_equal(event->ip, ip);
    event = find_event(scene, ptev_enabled, before);
    assert_non_null(event);
    assert_int_equal(event->ip, scene->at.handler);
    assert_int_equal(time_of(scene, ppt_tip_pge, 1), TIME + 100);
}

static void a_signal_interrupts_in_the_middle_of_a_block(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->first, true);
    MADE_EVENT(&scene->made, TR_PARTIAL, 1, at->first + 2);
    play_signal(scene, 1, at->first + 2);
    EXPECT_IPS(scene, at->first, at->handler, at->handler + 1, at->handler + 4);
    end_scene(scene);
}

static void a_signal_interrupts_before_a_fragment(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->first, true);
    enter(scene, at->call, false);
    MADE_EVENT(&scene->made, TR_PARTIAL, 1, at->call);
    play_signal(scene, 2, at->call);
    EXPECT_IPS(scene, at->first, at->first + 2, at->handler, at->handler + 1, at->handler + 4);
    end_scene(scene);
}

static void a_signal_interrupts_before_what_a_sigreturn_leads_to(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->system_call, true);
    MADE_EVENT(&scene->made, TR_SYSCALL, 15, TIME + 10);
    MADE_EVENT(&scene->made, TR_SIGRETURN, 0, TIME + 20);
    MADE_EVENT(&scene->made, TR_HANDLER, 10, TIME + 100, at->first, 0x7fff0000, 0x7ffef000,
               at->handler);
    MADE_EVENT(&scene->made, TR_RESUME, 0, TIME + 110);
    enter(scene, at->handler, false);
    play_until(scene, at->handler_end);
    const struct decoded_event *event = find_event(scene, ptev_async_disabled, 2);
    assert_non_null(event);
    assert_int_equal(event->ip, at->first);
    assert_int_equal(time_of(scene, ppt_tip_pge, 1), TIME + 100);
    end_scene(scene);
}

static void a_signal_interrupts_where_the_stack_was_copied(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->first, true);
    copy_stack(scene, at->call);
    enter(scene, at->call, false);
    MADE_EVENT(&scene->made, TR_PARTIAL, 0, at->call);
    play_signal(scene, 2, at->call);
    EXPECT_IPS(scene, at->first, at->first + 2, at->handler, at->handler + 1, at->handler + 4);
    end_scene(scene);
}

static void a_signal_interrupts_where_a_fragment_was_left(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->first, true);
    MADE_EVENT(&scene->made, TR_PARTIAL, 0, at->call);
    play_signal(scene, 2, at->call);
    EXPECT_IPS(scene, at->first, at->first + 2, at->handler, at->handler + 1, at->handler + 4);
    end_scene(scene);
}

static void a_jump_to_where_nothing_can_run_raises_a_signal(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->leaf, true);
    play_signal(scene, 2, 0x1234567000);
    EXPECT_IPS(scene, at->leaf, at->leaf + 1, at->handler, at->handler + 1, at->handler + 4);
    end_scene(scene);
}

/* Two blocks of a fragment have the instruction: nop, dec, jnz; and dec, jnz. */
static void play_overlap(struct scene *scene, uint32_t block, size_t before)
{
    uint64_t longer = made_block_at(scene->at.call, 0).end;
    uint64_t shorter = made_block_at(longer, 0).target;
    uint64_t blocks[] = {longer, shorter};
    made_entry(&scene->made, made_fragment(&scene->made, blocks, 2, 0), true);
    MADE_EVENT(&scene->made, TR_PARTIAL, block, shorter);
    play_signal(scene, before, shorter);
    end_scene(scene);
}

static void the_block_that_was_interrupted_is_named(void **state)
{
    play_overlap(begin_scene(), 1, 1);
    play_overlap(begin_scene(), 2, 3);
    play_overlap(begin_scene(), 3, 5); /* both have run, and the second leads there again */
    play_overlap(begin_scene(), 0, 1);
}

static void a_system_call_is_left_and_entered_at_its_times(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    uint64_t syscall = made_block_at(at->system_call, 0).last;
    enter(scene, at->system_call, true);
    MADE_EVENT(&scene->made, TR_SYSCALL, 15, TIME + 10);
    MADE_EVENT(&scene->made, TR_RESUME, 0, TIME + 5000);
    enter(scene, at->first, false);
    play_until(scene, at->call);
    EXPECT_IPS(scene, at->system_call, syscall, at->first, at->first + 2);
    assert_int_equal(time_of(scene, ppt_tip_pgd, 0), TIME + 10);
    assert_int_equal(time_of(scene, ppt_tip_pge, 1), TIME + 5000);
    end_scene(scene);
}

static void be_off_cpu(const struct scene *scene, uint64_t out, uint64_t in)
{
    struct off_cpu_file file = off_cpu_file_create(scene->made.directory);
    off_cpu_file_add(&file,
                     &(struct off_cpu_period){.out = out, .in = in, .tid = scene->made.slot->tid});
    off_cpu_file_publish(&file);
    off_cpu_file_close(&file);
}

/* perf adds up what passes between time packets: its clock would never get back. */
static void the_time_never_goes_back_after_a_pause(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    uint64_t syscall = made_block_at(at->system_call, 0).last;
    be_off_cpu(scene, TIME + 2000, TIME + 4000);
    enter(scene, at->leaf, true);
    enter(scene, at->system_call, true);
    MADE_EVENT(&scene->made, TR_STAMP, TR_STAMP_ENTRY, TIME + 4000);
    MADE_EVENT(&scene->made, TR_STAMP, TR_STAMP_ENTRY, TIME + 3000); /* of a clock that went back */
    MADE_EVENT(&scene->made, TR_SYSCALL, 15, TIME + 3500);
    MADE_EVENT(&scene->made, TR_RESUME, 0, TIME + 5000);
    enter(scene, at->first, false);
    play_until(scene, at->call);
    EXPECT_IPS(scene, at->leaf, at->leaf + 1, at->system_call, syscall, at->first, at->first + 2);
    assert_int_equal(time_of(scene, ppt_tip_pgd, 0), TIME + 4000);
    assert_int_equal(time_of(scene, ppt_tip_pge, 1), TIME + 5000);
    end_scene(scene);
}

/* The scene of a trigger that is hit at the second fragment, which `enter_second` enters. */
static struct scene *play_trigger_hit(void (*enter_second)(struct scene *, uint64_t, bool))
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->start, true);
    enter_second(scene, at->first, false);
    MADE_EVENT(&scene->made, TR_MARK, 0, TIME + 777);
    enter(scene, at->call, false);
    MADE_EVENT(&scene->made, TR_STAMP, TR_STAMP_ENTRY, TIME + 9000);
    play_until(scene, at->call);
    EXPECT_IPS(scene, at->start, at->first, at->first + 2);
    assert_int_equal(time_of(scene, ppt_exstop, 0), TIME + 777);
    return scene;
}

static void the_time_of_a_trigger_hit_is_exact(void **state)
{
    end_scene(play_trigger_hit(enter));
}

/* --- What belongs to a fragment's beginning, where a chunk begins, too --- */

/* As when the limit is reached at a trigger's fragment: the copy comes before its entry, then the time. */
static void enter_in_new_chunk(struct scene *scene, uint64_t pc, bool indirect)
{
    copy_stack(scene, pc);
    enter(scene, pc, indirect);
    MADE_EVENT(&scene->made, TR_STAMP, TR_STAMP_ENTRY, TIME + 500);
}

/* Where the PTWRITE packets with `head` are, one a place; 0: nowhere. */
static uint64_t place_of_head(const struct packets *packets, uint32_t head)
{
    struct pt_config config;
    struct pt_packet packet;
    uint64_t place = 0;
    bool found = false;
    pt_config_init(&config);
    config.begin = packets->bytes;
    config.end = packets->bytes + packets->size;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    pt_pkt_sync_set(decoder, 0);
    while (place == 0 && pt_pkt_next(decoder, &packet, sizeof packet) >= 0) {
        if (found && packet.type == ppt_fup)
            place = packet.payload.ip.ip;
        found |= packet.type == ppt_ptw && packet.payload.ptw.payload == head;
    }
    pt_pkt_free_decoder(decoder);
    return place;
}

/* The low bytes of a FUP, which may be compressed. */
static bool is_place(uint64_t place, uint64_t ip)
{
    return place != 0 && (place & 0xffff) == (ip & 0xffff);
}

static void expect_values(bool in_new_chunk)
{
    enum { PLACE = 3 };
    static const uint64_t value = 42;
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    const struct made_block leaf = made_block_at(at->leaf, 0);
    const struct call_values_head arguments = {PLACE, 1, false}, result = {PLACE, 1, true};
    enter(scene, at->leaf, true);
    if (in_new_chunk)
        enter_in_new_chunk(scene, at->first, true);
    else
        enter(scene, at->first, true);
    MADE_EVENT(&scene->made, TR_VALUES, 2, TR_VALUES_HEAD(PLACE, 1), value);
    MADE_EVENT(&scene->made, TR_VALUES, 2, TR_VALUES_HEAD(PLACE, 0), value);
    enter(scene, at->call, false);
    MADE_EVENT(&scene->made, TR_STOP, TR_SLOT_LET_GO, END, at->call);
    play_without_judge(scene);
    assert_true(is_place(place_of_head(&scene->packets, call_values_head(result)), leaf.last));
    assert_true(is_place(place_of_head(&scene->packets, call_values_head(arguments)), at->first));
    end_scene(scene);
}

static void values_are_where_they_were_recorded(void **state)
{
    expect_values(false);
}

static void values_where_a_chunk_begins_are_where_they_were_recorded(void **state)
{
    expect_values(true);
}

static void a_trigger_is_hit_where_a_chunk_begins(void **state)
{
    struct scene *scene = play_trigger_hit(enter_in_new_chunk);
    assert_true(time_of(scene, ppt_tnt_8, 0) > TIME + 777);
    end_scene(scene);
}

static void what_was_lost_is_a_gap(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->start, true);
    MADE_EVENT(&scene->made, TR_LOST, 0, TIME + 100);
    enter(scene, at->leaf, false);
    play_until(scene, at->leaf + 1);
    EXPECT_IPS(scene, at->leaf);
    assert_non_null(find_event(scene, ptev_overflow, 0));
    end_scene(scene);
}

/* Decoders take to new code when a packet has its time. */
static void new_code_is_entered_at_the_time_of_its_mapping(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->first, true);
    enter(scene, at->call, false);
    MADE_EVENT(&scene->made, TR_STAMP, TR_STAMP_NEW_CODE, TIME + 500);
    enter(scene, made_block_at(at->call, 0).target, false);
    play_until(scene, made_block_at(made_block_at(at->call, 0).target, 0).end);
    assert_int_equal(time_of(scene, ppt_tnt_8, 0), TIME + 500 - TR_MOMENT / 2);
    assert_int_equal(time_of(scene, ppt_fup, 0), TIME + 500);
    end_scene(scene);
}

static void new_code_is_entered_by_a_branch_that_needs_a_packet(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    enter(scene, at->first, true);
    enter(scene, at->call, false);
    enter(scene, made_block_at(at->call, 0).target, false);
    MADE_EVENT(&scene->made, TR_STAMP, TR_STAMP_NEW_CODE, TIME + 500);
    enter(scene, made_block_at(made_block_at(at->call, 0).target, 0).end, false);
    play_until(scene,
               made_block_at(made_block_at(made_block_at(at->call, 0).target, 0).end, 0).target);
    assert_int_equal(time_of(scene, ppt_tnt_8, 0), TIME + 500 - TR_MOMENT / 2);
    assert_true(time_of(scene, ppt_fup, 0) >= TIME + 500);
    assert_int_equal(scene->packets.losses, 0);
    end_scene(scene);
}

static void a_forked_child_runs_its_parents_fragments(void **state)
{
    struct scene *scene = begin_scene();
    const struct places *at = &scene->at;
    uint32_t parents = fragment_at(&scene->made, at->first);
    uint32_t child = made_table(&scene->made, 0, 5000);
    atomic_store(&scene->made.slot->table, child);
    MADE_EVENT(&scene->made, TR_FORKED, 0, TIME);
    made_entry(&scene->made, parents, false);
    enter(scene, at->call, false);
    play_until(scene, made_block_at(at->call, 0).target);
    EXPECT_IPS(scene, at->first, at->first + 2, at->call);
    end_scene(scene);
}

/* --- Rings that have wrapped --- */

static bool is_tail(const struct array *expected, const struct array *found)
{
    /* The last fragment of a killed thread is only known to have begun. */
    for (size_t unseen = 0; unseen < LAST_FRAGMENT; unseen++) {
        size_t count = found->count;
        if (count + unseen > expected->count)
            continue;
        const uint8_t *tail = array_at(expected, expected->count - unseen - count);
        if (memcmp(tail, found->elements, count * sizeof(uint64_t)) == 0)
            return true;
    }
    return false;
}

/* What was predicted of the last block may not have run: without it. */
static void drop_last_block(struct array *instructions)
{
    enum { LONGEST_BLOCK = 4 };
    instructions->count -= LONGEST_BLOCK;
}

static void the_end_of_a_long_way_is_in_the_ring(void **state)
{
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct made_arena made;
        struct walk walk;
        made_arena_open(&made, NULL);
        walk_make(&walk, &(struct walk_options){
                             .seed = seed, .steps = 8000 + 700 * seed, .signals = seed % 2});
        walk_log(&walk, &made, NULL);
        struct packets packets = transcode(&made);
        if (packets.damage.code != ERROR_NONE)
            fail_msg("seed %u: %s", seed, packets.damage.text);
        struct decoded decoded = decode_from(&packets, 0);
        struct array expected = walk_instructions(&walk);
        if (made.position > MADE_RING)
            assert_true(decoded.instructions.count < expected.count);
        assert_true(decoded.instructions.count > 1000);
        drop_last_block(&decoded.instructions);
        if (!is_sound(&decoded) || !is_tail(&expected, &decoded.instructions))
            fail_msg("seed %u: %s, %zu instructions", seed, pt_errstr(pt_errcode(decoded.status)),
                     decoded.instructions.count);
        array_free(&expected);
        free_decoded(&decoded);
        free(packets.bytes);
        walk_free(&walk);
        made_arena_close(&made);
    }
}

/* --- Damage --- */

static void expect_damage(struct scene *scene, const char *words)
{
    play(scene);
    const struct error *damage = &scene->packets.damage;
    assert_int_equal(damage->code, ERROR_FORMAT);
    if (!strstr(damage->text, words) ||
        !strstr(damage->text, "translator/arena is damaged: at byte"))
        fail_msg("not about %s: %s", words, damage->text);
    assert_int_equal(scene->packets.losses, 1);
    end_scene(scene);
}

/* A thread that has run something already. */
static struct scene *begin_damage(void)
{
    struct scene *scene = begin_scene();
    enter(scene, scene->at.system_call, true);
    MADE_EVENT(&scene->made, TR_SYSCALL, 15, TIME + 10);
    MADE_EVENT(&scene->made, TR_RESUME, 0, TIME + 20);
    enter(scene, scene->at.start, false);
    return scene;
}

static void a_way_that_cannot_be_is_damage(void **state)
{
    struct scene *scene = begin_damage();
    enter(scene, scene->at.leaf, false);
    expect_damage(scene, "cannot have been left");
}

static void a_fragment_without_description_is_damage(void **state)
{
    struct scene *scene = begin_damage();
    made_entry(&scene->made, 100000, false);
    expect_damage(scene, "has no blocks");
}

static void a_block_that_is_not_there_is_damage(void **state)
{
    struct scene *scene = begin_damage();
    made_event(&scene->made, TR_EXIT, 5, NULL, 0);
    expect_damage(scene, "by block 5");
}

static void an_interruption_that_cannot_be_is_damage(void **state)
{
    struct scene *scene = begin_damage();
    MADE_EVENT(&scene->made, TR_PARTIAL, 0, scene->at.leaf);
    expect_damage(scene, "cannot have been left");
}

static void a_word_that_is_no_record_is_damage(void **state)
{
    struct scene *scene = begin_damage();
    made_word(&scene->made, UINT32_MAX);
    expect_damage(scene, "no record");
}

/* Whatever is written anywhere in tables, slots and logs: nothing crashes or hangs, and the packets can be
 * decoded up to what is missing. */
static void any_damage_leaves_packets_that_can_be_decoded(void **state)
{
    enum { ROUNDS = 300 };
    struct made_arena made;
    struct walk walk;
    made_arena_open(&made, NULL);
    walk_make(&walk, &(struct walk_options){.seed = 5, .steps = 600, .signals = true});
    walk_log(&walk, &made, NULL);
    uint32_t random = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct {
            uint8_t *bytes;
            size_t size;
        } parts[] = {
            {(uint8_t *)made.slot + TR_SLOT_RING, made.position},
            {(uint8_t *)made.slot + 8, sizeof *made.slot - 8},
            {(uint8_t *)made.table + TR_PAGE, atomic_load(&made.table->tail) - TR_PAGE},
        };
        random = random * 1664525 + 1013904223;
        unsigned part = random >> 16 & 3;
        if (part == 3)
            part = 0;
        random = random * 1664525 + 1013904223;
        uint8_t *damaged = parts[part].bytes + random % parts[part].size, before = *damaged;
        random = random * 1664525 + 1013904223;
        *damaged = (uint8_t)(random >> 16);
        if (translator_arena_slot(&made.arena, 0, NULL)) {
            struct packets packets = transcode(&made);
            struct decoded decoded = decode_from(&packets, 0);
            free_decoded(&decoded);
            free(packets.bytes);
        }
        *damaged = before;
    }
    walk_free(&walk);
    made_arena_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ways_are_decoded_as_they_were),
        cmocka_unit_test(random_ways_with_signals_are_decoded_as_they_were),
        cmocka_unit_test(ways_that_repeat_are_decoded_as_they_were),
        cmocka_unit_test(callers_are_reported_after_psbs),
        cmocka_unit_test(callers_below_handlers_and_longjmps_are_true),
        cmocka_unit_test(the_log_ends_where_it_says),
        cmocka_unit_test(the_log_may_end_where_the_stack_was_copied),
        cmocka_unit_test(a_fault_that_the_program_does_not_see_leaves_no_trace),
        cmocka_unit_test(a_signal_interrupts_in_the_middle_of_a_block),
        cmocka_unit_test(a_signal_interrupts_before_a_fragment),
        cmocka_unit_test(a_signal_interrupts_before_what_a_sigreturn_leads_to),
        cmocka_unit_test(a_signal_interrupts_where_the_stack_was_copied),
        cmocka_unit_test(a_signal_interrupts_where_a_fragment_was_left),
        cmocka_unit_test(a_jump_to_where_nothing_can_run_raises_a_signal),
        cmocka_unit_test(a_system_call_is_left_and_entered_at_its_times),
        cmocka_unit_test(the_time_never_goes_back_after_a_pause),
        cmocka_unit_test(the_time_of_a_trigger_hit_is_exact),
        cmocka_unit_test(values_are_where_they_were_recorded),
        cmocka_unit_test(values_where_a_chunk_begins_are_where_they_were_recorded),
        cmocka_unit_test(a_trigger_is_hit_where_a_chunk_begins),
        cmocka_unit_test(what_was_lost_is_a_gap),
        cmocka_unit_test(new_code_is_entered_at_the_time_of_its_mapping),
        cmocka_unit_test(new_code_is_entered_by_a_branch_that_needs_a_packet),
        cmocka_unit_test(the_block_that_was_interrupted_is_named),
        cmocka_unit_test(a_forked_child_runs_its_parents_fragments),
        cmocka_unit_test(the_end_of_a_long_way_is_in_the_ring),
        cmocka_unit_test(a_way_that_cannot_be_is_damage),
        cmocka_unit_test(a_fragment_without_description_is_damage),
        cmocka_unit_test(a_block_that_is_not_there_is_damage),
        cmocka_unit_test(an_interruption_that_cannot_be_is_damage),
        cmocka_unit_test(a_word_that_is_no_record_is_damage),
        cmocka_unit_test(any_damage_leaves_packets_that_can_be_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
