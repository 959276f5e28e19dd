#include "cli/serve/interrupt_guard.h"

#include "base/file.h"
#include "cli/serve/serve_loop.h"

#include <stddef.h>
#include <time.h>

/* Ends the process as the signal would have. */
static void die(const struct interrupt_guard *guard, int number)
{
    file_remove_tree(guard->folder, NULL);
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void *watch(void *context)
{
    struct interrupt_guard *guard = context;
    const struct timespec step = {.tv_nsec = 50 * 1000 * 1000};
    while (!atomic_load(&guard->is_over)) {
        int number = sigtimedwait(&guard->signals, NULL, &step);
        if (number > 0)
            die(guard, number);
    }
    return NULL;
}

void interrupt_guard_begin(struct interrupt_guard *guard, const char *folder)
{
    *guard = (struct interrupt_guard){.folder = folder};
    if (!folder)
        return;
    guard->signals = serve_loop_block_signals();
    guard->is_watching = pthread_create(&guard->thread, NULL, watch, guard) == 0;
}

void interrupt_guard_end(struct interrupt_guard *guard)
{
    atomic_store(&guard->is_over, true);
    if (guard->is_watching)
        pthread_join(guard->thread, NULL);
}
