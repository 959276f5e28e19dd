#include "packet/block_run.h"

enum {
    CALL_SIZE = 8,      /* on the stack */
    LARGEST_PART = 64,  /* two TNT packets, a TIP packet, and a CYC packet before each of them */
    COPIED = 16,        /* bytes of packets, at once */
    MOST_PACKETS = 512, /* bytes of packets that are kept of a run, about */
};

/* ---- making them ---- */

/* A part, and what it points to. `begun`, `least` and `most` are the calls of the run in progress at its beginning, the
 * fewest and the most in it. */
struct made_part {
    struct pt_run_part part;
    unsigned begun, least, most;
    size_t packets;
    uint64_t calls[PT_RUN_CALLS];
    uint16_t at[PT_PART_BITS];
};

struct maker {
    struct made_part parts[PT_RUN_PARTS];
    unsigned count;
    uint64_t instructions;
    uint64_t calls[PT_RUN_CALLS]; /* in progress: where they return to */
    unsigned depth;
    uint8_t packets[MOST_PACKETS + 2 * PT_PACKET_LONGEST];
    size_t size;
};

static struct made_part *newest_part(struct maker *maker)
{
    return &maker->parts[maker->count - 1];
}

static bool begin_part(struct maker *maker)
{
    if (maker->count == PT_RUN_PARTS)
        return false;
    struct made_part *made = &maker->parts[maker->count++];
    made->part = (struct pt_run_part){.end = PT_PART_RUN_ENDS};
    made->begun = made->least = made->most = maker->depth;
    made->packets = maker->size;
    return true;
}

/* What the part has done to the calls. */
static void describe_calls(const struct maker *maker, struct made_part *made)
{
    made->part.popped = (uint8_t)(made->begun - made->least);
    made->part.deepest = (uint8_t)(made->most - made->begun);
    made->part.call_count = (uint8_t)(maker->depth - made->least);
    memcpy(made->calls, maker->calls + made->least, made->part.call_count * sizeof *made->calls);
}

static bool end_part(struct maker *maker, enum pt_part_end end, uint64_t target)
{
    struct made_part *made = newest_part(maker);
    describe_calls(maker, made);
    made->part.end = (uint8_t)end;
    made->part.target = made->part.newest = target;
    made->part.instructions = (uint16_t)maker->instructions;
    return target >> 47 == 0 && begin_part(maker);
}

/* The part before the newest one, if that one's packets can follow those of its jump; else NULL. */
static struct made_part *part_with_jump(struct maker *maker)
{
    struct made_part *before = maker->count > 1 ? newest_part(maker) - 1 : NULL;
    return before && before->part.end == PT_PART_JUMP && maker->size <= MOST_PACKETS ? before
                                                                                     : NULL;
}

/* The bits of the newest part become a packet after the jump of the one before. */
static void append_bits(struct maker *maker, struct made_part *before)
{
    struct pt_run_part *part = &newest_part(maker)->part;
    if (part->bit_count > 0)
        maker->size += pt_packet_tnt(maker->packets + maker->size,
                                     (uint64_t)1 << part->bit_count | part->bits);
    before->part.size = (uint16_t)(maker->size - before->packets);
    part->bits = part->bit_count = 0;
}

/* The newest part ends with a jump: all of it follows the jump of the one before. */
static bool append_jump(struct maker *maker, struct made_part *before, uint64_t target)
{
    const struct made_part *made = newest_part(maker);
    append_bits(maker, before);
    maker->size += pt_packet_ip(maker->packets + maker->size, PT_TIP, target, before->part.newest);
    before->part.size = (uint16_t)(maker->size - before->packets);
    before->part.newest = target;
    before->least = made->least < before->least ? made->least : before->least;
    before->most = made->most > before->most ? made->most : before->most;
    describe_calls(maker, before);
    maker->count--;
    return target >> 47 == 0 && begin_part(maker);
}

static bool add_jump(struct maker *maker, uint64_t target)
{
    struct made_part *before = part_with_jump(maker);
    return before ? append_jump(maker, before, target) : end_part(maker, PT_PART_JUMP, target);
}

/* There is room for another bit. */
static bool make_bit_room(struct maker *maker)
{
    struct made_part *before = part_with_jump(maker);
    if (newest_part(maker)->part.bit_count < PT_PART_BITS)
        return true;
    if (!before)
        return end_part(maker, PT_PART_FULL, 0);
    append_bits(maker, before);
    return true;
}

static bool add_bit(struct maker *maker, bool taken)
{
    if (!make_bit_room(maker))
        return false;
    struct made_part *made = newest_part(maker);
    made->part.bits = made->part.bits << 1 | taken;
    made->at[made->part.bit_count++] = (uint16_t)maker->instructions;
    return true;
}

/* From the next part on what is in progress is as if it had begun before the run. */
static bool end_part_with_calls(struct maker *maker, enum pt_part_end end, uint64_t target)
{
    if (!end_part(maker, end, target))
        return false;
    struct made_part *made = newest_part(maker);
    maker->depth = made->begun = made->least = made->most = 0;
    return true;
}

static bool add_call(struct maker *maker, uint64_t return_address)
{
    if (maker->depth == PT_RUN_CALLS && !end_part_with_calls(maker, PT_PART_FULL, 0))
        return false;
    struct made_part *made = newest_part(maker);
    maker->calls[maker->depth++] = return_address;
    if (maker->depth > made->most)
        made->most = maker->depth;
    return true;
}

/* A return to a call of the run is a bit whatever was before. One to elsewhere makes decoders forget the calls. */
static bool add_return(struct maker *maker, uint64_t pc)
{
    if (maker->depth == 0 || maker->calls[maker->depth - 1] != pc)
        return end_part_with_calls(maker, PT_PART_RETURN, pc);
    if (!add_bit(maker, true))
        return false;
    struct made_part *made = newest_part(maker);
    maker->depth--;
    if (maker->depth < made->least)
        made->least = maker->depth;
    return true;
}

/* The edge from `block` to `pc`. */
static bool add_edge(struct maker *maker, const struct pt_code_block *block, uint64_t pc)
{
    switch ((enum pt_code_block_kind)block->kind) {
    case PT_BLOCK_SEQUENTIAL:
        return pc == block->fall;
    case PT_BLOCK_JUMP:
        return pc == block->target;
    case PT_BLOCK_CONDITIONAL:
        return (pc == block->target || pc == block->fall) && add_bit(maker, pc == block->target);
    case PT_BLOCK_CALL:
        return pc == block->target && (!block->push || add_call(maker, block->end));
    case PT_BLOCK_RETURN:
        return add_return(maker, pc);
    case PT_BLOCK_INDIRECT_JUMP:
        return add_jump(maker, pc);
    case PT_BLOCK_INDIRECT_CALL:
        return add_call(maker, block->end) && add_jump(maker, pc);
    default:
        return false;
    }
}

static bool add_edges(struct maker *maker, struct pt_code_block *const *blocks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (blocks[i - 1]->loads_stack || blocks[i]->kind == PT_BLOCK_OUTSIDE ||
            !add_edge(maker, blocks[i - 1], blocks[i]->pc))
            return false;
        maker->instructions += blocks[i]->work;
    }
    return true;
}

static uint64_t count_instructions(struct pt_code_block *const *blocks, size_t count)
{
    uint64_t instructions = 0;
    for (size_t i = 1; i < count; i++)
        instructions += blocks[i]->work;
    return instructions;
}

/* Where the next of what the parts point to comes. */
struct placer {
    uint8_t *bytes;
    size_t size;
};

static uint16_t place(struct placer *placer, const void *from, size_t size)
{
    size_t at = placer->size;
    memcpy(placer->bytes + at, from, size);
    placer->size += (size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    return (uint16_t)at;
}

/* Bytes of what is copied COPIED at a time. */
static size_t whole_copies(size_t size)
{
    return (size + COPIED - 1) / COPIED * COPIED;
}

_Static_assert(PT_RUN_PARTS *(sizeof(struct pt_run_part) + PT_RUN_CALLS * sizeof(uint64_t) +
                              (PT_PART_BITS + 1) * sizeof(uint16_t) + COPIED) +
                       MOST_PACKETS + 2 * PT_PACKET_LONGEST <=
                   PT_RUN_SIZE,
               "all of a run has its place");

/* Moves what was made to where the owner wants it. Returns how many bytes that is. */
static size_t place_parts(struct maker *maker, struct pt_run_parts *parts)
{
    struct placer placer = {(uint8_t *)parts->part, maker->count * sizeof *parts->part};
    parts->room = (uint16_t)(maker->count * LARGEST_PART);
    for (unsigned i = 0; i < maker->count; i++) {
        struct made_part *made = &maker->parts[i];
        struct pt_run_part *part = &made->part;
        size_t copied = whole_copies(part->size);
        part->packets = place(&placer, maker->packets + made->packets, copied);
        part->calls = place(&placer, made->calls, part->call_count * sizeof *made->calls);
        part->at = place(&placer, made->at, part->bit_count * sizeof *made->at);
        parts->part[i] = *part;
        parts->room = (uint16_t)(parts->room + copied);
        parts->has_packets |= part->size > 0;
    }
    return placer.size;
}

size_t pt_block_run_make(struct pt_block_run *run, struct pt_run_parts *parts,
                         struct pt_code_block *const *blocks, size_t count)
{
    struct maker maker;
    maker.count = maker.depth = 0;
    maker.size = maker.instructions = 0;
    *parts = (struct pt_run_parts){blocks[0], blocks[count - 1], parts->part, 0, false};
    *run = (struct pt_block_run){
        .parts = parts,
        .instructions = (uint16_t)count_instructions(blocks, count),
        .part_count = UINT8_MAX,
    };
    begin_part(&maker);
    if (!add_edges(&maker, blocks, count))
        return 0;
    describe_calls(&maker, newest_part(&maker));
    size_t size = place_parts(&maker, parts);
    const struct pt_run_part *part = parts->part;
    bool only_bits = maker.count == 1 && part->deepest == 0 && part->bits >> 32 == 0;
    if (only_bits) {
        run->bits = (uint32_t)part->bits;
        run->bit_count = part->bit_count;
    }
    run->part_count = only_bits ? 0 : (uint8_t)maker.count;
    return size;
}

/* ---- taking them ---- */

/* What is in registers while runs are taken, in place of the encoder's fields. */
struct taking {
    uint64_t head, tnt, instructions;
    uint64_t due; /* stream position at which a PSB or room is needed */
};

static struct taking load(struct pt_encoder *encoder)
{
    return (struct taking){
        .head = atomic_load_explicit(&encoder->head, memory_order_relaxed),
        .tnt = encoder->tnt,
        .instructions = pt_encoder_instructions(encoder),
        .due = encoder->next_psb < encoder->limit ? encoder->next_psb : encoder->limit,
    };
}

/* `instructions` have run. */
static void store(struct pt_encoder *encoder, const struct taking *now, uint64_t instructions)
{
    encoder->cost = pt_encoder_cost(encoder);
    encoder->work = 0;
    encoder->instructions = instructions;
    encoder->tnt = now->tnt;
    atomic_store_explicit(&encoder->head, now->head, memory_order_release);
}

static void put_time(struct pt_encoder *encoder, struct taking *now, uint64_t instructions)
{
    if (encoder->sparse_time && !encoder->time_is_due)
        return;
    store(encoder, now, instructions);
    pt_encoder_emit_time(encoder);
    now->head = atomic_load_explicit(&encoder->head, memory_order_relaxed);
}

/* A packet with `tnt`, of which the last bit was known when `instructions` had run. */
static void put_packet(struct pt_encoder *encoder, struct taking *now, uint64_t tnt,
                       uint64_t instructions)
{
    put_time(encoder, now, instructions);
    now->head += pt_packet_tnt(encoder->packets + (now->head & encoder->mask), tnt);
}

/* Bits that a packet has room for beside those that were gathered. */
static unsigned bits_of_room(const struct taking *now)
{
    return PT_TNT_BITS - (63 - (unsigned)__builtin_clzll(now->tnt));
}

/* The `count` bits, of places `at` of the run, make a packet full. */
static void fill_packet(struct pt_encoder *encoder, struct taking *now, uint64_t bits,
                        const uint16_t *at, unsigned count)
{
    unsigned first = bits_of_room(now), left = count - first;
    put_packet(encoder, now, now->tnt << first | bits >> left, now->instructions + at[first - 1]);
    now->tnt = (uint64_t)1 << left | (bits & (((uint64_t)1 << left) - 1));
}

static const void *at_place(const struct pt_run_part *first, uint16_t place)
{
    return (const uint8_t *)first + place;
}

static void add_bits(struct pt_encoder *encoder, struct taking *now,
                     const struct pt_run_part *first, const struct pt_run_part *part)
{
    if (part->bit_count < bits_of_room(now))
        now->tnt = now->tnt << part->bit_count | part->bits;
    else
        fill_packet(encoder, now, part->bits, at_place(first, part->at), part->bit_count);
}

/* Calls that returned have taken the places of older ones all the same. */
static void update_calls(struct pt_encoder *encoder, const struct pt_run_part *part,
                         const uint64_t *calls, uint64_t *pointer)
{
    if (encoder->depth + part->deepest - encoder->floor > PT_RETURN_STACK)
        encoder->floor = encoder->depth + part->deepest - PT_RETURN_STACK;
    if (part->popped) {
        encoder->depth -= part->popped;
        *pointer = pt_calls_at(&encoder->calls, encoder->depth)->slot + CALL_SIZE;
    }
    for (unsigned i = 0; i < part->call_count; i++) {
        *pointer -= CALL_SIZE;
        encoder->return_address[encoder->depth % PT_RETURN_STACK] = calls[i];
        *pt_calls_at(&encoder->calls, encoder->depth) = (struct pt_call){calls[i], *pointer};
        encoder->depth++;
    }
}

static void put_target(struct pt_encoder *encoder, struct taking *now, uint64_t target,
                       uint64_t instructions)
{
    put_time(encoder, now, instructions);
    uint8_t *out = encoder->packets + (now->head & encoder->mask), *begin = out;
    if (now->tnt != 1)
        out += pt_packet_tnt(out, now->tnt);
    now->tnt = 1;
    if (encoder->last_ip == 0)
        out += pt_packet_ip_whole(out, PT_TIP, target);
    else
        out += pt_packet_ip(out, PT_TIP, target, encoder->last_ip);
    encoder->last_ip = target;
    now->head += (uint64_t)(out - begin);
}

/* The newest call is where the return goes, and decoders know of it. */
static bool is_expected(const struct pt_encoder *encoder, uint64_t pc)
{
    return encoder->depth != encoder->floor &&
           encoder->return_address[(encoder->depth - 1) % PT_RETURN_STACK] == pc;
}

static void put_return(struct pt_encoder *encoder, struct taking *now, uint64_t target,
                       uint64_t instructions, const struct pt_run_stack *stack)
{
    const struct pt_call *newest = pt_calls_at(&encoder->calls, encoder->depth - 1);
    if (encoder->depth > encoder->calls.base && newest->return_address == target)
        *stack->pointer = newest->slot + CALL_SIZE;
    else
        stack->returned(stack->context, target);
    if (is_expected(encoder, target)) {
        encoder->depth--;
        now->tnt = now->tnt << 1 | 1;
        if (now->tnt >> PT_TNT_BITS != 0) {
            put_packet(encoder, now, now->tnt, instructions);
            now->tnt = 1;
        }
        return;
    }
    store(encoder, now, instructions);
    pt_encoder_miss_return(encoder, target);
    uint64_t counted = now->instructions;
    *now = load(encoder);
    now->instructions = counted;
}

/* The packets after the part's jump. More may be written than they are: there is room. */
static void put_packets(struct pt_encoder *encoder, struct taking *now, const uint8_t *packets,
                        const struct pt_run_part *part)
{
    uint8_t *out = encoder->packets + (now->head & encoder->mask);
    for (unsigned copied = 0; copied < part->size; copied += COPIED)
        memcpy(out + copied, packets + copied, COPIED);
    now->head += part->size;
    encoder->last_ip = part->newest;
}

static void take_parts(struct pt_encoder *encoder, struct taking *now,
                       const struct pt_block_run *run, const struct pt_run_stack *stack)
{
    const struct pt_run_part *first = run->parts->part, *end = first + run->part_count;
    for (const struct pt_run_part *part = first; part < end; part++) {
        uint64_t instructions = now->instructions + part->instructions;
        add_bits(encoder, now, first, part);
        if (part->deepest | part->popped)
            update_calls(encoder, part, at_place(first, part->calls), stack->pointer);
        if (part->end == PT_PART_JUMP) {
            put_target(encoder, now, part->target, instructions);
            put_packets(encoder, now, at_place(first, part->packets), part);
        } else if (part->end == PT_PART_RETURN) {
            put_return(encoder, now, part->target, instructions, stack);
        }
    }
}

/* A PSB or room is needed where the run has ended. */
static void settle(struct pt_encoder *encoder, struct taking *now, const struct pt_block_run *run)
{
    struct pt_code_block *last = run->parts->last;
    encoder->previous = last;
    store(encoder, now, now->instructions - last->work);
    pt_encoder_flush(encoder, last->pc);
    encoder->instructions += last->work;
    *now = load(encoder);
}

/* Where the block is that the encoder has come to. */
static struct pt_code_block *find_previous(const struct pt_encoder *encoder,
                                           const struct pt_block_run *const runs[], size_t taken)
{
    while (taken > 0)
        if (runs[--taken]->parts)
            return runs[taken]->parts->last;
    return encoder->previous;
}

/* Takes runs of bits alone for as long as they make no packet full. Returns the index of the next one. */
static size_t take_bits(struct taking *now, const struct pt_block_run *const runs[], size_t i,
                        size_t count)
{
    uint64_t tnt = now->tnt, instructions = now->instructions;
    unsigned room = bits_of_room(now);
    for (; i < count; i++) {
        const struct pt_block_run *run = runs[i];
        if (run->part_count != 0 || run->bit_count >= room)
            break;
        room -= run->bit_count;
        tnt = tnt << run->bit_count | run->bits;
        instructions += run->instructions;
    }
    now->tnt = tnt;
    now->instructions = instructions;
    return i;
}

/* A run that is more than bits, or whose bits make a packet full. False: it cannot be taken. */
static bool take_run(struct pt_encoder *encoder, struct taking *now, const struct pt_block_run *run,
                     const struct pt_run_stack *stack)
{
    if (run->part_count == 0)
        fill_packet(encoder, now, run->bits, at_place(run->parts->part, run->parts->part->at),
                    run->bit_count);
    else if (run->part_count > PT_RUN_PARTS || now->head + run->parts->room > encoder->limit ||
             (run->parts->has_packets && !encoder->sparse_time))
        return false;
    else
        take_parts(encoder, now, run, stack);
    now->instructions += run->instructions;
    if (now->head >= now->due)
        settle(encoder, now, run);
    return true;
}

size_t pt_block_runs_take(struct pt_encoder *encoder, const struct pt_block_run *const runs[],
                          size_t count, const struct pt_run_stack *stack)
{
    struct taking now = load(encoder);
    size_t i = 0;
    while (!encoder->stopped && (i = take_bits(&now, runs, i, count)) < count &&
           take_run(encoder, &now, runs[i], stack))
        i++;
    if (!encoder->stopped)
        encoder->previous = find_previous(encoder, runs, i);
    store(encoder, &now, now.instructions);
    return encoder->stopped ? count : i;
}
