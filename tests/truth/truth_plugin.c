/* A plugin for qemu-user, beside the product's own: logs every block that runs with the stack
 * pointer at its entry (truth_format.h), from which truth_judge computes the true call stacks.
 *
 *     QEMU_PLUGIN=.../truth_plugin.so,dir=DIR magic-trace run -full-execution ...
 *
 * With callers=on the program is one of Go, where compilers keep frame pointers: when code jumps
 * after a load of the stack pointer (gogo), all callers on that stack are logged.
 *
 * Guest registers: see runtime/qemu_plugin/signal_frame.h; plugin interface 1 cannot read them,
 * but the code that qemu generates for x86-64 keeps the address of the guest's CPUX86State in RBP,
 * whose first members are regs[16] and eip, and at a block's entry they are up to date.
 *
 * Signals: see the same header for how a handler's first instruction is recognized.
 *
 * Made for tests: what must not happen (no space, no registers) ends the program with a message.
 */
#include "runtime/qemu_plugin/qemu_plugin.h"
#include "truth_format.h"

#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    WINDOW_SIZE = 1 << 20, /* of a file that is mapped at a time; a multiple of entries' sizes */
    HANDLERS = 256,
    DEEPEST_NESTING = 64, /* of signals that come at once: there are 64 */
    RSP = 4,
    RDX = 2,
    RBP = 5,
    R14 = 14,
    MOST_CALLERS = 1 << 16,
    PAGE = 4096,
    CALLER_PLACES = 1 << 8,
    INJECTED_CALLS = 1 << 12,
    NOWHERE = 1, /* in place of a return address of 0 */
    RIP = 16,    /* eip follows regs[16] (target/i386/cpu.h) */
};

/* A program that never ends must not fill the disk. */
static const uint64_t largest_file = UINT64_C(4) << 30;

/* A file that grows by entries of one size. It is not kept open: descriptors are the program's,
 * which may close any. */
struct growing_file {
    char path[4096];
    size_t entry_size;
    char *window;  /* mapped */
    size_t used;   /* bytes of it */
    uint64_t base; /* the window's offset in the file */
    uint64_t count;
};

struct interrupted {
    uint64_t handler_rsp; /* where the handler's return address lies */
    uint64_t pc, rsp, rbp, r14;
    uint64_t entry_rsp; /* the log's */
};

struct block {
    struct truth_block reported;
    uint32_t id;
    _Atomic bool is_called; /* it has begun by a call: a function begins there */
};

/* A handler has made a function call another one (Go's asyncPreempt), as if it had called it from `address`. */
struct injected_call {
    uint64_t slot, address;
    /* Where the function's own return address lies; 0: it has a frame, which frame pointers lead to. */
    uint64_t caller_slot;
};

/* What was read last of a stack: `size` bytes from `address` on. */
struct stack_bytes {
    uint64_t address;
    size_t size;
    char bytes[2 * PAGE];
};

/* The id of the place that a return address is. */
struct caller_place {
    uint64_t address;
    uint32_t id;
};

/* A thread's log. Lives as long as the process. */
struct log {
    struct growing_file file;
    struct block *previous;
    uint64_t rsp;         /* at its entry */
    uint64_t entry_rsp;   /* where the function that began last did */
    bool signal_returned; /* by rt_sigreturn, since */
    uint32_t tid;
    struct interrupted interrupted[DEEPEST_NESTING]; /* the newest ones, as in a ring */
    unsigned interruptions;
    struct stack_bytes stack;
    struct caller_place places[CALLER_PLACES]; /* by address; the newest of those that share one */
};

struct handler {
    uint64_t address, restorer;
};

static struct {
    char directory[3000];
    struct truth_header header;
    struct growing_file blocks;
    pthread_mutex_t lock; /* of `blocks`, `injected_calls` and of adding handlers */
    uint64_t guest_base;
    bool guest_base_known;
    bool logs_callers;
    struct handler handlers[HANDLERS]; /* never shrinks */
    _Atomic uint32_t handler_count;
    struct injected_call
        injected_calls[INJECTED_CALLS]; /* by slot; the newest of those that share one */
    ZydisDecoder decoder;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct block nothing;

static __thread struct log *current __attribute__((tls_model("initial-exec")));

static void give_up(const char *what)
{
    fprintf(stderr, "truth_plugin: %s: %m\n", what);
    abort();
}

/* --- Files --- */

static void map_window(struct growing_file *file, int open_flags)
{
    if (file->window)
        munmap(file->window, WINDOW_SIZE);
    int descriptor = open(file->path, O_RDWR | O_CLOEXEC | open_flags, 0600);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)(file->base + WINDOW_SIZE)) != 0)
        give_up(file->path);
    file->window =
        mmap(NULL, WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)file->base);
    if (file->window == MAP_FAILED)
        give_up(file->path);
    close(descriptor);
    file->used = 0;
}

static void *add_bytes(struct growing_file *file, size_t size)
{
    if (file->used + size > WINDOW_SIZE) {
        file->base += WINDOW_SIZE;
        if (file->base == largest_file)
            give_up("the program runs for too long; a log has 4 GiB");
        map_window(file, 0);
    }
    void *place = file->window + file->used;
    file->used += size;
    return place;
}

static void *add_entry(struct growing_file *file)
{
    file->count++;
    return add_bytes(file, file->entry_size);
}

static void begin_file(struct growing_file *file, const char *name, uint64_t magic,
                       size_t entry_size)
{
    *file = (struct growing_file){.entry_size = entry_size};
    snprintf(file->path, sizeof file->path, "%s/%s", process.directory, name);
    map_window(file, O_CREAT | O_EXCL);
    struct truth_header header = process.header;
    header.magic = magic;
    header.tid = (uint32_t)gettid();
    memcpy(add_bytes(file, sizeof header), &header, sizeof header);
}

/* The program's generation is the first that has no file yet. */
static void begin_blocks(void)
{
    char path[4096], name[64];
    process.header.pid = (uint32_t)getpid();
    process.header.generation = 0;
    do {
        snprintf(name, sizeof name, "%u.%u.blocks", process.header.pid, process.header.generation);
        snprintf(path, sizeof path, "%s/%s", process.directory, name);
    } while (access(path, F_OK) == 0 && ++process.header.generation);
    begin_file(&process.blocks, name, TRUTH_BLOCKS_MAGIC, sizeof(struct truth_block));
}

static struct log *begin_log(void)
{
    char name[64];
    struct log *log = calloc(1, sizeof *log);
    if (!log)
        give_up("cannot begin a thread's log");
    log->tid = (uint32_t)gettid();
    log->previous = &nothing;
    snprintf(name, sizeof name, "%u.%u.%u", process.header.pid, log->tid,
             process.header.generation);
    begin_file(&log->file, name, TRUTH_RECORDS_MAGIC, sizeof(struct truth_record));
    return log;
}

static void copy_blocks(const struct growing_file *parents)
{
    size_t size = parents->entry_size;
    int descriptor = open(parents->path, O_RDONLY | O_CLOEXEC);
    for (uint64_t i = 0; i < parents->count; i++)
        if (pread(descriptor, add_entry(&process.blocks), size,
                  (off_t)(sizeof(struct truth_header) + i * size)) != (ssize_t)size)
            give_up("cannot copy the blocks of a process that forks");
    close(descriptor);
}

/* In the child: its files so far are the parent's. */
static void begin_forked(void)
{
    struct growing_file parents = process.blocks;
    struct truth_header *header = &process.header;
    header->parent_pid = header->pid;
    header->parent_generation = header->generation;
    header->parent_tid = current ? current->tid : 0;
    header->parent_records = current ? current->file.count : 0;
    begin_blocks();
    copy_blocks(&parents);
    munmap(parents.window, WINDOW_SIZE);
    if (current) {
        munmap(current->file.window, WINDOW_SIZE);
        current = begin_log();
    }
    /* Threads that begin now have not run before the fork. */
    header->parent_pid = header->parent_tid = header->parent_generation = 0;
    header->parent_records = 0;
}

/* --- Blocks --- */

static uint8_t block_end(const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operands)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return TRUTH_END_CALL;
    case ZYDIS_CATEGORY_RET:
        return TRUTH_END_RETURN;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? TRUTH_END_OTHER
                                                                : TRUTH_END_INDIRECT_JUMP;
    case ZYDIS_CATEGORY_SYSCALL:
        return TRUTH_END_SYSTEM_CALL;
    default:
        return TRUTH_END_OTHER;
    }
}

/* `call` of the next instruction reads its own address; nothing was called. */
static bool calls_next(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands)
{
    return instruction->meta.category == ZYDIS_CATEGORY_CALL &&
           operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.value.s == 0;
}

static bool is_rsp(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_RSP;
}

/* What RSP is computed from is not RSP itself. */
static bool loads_rsp(const ZydisDecodedInstruction *instruction,
                      const ZydisDecodedOperand *operands, bool *from_memory)
{
    const ZydisDecodedOperand *source = &operands[1];
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_LEAVE:
        return true;
    case ZYDIS_MNEMONIC_POP:
        *from_memory |= is_rsp(&operands[0]);
        return is_rsp(&operands[0]);
    case ZYDIS_MNEMONIC_LEA:
        return is_rsp(&operands[0]) && source->mem.base != ZYDIS_REGISTER_RSP;
    case ZYDIS_MNEMONIC_XCHG:
        if (is_rsp(source))
            source = &operands[0];
        else if (!is_rsp(&operands[0]))
            return false;
        break;
    case ZYDIS_MNEMONIC_MOV:
        if (!is_rsp(&operands[0]))
            return false;
        break;
    default:
        return instruction->meta.category == ZYDIS_CATEGORY_CMOV && is_rsp(&operands[0]);
    }
    *from_memory |= source->type == ZYDIS_OPERAND_TYPE_MEMORY;
    return true;
}

static void describe_instruction(struct truth_block *reported, const uint8_t *bytes, size_t size)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool from_memory = false;
    reported->ends_in = TRUTH_END_OTHER;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&process.decoder, bytes, size, &instruction, operands)))
        return;
    if (!calls_next(&instruction, operands))
        reported->ends_in = block_end(&instruction, operands);
    reported->loads_rsp |= loads_rsp(&instruction, operands, &from_memory);
    reported->from_memory |= from_memory;
}

static struct block *add_block(const struct truth_block *reported)
{
    struct block *block = malloc(sizeof *block);
    if (!block)
        give_up("cannot remember a block");
    *block = (struct block){.reported = *reported};
    pthread_mutex_lock(&process.lock);
    *(struct truth_block *)add_entry(&process.blocks) = *reported;
    block->id = (uint32_t)process.blocks.count;
    pthread_mutex_unlock(&process.lock);
    return block;
}

/* --- What runs --- */

static uint64_t word_at(uint64_t address)
{
    uint64_t word;
    memcpy(&word, (const void *)(uintptr_t)(address + process.guest_base), sizeof word);
    return word;
}

/* What the handler has interrupted that has returned; NULL: unknown. Handlers' stacks are used again, so the newest counts. */
static const struct interrupted *find_interrupted(const struct log *log)
{
    for (unsigned i = 1; i <= DEEPEST_NESTING; i++) {
        const struct interrupted *place =
            &log->interrupted[(log->interruptions - i) % DEEPEST_NESTING];
        if (place->handler_rsp && place->handler_rsp + 8 == log->rsp)
            return place;
    }
    return NULL;
}

/* A handler can have the program go on as if it had called a function: by pushing the address where
 * it was interrupted, and changing the context. Or by pushing any address right there (Go restarts
 * a few instructions). */
static bool is_injected_call(const struct interrupted *place, uint64_t pc, uint64_t rsp)
{
    return pc != place->pc && rsp < place->rsp &&
           (rsp == place->rsp - 8 || word_at(rsp) == place->pc);
}

static struct injected_call *injected_call_at(uint64_t slot)
{
    return &process.injected_calls[slot / sizeof slot % INJECTED_CALLS];
}

/* Where the interrupted function's return address lies if it has no frame yet; 0: it has one. Its frame pointer is its
 * caller's then, or 0 in a goroutine's first function, which nobody has called. */
static uint64_t find_frameless(const struct interrupted *place)
{
    if (place->rbp == 0)
        return place->rsp;
    bool has_frame = place->entry_rsp < place->rsp || place->entry_rsp >= place->rbp;
    return has_frame ? 0 : place->entry_rsp;
}

static void note_injected_call(const struct interrupted *place, uint64_t slot)
{
    pthread_mutex_lock(&process.lock);
    *injected_call_at(slot) = (struct injected_call){slot, word_at(slot), find_frameless(place)};
    pthread_mutex_unlock(&process.lock);
}

/* Where the return address lies of a function without a frame that has called as `address` in `slot` says; 0: it has a frame,
 * or has called by itself. */
static uint64_t find_injected_caller(uint64_t slot, uint64_t address)
{
    pthread_mutex_lock(&process.lock);
    struct injected_call call = *injected_call_at(slot);
    pthread_mutex_unlock(&process.lock);
    return call.slot == slot && call.address == address ? call.caller_slot : 0;
}

/* A signal has stopped `previous` before its end. RSP may then point to where there is no memory: a
 * stack that has overflowed. */
static bool is_inside(const struct truth_block *place, const struct truth_block *previous)
{
    return place->last == 0 && place->pc > previous->pc && place->pc < previous->end;
}

/* True if rt_sigreturn, which leads to `pc`, begins a call there. */
static bool returns_into_call(struct log *log, uint64_t pc, uint64_t rsp)
{
    const struct interrupted *place = find_interrupted(log);
    if (!place)
        return false;
    log->entry_rsp = place->entry_rsp;
    if (!is_injected_call(place, pc, rsp))
        return false;
    note_injected_call(place, rsp);
    return true;
}

static void add_record(struct log *log, struct block *block, uint64_t rsp, uint32_t flags,
                       uint64_t r14)
{
    const struct truth_block *previous = &log->previous->reported;
    if (!(flags & TRUTH_SIGNAL) && previous->ends_in == TRUTH_END_CALL &&
        !is_inside(&block->reported, previous) && word_at(rsp) == previous->end)
        flags |= TRUTH_CALLED;
    if (log->signal_returned && returns_into_call(log, block->reported.pc, rsp))
        flags |= TRUTH_CALLED;
    if (log->signal_returned)
        flags |= TRUTH_SIGNAL_RETURN;
    if (flags & TRUTH_CALLED)
        block->is_called = true;
    if (block->is_called)
        log->entry_rsp = rsp;
    *(struct truth_record *)add_entry(&log->file) = (struct truth_record){
        .block = block->id, .flags = flags & 0xff, .g = r14 >> 5 & 0xffffff, .rsp = rsp};
    log->previous = block;
    log->rsp = rsp;
    log->signal_returned = false;
}

static void add_place(struct log *log, const struct interrupted *place, uint32_t flags)
{
    const struct truth_block reported = {.pc = place->pc, .end = place->pc};
    add_record(log, add_block(&reported), place->rsp, flags, place->r14);
}

static uint32_t caller_place(struct log *log, uint64_t return_address)
{
    struct caller_place *place = &log->places[return_address % CALLER_PLACES];
    if (place->id == 0 || place->address != return_address) {
        struct truth_block reported = {.pc = return_address, .end = return_address};
        *place = (struct caller_place){return_address, add_block(&reported)->id};
    }
    return place->id;
}

static void add_caller(struct log *log, uint64_t return_address, uint64_t slot)
{
    uint32_t place = caller_place(log, return_address);
    *(struct truth_record *)add_entry(&log->file) =
        (struct truth_record){.block = place, .flags = TRUTH_CALLER, .rsp = slot};
}

/* The two words at `address`, a multiple of 8; NULL: there is no memory. Reads up to the end of the page: with a system call
 * for each frame, a goroutine of 10,000 frames was preempted where it went on, again and again. */
static const uint64_t *read_pair(struct stack_bytes *stack, uint64_t address)
{
    size_t needed = 2 * sizeof(uint64_t);
    if (address < stack->address || address - stack->address + needed > stack->size) {
        uint64_t end = ((address + needed - 1) | (PAGE - 1)) + 1;
        struct iovec to = {stack->bytes, end - address};
        struct iovec from = {(void *)(uintptr_t)(address + process.guest_base), end - address};
        bool read = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)(end - address);
        stack->address = address;
        stack->size = read ? end - address : 0;
        if (!read)
            return NULL;
    }
    return (const uint64_t *)(stack->bytes + (address - stack->address));
}

/* What would be returned to without a frame pointer, then the return addresses that frame pointers
 * lead to from `rsp` on: each points to the next, and a return address follows it. */
static void add_callers(struct log *log, uint64_t rsp, uint64_t frame)
{
    uint64_t innermost = word_at(rsp);
    add_caller(log, innermost ? innermost : NOWHERE, rsp);
    log->stack.size = 0;
    for (unsigned i = 0; i < MOST_CALLERS && frame >= rsp && frame % 8 == 0; i++) {
        const uint64_t *pair = read_pair(&log->stack, frame);
        if (!pair || pair[1] == 0)
            return;
        add_caller(log, pair[1], frame + 8);
        uint64_t caller_slot = find_injected_caller(frame + 8, pair[1]);
        if (caller_slot)
            add_caller(log, word_at(caller_slot), caller_slot);
        if (pair[0] <= frame)
            return;
        frame = pair[0];
    }
}

static bool is_handler(uint64_t address, uint64_t restorer)
{
    uint32_t count = atomic_load_explicit(&process.handler_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (process.handlers[i].address == address && process.handlers[i].restorer == restorer)
            return true;
    return false;
}

static bool may_be_handler(uint64_t address)
{
    uint32_t count = atomic_load_explicit(&process.handler_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (process.handlers[i].address == address)
            return true;
    return false;
}

/* What the signal frame at `handler_rsp` will go back to (offsets: struct ucontext after the
 * return address, arch/x86/include/uapi/asm/ucontext.h, sigcontext.h). */
static struct interrupted interrupted_by(uint64_t handler_rsp, uint64_t *rdx)
{
    enum {
        UCONTEXT_R14 = 88,
        UCONTEXT_RBP = 120,
        UCONTEXT_RDX = 136,
        UCONTEXT_RSP = 160,
        UCONTEXT_RIP = 168
    };
    uint64_t context = handler_rsp + 8;
    *rdx = word_at(context + UCONTEXT_RDX);
    return (struct interrupted){.handler_rsp = handler_rsp,
                                .pc = word_at(context + UCONTEXT_RIP),
                                .rsp = word_at(context + UCONTEXT_RSP),
                                .rbp = word_at(context + UCONTEXT_RBP),
                                .r14 = word_at(context + UCONTEXT_R14)};
}

static bool handler_begins(uint64_t pc, uint64_t rsp, uint64_t rdx)
{
    return may_be_handler(pc) && rdx == rsp + 8 && is_handler(pc, word_at(rsp));
}

/* Several signals at once are stacked before the first handler runs: each interrupts the one before
 * at its first instruction. Logs where the program was, with its callers if it `arrives` there, and the handlers that
 * wait. */
static void add_interrupted(struct log *log, uint64_t handler_rsp, bool arrives)
{
    struct interrupted chain[DEEPEST_NESTING];
    int depth = 0;
    uint64_t rdx;
    chain[depth++] = interrupted_by(handler_rsp, &rdx);
    while (depth < DEEPEST_NESTING &&
           handler_begins(chain[depth - 1].pc, chain[depth - 1].rsp, rdx)) {
        chain[depth] = interrupted_by(chain[depth - 1].rsp, &rdx);
        depth++;
    }
    if (arrives)
        add_callers(log, chain[depth - 1].rsp, chain[depth - 1].rbp);
    for (int i = depth - 1; i >= 0; i--) {
        add_place(log, &chain[i], i == depth - 1 ? 0 : TRUTH_SIGNAL);
        chain[i].entry_rsp = log->entry_rsp;
        log->interrupted[log->interruptions++ % DEEPEST_NESTING] = chain[i];
    }
}

static void check_registers(const uint64_t *registers, uint64_t pc)
{
    if (registers[RIP] != pc || registers[RSP] % 16 != 0)
        give_up("this qemu keeps the guest's registers elsewhere");
}

__attribute__((used, visibility("hidden"))) void log_block(unsigned vcpu, struct block *block,
                                                           const uint64_t *registers);

/* The program is one of Go, and code that has loaded the stack pointer has just jumped. */
static bool goroutine_arrives(const struct log *log)
{
    const struct truth_block *previous = &log->previous->reported;
    return process.logs_callers && previous->from_memory &&
           previous->ends_in == TRUTH_END_INDIRECT_JUMP;
}

void log_block(unsigned vcpu, struct block *block, const uint64_t *registers)
{
    struct log *log = current;
    if (!log) {
        if (process.blocks.count == 1)
            check_registers(registers, block->reported.pc);
        log = current = begin_log();
    }
    uint64_t rsp = registers[RSP];
    uint32_t flags = 0;
    bool arrives = goroutine_arrives(log);
    if (handler_begins(block->reported.pc, rsp, registers[RDX])) {
        add_interrupted(log, rsp, arrives);
        flags = TRUTH_SIGNAL;
    } else if (arrives) {
        add_callers(log, rsp, registers[RBP]);
    }
    add_record(log, block, rsp, flags, registers[R14]);
}

/* qemu calls it with its own RBP still in place. */
__attribute__((naked)) static void block_runs(unsigned vcpu, void *data)
{
    __asm__("mov %rbp, %rdx\n"
            "jmp log_block\n");
}

static void block_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint64_t pc = qemu_plugin_tb_vaddr(tb);
    if (!process.guest_base_known) {
        struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
        process.guest_base = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first) - pc;
        process.guest_base_known = true;
    }
    struct truth_block reported = {.pc = pc, .end = pc};
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_size(instruction);
        reported.last = reported.end;
        reported.end += size;
        /* The vsyscall page is qemu's own, and not in memory. */
        if (pc >> 47 == 0)
            describe_instruction(
                &reported, (const uint8_t *)(uintptr_t)(reported.last + process.guest_base), size);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block_runs, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)add_block(&reported));
}

/* --- System calls --- */

/* What rt_sigaction takes (struct kernel_sigaction of asm/signal.h). */
static void add_handler(uint64_t action)
{
    struct handler wanted = {word_at(action), word_at(action + 16)};
    if (wanted.address <= 1 || is_handler(wanted.address, wanted.restorer)) /* SIG_DFL, SIG_IGN */
        return;
    pthread_mutex_lock(&process.lock);
    uint32_t count = atomic_load(&process.handler_count);
    if (count == HANDLERS)
        give_up("too many signal handlers");
    process.handlers[count] = wanted;
    atomic_store_explicit(&process.handler_count, count + 1, memory_order_release);
    pthread_mutex_unlock(&process.lock);
}

static void system_call_begins(uint64_t id, unsigned int vcpu, int64_t number, uint64_t a1,
                               uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                               uint64_t a7, uint64_t a8)
{
    if (number == SYS_rt_sigaction && a2)
        add_handler(a2);
    else if (number == SYS_rt_sigreturn && current)
        current->signal_returned = true;
}

static void system_call_returned(uint64_t id, unsigned int vcpu, int64_t number, int64_t result)
{
    bool may_be_child = number == SYS_fork || number == SYS_vfork || number == SYS_clone;
    if (may_be_child && (uint32_t)getpid() != process.header.pid)
        begin_forked();
}

/* --- Loading --- */

int qemu_plugin_version = 1;

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
    static const char option[] = "dir=";
    for (int i = 0; i < argc; i++) {
        process.logs_callers |= strcmp(argv[i], "callers=on") == 0;
        if (strncmp(argv[i], option, sizeof option - 1) == 0)
            snprintf(process.directory, sizeof process.directory, "%s",
                     argv[i] + sizeof option - 1);
    }
    if (!process.directory[0])
        return -1;
    ZydisDecoderInit(&process.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    begin_blocks();
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_vcpu_syscall_cb(id, system_call_begins);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, system_call_returned);
    return 0;
}
