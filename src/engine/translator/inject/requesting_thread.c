#include "engine/translator/inject/requesting_thread.h"

#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The number after `key` in the text of a status file of /proc, in the innermost pid namespace; 0 when
 * the process is in our own, or it is not there. */
static uint32_t inner_number(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    if (!line)
        return 0;
    unsigned count = 0;
    unsigned long number = 0;
    char *end = (char *)line + strlen(key);
    for (; *end == '\t'; count++)
        number = strtoul(end + 1, &end, 10);
    return count > 1 ? (uint32_t)number : 0;
}

static bool has_inner_number(const char *folder, const char *number, const char *key,
                             uint32_t wanted)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s/status", folder, number);
    char *status = isdigit((unsigned char)*number) ? file_read(path, NULL, NULL) : NULL;
    bool has = status && inner_number(status, key) == wanted;
    free(status);
    return has;
}

/* The first of the entries of `folder`, which are processes or threads, that has the number `wanted` in a namespace of
 * its own and is the claimant; 0: none. */
static pid_t search(const char *folder, const char *key, uint32_t wanted, const struct claim *claim)
{
    DIR *entries = opendir(folder);
    pid_t found = 0;
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
        if (has_inner_number(folder, entry->d_name, key, wanted) &&
            is_claimant(claim, (pid_t)atoi(entry->d_name)))
            found = (pid_t)atoi(entry->d_name);
    if (entries)
        closedir(entries);
    return found;
}

static bool search_namespaces(struct thread_number *thread, const struct claim *claim)
{
    char tasks[64];
    thread->pid = search("/proc", "\nNStgid:", claim->pid, claim);
    if (!thread->pid)
        return false;
    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)thread->pid);
    thread->tid = search(tasks, "\nNSpid:", claim->tid, claim);
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
