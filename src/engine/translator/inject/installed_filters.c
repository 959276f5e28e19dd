#include "engine/translator/inject/installed_filters.h"

#include "process/processes.h"
#include "runtime/translator/places.h"
#include "runtime/translator/syscalls/seccomp_filter.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

static const char mode_key[] = "\nSeccomp:\t", count_key[] = "\nSeccomp_filters:\t";

static int status_number(pid_t tid, const char *key)
{
    return (int)process_status_number(tid, key, 10);
}

static int largest_of_threads(pid_t pid, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    int largest = 0;
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        int number = tid > 0 ? status_number(tid, key) : 0;
        largest = number > largest ? number : largest;
    }
    if (tasks)
        closedir(tasks);
    return largest;
}

int installed_seccomp_mode(pid_t pid)
{
    return largest_of_threads(pid, mode_key);
}

bool installed_filters_are_ours(pid_t pid)
{
    int ours = status_number(getpid(), count_key);
    return ours > 0 && status_number(1, count_key) == ours &&
           largest_of_threads(pid, count_key) == ours;
}

static bool read_own(void *to, uint64_t from, size_t size)
{
    memcpy(to, (const void *)from, size);
    return true;
}

/* The calls come from the image, from an address that is not known yet. */
static bool lets_through(struct sock_fprog program)
{
    const struct tr_filter filter = {(uint64_t)&program, TR_PLACE, read_own};
    return tr_filter_allows_translator(&filter) && tr_filter_allows_processor_time(&filter) &&
           tr_filter_allows_files(&filter) && tr_filter_allows_attach(&filter);
}

/* -1 and errno: ENOENT after the last one; EINVAL where the thread has no filter, or the kernel cannot show it
 * (CONFIG_CHECKPOINT_RESTORE). */
static long instructions_of(pid_t tid, unsigned long index, struct sock_filter *instructions)
{
    return ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)index, instructions);
}

bool installed_filters_allow(pid_t tid, struct error *error)
{
    struct sock_filter instructions[BPF_MAXINSNS];
    for (unsigned long index = 0;; index++) {
        long count = instructions_of(tid, index, instructions);
        if (count < 0 && errno == ENOENT)
            return true;
        if (count < 0 && errno == EINVAL && status_number(tid, mode_key) == SECCOMP_MODE_DISABLED)
            return true;
        if (count < 0)
            return error_set_errno(
                error, ERROR_UNSUPPORTED, errno,
                "it has a seccomp filter, which only root outside of containers can read");
        if (!lets_through((struct sock_fprog){(unsigned short)count, instructions}))
            return error_set(error, ERROR_UNSUPPORTED,
                             "it has a seccomp filter that forbids system calls of the translator");
    }
}
