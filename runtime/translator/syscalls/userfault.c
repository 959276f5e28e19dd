#include "runtime/translator/syscalls/userfault.h"

#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/lock.h"

#include <linux/ioctl.h>
#include <linux/userfaultfd.h>

/* linux/userfaultfd.h of Linux 6.8, newer than the headers of Debian 12. */
struct move {
    uint64_t to, from, size, mode;
    int64_t moved;
};
#define MOVE _IOWR(UFFDIO, 0x05, struct move)

const char *tr_note_userfault(struct tr_thread *thread, uint32_t request, uint64_t argument)
{
    struct uffdio_api api;
    if (request == UFFDIO_REGISTER)
        thread->process->supplies_pages = true;
    if (request == UFFDIO_API && tr_probe_read(&api, argument, sizeof api) &&
        (api.features & UFFD_FEATURE_EVENT_FORK))
        return "it has its forks wait for another thread (UFFD_FEATURE_EVENT_FORK)";
    return NULL;
}

void tr_userfault_made(struct tr_thread *thread, uint32_t request, uint64_t argument)
{
    struct move move;
    if (request != MOVE || !tr_probe_read(&move, argument, sizeof move))
        return;
    tr_lock(&thread->process->lock);
    tr_code_changed(thread, move.from, move.from + move.size);
    tr_code_changed(thread, move.to, move.to + move.size);
    tr_unlock(&thread->process->lock);
}
