#include "base/large_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

enum { STACK_SIZE = 8 << 20 };

struct work {
    int (*run)(void *context);
    void *context;
    sigset_t mask; /* of the first thread, as magic-trace was started with it */
    int result;
};

static void *do_work(void *context)
{
    struct work *work = context;
    pthread_sigmask(SIG_SETMASK, &work->mask, NULL);
    work->result = work->run(work->context);
    return NULL;
}

static bool stack_is_small(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_SIZE;
}

static void make_stacks_large(void)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

int large_stack_run(int (*run)(void *context), void *context)
{
    struct work work = {.run = run, .context = context};
    pthread_t thread;
    if (!stack_is_small())
        return run(context);
    make_stacks_large();
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &work.mask);
    if (pthread_create(&thread, NULL, do_work, &work) != 0) {
        pthread_sigmask(SIG_SETMASK, &work.mask, NULL);
        return run(context);
    }
    pthread_join(thread, NULL);
    return work.result;
}
