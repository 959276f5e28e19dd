#include "program.h"

#include "instruction.h"

#include <stdlib.h>
#include <string.h>

extern const uint8_t skeleton_begin[], skeleton_end[], skeleton_data[], skeleton_code[];

enum frame {
    NO_FRAME,    /* rbp is not touched */
    SAVED_FRAME, /* rbp is pushed, popped at the end, and free between */
    RBP_FRAME,   /* rbp points to the frame */
    ENTER_FRAME,
    FRAMES,
};

struct function {
    enum frame frame;
    unsigned size;      /* of its frame, bytes below what it has pushed */
    unsigned arguments; /* 8 bytes each, which its return removes */
    unsigned block_count;
    bool is_realigned; /* its frame */
};

/* A displacement of 4 bytes that is to lead to a function or a block of the current one. */
struct fixup {
    size_t at;
    unsigned target;
};

struct fixups {
    struct fixup items[2 * PARTS_MOST];
    unsigned count;
};

struct making {
    struct program *program;
    struct code *code;
    struct random random;
    unsigned function_count;
    struct function functions[FUNCTIONS_MOST];
    uint64_t entries[FUNCTIONS_MOST], blocks[BLOCKS_MOST + 1];
    struct fixups to_functions, to_blocks;
    unsigned function;  /* the current one */
    unsigned reserved;  /* registers that keep their values now */
    unsigned next_slot; /* SLOTS */
    unsigned next_jump; /* offset in the data: JUMP_TABLES */
    unsigned depth;     /* of parts within parts */
    unsigned loops;     /* around */
};

static void add_part(struct making *m);

static uint64_t data_at(const struct making *m, unsigned offset)
{
    return m->program->data_address + offset;
}

static void note(struct fixups *fixups, const struct code *code, unsigned target)
{
    if (fixups->count < 2 * PARTS_MOST)
        fixups->items[fixups->count++] = (struct fixup){code->size, target};
}

static void resolve(struct fixups *fixups, struct code *code, const uint64_t *targets)
{
    for (unsigned i = 0; i < fixups->count; i++) {
        struct fixup *fixup = &fixups->items[i];
        uint32_t distance = (uint32_t)(targets[fixup->target] - (code->base + fixup->at + 4));
        memcpy(code->bytes + fixup->at, &distance, sizeof distance);
    }
    fixups->count = 0;
}

static bool is_free(const struct making *m, unsigned reg)
{
    return !((m->reserved | 1u << RSP) >> reg & 1);
}

/* A register that may be written; rax if there is no other. */
static unsigned any_free(struct making *m)
{
    unsigned reg = random_percent(&m->random, 15) ? R11 : random_below(&m->random, 16);
    for (unsigned i = 0; i < 16; i++, reg = (reg + 1) & 15)
        if (is_free(m, reg))
            return reg;
    return RAX;
}

static unsigned any_register(struct making *m)
{
    return random_percent(&m->random, 15) ? R11 : random_below(&m->random, 16);
}

static uint64_t arena(struct making *m)
{
    return data_at(m, ARENA + 0x400 + random_below(&m->random, 256) * 8);
}

static void add_instruction(struct making *m)
{
    instruction_add(m->code, &m->random, m->program->data_address, m->reserved);
}

static void add_some(struct making *m, unsigned most)
{
    for (unsigned i = random_below(&m->random, most + 1); i > 0; i--)
        add_part(m);
}

/* ---- what the code reports ---- */

static void add_report(struct making *m)
{
    enum { MOST = (FINAL_SLOT - SLOTS) / SLOT_SIZE };
    if (m->next_slot == MOST)
        return;
    unsigned slot = SLOTS + SLOT_SIZE * m->next_slot++;
    for (unsigned reg = 0; reg < 16; reg++)
        code_store(m->code, reg, data_at(m, slot + 8 * reg));
    code_8(m->code, 0x9c); /* pushf */
    code_rip_narrow(m->code, 0x8f, 0, data_at(m, slot + 16 * 8));
}

/* ---- fuel ---- */

/* What comes until the guard is closed runs only while there is fuel, and is short. */
static size_t open_guard(struct making *m)
{
    static const uint8_t decrement[] = {0x48, 0x8d, 0x49, 0xff}; /* lea rcx, [rcx - 1] */
    code_store(m->code, RCX, data_at(m, SAVED_RCX));
    code_load(m->code, RCX, data_at(m, FUEL));
    code_8(m->code, 0xe3); /* jrcxz */
    code_8(m->code, 0);
    size_t at = m->code->size - 1;
    code_put(m->code, decrement, sizeof decrement);
    code_store(m->code, RCX, data_at(m, FUEL));
    code_load(m->code, RCX, data_at(m, SAVED_RCX));
    return at;
}

static void close_guard(struct making *m, size_t guard)
{
    enum { LOAD = 7 };
    code_8(m->code, 0xeb);
    code_8(m->code, LOAD);
    code_land_short(m->code, guard);
    code_load(m->code, RCX, data_at(m, SAVED_RCX));
}

/* ---- conditional branches ---- */

/* Where both ways of a conditional branch would lead to the same place, recordings do not say which was taken. */
static void add_nop(struct making *m)
{
    code_8(m->code, 0x90);
}

/* A conditional jump of either size over what follows; returns what `land` takes. */
struct forward {
    size_t at;
    bool is_short;
};

static struct forward jump_forward(struct making *m, int condition)
{
    struct forward forward = {0, random_percent(&m->random, 50)};
    if (random_percent(&m->random, 10))
        code_8(m->code, random_percent(&m->random, 50) ? 0x2e : 0x3e); /* hints */
    if (condition < 0) {
        code_8(m->code, forward.is_short ? 0xeb : 0xe9);
    } else {
        if (!forward.is_short)
            code_8(m->code, 0x0f);
        code_8(m->code, (forward.is_short ? 0x70 : 0x80) | (unsigned)condition);
    }
    forward.at = m->code->size;
    forward.is_short ? code_8(m->code, 0) : code_32(m->code, 0);
    return forward;
}

/* LOOPNE, LOOPE, LOOP, JRCXZ, or JECXZ and so on: no flags are written. */
static struct forward loop_forward(struct making *m)
{
    if (random_percent(&m->random, 30))
        code_8(m->code, 0x67);
    bool counts = is_free(m, RCX);
    code_8(m->code, counts ? 0xe0 | random_below(&m->random, 4) : 0xe3);
    code_8(m->code, 0);
    return (struct forward){m->code->size - 1, true};
}

/* The jump leads to the end of the code. What it jumps over is dropped when it is too long. */
static void land(struct making *m, struct forward forward)
{
    enum { SHORT = 127 };
    if (!forward.is_short) {
        code_land(m->code, forward.at);
        return;
    }
    if (m->code->size - forward.at - 1 > SHORT) {
        m->code->size = forward.at + 1;
        add_nop(m);
    }
    code_land_short(m->code, forward.at);
}

static void add_skip(struct making *m)
{
    int condition = (int)random_below(&m->random, 17) - 1;
    struct forward forward =
        random_percent(&m->random, 20) ? loop_forward(m) : jump_forward(m, condition);
    do
        add_instruction(m);
    while (random_percent(&m->random, 40) && m->code->size - forward.at < 60);
    land(m, forward);
}

/* ---- loops ---- */

static void jump_back(struct making *m, unsigned condition, size_t begin)
{
    uint64_t target = m->code->base + begin;
    if (m->code->size + 2 - begin <= 128) {
        code_8(m->code, 0x70 | condition);
        code_8(m->code, (unsigned)(begin - m->code->size - 1));
        return;
    }
    code_8(m->code, 0x0f);
    code_8(m->code, 0x80 | condition);
    code_relative(m->code, target);
}

/* Goes back while lea of one less is not 0: not one flag is written. */
static void count_without_flags(struct making *m, size_t begin)
{
    static const uint8_t step[] = {0x48, 0x8d, 0x49, 0xff, 0xe3, 5}; /* jrcxz over the jump */
    code_put(m->code, step, sizeof step);
    code_8(m->code, 0xe9);
    code_relative(m->code, m->code->base + begin);
}

static void count_down(struct making *m, unsigned counter, size_t begin)
{
    enum { NOT_ZERO = 5 };
    bool is_near = m->code->size + 2 - begin <= 128;
    if (counter == RCX && is_near && random_percent(&m->random, 50)) {
        code_8(m->code, 0xe0 | random_below(&m->random, 3)); /* loopne, loope, loop */
        code_8(m->code, (unsigned)(begin - m->code->size - 1));
    } else if (counter == RCX && random_percent(&m->random, 60)) {
        count_without_flags(m, begin);
    } else if (random_percent(&m->random, 50)) {
        code_8(m->code, 0x48 | counter >> 3); /* dec */
        code_8(m->code, 0xff);
        code_8(m->code, 0xc8 | (counter & 7));
        jump_back(m, NOT_ZERO, begin);
    } else {
        code_add(m->code, counter, counter, -1);
        code_8(m->code, 0x48 | (counter >> 3) * 5); /* test */
        code_8(m->code, 0x85);
        code_8(m->code, 0xc0 | (counter & 7) * 9);
        jump_back(m, NOT_ZERO, begin);
    }
}

static void add_loop(struct making *m)
{
    unsigned counter = random_percent(&m->random, 40) && is_free(m, RCX) ? RCX : any_free(m);
    if (m->loops > 1 || !is_free(m, counter)) {
        add_instruction(m);
        return;
    }
    unsigned reserved = m->reserved;
    code_constant(m->code, counter, 1 + random_below(&m->random, m->loops ? 6 : 40));
    m->reserved |= 1u << counter;
    m->loops++;
    size_t begin = m->code->size;
    add_some(m, 3);
    count_down(m, counter, begin);
    m->loops--;
    m->reserved = reserved;
}

/* ---- calls ---- */

static void push_something(struct making *m)
{
    switch (random_below(&m->random, 5)) {
    case 0:
        code_8(m->code, 0x6a); /* imm8 */
        code_8(m->code, (unsigned)random_64(&m->random));
        break;
    case 1:
        code_8(m->code, 0x68); /* imm32 */
        code_32(m->code, (uint32_t)random_64(&m->random));
        break;
    case 2:
        code_rip_narrow(m->code, 0xff, 6, arena(m));
        break;
    default:
        code_push(m->code, any_register(m));
        break;
    }
}

/* lea reg, the function */
static void load_function(struct making *m, unsigned reg, unsigned function)
{
    code_8(m->code, 0x48 | reg >> 3 << 2);
    code_8(m->code, 0x8d);
    code_8(m->code, (reg & 7) << 3 | 5);
    note(&m->to_functions, m->code, function);
    code_32(m->code, 0);
}

static void indirect(struct making *m, unsigned operation, unsigned reg)
{
    if (random_percent(&m->random, 25))
        code_8(m->code, random_percent(&m->random, 50) ? 0x3e : 0xf2); /* notrack, bnd */
    if (reg >= 8)
        code_8(m->code, 0x41);
    code_8(m->code, 0xff);
    code_8(m->code, 0xc0 | operation << 3 | (reg & 7));
}

enum { CALL_OPERATION = 2, JUMP_OPERATION = 4 };

/* [reg * 8 + table]: `reg` has the number */
static void indirect_by_table(struct making *m, unsigned operation, unsigned table, unsigned number)
{
    unsigned reg = any_free(m), base = any_free(m);
    uint64_t address = data_at(m, table);
    code_constant(m->code, reg, number);
    if (address <= INT32_MAX && random_percent(&m->random, 50)) {
        code_8(m->code, 0x40 | reg >> 3 << 1);
        code_8(m->code, 0xff);
        code_8(m->code, 0x04 | operation << 3);
        code_8(m->code, 0xc5 | (reg & 7) << 3);
        code_32(m->code, (uint32_t)address);
        return;
    }
    if (base == reg) {
        code_constant(m->code, reg, address + 8 * number);
        code_8(m->code, 0x40 | reg >> 3);
        code_8(m->code, 0xff);
        code_8(m->code, 0x80 | operation << 3 | (reg & 7));
        if ((reg & 7) == RSP)
            code_8(m->code, 0x24);
        code_32(m->code, 0);
        return;
    }
    code_constant(m->code, base, address);
    code_8(m->code, 0x40 | base >> 3 | reg >> 3 << 1);
    code_8(m->code, 0xff);
    code_8(m->code, 0x84 | operation << 3);
    code_8(m->code, 0xc0 | (reg & 7) << 3 | (base & 7));
    code_32(m->code, 0);
}

static void indirect_by_fs(struct making *m, unsigned operation, unsigned table, unsigned number)
{
    code_8(m->code, 0x64);
    code_8(m->code, 0xff);
    code_8(m->code, 0x04 | operation << 3);
    code_8(m->code, 0x25);
    code_32(m->code, table + 8 * number - ARENA_MIDDLE);
}

static void call(struct making *m, unsigned function)
{
    unsigned reg = any_free(m);
    switch (random_below(&m->random, 9)) {
    case 0:
        load_function(m, reg, function);
        indirect(m, CALL_OPERATION, reg);
        break;
    case 1:
        code_rip_narrow(m->code, 0xff, CALL_OPERATION, data_at(m, FUNCTION_TABLE + 8 * function));
        break;
    case 2:
        indirect_by_table(m, CALL_OPERATION, FUNCTION_TABLE, function);
        break;
    case 3:
        indirect_by_fs(m, CALL_OPERATION, FUNCTION_TABLE, function);
        break;
    case 4: /* call [rsp - 8], where the return address goes */
        load_function(m, reg, function);
        code_8(m->code, 0x48 | reg >> 3 << 2);
        code_8(m->code, 0x89);
        code_8(m->code, 0x44 | (reg & 7) << 3);
        code_8(m->code, 0x24);
        code_8(m->code, 0xf8);
        code_put(m->code, (const uint8_t[]){0xff, 0x54, 0x24, 0xf8}, 4);
        break;
    default:
        if (random_percent(&m->random, 10)) /* as in calls of __tls_get_addr */
            code_put(m->code, (const uint8_t[]){0x66, 0x66, 0x48}, 3);
        code_8(m->code, 0xe8);
        note(&m->to_functions, m->code, function);
        code_32(m->code, 0);
        break;
    }
}

/* Registers that have to keep their values are pushed. */
static void call_preserving(struct making *m, unsigned function)
{
    for (unsigned reg = 0; reg < 16; reg++)
        if (m->reserved >> reg & 1 && reg != RBP)
            code_push(m->code, reg);
    for (unsigned i = 0; i < m->functions[function].arguments; i++)
        push_something(m);
    call(m, function);
    for (unsigned reg = 16; reg-- > 0;)
        if (m->reserved >> reg & 1 && reg != RBP)
            code_pop(m->code, reg);
}

static void add_call(struct making *m)
{
    bool is_free_of_loops = m->loops == 0 && m->function + 1 < m->function_count;
    if (is_free_of_loops && random_percent(&m->random, 60)) {
        call_preserving(m, m->function + 1 +
                               random_below(&m->random, m->function_count - m->function - 1));
        return;
    }
    size_t guard = open_guard(m), before = m->code->size;
    unsigned fixups = m->to_functions.count;
    call_preserving(m, random_below(&m->random, m->function_count));
    if (m->code->size - before > 90) {
        m->code->size = before;
        m->to_functions.count = fixups;
    }
    close_guard(m, guard);
}

/* Another stack for the time of a call of the last function, which calls none. */
static void add_call_on_other_stack(struct making *m)
{
    unsigned last = m->function_count - 1, reg = any_free(m);
    if (m->function == last || m->functions[last].arguments) {
        add_instruction(m);
        return;
    }
    code_move(m->code, reg, RSP);
    if (random_percent(&m->random, 50)) {
        code_lea(m->code, RSP, data_at(m, OTHER_STACK_TOP));
    } else {
        unsigned stack = any_free(m);
        if (stack == reg) {
            code_constant(m->code, RSP, data_at(m, OTHER_STACK_TOP));
        } else {
            code_lea(m->code, stack, data_at(m, OTHER_STACK_TOP));
            code_move(m->code, RSP, stack);
        }
    }
    code_push(m->code, reg);
    call_preserving(m, last);
    code_pop(m->code, RSP);
}

/* ---- jumps through registers, tables, and returns ---- */

static void add_get_pc(struct making *m)
{
    code_8(m->code, 0xe8);
    code_32(m->code, 0);
    code_pop(m->code, any_free(m));
}

/* lea reg, what follows the jump that is to be written; returns where the displacement is */
static size_t load_place(struct making *m, unsigned reg)
{
    code_lea(m->code, reg, 0);
    return m->code->size - 4;
}

static void add_jump_by_register(struct making *m)
{
    unsigned reg = any_free(m);
    size_t place = load_place(m, reg);
    indirect(m, JUMP_OPERATION, reg);
    code_put(m->code, (const uint8_t[]){0x0f, 0x0b}, 2); /* ud2 */
    code_land(m->code, place);
}

static void add_jump_by_return(struct making *m)
{
    unsigned reg = any_free(m);
    size_t place = load_place(m, reg);
    code_push(m->code, reg);
    if (random_percent(&m->random, 30))
        code_8(m->code, 0xf3); /* rep ret */
    code_8(m->code, 0xc3);
    code_land(m->code, place);
}

static void add_retpoline(struct making *m)
{
    static const uint8_t wait[] = {0xf3, 0x90, 0x0f, 0xae,
                                   0xe8, 0xeb, 0xf9}; /* pause; lfence; jmp */
    unsigned reg = any_free(m);
    size_t place = load_place(m, reg);
    code_8(m->code, 0xe8);
    code_32(m->code, sizeof wait);
    code_put(m->code, wait, sizeof wait);
    code_8(m->code, 0x48 | reg >> 3 << 2); /* mov [rsp], reg */
    code_8(m->code, 0x89);
    code_8(m->code, 0x04 | (reg & 7) << 3);
    code_8(m->code, 0x24);
    code_8(m->code, 0xc3);
    code_land(m->code, place);
}

/* A switch: one of four places, by a register's lowest bits. */
static void add_switch(struct making *m)
{
    enum { CASES = 4 };
    unsigned reg = any_free(m), base = any_free(m), table = m->next_jump;
    if (base == reg || table + 8 * CASES > SLOTS) {
        add_instruction(m);
        return;
    }
    m->next_jump += 8 * CASES;
    code_move(m->code, reg, any_register(m));
    code_8(m->code, 0x48 | reg >> 3); /* and */
    code_8(m->code, 0x83);
    code_8(m->code, 0xe0 | (reg & 7));
    code_8(m->code, CASES - 1);
    code_lea(m->code, base, data_at(m, table));
    code_8(m->code, 0x40 | base >> 3 | reg >> 3 << 1);
    code_8(m->code, 0xff);
    code_8(m->code, 0x84 | JUMP_OPERATION << 3);
    code_8(m->code, 0xc0 | (reg & 7) << 3 | (base & 7));
    code_32(m->code, 0);
    size_t ends[CASES];
    for (unsigned i = 0; i < CASES; i++) {
        uint64_t here = code_here(m->code);
        memcpy(m->program->data + table + 8 * i, &here, sizeof here);
        if (random_percent(&m->random, 70))
            add_instruction(m);
        code_8(m->code, 0xe9);
        ends[i] = m->code->size;
        code_32(m->code, 0);
    }
    for (unsigned i = 0; i < CASES; i++)
        code_land(m->code, ends[i]);
}

/* ---- the stack ---- */

static void add_push_pop(struct making *m)
{
    enum { COUNT = 2 };
    for (unsigned i = 0; i < COUNT; i++)
        push_something(m);
    if (random_percent(&m->random, 60))
        add_part(m);
    for (unsigned i = 0; i < COUNT; i++) {
        switch (random_below(&m->random, 4)) {
        case 0:
            code_add(m->code, RSP, RSP, 8);
            break;
        case 1:
            code_rip_narrow(m->code, 0x8f, 0, arena(m));
            break;
        default:
            code_pop(m->code, any_free(m));
            break;
        }
    }
}

static void add_flags_by_stack(struct making *m)
{
    enum { ARITHMETIC_AND_DIRECTION = 0xcd5 };
    unsigned reg = any_free(m);
    code_constant(m->code, reg, random_64(&m->random) & ARITHMETIC_AND_DIRECTION);
    code_push(m->code, reg);
    code_8(m->code, 0x9d); /* popf */
    if (random_percent(&m->random, 50)) {
        code_8(m->code, 0x9c); /* pushf */
        code_pop(m->code, any_free(m));
    }
}

static void change_stack(struct making *m, int32_t distance)
{
    if (random_percent(&m->random, 50)) {
        code_add(m->code, RSP, RSP, distance);
        return;
    }
    bool is_add = random_percent(&m->random, 50); /* add or sub rsp, imm32 */
    code_put(m->code,
             is_add ? (const uint8_t[]){0x48, 0x81, 0xc4} : (const uint8_t[]){0x48, 0x81, 0xec}, 3);
    code_32(m->code, (uint32_t)(is_add ? distance : -distance));
}

static void add_stack_room(struct making *m)
{
    int32_t size = 8 * (int32_t)(1 + random_below(&m->random, 20));
    change_stack(m, -size);
    add_some(m, 2);
    change_stack(m, size);
}

/* ---- others ---- */

/* A call that the kernel does not have: rcx and r11 are written, rax says so. */
static void add_system_call(struct making *m)
{
    if (m->loops > 0 || !is_free(m, RAX) || !is_free(m, RCX) || !is_free(m, R11)) {
        add_instruction(m);
        return;
    }
    code_constant(m->code, RAX, 500000);
    code_8(m->code, 0x0f);
    code_8(m->code, 0x05);
}

static void add_control_word(struct making *m)
{
    unsigned offset = CONTROL_WORDS + 8 * random_below(&m->random, 8);
    if (random_percent(&m->random, 50)) { /* ldmxcsr */
        code_8(m->code, 0x0f);
        code_rip_narrow(m->code, 0xae, 2, data_at(m, offset));
    } else { /* fldcw */
        code_rip_narrow(m->code, 0xd9, 5, data_at(m, offset + 4));
    }
}

static void add_kind(struct making *m)
{
    static void (*const kinds[])(struct making *) = {
        add_skip,           add_skip,       add_loop,           add_loop,
        add_call,           add_call,       add_push_pop,       add_call_on_other_stack,
        add_get_pc,         add_switch,     add_retpoline,      add_jump_by_register,
        add_jump_by_return, add_stack_room, add_flags_by_stack, add_control_word,
    };
    if (m->depth > 3 || random_percent(&m->random, 65))
        add_instruction(m);
    else if (random_percent(&m->random, 3))
        add_system_call(m);
    else
        kinds[random_below(&m->random, sizeof kinds / sizeof *kinds)](m);
}

/* A part is what may be left out. */
static void add_part(struct making *m)
{
    size_t size = m->code->size;
    unsigned functions = m->to_functions.count, blocks = m->to_blocks.count,
             number = m->program->part_count;
    if (number == PARTS_MOST)
        return;
    m->program->part_count++;
    m->depth++;
    add_kind(m);
    m->depth--;
    if (!m->program->is_dropped[number])
        return;
    m->code->size = size;
    m->to_functions.count = functions;
    m->to_blocks.count = blocks;
}

/* ---- functions ---- */

static void end_block(struct making *m, unsigned block)
{
    unsigned count = m->functions[m->function].block_count;
    unsigned later = block + 1 + random_below(&m->random, count - block);
    unsigned choice = random_below(&m->random, 10);
    if (random_percent(&m->random, 45))
        add_report(m);
    if (choice < 3) {
        code_8(m->code, 0x0f);
        code_8(m->code, 0x80 | random_below(&m->random, 16));
        note(&m->to_blocks, m->code, later);
        code_32(m->code, 0);
        add_nop(m);
    } else if (choice < 5) {
        code_8(m->code, 0xe9);
        note(&m->to_blocks, m->code, later);
        code_32(m->code, 0);
    } else if (choice < 7) {
        size_t guard = open_guard(m);
        code_8(m->code, 0x0f);
        code_8(m->code, 0x80 | random_below(&m->random, 16));
        note(&m->to_blocks, m->code, random_below(&m->random, block + 1));
        code_32(m->code, 0);
        close_guard(m, guard);
    }
}

static void begin_function(struct making *m, const struct function *function)
{
    m->reserved = function->frame == SAVED_FRAME ? 0 : 1u << RBP;
    if (random_percent(&m->random, 30))
        code_put(m->code, (const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa}, 4); /* endbr64 */
    if (function->frame == ENTER_FRAME) {
        code_8(m->code, 0xc8);
        code_8(m->code, function->size);
        code_8(m->code, 0);
        code_8(m->code, 0);
        return;
    }
    if (function->frame != NO_FRAME)
        code_push(m->code, RBP);
    if (function->frame == RBP_FRAME) {
        code_move(m->code, RBP, RSP);
        if (function->is_realigned)
            code_put(m->code, (const uint8_t[]){0x48, 0x83, 0xe4, 0xc0}, 4); /* and rsp, -64 */
    }
    if (function->size > 0)
        change_stack(m, -(int32_t)function->size);
}

static void end_function(struct making *m, const struct function *function)
{
    bool leaves = function->frame == RBP_FRAME || function->frame == ENTER_FRAME;
    if (leaves && (random_percent(&m->random, 60) || function->frame == ENTER_FRAME)) {
        code_8(m->code, 0xc9);
    } else {
        if (leaves)
            code_move(m->code, RSP, RBP);
        else if (function->size > 0)
            change_stack(m, (int32_t)function->size);
        if (function->frame != NO_FRAME)
            code_pop(m->code, RBP);
    }
    if (function->arguments == 0 && random_percent(&m->random, 10))
        code_8(m->code, random_percent(&m->random, 50) ? 0xf2 : 0xf3);
    code_8(m->code, function->arguments ? 0xc2 : 0xc3);
    if (function->arguments) {
        code_8(m->code, 8 * function->arguments);
        code_8(m->code, 0);
    }
}

static void add_function(struct making *m, unsigned number)
{
    const struct function *function = &m->functions[number];
    bool is_last = number + 1 == m->function_count;
    m->function = number;
    m->entries[number] = code_here(m->code);
    begin_function(m, function);
    for (unsigned block = 0; block < function->block_count; block++) {
        m->blocks[block] = code_here(m->code);
        for (unsigned i = random_below(&m->random, 14); i > 0; i--) {
            if (is_last) /* it calls none */
                add_instruction(m);
            else
                add_part(m);
        }
        end_block(m, block);
    }
    m->blocks[function->block_count] = code_here(m->code);
    end_function(m, function);
    resolve(&m->to_blocks, m->code, m->blocks);
}

static void choose_functions(struct making *m)
{
    m->function_count = 2 + random_below(&m->random, FUNCTIONS_MOST - 1);
    for (unsigned i = 0; i < m->function_count; i++) {
        struct function *function = &m->functions[i];
        function->frame = (enum frame)random_below(&m->random, FRAMES);
        function->size = 8 * random_below(&m->random, 16);
        function->arguments =
            i > 0 && random_percent(&m->random, 20) ? 1 + random_below(&m->random, 3) : 0;
        function->block_count = 1 + random_below(&m->random, BLOCKS_MOST);
        function->is_realigned = random_percent(&m->random, 30);
    }
}

/* ---- the whole ---- */

static void choose_addresses(struct making *m)
{
    static const struct {
        uint64_t code, data;
    } places[] = {
        {0x400000, 0x10000000},           /* all in the lower 2 GB */
        {0x555555554000, 0x555555754000}, /* near */
        {0x400000, 0x7f400000},           /* data nearly as far as operands reach */
        {0x7ff0000000, 0x7f74000000},     /* the same, below */
        {0x10000000, 0x8f000000},         /* data above 2 GB */
        {0x7e1234560000, 0x7e12ab560000},
    };
    unsigned choice = random_below(&m->random, sizeof places / sizeof *places);
    m->code->base = places[choice].code + PROGRAM_HEADERS_SIZE;
    m->program->data_address = places[choice].data;
}

static void put_64(struct program *program, unsigned offset, uint64_t value)
{
    memcpy(program->data + offset, &value, sizeof value);
}

static unsigned vectors_kind(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512bw"))
        return 2;
    return __builtin_cpu_supports("avx") ? 1 : 0;
}

static void fill_data(struct making *m)
{
    enum { MXCSR_USUAL = 0x1f80, MXCSR_ANY = 0xe040, X87_USUAL = 0x037f, X87_ANY = 0x0f00 };
    struct program *program = m->program;
    put_64(program, ITERATIONS, program->iterations);
    put_64(program, FUEL_FULL, 10 + random_below(&m->random, 30));
    put_64(program, VECTORS_KIND, vectors_kind());
    for (unsigned i = 0; i < 8; i++) {
        uint64_t mxcsr = MXCSR_USUAL | (i ? random_64(&m->random) & MXCSR_ANY : 0);
        uint64_t x87 = 0x7f | (i ? random_64(&m->random) & X87_ANY : X87_USUAL);
        put_64(program, CONTROL_WORDS + 8 * i, mxcsr | x87 << 32);
    }
}

static void copy_skeleton(struct making *m)
{
    struct code *code = m->code;
    code_put(code, skeleton_begin, (size_t)(skeleton_end - skeleton_begin));
    uint64_t begin = code_here(code);
    memcpy(code->bytes + (skeleton_data - skeleton_begin), &m->program->data_address, 8);
    memcpy(code->bytes + (skeleton_code - skeleton_begin), &begin, 8);
}

void program_make(struct program *program)
{
    struct making *m = calloc(1, sizeof *m);
    m->program = program;
    m->code = &program->code;
    m->random = random_of(program->seed);
    m->next_jump = JUMP_TABLES;
    program->part_count = 0;
    program->code.size = 0;
    memset(program->data, 0, sizeof program->data);
    choose_addresses(m);
    copy_skeleton(m);
    choose_functions(m);
    fill_data(m);
    for (unsigned i = 0; i < m->function_count; i++)
        add_function(m, i);
    resolve(&m->to_functions, m->code, m->entries);
    for (unsigned i = 0; i < m->function_count; i++)
        put_64(program, FUNCTION_TABLE + 8 * i, m->entries[i]);
    free(m);
}
