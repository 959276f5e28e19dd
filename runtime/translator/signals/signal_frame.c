#include "runtime/translator/signals/signal_frame.h"

#include "runtime/translator/fault_safe.h"
#include "runtime/translator/signals/signal_set.h"
#include "runtime/translator/system.h"

#include <asm/errno.h>
#include <asm/processor-flags.h>

enum {
    RED_ZONE = 128,
    CODE_SEGMENT = 0x33, /* __USER_CS and __USER_DS of 64-bit programs */
    DATA_SEGMENT = 0x2b,
    LEGACY_SIZE = 512, /* of the FXSAVE image, and where the XSAVE header begins */
    HEADER_SIZE = 64,
    MXCSR_OFFSET = 24, /* SDM volume 1, table 10-2 */
    MXCSR_INITIAL = 0x1f80,
    PROTECTION_KEYS = 1 << 9, /* the component of PKRU */
    SSE_COMPONENT = 2,
    LEGACY_COMPONENTS = 1 | SSE_COMPONENT, /* x87, too */
};

_Static_assert(sizeof(struct tr_signal_frame) == 440, "struct rt_sigframe");
_Static_assert(sizeof(((struct tr_signals_of_thread *)0)->extended_state) ==
                   sizeof(struct _fpx_sw_bytes),
               "");

/* Flags that sigreturn may change: FIX_EFLAGS of arch/x86/kernel/signal_64.c. A thread that gets the trap flag so goes on natively
 * (signal_delivery.c). */
static const uint64_t restorable_flags =
    X86_EFLAGS_AC | X86_EFLAGS_OF | X86_EFLAGS_DF | X86_EFLAGS_TF | X86_EFLAGS_SF | X86_EFLAGS_ZF |
    X86_EFLAGS_AF | X86_EFLAGS_PF | X86_EFLAGS_CF | X86_EFLAGS_RF;

static struct _fpx_sw_bytes *extended_state(struct tr_signals_of_thread *signals)
{
    return (struct _fpx_sw_bytes *)(void *)signals->extended_state;
}

void tr_frame_registers(struct tr_state *state, const struct sigcontext *context)
{
    *state = (struct tr_state){
        .r = {[TR_RAX] = context->rax,
              [TR_RCX] = context->rcx,
              [TR_RDX] = context->rdx,
              [TR_RBX] = context->rbx,
              [TR_RSP] = context->rsp,
              [TR_RBP] = context->rbp,
              [TR_RSI] = context->rsi,
              [TR_RDI] = context->rdi,
              [TR_R8] = context->r8,
              [TR_R9] = context->r9,
              [TR_R10] = context->r10,
              [TR_R11] = context->r11,
              [TR_R12] = context->r12,
              [TR_R13] = context->r13,
              [TR_R14] = context->r14,
              [TR_R15] = context->r15},
        .flags = context->eflags,
        .pc = context->rip,
    };
}

static void get_registers(struct sigcontext *context, const struct tr_state *state)
{
    const uint64_t *r = state->r;
    *context = (struct sigcontext){
        .rax = r[TR_RAX],
        .rcx = r[TR_RCX],
        .rdx = r[TR_RDX],
        .rbx = r[TR_RBX],
        .rsp = r[TR_RSP],
        .rbp = r[TR_RBP],
        .rsi = r[TR_RSI],
        .rdi = r[TR_RDI],
        .r8 = r[TR_R8],
        .r9 = r[TR_R9],
        .r10 = r[TR_R10],
        .r11 = r[TR_R11],
        .r12 = r[TR_R12],
        .r13 = r[TR_R13],
        .r14 = r[TR_R14],
        .r15 = r[TR_R15],
        .eflags = state->flags,
        .rip = state->pc,
        .cs = CODE_SEGMENT,
        .ss = DATA_SEGMENT,
    };
}

static uint32_t read_protection_keys(void)
{
    uint32_t low, high;
    __asm__ volatile("rdpkru" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static void write_protection_keys(uint32_t value)
{
    __asm__ volatile("wrpkru" : : "a"(value), "c"(0), "d"(0) : "memory");
}

void tr_frame_learn(struct tr_signals_of_thread *signals, const struct sigcontext *context)
{
    const uint8_t *area = (const uint8_t *)context->fpstate;
    if (!area)
        return;
    struct _fpx_sw_bytes *state = extended_state(signals);
    memcpy(state, area + LEGACY_SIZE - sizeof *state, sizeof *state);
    if (state->magic1 != FP_XSTATE_MAGIC1)
        *state = (struct _fpx_sw_bytes){.xstate_size = LEGACY_SIZE, .extended_size = LEGACY_SIZE};
    if (state->xfeatures & PROTECTION_KEYS)
        signals->protection_keys = read_protection_keys();
    signals->extended_state_known = true;
}

/* ---- the alternate stack (include/linux/sched/signal.h, kernel/signal.c) ---- */

static bool within_alt_stack(const struct tr_signals_of_thread *signals, uint64_t stack_pointer)
{
    return stack_pointer > signals->alt_start &&
           stack_pointer - signals->alt_start <= signals->alt_size;
}

bool tr_on_alt_stack(const struct tr_signals_of_thread *signals, uint64_t stack_pointer)
{
    return !(signals->alt_flags & SS_AUTODISARM) && within_alt_stack(signals, stack_pointer);
}

int64_t tr_set_alt_stack(struct tr_signals_of_thread *signals, const stack_t *stack,
                         uint64_t stack_pointer)
{
    if (tr_on_alt_stack(signals, stack_pointer))
        return -EPERM;
    uint32_t flags = (uint32_t)stack->ss_flags, mode = flags & ~SS_AUTODISARM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
        return -EINVAL;
    if (mode != SS_DISABLE && stack->ss_size < MINSIGSTKSZ)
        return -ENOMEM;
    signals->alt_start = mode == SS_DISABLE ? 0 : (uint64_t)stack->ss_sp;
    signals->alt_size = mode == SS_DISABLE ? 0 : stack->ss_size;
    signals->alt_flags = flags;
    return 0;
}

static void get_alt_stack(stack_t *stack, const struct tr_signals_of_thread *signals)
{
    stack->ss_sp = (void *)signals->alt_start;
    stack->ss_flags = (int)signals->alt_flags;
    stack->ss_size = signals->alt_size;
}

/* ---- the extended state ---- */

uint64_t tr_extended_state_size(struct tr_signals_of_thread *signals)
{
    const struct _fpx_sw_bytes *state = extended_state(signals);
    return signals->extended_state_known ? state->extended_size : LEGACY_SIZE;
}

static bool uses_xsave(struct tr_signals_of_thread *signals)
{
    return extended_state(signals)->magic1 == FP_XSTATE_MAGIC1;
}

/* As copy_fpstate_to_sigframe and save_xstate_epilog: a cleared header, the state, what it is and
 * how large, and that x87 and SSE state is there, always. */
static bool save_extended_state(struct tr_signals_of_thread *signals, uint64_t area)
{
    static const uint8_t no_header[HEADER_SIZE];
    static const uint32_t magic2 = FP_XSTATE_MAGIC2;
    const struct _fpx_sw_bytes *state = extended_state(signals);
    if (!uses_xsave(signals))
        return tr_fxsave_safely(area);
    uint64_t components;
    if (!tr_write_safely(area + LEGACY_SIZE, no_header, sizeof no_header) ||
        !tr_xsave_safely(area, state->xfeatures) ||
        !tr_write_safely(area + LEGACY_SIZE - sizeof *state, state, sizeof *state) ||
        !tr_write_safely(area + state->xstate_size, &magic2, sizeof magic2) ||
        !tr_read_safely(&components, area + LEGACY_SIZE, sizeof components))
        return false;
    components |= LEGACY_COMPONENTS;
    return tr_write_safely(area + LEGACY_SIZE, &components, sizeof components);
}

/* An XSAVE area without components: XRSTOR gives all that it is asked for their initial configuration
 * (SDM volume 1, 13.6 and 13.8), but loads MXCSR from the area, for AVX alone, too. In the compacted form,
 * which older processors refuse, it leaves MXCSR alone then, as the kernel does. */
union initial_area {
    uint8_t bytes[LEGACY_SIZE + HEADER_SIZE];
    uint32_t words[(LEGACY_SIZE + HEADER_SIZE) / 4];
};

static void reset_components(uint64_t features)
{
    enum { FORM = LEGACY_SIZE / 4 + 3, COMPACTED = INT32_MIN }; /* high half of XCOMP_BV */
    static const union initial_area standard
        __attribute__((aligned(64))) = {.words = {[MXCSR_OFFSET / 4] = MXCSR_INITIAL}};
    static const union initial_area compacted __attribute__((aligned(64))) = {
        .words = {[MXCSR_OFFSET / 4] = MXCSR_INITIAL, [FORM] = (uint32_t)COMPACTED}};
    if ((features & SSE_COMPONENT) || !tr_xrstor_safely((uint64_t)&compacted, features))
        tr_xrstor_safely((uint64_t)&standard, features);
}

/* As fpu__clear_user_states: what handlers begin with. */
static void reset_extended_state(struct tr_signals_of_thread *signals)
{
    static const union {
        uint8_t bytes[LEGACY_SIZE];
        uint32_t words[LEGACY_SIZE / 4];
    } initial
        __attribute__((aligned(64))) = {.words = {[0] = 0x37f, [MXCSR_OFFSET / 4] = MXCSR_INITIAL}};
    if (!uses_xsave(signals)) {
        tr_fxrstor_safely((uint64_t)&initial);
        return;
    }
    uint64_t features = extended_state(signals)->xfeatures;
    reset_components(features & ~(uint64_t)PROTECTION_KEYS);
    if (features & PROTECTION_KEYS)
        write_protection_keys(signals->protection_keys);
}

/* As check_xstate_in_sigframe and restore_fpregs_from_user: without both magic numbers there is x87
 * and SSE state only; components that are not in the frame get their initial state. */
static bool restore_saved_state(struct tr_signals_of_thread *signals, uint64_t area)
{
    const struct _fpx_sw_bytes *state = extended_state(signals);
    struct _fpx_sw_bytes frame;
    uint32_t magic2 = 0;
    if (!uses_xsave(signals))
        return tr_fxrstor_safely(area);
    if (!tr_read_safely(&frame, area + LEGACY_SIZE - sizeof frame, sizeof frame))
        return false;
    bool complete = frame.magic1 == FP_XSTATE_MAGIC1;
    if (complete && !tr_read_safely(&magic2, area + state->xstate_size, sizeof magic2))
        return false;
    complete = complete && magic2 == FP_XSTATE_MAGIC2;
    uint64_t present = (complete ? frame.xfeatures : LEGACY_COMPONENTS) & state->xfeatures;
    bool restored = complete ? tr_xrstor_safely(area, present) : tr_fxrstor_safely(area);
    if (restored && (state->xfeatures & ~present))
        reset_components(state->xfeatures & ~present);
    return restored;
}

static bool restore_extended_state(struct tr_signals_of_thread *signals, uint64_t area)
{
    if (area && restore_saved_state(signals, area))
        return true;
    reset_extended_state(signals);
    return !area;
}

/* ---- frames ---- */

static uint64_t context_flags(struct tr_signals_of_thread *signals)
{
    return UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS | (uses_xsave(signals) ? UC_FP_XSTATE : 0);
}

/* get_sigframe of arch/x86/kernel/signal.c. 0: the alternate stack is too small. */
static uint64_t place_frame(const struct tr_thread *thread, const struct tr_action *action,
                            uint64_t size, uint64_t *area)
{
    const struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t pointer = thread->app.r[TR_RSP];
    bool bounded = tr_on_alt_stack(signals, pointer);
    pointer -= RED_ZONE;
    if ((action->flags & SA_ONSTACK) && signals->alt_size != 0 &&
        !tr_on_alt_stack(signals, pointer)) {
        pointer = signals->alt_start + signals->alt_size;
        bounded = true;
    }
    *area = (pointer - size) & ~UINT64_C(63);
    pointer = ((*area - sizeof(struct tr_signal_frame)) & ~UINT64_C(15)) - 8;
    return bounded && !within_alt_stack(signals, pointer) ? 0 : pointer;
}

static void fill_context(struct tr_thread *thread, struct ucontext *context, uint64_t saved_mask,
                         uint64_t area)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    get_registers(&context->uc_mcontext, &thread->app);
    context->uc_mcontext.err = signals->error_code;
    context->uc_mcontext.trapno = signals->trap_number;
    context->uc_mcontext.cr2 = signals->fault_address;
    context->uc_mcontext.oldmask = saved_mask;
    context->uc_mcontext.fpstate = (void *)area;
    context->uc_flags = context_flags(signals);
    context->uc_link = NULL;
    get_alt_stack(&context->uc_stack, signals);
    context->uc_sigmask = saved_mask;
}

/* What the kernel does not write keeps its value: padding, the reserved words of struct sigcontext, and
 * the siginfo of a handler that does not ask for it. */
static bool write_frame(uint64_t to, const struct tr_signal_frame *frame, bool with_info)
{
    static const struct {
        uint16_t start, end;
    } parts[] = {
        {0, offsetof(struct tr_signal_frame, context.uc_stack.ss_flags) + sizeof(int)},
        {offsetof(struct tr_signal_frame, context.uc_stack.ss_size),
         offsetof(struct tr_signal_frame, context.uc_mcontext.reserved1)},
        {offsetof(struct tr_signal_frame, context.uc_sigmask),
         offsetof(struct tr_signal_frame, info)},
        {offsetof(struct tr_signal_frame, info), sizeof *frame},
    };
    for (unsigned i = 0; i < (with_info ? 4 : 3); i++)
        if (!tr_write_safely(to + parts[i].start, (const uint8_t *)frame + parts[i].start,
                             parts[i].end - parts[i].start))
            return false;
    return true;
}

bool tr_frame_push(struct tr_thread *thread, int signal, const void *info,
                   const struct tr_action *action, uint64_t saved_mask)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t area, at = place_frame(thread, action, tr_extended_state_size(signals), &area);
    if (at == 0 || !(action->flags & SA_RESTORER) || !save_extended_state(signals, area))
        return false;
    struct tr_signal_frame frame = {.restorer = action->restorer};
    fill_context(thread, &frame.context, saved_mask, area);
    memcpy(frame.info, info, sizeof frame.info);
    if (!write_frame(at, &frame, action->flags & SA_SIGINFO))
        return false;
    reset_extended_state(signals);
    uint64_t *r = thread->app.r;
    r[TR_RDI] = (uint64_t)signal;
    r[TR_RSI] = at + offsetof(struct tr_signal_frame, info);
    r[TR_RDX] = at + offsetof(struct tr_signal_frame, context);
    r[TR_RAX] = 0;
    r[TR_RSP] = at;
    thread->app.pc = action->handler;
    thread->app.flags &= ~(uint64_t)(X86_EFLAGS_DF | X86_EFLAGS_RF | X86_EFLAGS_TF);
    return true;
}

bool tr_frame_read(const struct tr_thread *thread, struct ucontext *context)
{
    uint64_t at =
        thread->app.r[TR_RSP] - sizeof(uint64_t) + offsetof(struct tr_signal_frame, context);
    return tr_read_safely(context, at, sizeof *context);
}

/* sys_rt_sigreturn of arch/x86/kernel/signal_64.c, Linux 6.12 and later: the sigaltstack is set while the handler's
 * stack is the current one, and errors in it are ignored. */
bool tr_frame_restore(struct tr_thread *thread, const struct ucontext *context)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    tr_set_alt_stack(signals, &context->uc_stack, thread->app.r[TR_RSP]);
    uint64_t flags = thread->app.flags;
    tr_frame_registers(&thread->app, &context->uc_mcontext);
    thread->app.flags = (flags & ~restorable_flags) | (thread->app.flags & restorable_flags);
    return restore_extended_state(signals, (uint64_t)context->uc_mcontext.fpstate);
}

/* A sigaltstack that was never set has no flags, which the kernel would refuse; ours would stay. */
void tr_frame_for_kernel(struct tr_thread *thread, struct tr_signal_frame *frame, void *area)
{
    save_extended_state(&thread->signals, (uint64_t)area);
    *frame = (struct tr_signal_frame){0};
    fill_context(thread, &frame->context, thread->signals.mask, (uint64_t)area);
    if (thread->signals.alt_size == 0)
        frame->context.uc_stack.ss_flags = SS_DISABLE;
}
