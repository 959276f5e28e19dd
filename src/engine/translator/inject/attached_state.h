/* A thread's general registers, flags and program counter between ptrace's form and the runtime's. */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_ATTACHED_STATE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_ATTACHED_STATE_H

#include "runtime/translator/thread.h"

#include <sys/user.h>

static inline void attached_state_get(struct tr_state *state, const struct user_regs_struct *r)
{
    *state = (struct tr_state){
        .r = {[TR_RAX] = r->rax,
              [TR_RCX] = r->rcx,
              [TR_RDX] = r->rdx,
              [TR_RBX] = r->rbx,
              [TR_RSP] = r->rsp,
              [TR_RBP] = r->rbp,
              [TR_RSI] = r->rsi,
              [TR_RDI] = r->rdi,
              [TR_R8] = r->r8,
              [TR_R9] = r->r9,
              [TR_R10] = r->r10,
              [TR_R11] = r->r11,
              [TR_R12] = r->r12,
              [TR_R13] = r->r13,
              [TR_R14] = r->r14,
              [TR_R15] = r->r15},
        .flags = r->eflags,
        .pc = r->rip,
    };
}

/* The others of `r` stay. */
static inline void attached_state_set(struct user_regs_struct *r, const struct tr_state *state)
{
    r->rax = state->r[TR_RAX];
    r->rcx = state->r[TR_RCX];
    r->rdx = state->r[TR_RDX];
    r->rbx = state->r[TR_RBX];
    r->rsp = state->r[TR_RSP];
    r->rbp = state->r[TR_RBP];
    r->rsi = state->r[TR_RSI];
    r->rdi = state->r[TR_RDI];
    r->r8 = state->r[TR_R8];
    r->r9 = state->r[TR_R9];
    r->r10 = state->r[TR_R10];
    r->r11 = state->r[TR_R11];
    r->r12 = state->r[TR_R12];
    r->r13 = state->r[TR_R13];
    r->r14 = state->r[TR_R14];
    r->r15 = state->r[TR_R15];
    r->eflags = state->flags;
    r->rip = state->pc;
}

#endif
