#include "engine/translator/inject/signal_state.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum {
    LEGACY_SIZE = 512, /* of the FXSAVE image, which the description ends */
    DESCRIPTION_SIZE = 48,
    EXTENDED_MAGIC = 0x46505853, /* FP_XSTATE_MAGIC1 of asm/sigcontext.h */
    PROTECTION_KEYS = 1 << 9,    /* the component of PKRU */
};

/* As asm/sigcontext.h, which cannot be included besides <signal.h>. */
struct description {
    uint32_t magic, extended_size;
    uint64_t features;
    uint32_t size, padding[7];
};

_Static_assert(sizeof(struct description) == DESCRIPTION_SIZE, "struct _fpx_sw_bytes");

/* Where the handler puts what it finds: of the calling thread. */
static _Thread_local struct description found;
static _Thread_local uint32_t found_keys;

static uint32_t read_protection_keys(void)
{
    uint32_t low, high;
    __asm__ volatile(".byte 0x0f, 0x01, 0xee" : "=a"(low), "=d"(high) : "c"(0)); /* rdpkru */
    return low;
}

static void look(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    const uint8_t *area = (const uint8_t *)((ucontext_t *)context)->uc_mcontext.fpregs;
    memcpy(&found, area + LEGACY_SIZE - sizeof found, sizeof found);
    if (found.magic != EXTENDED_MAGIC)
        found = (struct description){.size = LEGACY_SIZE, .extended_size = LEGACY_SIZE};
    if (found.features & PROTECTION_KEYS)
        found_keys = read_protection_keys();
}

void signal_state_learn(uint8_t extended_state[48], uint32_t *protection_keys)
{
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO}, before;
    sigset_t urgent, mask;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    sigaction(SIGURG, &action, &before);
    pthread_sigmask(SIG_UNBLOCK, &urgent, &mask);
    raise(SIGURG);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGURG, &before, NULL);
    memcpy(extended_state, &found, sizeof found);
    *protection_keys = found_keys;
}
