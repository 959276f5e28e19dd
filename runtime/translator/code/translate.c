/* Superblock -> code. See translation.h for what a fragment looks like. */
#include "runtime/translator/code/translation.h"

#include "runtime/translator/code/disguise.h"
#include "runtime/translator/code/emit.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/code/superblock.h"
#include "runtime/translator/system.h"
#include "runtime/translator/timed_calls.h"

#define HOT(field) ((uint32_t) __builtin_offsetof(struct tr_hot, field))

enum {
    R11 = 1 << TR_R11,
    RCX = 1 << TR_RCX,
    RDX = 1 << TR_RDX,
    BORROWED =
        RCX | RDX, /* by guards and tables: their program's values are in hot.rcx and hot.rdx */
    SCRATCH_SIZE = 8192, /* of either part of a fragment that is translated again */
    REX_W = 0x48,
    CODE_IS_CHECKED_MOST = 256, /* bytes of code that changes that one fragment checks */
};

struct translating {
    struct tr_thread *thread;
    struct tr_superblock superblock;
    struct tr_region *region;
    struct tr_emitter hot, cold;
    uint32_t identifier;
    uint64_t body; /* address of the fragment */
    struct tr_disguise now;
    /* those of BORROWED whose values are in memory, whether in their registers or not */
    uint16_t kept;
    /* For tr_translate_state: the cache address, and what was found. */
    uint64_t wanted;
    struct tr_disguise found;
    bool is_found;
    /* Otherwise: those of the places so far, of code that may change. */
    struct tr_disguises disguises;
};

static bool is_rehearsal(const struct translating *t)
{
    return t->wanted != 0;
}

/* An instruction of the program that may fault comes next. */
static void mark(struct translating *t, uint64_t pc)
{
    uint64_t address = tr_emit_address(&t->hot);
    t->now.pc = pc;
    if (is_rehearsal(t) && address <= t->wanted) {
        t->found = t->now;
        t->is_found = true;
    }
    if (!is_rehearsal(t) && !t->superblock.fixed)
        tr_disguises_add(&t->disguises, t->superblock.pc, address - t->body, &t->now);
}

/* ---- r11 ---- */

static void show_r11(struct translating *t)
{
    if (t->now.r11)
        return;
    tr_emit_save(&t->hot, TR_R11, HOT(log));
    tr_emit_load(&t->hot, TR_R11, HOT(r11));
    t->now.r11 = true;
}

static void emit_hide_r11(struct tr_emitter *emitter)
{
    tr_emit_save(emitter, TR_R11, HOT(r11));
    tr_emit_load(emitter, TR_R11, HOT(log));
}

static void hide_r11(struct translating *t)
{
    if (!t->now.r11)
        return;
    emit_hide_r11(&t->hot);
    t->now.r11 = false;
}

/* ---- rcx and rdx ---- */

/* Both may be used from here on. What is in memory already, because nothing has written the register since, is not
 * stored again. */
static void emit_borrow(struct translating *t)
{
    uint16_t in_memory = t->now.borrowed | t->kept;
    if (!(in_memory & RCX))
        tr_emit_save(&t->hot, TR_RCX, HOT(rcx));
    if (!(in_memory & RDX))
        tr_emit_save(&t->hot, TR_RDX, HOT(rdx));
    t->now.borrowed = t->kept = BORROWED;
}

static void emit_give_back(struct tr_emitter *emitter)
{
    tr_emit_load(emitter, TR_RDX, HOT(rdx));
    tr_emit_load(emitter, TR_RCX, HOT(rcx));
}

/* Those of `registers` that are borrowed hold the program's values again. */
static void give_back(struct translating *t, uint16_t registers)
{
    registers &= t->now.borrowed;
    if (registers & RDX)
        tr_emit_load(&t->hot, TR_RDX, HOT(rdx));
    if (registers & RCX)
        tr_emit_load(&t->hot, TR_RCX, HOT(rcx));
    t->now.borrowed &= (uint16_t)~registers;
}

/* Of BORROWED: what the instruction gives a new value, all 64 bits, whatever it held. */
static uint16_t overwritten(const struct tr_instruction *decoded)
{
    uint16_t writes_only = decoded->writes & (uint16_t)~decoded->reads & BORROWED;
    if (decoded->prefix_size || decoded->properties & TR_VECTOR)
        return 0;
    if (decoded->map == 1) /* movzx, movsx */
        return (decoded->opcode & 0xf6) == 0xb6 ? writes_only : 0;
    if (decoded->map != 0)
        return 0;
    switch (decoded->opcode) {
    case 0x31: /* xor of a register with itself */
    case 0x33:
        return decoded->modrm >= 0xc0 && (decoded->modrm >> 3 & 7) == (decoded->modrm & 7) &&
                       !(decoded->rex & 5)
                   ? decoded->writes & BORROWED
                   : 0;
    case 0x58 | TR_RCX: /* pop */
    case 0x58 | TR_RDX:
    case 0x63: /* movsxd */
    case 0x8b: /* mov */
    case 0x8d: /* lea */
    case 0xb8 | TR_RCX:
    case 0xb8 | TR_RDX:
        return writes_only;
    default:
        return 0;
    }
}

/* Before `item` is emitted: it finds what it needs in its registers. */
static void give_back_for(struct translating *t, const struct tr_item *item, bool last)
{
    const struct tr_instruction *decoded = &item->decoded;
    switch ((enum tr_kind)decoded->kind) {
    case TR_PLAIN:
        give_back(t, (decoded->reads | decoded->writes) & (uint16_t)~overwritten(decoded));
        break;
    case TR_RETURN:
        break;
    case TR_INDIRECT_JUMP:
    case TR_INDIRECT_CALL:
        give_back(t, decoded->reads);
        break;
    case TR_JUMP:
    case TR_CALL:
        if (last)
            give_back(t, BORROWED);
        break;
    default:
        give_back(t, BORROWED);
        break;
    }
}

/* After it; LOOP writes rcx, too. */
static void forget_written(struct translating *t, const struct tr_item *item)
{
    t->now.borrowed &= (uint16_t)~item->decoded.writes;
    t->kept &= (uint16_t)~item->decoded.writes;
}

/* ---- cold places ---- */

static uint32_t cold_name(const struct translating *t, uint64_t address)
{
    return tr_cold_name(t->region, (const void *)address);
}

/* 8 bytes of constant data; returns their address, a multiple of 8: the program may have unaligned accesses checked. */
static uint64_t put_constant(struct translating *t, uint64_t value)
{
    tr_emit_gap_8(&t->cold);
    uint64_t address = tr_emit_address(&t->cold);
    tr_emit_64(&t->cold, value);
    return address;
}

/* Code that leaves the cache for `target`; returns its address. `patch`: the displacement to change when the target
 * is translated, or 0. */
static uint64_t put_exit(struct translating *t, uint64_t target, uint64_t patch)
{
    enum { CODE = 12 + 8 };
    uint64_t address = tr_emit_address(&t->cold);
    tr_emit_gs_store_32(&t->cold, HOT(exit), cold_name(t, address + CODE));
    tr_emit_gs_jump(&t->cold, HOT(leave_direct));
    tr_emit_64(&t->cold, target);
    tr_emit_32(&t->cold, patch ? (uint32_t)(patch - (uint64_t)t->region->hot.start) : 0);
    tr_emit_32(&t->cold, 0);
    return address;
}

static bool in_reach(uint64_t from, uint64_t to)
{
    return (uint64_t)(int64_t)(int32_t)(to - from) == to - from;
}

/* The 4-byte displacement of a jump to the program's `target`: linked when that is translated already. The emitter is
 * the hot or the cold one. */
static void put_link(struct translating *t, struct tr_emitter *emitter, uint64_t target)
{
    uint64_t place = tr_emit_address(emitter);
    const struct tr_translation *known =
        target == t->superblock.pc ? NULL : tr_fragment_find(target);
    uint64_t body = target == t->superblock.pc ? t->body : known ? tr_fragment_body(known) : 0;
    if (body && in_reach(place + 4, body)) {
        tr_emit_relative(emitter, body);
        return;
    }
    /* An exit in the cold part is written after what is being written there. */
    if (emitter == &t->cold) {
        tr_emit_relative(emitter, place + 4);
        put_exit(t, target, place);
    } else {
        tr_emit_relative(emitter, put_exit(t, target, place));
    }
}

/* ---- the beginning ---- */

/* What runs where the log pointer has passed the limit, before the instruction at `pc`. */
static uint64_t put_check(struct translating *t, uint64_t pc, uint64_t resume)
{
    uint64_t address = tr_emit_address(&t->cold);
    tr_emit_gs_store_32(&t->cold, HOT(exit), (uint32_t)(pc - t->superblock.pc));
    tr_emit_save(&t->cold, TR_RAX, HOT(rax));
    tr_emit_rip(&t->cold, 0x8d, TR_RAX, resume);
    tr_emit_gs_jump(&t->cold, HOT(leave_check));
    return address;
}

/* cmp r11, gs:[limit] */
static void emit_compare_limit(struct translating *t)
{
    tr_emit_8(&t->hot, 0x65);
    tr_emit_8(&t->hot, 0x4c);
    tr_emit_8(&t->hot, 0x3b);
    tr_emit_8(&t->hot, 0x1c);
    tr_emit_8(&t->hot, 0x25);
    tr_emit_32(&t->hot, HOT(limit));
}

static void emit_compare(struct translating *t, uint64_t pc)
{
    enum { COMPARE = 9, JUMP = 6 };
    uint64_t resume = tr_emit_address(&t->hot) + COMPARE + JUMP;
    emit_compare_limit(t);
    tr_emit_8(&t->hot, 0x0f); /* ja */
    tr_emit_8(&t->hot, 0x87);
    tr_emit_relative(&t->hot, put_check(t, pc, resume));
}

/* The flags that LAHF and SETO put into rax, and rax. */
static void emit_restore_flags(struct tr_emitter *emitter)
{
    static const uint8_t restore[] = {0x04, 0x7f, 0x9e}; /* add al, 0x7f; sahf */
    tr_emit_bytes(emitter, restore, sizeof restore);
    tr_emit_load(emitter, TR_RAX, HOT(rax));
}

/* In a loop that writes no flags, or not all: leaves when the log pointer is above the limit. */
static void emit_run_test(struct translating *t)
{
    static const uint8_t save[] = {0x9f, 0x0f, 0x90, 0xc0}; /* lahf; seto al */
    tr_emit_save(&t->hot, TR_RAX, HOT(rax));
    tr_emit_bytes(&t->hot, save, sizeof save);
    emit_compare_limit(t);
    tr_emit_8(&t->hot, 0x0f); /* ja */
    tr_emit_8(&t->hot, 0x87);
    tr_emit_relative(&t->hot, tr_emit_address(&t->cold));
    emit_restore_flags(&t->hot);
    emit_restore_flags(&t->cold);
    tr_emit_gs_store_32(&t->cold, HOT(exit), TR_RUN_AT_HEAD);
    tr_emit_gs_jump(&t->cold, HOT(leave_run));
}

/* The runtime is asked before the first instruction. */
static void emit_trigger(struct translating *t)
{
    enum { ADDRESS = 7, JUMP = 8 };
    tr_emit_save(&t->hot, TR_RAX, HOT(rax));
    tr_emit_gs_store_32(&t->hot, HOT(exit), t->identifier);
    tr_emit_rip(&t->hot, 0x8d, TR_RAX, tr_emit_address(&t->hot) + ADDRESS + JUMP);
    tr_emit_gs_jump(&t->hot, HOT(leave_trigger));
}

/* Leaves the fragment unless 8 bytes of the program's code are still what they were. rcx and rdx are borrowed. */
static void emit_code_check_8(struct translating *t, uint64_t address, uint64_t value,
                              uint64_t fail)
{
    tr_emit_constant(&t->hot, TR_RDX, address);
    tr_emit_8(&t->hot, 0x48); /* mov rdx, [rdx] */
    tr_emit_8(&t->hot, 0x8b);
    tr_emit_8(&t->hot, 0x12);
    tr_emit_constant(&t->hot, TR_RCX, -value);
    tr_emit_8(&t->hot, 0x48); /* lea rcx, [rcx + rdx] */
    tr_emit_8(&t->hot, 0x8d);
    tr_emit_8(&t->hot, 0x0c);
    tr_emit_8(&t->hot, 0x11);
    tr_emit_8(&t->hot, 0xe3); /* jrcxz over the jump */
    tr_emit_8(&t->hot, 5);
    tr_emit_jump(&t->hot, fail);
}

/* The 8 bytes at `from`, of which `value` was read just now: what was translated may have been older. */
static uint64_t translated_bytes(const struct tr_superblock *superblock, uint64_t from,
                                 uint64_t value)
{
    uint8_t bytes[8];
    memcpy(bytes, &value, sizeof bytes);
    for (unsigned i = 0; i < superblock->item_count; i++) {
        const struct tr_item *item = &superblock->items[i];
        for (unsigned j = 0; j < item->decoded.length; j++)
            if (item->pc + j - from < sizeof bytes)
                bytes[item->pc + j - from] = item->bytes[j];
    }
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Code that is written too often to be protected is compared with what was translated. */
static void emit_code_check(struct translating *t)
{
    const struct tr_superblock *superblock = &t->superblock;
    uint64_t fail = tr_emit_address(&t->cold);
    emit_give_back(&t->cold);
    tr_emit_gs_store_32(&t->cold, HOT(exit), TR_RUN_CODE_CHANGED);
    tr_emit_gs_jump(&t->cold, HOT(leave_run));
    emit_borrow(t);
    uint64_t end = superblock->high;
    /* For a short superblock the 8 bytes include what follows in its page, or at the page's end what precedes it. */
    if (end - superblock->low < 8 && superblock->low % TR_PAGE <= TR_PAGE - 8)
        end = superblock->low + 8;
    for (uint64_t at = superblock->low; at < superblock->high; at += 8) {
        uint64_t from = at + 8 > end ? end - 8 : at, value = 0;
        mark(t, superblock->pc);
        if (!tr_probe_read(&value, from, 8))
            break;
        emit_code_check_8(t, from, translated_bytes(superblock, from, value), fail);
    }
    give_back(t, BORROWED);
}

static void emit_head(struct translating *t)
{
    tr_emit_log_word(&t->hot, t->identifier << 1);
    tr_emit_log_advance(&t->hot, 4);
    if (t->superblock.needs_test)
        emit_run_test(t);
    if (t->superblock.code == TR_CODE_CHANGING)
        emit_code_check(t);
    if (tr_superblock_asks(&t->superblock))
        emit_trigger(t);
}

/* ---- instructions that are copied ---- */

static void emit_copy(struct translating *t, const struct tr_item *item)
{
    tr_emit_bytes(&t->hot, item->bytes, item->decoded.length);
}

/* The operand's address is within reach of where the instruction runs now. */
static bool emit_near_operand(struct translating *t, const struct tr_item *item)
{
    uint64_t next = tr_emit_address(&t->hot) + item->decoded.length;
    if (!in_reach(next, item->decoded.target))
        return false;
    uint8_t *start = t->hot.at;
    uint32_t displacement = (uint32_t)(item->decoded.target - next);
    emit_copy(t, item);
    memcpy(start + item->decoded.displacement_at, &displacement, sizeof displacement);
    return true;
}

/* A register that the instruction does not mention, and that its encoding can name as a base. */
static unsigned scratch_register(const struct tr_instruction *decoded)
{
    static const uint8_t low[] = {TR_RAX, TR_RCX, TR_RDX, TR_RBX, TR_RSI, TR_RDI};
    static const uint8_t high[] = {TR_R8, TR_R9, TR_R10, TR_R14, TR_R15};
    bool extended = decoded->properties & TR_EXTENDED_BASE;
    const uint8_t *candidates = extended ? high : low;
    unsigned count = extended ? sizeof high : sizeof low,
             mentioned = decoded->reads | decoded->writes;
    for (unsigned i = 0; i + 1 < count; i++)
        if (!(mentioned >> candidates[i] & 1))
            return candidates[i];
    return candidates[count - 1];
}

/* The same instruction with the operand's address in a register. */
static void emit_far_operand(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    unsigned scratch = scratch_register(decoded);
    tr_emit_save(&t->hot, scratch, HOT(scratch));
    tr_emit_constant(&t->hot, scratch, decoded->target);
    t->now.scratch = (int)scratch;
    mark(t, item->pc);
    uint8_t *start = t->hot.at;
    uint32_t none = 0;
    emit_copy(t, item);
    /* mod 2: a base register and a displacement of 32 bits, which takes the place of the other one */
    start[decoded->modrm_at] = (uint8_t)((decoded->modrm & 0x38) | 0x80 | (scratch & 7));
    memcpy(start + decoded->displacement_at, &none, sizeof none);
    tr_emit_load(&t->hot, scratch, HOT(scratch));
    t->now.scratch = -1;
}

static bool is_wide(const struct tr_instruction *decoded)
{
    return (decoded->rex & REX_W) == REX_W;
}

static unsigned reg_operand(const struct tr_instruction *decoded)
{
    return (decoded->modrm >> 3 & 7) | (decoded->rex & 4u) << 1;
}

static unsigned rm_operand(const struct tr_instruction *decoded)
{
    return (decoded->modrm & 7) | (decoded->rex & 1u) << 3;
}

static bool emit_address_constant(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    if (!(decoded->properties & TR_LEA) || !is_wide(decoded))
        return false;
    tr_emit_constant(&t->hot, reg_operand(decoded), decoded->target);
    return true;
}

/* PUSH, POP and moves of the program's r11 go to where it is kept. False: it is another instruction. */
static bool emit_r11_access(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    if (t->now.r11)
        return false;
    if (decoded->properties & TR_PUSH_POP && decoded->map == 0 && decoded->prefix_size == 0 &&
        (decoded->opcode & 0xf0) == 0x50) {
        bool pop = decoded->opcode & 8;
        tr_emit_8(&t->hot, 0x65);
        tr_emit_8(&t->hot, pop ? 0x8f : 0xff);
        tr_emit_8(&t->hot, pop ? 0x04 : 0x34);
        tr_emit_8(&t->hot, 0x25);
        tr_emit_32(&t->hot, HOT(r11));
        return true;
    }
    bool move = decoded->map == 0 && decoded->prefix_size == 0 && is_wide(decoded) &&
                !(decoded->properties & TR_VECTOR) && decoded->modrm >> 6 == 3 &&
                (decoded->opcode == 0x89 || decoded->opcode == 0x8b);
    if (!move)
        return false;
    unsigned from = decoded->opcode == 0x89 ? reg_operand(decoded) : rm_operand(decoded);
    unsigned to = decoded->opcode == 0x89 ? rm_operand(decoded) : reg_operand(decoded);
    if (from == to)
        return true;
    if (from == TR_R11)
        tr_emit_load(&t->hot, to, HOT(r11));
    else
        tr_emit_save(&t->hot, from, HOT(r11));
    return true;
}

static void emit_plain(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    bool rip = decoded->properties & TR_RIP_RELATIVE;
    mark(t, item->pc);
    if ((decoded->reads | decoded->writes) & R11) {
        if (!rip && emit_r11_access(t, item))
            return;
        show_r11(t);
        mark(t, item->pc);
    }
    if (!rip)
        emit_copy(t, item);
    else if (!emit_near_operand(t, item) && !emit_address_constant(t, item))
        emit_far_operand(t, item);
}

/* An instruction that gives the stack pointer a new value: both are logged. What logs them stores rcx and rdx where they are kept. */
static void emit_stack_load(struct translating *t, const struct tr_item *item, bool copies)
{
    give_back(t, BORROWED);
    t->kept = 0;
    tr_emit_save(&t->hot, TR_RSP, HOT(stack_before));
    emit_plain(t, item);
    hide_r11(t);
    mark(t, item->pc + item->decoded.length);
    tr_emit_save(&t->hot, TR_RAX, HOT(rax));
    tr_emit_load(&t->hot, TR_RAX, HOT(stack_before));
    /* In halves: the program may have unaligned accesses checked. BSWAP of all, then of the lower half, leaves the upper
     * half there, and the flags as they are. */
    static const uint8_t stores[] = {
        0x41, 0x89, 0x43, 0x04, /* mov [r11 + 4], eax */
        0x48, 0x0f, 0xc8,       /* bswap rax */
        0x0f, 0xc8,             /* bswap eax */
        0x41, 0x89, 0x43, 0x08, /* mov [r11 + 8], eax */
        0x48, 0x89, 0xe0,       /* mov rax, rsp */
        0x41, 0x89, 0x43, 0x0c, /* mov [r11 + 12], eax */
        0x48, 0x0f, 0xc8,       /* bswap rax */
        0x0f, 0xc8,             /* bswap eax */
        0x41, 0x89, 0x43, 0x10, /* mov [r11 + 16], eax */
    };
    tr_emit_bytes(&t->hot, stores, sizeof stores);
    tr_emit_log_word(&t->hot, TR_EVENT_WORD(TR_STACK, 0));
    tr_emit_log_advance(&t->hot, 20);
    enum { CONSTANT = 10, JUMP = 8 }; /* bytes */
    tr_emit_constant(&t->hot, TR_RAX, tr_emit_address(&t->hot) + CONSTANT + JUMP);
    tr_emit_gs_jump(&t->hot, copies ? HOT(stack_copied) : HOT(stack_loaded));
}

/* ---- branches ---- */

/* Logs which block's branch is taken, and goes to `target`. */
static void emit_exit(struct translating *t, struct tr_emitter *emitter, bool r11, int logged_block,
                      uint64_t target)
{
    if (r11)
        emit_hide_r11(emitter);
    if (logged_block >= 0) {
        tr_emit_log_word(emitter, TR_EVENT_WORD(TR_EXIT, logged_block));
        tr_emit_log_advance(emitter, 4);
    }
    tr_emit_keep_together(emitter, 1);
    tr_emit_8(emitter, 0xe9);
    put_link(t, emitter, target);
}

/* The displacement of a conditional jump out of the fragment. */
static void put_side_exit(struct translating *t, const struct tr_item *item)
{
    const struct tr_way *block = &t->superblock.blocks[item->block];
    uint64_t target = block->taken ? block->end : block->target;
    if (!t->now.r11 && !block->ambiguous) {
        put_link(t, &t->hot, target);
        return;
    }
    tr_emit_relative(&t->hot, tr_emit_address(&t->cold));
    emit_exit(t, &t->cold, t->now.r11, block->ambiguous ? item->block : -1, target);
}

static void emit_conditional(struct translating *t, const struct tr_item *item)
{
    tr_emit_keep_together(&t->hot, 2);
    tr_emit_8(&t->hot, 0x0f);
    /* The lowest bit of a condition is its negation. */
    tr_emit_8(&t->hot,
              0x80 | ((item->decoded.condition & 0xf) ^ t->superblock.blocks[item->block].taken));
    put_side_exit(t, item);
}

/* LOOP and JRCXZ reach only 127 bytes: over a jump that is not taken. */
static void emit_loop(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    tr_emit_bytes(&t->hot, item->bytes, (unsigned)decoded->length - 1);
    tr_emit_8(&t->hot, 2);
    uint8_t *over = t->hot.at + 1;
    tr_emit_8(&t->hot, 0xeb);
    tr_emit_8(&t->hot, 0);
    tr_emit_keep_together(&t->hot, 1);
    tr_emit_8(&t->hot, 0xe9);
    put_side_exit(t, item);
    *over = (uint8_t)(t->hot.at - over - 1);
}

static void emit_push_return_address(struct translating *t, const struct tr_item *item)
{
    uint64_t constant = put_constant(t, item->pc + item->decoded.length);
    mark(t, item->pc);
    tr_emit_8(&t->hot, 0xff); /* push [rip + ...] */
    tr_emit_8(&t->hot, 0x35);
    tr_emit_relative(&t->hot, constant);
}

/* rdx = the operand of an indirect jump or call: MOV with the same ModRM operand. */
static void emit_load_target(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    uint8_t rex = REX_W | (decoded->rex & 3);
    if (decoded->properties & TR_FS_OPERAND)
        tr_emit_8(&t->hot, 0x64);
    if (decoded->properties & TR_ADDRESS_32)
        tr_emit_8(&t->hot, 0x67);
    mark(t, item->pc);
    if (decoded->properties & TR_RIP_RELATIVE) {
        enum { LENGTH = 7 };
        if (in_reach(tr_emit_address(&t->hot) + LENGTH, decoded->target)) {
            tr_emit_rip(&t->hot, 0x8b, TR_RDX, decoded->target);
        } else {
            static const uint8_t load[] = {0x48, 0x8b, 0x12}; /* mov rdx, [rdx] */
            tr_emit_constant(&t->hot, TR_RDX, decoded->target);
            mark(t, item->pc);
            tr_emit_bytes(&t->hot, load, sizeof load);
        }
        return;
    }
    tr_emit_8(&t->hot, rex);
    tr_emit_8(&t->hot, 0x8b);
    tr_emit_8(&t->hot, (uint8_t)((decoded->modrm & 0xc7) | TR_RDX << 3));
    unsigned rest = decoded->modrm_at + 1;
    tr_emit_bytes(&t->hot, item->bytes + rest, decoded->length - rest);
}

/* The target is in rdx, rcx and rdx are borrowed: to wherever the table says. */
static void emit_table_jump(struct tr_emitter *emitter)
{
    static const uint8_t index[] = {0x0f, 0xb7, 0xca}; /* movzx ecx, dx */
    tr_emit_bytes(emitter, index, sizeof index);
    tr_emit_table_jump(emitter, TR_TABLE_OFFSET);
}

/* rcx = 0 when rdx is what the constant at `constant` is minus of; then a jump over `miss` bytes. */
static void emit_guard_test(struct translating *t, uint64_t constant)
{
    static const uint8_t add[] = {0x48, 0x8d, 0x0c, 0x11}; /* lea rcx, [rcx + rdx] */
    tr_emit_rip(&t->hot, 0x8b, TR_RCX, constant);
    tr_emit_bytes(&t->hot, add, sizeof add);
    tr_emit_8(&t->hot, 0xe3); /* jrcxz */
}

/* Where flags are never dead: leaves when gs:[run] is 0, before the branch that ends the fragment; rcx and rdx are
 * borrowed. Returns where the distance to what emit_end_test_exit writes belongs; NULL: no test. */
static uint8_t *emit_end_test(struct translating *t)
{
    if (t->superblock.check_at < t->superblock.item_count)
        return NULL;
    tr_emit_load(&t->hot, TR_RCX, HOT(run));
    tr_emit_8(&t->hot, 0xe3); /* jrcxz */
    tr_emit_8(&t->hot, 0);
    return t->hot.at - 1;
}

static void emit_end_test_exit(struct translating *t, const struct tr_item *item, uint8_t *distance)
{
    if (!distance)
        return;
    *distance = (uint8_t)(t->hot.at - distance - 1);
    tr_emit_jump(&t->hot, tr_emit_address(&t->cold));
    emit_give_back(&t->cold);
    tr_emit_gs_store_32(&t->cold, HOT(exit), TR_RUN_AT_END);
    tr_emit_save(&t->cold, TR_RAX, HOT(rax));
    tr_emit_constant(&t->cold, TR_RAX, item->pc);
    tr_emit_gs_jump(&t->cold, HOT(leave_run_at));
}

/* Ends a fragment: an inline guard for the target that comes first, else the table. The guard is closed by a jump to
 * the runtime, which opens it when the branch first runs. */
static void emit_guarded_exit(struct translating *t)
{
    enum { TABLE_JUMP = 3 + 8 };
    tr_emit_gap_8(&t->cold);
    uint64_t guard_at = tr_emit_address(&t->cold);
    struct tr_guard guard = {.constant = 0};
    uint8_t *guard_place = t->cold.at;
    t->cold.at += sizeof guard;
    uint64_t first = tr_emit_address(&t->cold);
    tr_emit_gs_store_32(&t->cold, HOT(exit), cold_name(t, guard_at));
    tr_emit_gs_jump(&t->cold, HOT(leave_first));

    tr_emit_align_8(&t->hot);
    uint8_t *site = t->hot.at;
    guard.site = tr_emit_address(&t->hot);
    emit_guard_test(t, guard_at);
    tr_emit_8(&t->hot, TABLE_JUMP);
    emit_table_jump(&t->hot);
    emit_give_back(&t->hot);
    tr_emit_keep_together(&t->hot, 1);
    tr_emit_8(&t->hot, 0xe9);
    guard.patch = tr_emit_address(&t->hot);
    tr_emit_32(&t->hot, 0);
    memcpy(&guard.enable, site, sizeof guard.enable);
    memcpy(guard_place, &guard, sizeof guard);
    struct tr_emitter jump = {site, t->hot.shift};
    tr_emit_jump(&jump, first);
}

/* In a fragment's middle: goes on when the target, in rdx, is the expected one. rcx and rdx stay borrowed. */
static void emit_expected_target(struct translating *t, const struct tr_item *item,
                                 uint64_t expected)
{
    uint64_t miss = tr_emit_address(&t->cold);
    tr_emit_log_word(&t->cold, TR_EVENT_WORD(TR_EXIT, item->block));
    tr_emit_log_advance(&t->cold, 4);
    emit_table_jump(&t->cold);
    emit_guard_test(t, put_constant(t, -expected));
    tr_emit_8(&t->hot, 5);
    tr_emit_jump(&t->hot, miss);
}

static void emit_return(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    const struct tr_way *block = &t->superblock.blocks[item->block];
    hide_r11(t);
    emit_borrow(t);
    uint8_t *test = block->expected ? NULL : emit_end_test(t);
    mark(t, item->pc);
    tr_emit_8(&t->hot, 0x5a); /* pop rdx */
    if (decoded->pop_bytes) {
        static const uint8_t drop[] = {0x48, 0x8d, 0xa4, 0x24}; /* lea rsp, [rsp + ...] */
        tr_emit_bytes(&t->hot, drop, sizeof drop);
        tr_emit_32(&t->hot, decoded->pop_bytes);
    }
    if (block->expected)
        emit_expected_target(t, item, block->expected);
    else
        emit_guarded_exit(t);
    emit_end_test_exit(t, item, test);
}

static void emit_indirect(struct translating *t, const struct tr_item *item)
{
    const struct tr_instruction *decoded = &item->decoded;
    if ((decoded->reads | decoded->writes) & R11)
        show_r11(t);
    emit_borrow(t);
    emit_load_target(t, item);
    hide_r11(t);
    uint64_t expected = t->superblock.blocks[item->block].expected;
    uint8_t *test = expected ? NULL : emit_end_test(t);
    if (decoded->kind == TR_INDIRECT_CALL)
        emit_push_return_address(t, item);
    if (expected)
        emit_expected_target(t, item, expected);
    else
        emit_guarded_exit(t);
    emit_end_test_exit(t, item, test);
}

static void emit_syscall(struct translating *t, const struct tr_item *item)
{
    hide_r11(t);
    uint64_t data = tr_emit_address(&t->cold);
    tr_emit_64(&t->cold, item->pc + item->decoded.length);
    tr_emit_64(&t->cold, 0);
    tr_emit_gs_store_32(&t->hot, HOT(exit), cold_name(t, data));
    tr_emit_gs_jump(&t->hot, HOT(leave_syscall));
}

/* The fragment's last way out that is not indirect. */
static void emit_end(struct translating *t, uint64_t target)
{
    emit_exit(t, &t->hot, t->now.r11, -1, target);
    t->now.r11 = false;
}

static void emit_item(struct translating *t, const struct tr_item *item, bool last)
{
    const struct tr_instruction *decoded = &item->decoded;
    const struct tr_way *block = &t->superblock.blocks[item->block];
    switch ((enum tr_kind)decoded->kind) {
    case TR_PLAIN:
        if (block->loads_stack && item->ends_block)
            emit_stack_load(t, item, block->copies_stack);
        else
            emit_plain(t, item);
        break;
    case TR_CONDITIONAL:
        emit_conditional(t, item);
        break;
    case TR_LOOP:
        emit_loop(t, item);
        break;
    case TR_JUMP:
        if (last)
            emit_end(t, decoded->target);
        return;
    case TR_CALL:
        emit_push_return_address(t, item);
        if (last)
            emit_end(t, decoded->target);
        return;
    case TR_RETURN:
        emit_return(t, item);
        return;
    case TR_INDIRECT_JUMP:
    case TR_INDIRECT_CALL:
        emit_indirect(t, item);
        return;
    case TR_SYSTEM_CALL:
        emit_syscall(t, item);
        return;
    default: /* is not translated */
        break;
    }
    if (last) {
        forget_written(t, item);
        give_back(t, BORROWED);
        emit_end(t, item->pc + decoded->length);
    }
}

/* What is not translated runs at its own address: only the runtime can go there. */
static void emit_leave(struct translating *t)
{
    bool traps = t->superblock.items[0].decoded.kind == TR_TRAP;
    uint64_t address = put_exit(t, t->superblock.pc, 0);
    ((struct tr_exit *)(void *)(t->cold.at - sizeof(struct tr_exit)))->kind =
        traps ? TR_EXIT_TRAP : TR_EXIT_UNSUPPORTED;
    tr_emit_jump(&t->hot, address);
}

static void emit(struct translating *t)
{
    const struct tr_superblock *superblock = &t->superblock;
    t->now = (struct tr_disguise){.pc = superblock->pc, .scratch = -1};
    t->kept = 0;
    t->disguises.count = 0;
    t->body = tr_emit_address(&t->hot);
    emit_head(t);
    if (superblock->leaves) {
        emit_leave(t);
        return;
    }
    for (unsigned i = 0; i < superblock->item_count; i++) {
        const struct tr_item *item = &superblock->items[i];
        bool last = i + 1 == superblock->item_count;
        if (i == superblock->check_at && !tr_superblock_asks(superblock)) {
            hide_r11(t);
            give_back(t, BORROWED);
            t->kept = 0;
            emit_compare(t, item->pc);
        }
        t->now.block = item->block;
        give_back_for(t, item, last);
        emit_item(t, item, last);
        forget_written(t, item);
    }
}

static void note_code(struct tr_thread *thread, const struct tr_superblock *superblock)
{
    for (unsigned i = 0; i < superblock->block_count; i++)
        tr_code_note(thread, superblock->blocks[i].start, superblock->blocks[i].end);
}

/* The route lies in the cold part, so that the fragment can be formed again. */
static uint32_t keep_route(struct translating *t, const struct tr_route *route)
{
    uint32_t offset = (uint32_t)(t->cold.at - t->region->cold.start);
    tr_emit_32(&t->cold, route->count);
    tr_emit_bytes(&t->cold, (const uint8_t *)route->starts,
                  route->count * (unsigned)sizeof *route->starts);
    return offset;
}

static bool describe(struct tr_translation *translation, const struct tr_superblock *superblock)
{
    struct tr_fragment *description =
        tr_fragment_reserve_description(tr_superblock_description_size(superblock));
    if (!description)
        return false;
    tr_superblock_describe(superblock, description);
    tr_fragment_add_description(translation, description);
    return true;
}

/* Indirect branches enter above the fragment, and jump over its own log entry. */
static void emit_indirect_entry(struct translating *t, struct tr_translation *translation)
{
    enum { JUMP = 2, TO_BODY = 64 - TR_INDIRECT_BODY - TR_ENTRY_SIZE - JUMP };
    translation->indirect = (uint32_t)(t->hot.at - t->region->hot.start);
    tr_emit_indirect_entry(&t->hot, translation->pc, translation->identifier);
    tr_emit_8(&t->hot, 0xeb);
    tr_emit_8(&t->hot, TO_BODY + TR_ENTRY_SIZE);
    tr_emit_gap_8(&t->hot);
}

static bool note_pages(const struct tr_translation *translation,
                       const struct tr_superblock *superblock)
{
    bool noted = true;
    for (unsigned i = 0; noted && i < superblock->block_count; i++)
        noted = tr_fragment_made_from(translation, superblock->blocks[i].start,
                                      superblock->blocks[i].end);
    return noted;
}

/* 0: it has no such comparison. */
static uint8_t check_block(const struct tr_superblock *superblock)
{
    unsigned at = superblock->check_at;
    return at < superblock->item_count ? superblock->items[at].block : 0;
}

struct tr_translation *tr_translate(struct tr_thread *thread, uint64_t pc,
                                    const struct tr_route *route, bool indirect, bool *nothing)
{
    struct translating t;
    t.thread = thread;
    t.wanted = 0;
    uint32_t return_places = tr_return_places();
    *nothing = !tr_superblock_form(&t.superblock, thread, pc, route, return_places);
    if (*nothing)
        return NULL;
    if (!t.superblock.fixed) /* before it has an identifier: sideband_layout.h, next_fragment */
        note_code(thread, &t.superblock);
    t.region = tr_cache_region(pc);
    struct tr_translation *translation = t.region ? tr_fragment_add() : NULL;
    if (!translation || !note_pages(translation, &t.superblock) ||
        !describe(translation, &t.superblock))
        return NULL;
    t.hot = (struct tr_emitter){t.region->hot.start + t.region->hot.used, 0};
    t.cold = (struct tr_emitter){t.region->cold.start + t.region->cold.used, 0};
    if (t.region->cold.used == 0) { /* so that no name and no offset is 0 */
        t.cold.at += 16;
        t.hot.at += 16;
    }
    if (route)
        translation->route = keep_route(&t, route);
    tr_emit_gap_8(&t.hot);
    t.identifier = translation->identifier;
    translation->pc = pc;
    translation->return_places = return_places;
    translation->hits_trigger = t.superblock.hits_trigger;
    translation->compares = t.superblock.code == TR_CODE_CHANGING;
    translation->ends_recording = t.superblock.ends_recording;
    translation->notes_start = t.superblock.notes_start;
    translation->value_place = t.superblock.value_place;
    translation->is_return_place = t.superblock.is_return_place;
    translation->region = (uint8_t)(t.region - tr_cache.regions);
    translation->check_block = check_block(&t.superblock);
    if (indirect)
        emit_indirect_entry(&t, translation);
    translation->code = (uint32_t)(t.hot.at - t.region->hot.start);
    translation->low = (uint32_t)(pc - t.superblock.low);
    translation->high = (uint32_t)(t.superblock.high - pc);
    emit(&t);
    translation->code_size = (uint16_t)(t.hot.at - t.region->hot.start - translation->code);
    t.region->hot.used = (uint64_t)(t.hot.at - t.region->hot.start);
    t.region->cold.used = (uint64_t)(t.cold.at - t.region->cold.start);
    if (!t.superblock.fixed)
        translation->disguises = tr_disguises_keep(t.region, &t.disguises);
    tr_fragment_publish(translation);
    return translation;
}

/* By translating the fragment once more. */
static bool find_disguise(struct tr_thread *thread, const struct tr_translation *translation,
                          uint32_t offset, struct tr_disguise *disguise)
{
    uint8_t hot[SCRATCH_SIZE], cold[SCRATCH_SIZE];
    struct translating t;
    t.thread = thread;
    t.identifier = translation->identifier;
    t.is_found = false;
    t.region = &tr_cache.regions[translation->region];
    const struct tr_route *route =
        translation->route ? (const void *)(t.region->cold.start + translation->route) : NULL;
    if (!tr_superblock_form(&t.superblock, thread, translation->pc, route,
                            translation->return_places))
        return false;
    t.wanted = (uint64_t)t.region->hot.start + translation->code + offset;
    t.hot =
        (struct tr_emitter){hot, (uint64_t)t.region->hot.start + translation->code - (uint64_t)hot};
    t.cold = (struct tr_emitter){cold, (uint64_t)t.region->cold.start + t.region->cold.used -
                                           (uint64_t)cold};
    emit(&t);
    *disguise = t.found;
    return t.is_found;
}

bool tr_translate_state(struct tr_thread *thread, const struct tr_translation *translation,
                        uint32_t offset, struct tr_state *state, unsigned *block)
{
    struct tr_disguise disguise;
    bool found = translation->disguises
                     ? tr_disguise_find(&tr_cache.regions[translation->region],
                                        translation->disguises, translation->pc, offset, &disguise)
                     : find_disguise(thread, translation, offset, &disguise);
    if (!found)
        return false;
    tr_disguise_undo(&disguise, &thread->hot, state);
    *block = disguise.block;
    return true;
}
