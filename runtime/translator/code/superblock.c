#include "runtime/translator/code/superblock.h"

#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/code/supplied_pages.h"
#include "runtime/translator/system.h"
#include "runtime/translator/timed_calls.h"

enum { LONGEST = 15 };

/* The superblock that is being formed, and how far the code has been read. */
struct forming {
    struct tr_superblock *superblock;
    struct tr_thread *thread;
    struct tr_code_range range;
    uint64_t cursor;
    uint64_t returns[HOT_PATH_CALLS]; /* addresses that followed calls return to */
    unsigned depth;
    const struct tr_route *route; /* or NULL */
    unsigned step;                /* of the route: blocks that have been reached */
};

static uint64_t magnitude(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool is_place(const struct tr_trigger_place *place, const struct tr_code_range *range,
                     uint64_t offset)
{
    return place->file_offset == offset && place->inode == range->inode;
}

static bool is_one_of(const struct tr_trigger_place *places, uint32_t count,
                      const struct tr_code_range *range, uint64_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_place(&places[i], range, offset))
            return true;
    return false;
}

/* Its index plus 1; 0: none. */
static uint16_t value_place(const struct tr_options *options, const struct tr_code_range *range,
                            uint64_t offset)
{
    uint32_t low = 0, high = options->value_place_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (options->value_places[middle].place.file_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (;
         low < options->value_place_count && options->value_places[low].place.file_offset == offset;
         low++)
        if (is_place(&options->value_places[low].place, range, offset))
            return (uint16_t)(low + 1);
    return 0;
}

/* What the runtime is asked for when `pc` runs. */
struct asked {
    bool trigger, until, start, return_place;
    uint16_t value_place;
};

static struct asked asked_at(const struct forming *forming, uint64_t pc)
{
    const struct tr_options *options = &forming->thread->process->control->options;
    const struct tr_code_range *range = &forming->range;
    struct asked asked = {0};
    asked.return_place =
        (options->longer_than || options->value_place_count || options->selected_count) &&
        tr_is_return_place(pc, forming->superblock->return_places);
    if (range->inode == 0)
        return asked;
    uint64_t offset = pc - range->start + range->file_offset;
    asked.trigger = is_one_of(options->places, options->place_count, range, offset);
    asked.until = is_one_of(options->until_places, options->until_count, range, offset);
    asked.start = is_one_of(options->start_places, options->start_count, range, offset);
    asked.value_place = value_place(options, range, offset);
    return asked;
}

static bool is_asked(const struct forming *forming, uint64_t pc)
{
    struct asked asked = asked_at(forming, pc);
    return asked.trigger || asked.until || asked.start || asked.return_place || asked.value_place;
}

/* The range of code that the cursor is in. False: none. */
static bool find_range(struct forming *forming)
{
    if (forming->range.kind != TR_CODE_NONE && forming->cursor >= forming->range.start &&
        forming->cursor < forming->range.end)
        return true;
    bool first = forming->superblock->item_count == 0; /* dispatch.c has waited for it */
    if (!first && tr_page_is_awaited(forming->cursor))
        return false;
    forming->range = tr_code_at(forming->thread, forming->cursor);
    forming->superblock->fixed &= forming->range.kind == TR_CODE_FILE;
    return forming->range.kind != TR_CODE_NONE;
}

/* Bytes of the instruction at the cursor that can be read; it may reach into the next range. */
static unsigned fetch(struct forming *forming, uint8_t bytes[16])
{
    uint64_t left = forming->range.end - forming->cursor;
    unsigned size = left < LONGEST ? (unsigned)left : LONGEST;
    if (!tr_probe_read(bytes, forming->cursor, size))
        return 0;
    if (size < LONGEST && !tr_page_is_awaited(forming->range.end) &&
        tr_code_at(forming->thread, forming->range.end).kind != TR_CODE_NONE &&
        tr_probe_read(bytes + size, forming->range.end, LONGEST - size))
        size = LONGEST;
    tr_breakpoints_hide(bytes, forming->cursor, size);
    return size;
}

static bool is_inside(const struct tr_superblock *superblock, uint64_t pc)
{
    for (unsigned i = 0; i < superblock->block_count; i++)
        if (pc >= superblock->blocks[i].start && pc < superblock->blocks[i].end)
            return true;
    return false;
}

/* Code that can change is taken back page by page: superblocks in it stay short. */
static bool may_follow(const struct forming *forming, uint64_t target)
{
    enum { NEAR = 4096, NEAR_ON_ROUTE = 1 << 16, FAR = 1 << 30 };
    const struct tr_superblock *superblock = forming->superblock;
    uint64_t reach = forming->range.kind == TR_CODE_FILE ? FAR
                     : forming->route                    ? NEAR_ON_ROUTE
                                                         : NEAR;
    return magnitude(target, superblock->pc) < reach &&
           (forming->route || !is_inside(superblock, target));
}

static struct tr_way *open_block(struct tr_superblock *superblock, uint64_t pc)
{
    struct tr_way *block = &superblock->blocks[superblock->block_count++];
    *block = (struct tr_way){.start = pc, .end = pc};
    return block;
}

static void close_block(struct forming *forming, enum tr_block_end kind, uint64_t target)
{
    struct tr_superblock *superblock = forming->superblock;
    struct tr_way *block = &superblock->blocks[superblock->block_count - 1];
    block->kind = (uint8_t)kind;
    block->target = target;
    superblock->items[superblock->item_count - 1].ends_block = true;
}

/* Takes the instruction at the cursor into the newest block. */
static void take(struct forming *forming, const struct tr_instruction *decoded,
                 const uint8_t *bytes)
{
    struct tr_superblock *superblock = forming->superblock;
    struct tr_item *item = &superblock->items[superblock->item_count++];
    struct tr_way *block = &superblock->blocks[superblock->block_count - 1];
    item->decoded = *decoded;
    item->pc = forming->cursor;
    memcpy(item->bytes, bytes, decoded->length);
    item->ends_block = false;
    item->block = (uint8_t)(superblock->block_count - 1);
    forming->cursor += decoded->length;
    block->instructions++;
    block->end = forming->cursor;
    if (item->pc < superblock->low)
        superblock->low = item->pc;
    if (forming->cursor > superblock->high)
        superblock->high = forming->cursor;
}

/* The path goes on at `target`. */
static bool go_to(struct forming *forming, uint64_t target)
{
    if (!may_follow(forming, target))
        return false;
    forming->superblock->blocks[forming->superblock->block_count - 1].expected = target;
    forming->cursor = target;
    return true;
}

/* Where the route's next block begins; 0: it has ended, or has no route. */
static uint64_t next_on_route(const struct forming *forming)
{
    const struct tr_route *route = forming->route;
    if (!route || forming->step == route->count)
        return 0;
    return forming->superblock->pc + (uint64_t)(int64_t)route->starts[forming->step];
}

/* The cursor is where the route goes on. */
static void reach_next_on_route(struct forming *forming)
{
    if (forming->cursor == next_on_route(forming))
        forming->step++;
}

static bool follow_jump(struct forming *forming, uint64_t target)
{
    if (forming->superblock->code == TR_CODE_CHANGING ||
        (forming->route && target != next_on_route(forming)))
        return false;
    return go_to(forming, target);
}

static bool follow_call(struct forming *forming, uint64_t target)
{
    uint64_t back = forming->cursor;
    bool room = forming->route ? forming->depth < HOT_PATH_CALLS
                               : forming->depth < SUPERBLOCK_CALLS &&
                                     forming->superblock->item_count <= SUPERBLOCK_CALL_LIMIT;
    if (!room || target == back || !follow_jump(forming, target))
        return false;
    forming->returns[forming->depth++] = back;
    return true;
}

static bool follow_return(struct forming *forming)
{
    uint64_t next = next_on_route(forming);
    uint64_t back = forming->depth > 0 ? forming->returns[forming->depth - 1] : 0;
    if (forming->route && next != back) {
        forming->depth = 0;
        return next && follow_jump(forming, next);
    }
    if (!back)
        return false;
    forming->depth--;
    return follow_jump(forming, back);
}

/* Without a route: expected to fall through when it leads forward. */
static bool follow_conditional(struct forming *forming, const struct tr_instruction *decoded)
{
    struct tr_superblock *superblock = forming->superblock;
    uint64_t next = next_on_route(forming);
    if (superblock->code == TR_CODE_CHANGING)
        return false;
    if (!forming->route)
        return decoded->target > forming->cursor;
    if (next == forming->cursor)
        return true;
    if (next != decoded->target || decoded->kind == TR_LOOP || !go_to(forming, next))
        return false;
    superblock->blocks[superblock->block_count - 1].taken = true;
    return true;
}

static bool is_addition(const struct tr_instruction *decoded)
{
    enum { TO_OPERAND = 0x01, TO_REGISTER = 0x03 };
    return decoded->opcode == TO_OPERAND || decoded->opcode == TO_REGISTER;
}

/* Whether it may go to another place in the stack, or to another stack. What functions do with their own frame does not:
 * the rule is that of x86/stack_load.h, which decoders rely on. */
static bool leaves_frame(const struct tr_instruction *decoded)
{
    enum {
        PRESERVED =
            1 << TR_RBX | 1 << TR_RBP | 1 << TR_R12 | 1 << TR_R13 | 1 << TR_R14 | 1 << TR_R15
    };
    bool from_register = decoded->modrm >= 0xc0;
    if (!(decoded->properties & TR_LOADS_STACK) || decoded->map != 0)
        return false;
    if (is_addition(decoded))
        return from_register;
    switch (decoded->opcode) {
    case 0x89: /* mov */
    case 0x8b:
        return !(decoded->reads & (from_register ? PRESERVED : 1 << TR_RBP));
    case 0x5c: /* pop */
    case 0x8f:
    case 0x87: /* xchg */
    case 0x94:
    case 0xbc: /* mov from an immediate */
    case 0xc7:
        return true;
    default:
        return false;
    }
}

/* The next instruction from the cursor on that branches or copies memory. False: it is not near. */
static bool find_branch_or_copy(const struct forming *forming, struct tr_instruction *found)
{
    enum { MOST_INSTRUCTIONS = 16 };
    struct forming ahead = *forming;
    for (unsigned i = 0; i < MOST_INSTRUCTIONS && ahead.cursor < ahead.range.end; i++) {
        uint8_t bytes[16] = {0};
        unsigned size = fetch(&ahead, bytes);
        if (!tr_decode(found, bytes, size, ahead.cursor))
            return false;
        if (found->kind != TR_PLAIN || found->properties & TR_REPEAT)
            return true;
        ahead.cursor += found->length;
    }
    return false;
}

enum stack_change { FRAME_CHANGES, STACK_IS_LOADED, STACK_IS_COPIED };

/* What an addition to the stack pointer, the instruction before the cursor, is for. Functions that add to it for their own
 * frame, or to drop their arguments, call nothing before they return: the rule of decode/pt/blocks/block_cache.c. */
static enum stack_change change_by_addition(const struct forming *forming)
{
    struct tr_instruction next;
    if (!find_branch_or_copy(forming, &next))
        return STACK_IS_LOADED;
    switch ((enum tr_kind)next.kind) {
    case TR_PLAIN: /* it copies */
    case TR_CALL:
    case TR_INDIRECT_CALL:
        return STACK_IS_COPIED;
    case TR_RETURN:
    case TR_CONDITIONAL:
    case TR_LOOP:
    case TR_JUMP:
        return FRAME_CHANGES;
    default:
        return STACK_IS_LOADED;
    }
}

/* The newest instruction is a plain one. Whether the superblock goes on: not after what loads the stack pointer, or may have changed
 * the next instruction. */
static bool goes_on_after_plain(struct forming *forming, const struct tr_instruction *decoded)
{
    enum stack_change change = FRAME_CHANGES;
    if (leaves_frame(decoded))
        change = is_addition(decoded) ? change_by_addition(forming) : STACK_IS_LOADED;
    bool changes_code = forming->range.writes_itself && (decoded->properties & TR_WRITES_MEMORY);
    if (change == FRAME_CHANGES && !changes_code)
        return true;
    close_block(forming, TR_END_FALL, 0);
    if (change == FRAME_CHANGES)
        return false;
    struct tr_way *way = &forming->superblock->blocks[forming->superblock->block_count - 1];
    way->loads_stack = true;
    way->copies_stack = change == STACK_IS_COPIED;
    return false;
}

/* The newest instruction is one after which the block may end. Whether the superblock goes on. */
static bool goes_on(struct forming *forming, const struct tr_instruction *decoded)
{
    uint64_t next = next_on_route(forming);
    switch ((enum tr_kind)decoded->kind) {
    case TR_PLAIN:
        return goes_on_after_plain(forming, decoded);
    case TR_CONDITIONAL:
    case TR_LOOP:
        close_block(forming, TR_END_CONDITIONAL, decoded->target);
        return follow_conditional(forming, decoded);
    case TR_JUMP:
        close_block(forming, TR_END_JUMP, decoded->target);
        return follow_jump(forming, decoded->target);
    case TR_CALL:
        close_block(forming, TR_END_CALL, decoded->target);
        return follow_call(forming, decoded->target);
    case TR_RETURN:
        close_block(forming, TR_END_RETURN, 0);
        return follow_return(forming);
    case TR_INDIRECT_JUMP:
        close_block(forming, TR_END_INDIRECT_JUMP, 0);
        return next && follow_jump(forming, next);
    case TR_INDIRECT_CALL:
        close_block(forming, TR_END_INDIRECT_CALL, 0);
        return next && follow_call(forming, next);
    default:
        close_block(forming, TR_END_FAR, 0);
        return false;
    }
}

static bool is_translated(const struct tr_instruction *decoded)
{
    switch ((enum tr_kind)decoded->kind) {
    case TR_TRAP:
    case TR_INT80: /* what such a call forks, maps or protects would be unknown */
    case TR_FAR:
    case TR_XBEGIN:
    case TR_GS_BASE:
        return false;
    default:
        return (decoded->properties & TR_GS_OPERAND) == 0;
    }
}

/* Whether the flags that the program has before item `first` are written before anything reads them. */
static bool flags_are_dead(const struct tr_superblock *superblock, unsigned first)
{
    uint8_t live = TR_ALL_FLAGS;
    for (unsigned i = first; i < superblock->item_count; i++) {
        const struct tr_instruction *decoded = &superblock->items[i].decoded;
        if (decoded->flags_read & live)
            return false;
        live &= (uint8_t)~decoded->flags_written;
        if (live == 0)
            return true;
        if (superblock->items[i].ends_block)
            return false;
    }
    return false;
}

/* Whether a loop may close by leaving the superblock there: by a jump backward or an indirect branch. */
static bool leads_back(const struct tr_way *block)
{
    switch ((enum tr_block_end)block->kind) {
    case TR_END_JUMP:
    case TR_END_CALL:
    case TR_END_CONDITIONAL:
        return block->target < block->end;
    case TR_END_RETURN:
    case TR_END_INDIRECT_JUMP:
    case TR_END_INDIRECT_CALL:
        return true;
    default:
        return false;
    }
}

/* Every loop needs a place where the log pointer is compared with its limit, which writes the flags: in each superblock
 * that may lead back, before its first item where they are dead. There is such an item where an instruction writes all
 * flags, as one does before most conditional jumps. A superblock without one that jumps backward saves the flags around the
 * comparison (needs_test). */
static void find_check(struct tr_superblock *superblock)
{
    unsigned at = 0, back = 0;
    while (back < superblock->block_count && !leads_back(&superblock->blocks[back]))
        back++;
    bool loops = back < superblock->block_count;
    while (at < superblock->item_count && !(loops && flags_are_dead(superblock, at)))
        at++;
    superblock->check_at = at;
    const struct tr_way *last = &superblock->blocks[superblock->block_count - 1];
    bool backward =
        (last->kind == TR_END_JUMP || last->kind == TR_END_CONDITIONAL) && last->target < last->end;
    superblock->needs_test = at == superblock->item_count && backward;
}

/* Whether the instruction of `size` bytes at the cursor lies, in part at least, in code that is compared with what was
 * translated each time it runs. */
static bool is_changing(const struct forming *forming, unsigned size)
{
    if (forming->range.kind == TR_CODE_CHANGING)
        return true;
    return forming->cursor + size > forming->range.end &&
           tr_code_at(forming->thread, forming->range.end).kind == TR_CODE_CHANGING;
}

/* After POPF, which may set the trap flag, the processor is to trap in this superblock's code, where the state is known. */
static bool follows_popf(const struct tr_superblock *superblock)
{
    enum { POPF = 0x9d };
    const struct tr_item *last = &superblock->items[superblock->item_count - 1];
    return last->bytes[last->decoded.length - 1] == POPF && last->decoded.length <= 2;
}

/* Takes instructions until the superblock ends. */
static void form(struct forming *forming)
{
    struct tr_superblock *superblock = forming->superblock;
    unsigned most = forming->route ? HOT_PATH_INSTRUCTIONS : SUPERBLOCK_INSTRUCTIONS;
    bool at_block_start = true;
    for (;;) {
        uint8_t bytes[16] = {0};
        struct tr_instruction decoded;
        bool first = superblock->item_count == 0;
        reach_next_on_route(forming);
        if (!first &&
            ((superblock->item_count >= most && (forming->route || !follows_popf(superblock))) ||
             !find_range(forming) || is_asked(forming, forming->cursor) ||
             (!forming->route && is_inside(superblock, forming->cursor))))
            break;
        unsigned size = fetch(forming, bytes);
        if (!tr_decode(&decoded, bytes, size, forming->cursor))
            decoded = (struct tr_instruction){.kind = TR_TRAP, .length = 1};
        bool translated = is_translated(&decoded);
        bool changing = is_changing(forming, decoded.length);
        if (!first && (!translated || (changing && superblock->code != TR_CODE_CHANGING)))
            break;
        if (changing)
            superblock->code = TR_CODE_CHANGING;
        if (at_block_start)
            open_block(superblock, forming->cursor);
        take(forming, &decoded, bytes);
        if (!translated) {
            superblock->leaves = true;
            close_block(forming, TR_END_FAR, 0);
            return;
        }
        bool on = goes_on(forming, &decoded);
        at_block_start = superblock->items[superblock->item_count - 1].ends_block;
        if (!on)
            return;
    }
    if (!at_block_start)
        close_block(forming, TR_END_FALL, 0);
    else /* the path does not go on there after all */
        superblock->blocks[superblock->block_count - 1].expected =
            superblock->blocks[superblock->block_count - 1].taken = 0;
}

/* Whether the superblock's last block leads to `pc` without an indirect branch. */
static bool ends_at(const struct tr_superblock *superblock, uint64_t pc)
{
    const struct tr_way *last = &superblock->blocks[superblock->block_count - 1];
    switch ((enum tr_block_end)last->kind) {
    case TR_END_JUMP:
    case TR_END_CALL:
        return last->target == pc;
    case TR_END_CONDITIONAL:
        return last->target == pc || last->end == pc;
    case TR_END_FALL:
    case TR_END_FAR:
        return last->end == pc;
    default:
        return false;
    }
}

/* Where the side of a conditional branch leads that the path does not take. */
static uint64_t side_exit(const struct tr_way *block)
{
    return block->taken ? block->end : block->target;
}

/* Marks the side exits that have to be logged when they are taken: TR_EXIT in layout.h. */
static void mark_ambiguous(struct tr_superblock *superblock)
{
    for (unsigned i = 0; i < superblock->block_count; i++) {
        struct tr_way *block = &superblock->blocks[i];
        if (block->kind != TR_END_CONDITIONAL)
            continue;
        bool last = i + 1 == superblock->block_count;
        block->ambiguous =
            last ? block->target == block->end : ends_at(superblock, side_exit(block));
        for (unsigned j = 0; j < i; j++)
            if (superblock->blocks[j].kind == TR_END_CONDITIONAL &&
                side_exit(&superblock->blocks[j]) == side_exit(block) && !last)
                block->ambiguous = true;
    }
}

/* Whether an instruction begins at `pc` with `left` bytes, the last ones of its page, and goes on in the next page. */
static bool goes_on_in_next_page(uint64_t pc, unsigned left)
{
    uint8_t bytes[LONGEST];
    struct tr_instruction decoded;
    return tr_probe_read(bytes, pc, left) && !tr_decode(&decoded, bytes, left, pc);
}

uint64_t tr_superblock_awaits(struct tr_thread *thread, uint64_t pc)
{
    uint64_t next = (pc | (TR_PAGE - 1)) + 1;
    if (!thread->process->supplies_pages || tr_code_at(thread, pc).kind == TR_CODE_NONE)
        return 0;
    if (tr_page_is_awaited(pc))
        return pc;
    if (next - pc >= LONGEST || tr_code_at(thread, next).kind == TR_CODE_NONE ||
        !goes_on_in_next_page(pc, (unsigned)(next - pc)))
        return 0;
    return tr_page_is_awaited(next) ? next : 0;
}

bool tr_superblock_form(struct tr_superblock *superblock, struct tr_thread *thread, uint64_t pc,
                        const struct tr_route *route, uint32_t return_places)
{
    struct forming forming = {
        .superblock = superblock, .thread = thread, .cursor = pc, .route = route};
    forming.range.kind = TR_CODE_NONE;
    superblock->pc = pc;
    superblock->return_places = return_places;
    superblock->item_count = superblock->block_count = 0;
    superblock->low = UINT64_MAX;
    superblock->high = 0;
    superblock->leaves = false;
    superblock->fixed = true;
    if (!find_range(&forming))
        return false;
    superblock->code = forming.range.kind;
    struct asked asked = asked_at(&forming, pc);
    superblock->hits_trigger = asked.trigger;
    superblock->ends_recording = asked.until;
    superblock->notes_start = asked.start;
    superblock->value_place = asked.value_place;
    superblock->is_return_place = asked.return_place;
    form(&forming);
    mark_ambiguous(superblock);
    find_check(superblock);
    return true;
}

/* ---- its description ---- */

uint64_t tr_superblock_description_size(const struct tr_superblock *superblock)
{
    uint64_t size = sizeof(struct tr_fragment) + superblock->block_count * sizeof(struct tr_block) +
                    (superblock->item_count + 1) / 2;
    return (size + 7) & ~UINT64_C(7);
}

static void describe_lengths(uint8_t *lengths, const struct tr_superblock *superblock)
{
    for (unsigned i = 0; i < superblock->item_count; i++) {
        uint8_t length = superblock->items[i].decoded.length;
        if (i % 2)
            lengths[i / 2] |= (uint8_t)(length << 4);
        else
            lengths[i / 2] = length;
    }
}

void tr_superblock_describe(const struct tr_superblock *superblock, struct tr_fragment *description)
{
    description->pc = superblock->pc;
    description->block_count = (uint16_t)superblock->block_count;
    description->size = (uint16_t)tr_superblock_description_size(superblock);
    for (unsigned i = 0; i < superblock->block_count; i++) {
        const struct tr_way *way = &superblock->blocks[i];
        description->blocks[i] = (struct tr_block){
            .start = (int32_t)(way->start - superblock->pc),
            .target = (int32_t)(way->target ? way->target - superblock->pc : 0),
            .size = (uint16_t)(way->end - way->start),
            .instructions = way->instructions,
            .end = (uint8_t)(way->kind | (way->loads_stack ? TR_BLOCK_LOADS_STACK : 0) |
                             (way->copies_stack ? TR_BLOCK_COPIES_STACK : 0)),
        };
    }
    describe_lengths((uint8_t *)&description->blocks[superblock->block_count], superblock);
}

const char *tr_why_untranslated(uint64_t pc)
{
    uint8_t bytes[LONGEST];
    struct tr_instruction decoded = {.kind = TR_PLAIN};
    unsigned size = LONGEST;
    while (size > 0 && !tr_probe_read(bytes, pc, size))
        size--;
    tr_decode(&decoded, bytes, size, pc);
    switch ((enum tr_kind)decoded.kind) {
    case TR_INT80:
        return "it makes a 32-bit system call (INT 0x80)";
    case TR_FAR:
        return "it executes a far branch, IRET or ENCLU";
    case TR_XBEGIN:
        return "it begins a transaction (XBEGIN)";
    default:
        return "it uses the gs segment";
    }
}
