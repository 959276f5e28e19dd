#include "stack/process_code.h"

#include "base/memory.h"
#include "x86/decode.h"
#include "x86/stack_load.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_SIZE = 256 };

/* What the function that holds `address` does before it. */
struct known_load {
    uint64_t address;
    enum stack_load load;
};

struct process_code {
    const struct process *process;
    struct symbols *symbols;
    const struct text_code *text; /* NULL: the recording is not text */
    struct address_space_cursor cursor;
    size_t next_change;       /* the first one that program_changes does not include */
    uint32_t program_changes; /* executions of another program so far */
    struct array go_roles;    /* uint8_t, by function: enum go_role + 1; 0: not looked up yet */
    /* By the low bits of the address; end 0: empty. */
    struct function_bounds cache[CACHE_SIZE];
    struct known_load loads[CACHE_SIZE]; /* likewise; address 0: empty */
};

static void forget_answers(struct process_code *code)
{
    for (size_t i = 0; i < CACHE_SIZE; i++)
        code->cache[i] = (struct function_bounds){0};
    for (size_t i = 0; i < CACHE_SIZE; i++)
        code->loads[i] = (struct known_load){0};
}

static struct function_bounds find_bounds(struct process_code *code, uint64_t address)
{
    const struct mapping *mapping = address_space_find(&code->cursor, address);
    return symbols_find(code->symbols, mapping, address);
}

static uint64_t function_start(void *context, struct ticks time, uint64_t address)
{
    struct process_code *code = context;
    if (code->text != NULL)
        return text_code_function_start(code->text, address);
    if (code->process == NULL)
        return 0;
    if (address_space_cursor_advance(&code->cursor, time))
        forget_answers(code);
    struct function_bounds *cached = &code->cache[address >> 4 & (CACHE_SIZE - 1)];
    if (address < cached->start || address >= cached->end)
        *cached = find_bounds(code, address);
    return cached->start;
}

static uint64_t landing_pad(void *context, struct ticks time, uint64_t address)
{
    struct process_code *code = context;
    if (code->process == NULL)
        return 0;
    if (address_space_cursor_advance(&code->cursor, time))
        forget_answers(code);
    const struct mapping *mapping = address_space_find(&code->cursor, address);
    return mapping != NULL ? symbols_landing_pad(code->symbols, mapping, address) : 0;
}

static bool is_in_libc(const struct function *function)
{
    const char *slash = function->object != NULL ? strrchr(function->object, '/') : NULL;
    return slash != NULL && strncmp(slash, "/libc.so.", strlen("/libc.so.")) == 0;
}

/* libc's own function has no name without debug symbols, but what it calls has one. Programs that
 * call that themselves may continue anywhere. */
static bool forces_unwinding(void *context, function_id function, function_id caller)
{
    struct process_code *code = context;
    const char *symbol = symbols_function(code->symbols, function)->symbol;
    if (symbol == NULL)
        return false;
    return strcmp(symbol, "__pthread_unwind") == 0 ||
           (strcmp(symbol, "_Unwind_ForcedUnwind") == 0 &&
            is_in_libc(symbols_function(code->symbols, caller)));
}

static uint32_t program_changes(void *context, struct ticks time)
{
    struct process_code *code = context;
    if (code->text != NULL)
        return text_code_program_changes(code->text, time);
    if (code->process == NULL)
        return 0;
    while (code->next_change < code->process->change_count) {
        const struct address_space_change *change = &code->process->changes[code->next_change];
        if (change->time.value > time.value)
            break;
        code->program_changes += change->kind == ADDRESS_SPACE_CLEAR;
        code->next_change++;
    }
    return code->program_changes;
}

static enum go_role go_role(void *context, function_id function)
{
    struct process_code *code = context;
    while (code->go_roles.count <= function)
        *(uint8_t *)array_add(&code->go_roles) = 0;
    uint8_t *known = array_at(&code->go_roles, function);
    if (*known == 0)
        *known = 1 + (uint8_t)go_role_of(symbols_function(code->symbols, function)->name);
    return *known - 1;
}

static bool is_jit_code(void *context, function_id function)
{
    struct process_code *code = context;
    return function_is_jit_code(symbols_function(code->symbols, function));
}

/* The code up to `address`, of the mapping that it ends in; *known: bytes, `limit` at most; 0 if they are in no file. */
static const uint8_t *code_before(struct process_code *code, uint64_t address, size_t limit,
                                  size_t *known)
{
    const struct mapping *mapping = address_space_find(&code->cursor, address - 1);
    *known = 0;
    if (mapping == NULL || mapping->file == NULL)
        return NULL;
    const struct file_view *view = &mapping->file->view;
    uint64_t size = address - mapping->start;
    if (mapping->file_offset > view->size || size > view->size - mapping->file_offset)
        return NULL;
    *known = size < limit ? size : limit;
    return view->bytes + mapping->file_offset + size;
}

/* Code can be read as instructions from any byte on: only those lengths that the code before may have are tried. */
static bool call_may_end_at(void *context, struct ticks time, uint64_t address)
{
    enum {
        SHORTEST_CALL = 2,
        LONGEST_CALL = 8
    }; /* FF /2; with a REX prefix, SIB byte and 32-bit displacement */
    struct process_code *code = context;
    if (code->process == NULL)
        return true;
    if (address_space_cursor_advance(&code->cursor, time))
        forget_answers(code);
    size_t known;
    const uint8_t *end = code_before(code, address, X86_LONGEST_INSTRUCTION, &known);
    if (known < LONGEST_CALL)
        return true;
    for (unsigned length = SHORTEST_CALL; length <= LONGEST_CALL; length++) {
        struct x86_instruction instruction;
        if (x86_decode(&instruction, end - length, length, address - length, X86_MODE_64) &&
            instruction.length == length &&
            (instruction.flow == X86_CALL || instruction.flow == X86_INDIRECT_CALL))
            return true;
    }
    return false;
}

/* What instructions have done, one after the other. */
struct loads {
    enum stack_load load;
    bool saved;  /* the stack pointer, before it was loaded */
    bool is_new; /* no branch since it was loaded last */
    bool calls;  /* a call came after a load, without a branch between: on another stack */
};

static void note_load(struct loads *loads)
{
    if (loads->calls)
        loads->load = STACK_RESTORED;
    else if (loads->load == STACK_NOT_LOADED)
        loads->load = loads->saved ? STACK_EXCHANGED : STACK_LOADED;
    loads->is_new = true;
}

static void note_instruction(struct loads *loads, const struct x86_instruction *instruction,
                             const uint8_t *bytes)
{
    bool calls = instruction->flow == X86_CALL || instruction->flow == X86_INDIRECT_CALL;
    loads->calls = loads->calls || (calls && loads->is_new);
    loads->is_new = loads->is_new && instruction->flow == X86_SEQUENTIAL;
    loads->saved = loads->saved || x86_is_stack_save(bytes, instruction->length);
}

/* `size` bytes of instructions, at `address`. */
static enum stack_load find_load(const uint8_t *bytes, size_t size, uint64_t address)
{
    struct x86_instruction instruction;
    struct loads loads = {.load = STACK_NOT_LOADED};
    for (size_t at = 0; at < size; at += instruction.length) {
        if (!x86_decode(&instruction, bytes + at, size - at, address + at, X86_MODE_64))
            break;
        if (x86_is_stack_load(bytes + at, instruction.length))
            note_load(&loads);
        else
            note_instruction(&loads, &instruction, bytes + at);
    }
    return loads.load;
}

/* Functions that switch stacks are short. */
static enum stack_load find_load_before(struct process_code *code, uint64_t start, uint64_t address)
{
    enum { LONGEST_FUNCTION = 4096 };
    uint64_t size = address - start;
    if (start == 0 || size == 0 || size > LONGEST_FUNCTION)
        return STACK_NOT_LOADED;
    size_t known;
    const uint8_t *end = code_before(code, address, size, &known);
    return known == size ? find_load(end - size, size, start) : STACK_NOT_LOADED;
}

static enum stack_load loads_stack(void *context, struct ticks time, uint64_t address)
{
    struct process_code *code = context;
    if (code->process == NULL)
        return STACK_NOT_LOADED;
    uint64_t start = function_start(context, time, address); /* forgets what is known no longer */
    struct known_load *known = &code->loads[address & (CACHE_SIZE - 1)];
    if (known->address != address)
        *known = (struct known_load){address, find_load_before(code, start, address)};
    return known->load;
}

struct process_code *process_code_open(const struct process *process, struct symbols *symbols,
                                       const struct text_code *text)
{
    struct process_code *code = memory_allocate_zeroed(sizeof(*code));
    code->process = process;
    code->symbols = symbols;
    code->text = text;
    code->go_roles = array_of(sizeof(uint8_t));
    if (process != NULL)
        address_space_cursor_init(&code->cursor, process);
    return code;
}

void process_code_close(struct process_code *code)
{
    if (code->process != NULL)
        address_space_cursor_free(&code->cursor);
    array_free(&code->go_roles);
    free(code);
}

struct code_place process_code_place(struct process_code *code, uint64_t address)
{
    const struct mapping *mapping =
        code->process != NULL ? address_space_find(&code->cursor, address) : NULL;
    if (mapping == NULL)
        return (struct code_place){0};
    function_id function = symbols_find(code->symbols, mapping, address).function;
    return (struct code_place){
        .function = symbols_function(code->symbols, function)->name,
        .line = symbols_line_at(code->symbols, mapping, address),
    };
}

struct code_view process_code_view(struct process_code *code)
{
    return (struct code_view){
        .context = code,
        .function_start = function_start,
        .landing_pad = landing_pad,
        .forces_unwinding = forces_unwinding,
        .program_changes = program_changes,
        .go_role = go_role,
        .is_jit_code = is_jit_code,
        .call_may_end_at = call_may_end_at,
        .loads_stack = loads_stack,
    };
}

static bool find_inlined(void *context, function_id function, uint64_t start, uint64_t address,
                         inlined_id *inlined)
{
    return symbols_inlined_in(context, function, start, address, inlined);
}

struct inlined_view process_code_inlined_view(struct symbols *symbols, struct inlined_moves *moves)
{
    return (struct inlined_view){.context = symbols,
                                 .find = find_inlined,
                                 .calls = symbols_inlined_calls(symbols),
                                 .moves = moves};
}
