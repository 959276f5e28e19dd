#include "engine/translator/inject/requesting_thread.h"

#include "process/processes.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a request says; copied, because the process may change it. */
struct claim {
    uint32_t pid, tid;
    uint64_t time, cookie_address, nonce_address, nonce;
};

/* The time, of which no two requests have the same, stands in the process's own memory: children
 * that share or copy it have other numbers. The nonce is in the arena: only processes that have
 * mapped it, because they are traced, can have it. */
static bool is_claimant(const struct claim *claim, pid_t tid)
{
    uint64_t cookie = 0, nonce = 0;
    struct iovec ours[] = {{&cookie, sizeof cookie}, {&nonce, sizeof nonce}};
    struct iovec theirs[] = {{(void *)claim->cookie_address, sizeof cookie},
                             {(void *)claim->nonce_address, sizeof nonce}};
    return process_vm_readv(tid, ours, 2, theirs, 2, 0) == sizeof cookie + sizeof nonce &&
           cookie == claim->time && nonce == claim->nonce;
}

/* The first of the entries of `folder`, which are processes or threads, that has the number `wanted` in a namespace of
 * its own and is the claimant; 0: none. */
static pid_t search(const char *folder, uint32_t wanted, const struct claim *claim)
{
    DIR *entries = opendir(folder);
    pid_t found = 0;
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        pid_t number = (pid_t)atoi(entry->d_name);
        if (number > 0 && process_number_within(number) == (pid_t)wanted &&
            is_claimant(claim, number))
            found = number;
    }
    if (entries)
        closedir(entries);
    return found;
}

static bool search_namespaces(struct thread_number *thread, const struct claim *claim)
{
    char tasks[64];
    thread->pid = search("/proc", claim->pid, claim);
    if (!thread->pid)
        return false;
    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)thread->pid);
    thread->tid = search(tasks, claim->tid, claim);
    return thread->tid != 0;
}

static bool is_thread_of(const struct thread_number *thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)thread->pid, (int)thread->tid);
    return thread->pid == thread->tid || access(path, F_OK) == 0;
}

bool requesting_thread_find(struct thread_number *thread, struct tr_request *request)
{
    struct claim claim = {request->pid,           request->tid,
                          request->time,          request->cookie_address,
                          request->nonce_address, 0};
    if (getrandom(&claim.nonce, sizeof claim.nonce, GRND_NONBLOCK) != sizeof claim.nonce)
        return false;
    request->nonce = claim.nonce;
    atomic_thread_fence(memory_order_seq_cst);
    *thread = (struct thread_number){(pid_t)claim.pid, (pid_t)claim.tid};
    return (is_claimant(&claim, thread->tid) && is_thread_of(thread)) ||
           search_namespaces(thread, &claim);
}
