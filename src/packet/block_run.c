#include "packet/block_run.h"

enum {
    CALL_SIZE = 8,     /* on the stack */
    LARGEST_PART = 64, /* two TNT packets, a TIP packet, and a CYC packet before each of them */
};

/* ---- making them ---- */

struct maker {
    struct pt_run_parts *parts;
    struct pt_run_part *part; /* the last one */
    uint8_t count;
    uint64_t instructions;
};

static bool begin_part(struct maker *maker)
{
    if (maker->count == PT_RUN_PARTS)
        return false;
    maker->part = &maker->parts->part[maker->count++];
    *maker->part = (struct pt_run_part){.end = PT_PART_RUN_ENDS};
    return true;
}

static bool end_part(struct maker *maker, enum pt_part_end end, uint64_t target)
{
    maker->part->end = (uint8_t)end;
    maker->part->target = target;
    maker->part->instructions = (uint16_t)maker->instructions;
    return target >> 47 == 0 && begin_part(maker);
}

static bool add_bit(struct maker *maker, bool taken)
{
    if (maker->part->bit_count == PT_PART_BITS && !end_part(maker, PT_PART_FULL, 0))
        return false;
    struct pt_run_part *part = maker->part;
    part->bits = part->bits << 1 | taken;
    part->at[part->bit_count++] = (uint16_t)maker->instructions;
    return true;
}

static bool add_call(struct maker *maker, uint64_t return_address)
{
    if (maker->part->call_count == PT_PART_CALLS && !end_part(maker, PT_PART_FULL, 0))
        return false;
    struct pt_run_part *part = maker->part;
    part->calls[part->call_count++] = return_address;
    if (part->call_count > part->deepest)
        part->deepest = part->call_count;
    return true;
}

/* A return to a call within the part is a bit whatever was before. */
static bool add_return(struct maker *maker, uint64_t pc)
{
    struct pt_run_part *part = maker->part;
    if (part->call_count == 0 || part->calls[part->call_count - 1] != pc ||
        part->bit_count == PT_PART_BITS)
        return end_part(maker, PT_PART_RETURN, pc);
    part->call_count--;
    return add_bit(maker, true);
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
        return end_part(maker, PT_PART_JUMP, pc);
    case PT_BLOCK_INDIRECT_CALL:
        return add_call(maker, block->end) && end_part(maker, PT_PART_JUMP, pc);
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

size_t pt_block_run_make(struct pt_block_run *run, struct pt_run_parts *parts,
                         struct pt_code_block *const *blocks, size_t count)
{
    struct maker maker = {.parts = parts};
    parts->first = blocks[0];
    parts->last = blocks[count - 1];
    *run = (struct pt_block_run){
        .parts = parts,
        .instructions = (uint16_t)count_instructions(blocks, count),
        .part_count = UINT8_MAX,
    };
    begin_part(&maker);
    if (!add_edges(&maker, blocks, count))
        return 0;
    const struct pt_run_part *part = parts->part;
    bool only_bits = maker.count == 1 && part->deepest == 0 && part->bits >> 32 == 0;
    if (only_bits) {
        run->bits = (uint32_t)part->bits;
        run->bit_count = part->bit_count;
    }
    run->part_count = only_bits ? 0 : maker.count;
    return maker.count;
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

static void add_bits(struct pt_encoder *encoder, struct taking *now, const struct pt_run_part *part)
{
    if (part->bit_count < bits_of_room(now))
        now->tnt = now->tnt << part->bit_count | part->bits;
    else
        fill_packet(encoder, now, part->bits, part->at, part->bit_count);
}

/* Calls that returned have taken the places of older ones all the same. */
static void push_calls(struct pt_encoder *encoder, const struct pt_run_part *part,
                       uint64_t *pointer)
{
    if (encoder->depth + part->deepest - encoder->floor > PT_RETURN_STACK)
        encoder->floor = encoder->depth + part->deepest - PT_RETURN_STACK;
    for (unsigned i = 0; i < part->call_count; i++) {
        *pointer -= CALL_SIZE;
        encoder->return_address[encoder->depth % PT_RETURN_STACK] = part->calls[i];
        *pt_calls_at(&encoder->calls, encoder->depth) = (struct pt_call){part->calls[i], *pointer};
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

static void take_parts(struct pt_encoder *encoder, struct taking *now,
                       const struct pt_block_run *run, const struct pt_run_stack *stack)
{
    const struct pt_run_part *part = run->parts->part, *end = part + run->part_count;
    for (; part < end; part++) {
        add_bits(encoder, now, part);
        if (part->deepest)
            push_calls(encoder, part, stack->pointer);
        if (part->end == PT_PART_JUMP)
            put_target(encoder, now, part->target, now->instructions + part->instructions);
        else if (part->end == PT_PART_RETURN)
            put_return(encoder, now, part->target, now->instructions + part->instructions, stack);
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
        fill_packet(encoder, now, run->bits, run->parts->part->at, run->bit_count);
    else if (run->part_count > PT_RUN_PARTS ||
             now->head + (uint64_t)run->part_count * LARGEST_PART > encoder->limit)
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
