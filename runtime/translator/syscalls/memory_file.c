#include "runtime/translator/syscalls/memory_file.h"

#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>

enum { LONGEST = 64 }; /* bytes of a path under /proc that ends so */

/* /proc/self/mem, /proc/thread-self/mem, /proc/PID/task/TID/mem, self/mem below an open folder. */
static bool ends_in_mem(uint64_t path)
{
    static const char last[] = "/mem";
    uint32_t window = 0, wanted;
    memcpy(&wanted, last, sizeof wanted);
    for (unsigned i = 0; i < LONGEST; i++) {
        uint8_t byte;
        if (!tr_read_safely(&byte, path + i, 1))
            return false;
        if (byte == 0)
            return window == wanted;
        window = window >> 8 | (uint32_t)byte << 24;
    }
    return false;
}

static uint64_t flags_of(const uint64_t *r, int32_t number)
{
    struct open_how how = {0};
    if (number == __NR_open)
        return r[TR_RSI];
    if (number == __NR_openat)
        return r[TR_RDX];
    return tr_read_safely(&how, r[TR_RDX], sizeof how) ? how.flags : 0;
}

void tr_note_memory_file(struct tr_thread *thread, int32_t number)
{
    const uint64_t *r = thread->app.r;
    uint64_t path = number == __NR_open ? r[TR_RDI] : r[TR_RSI];
    if ((flags_of(r, number) & O_ACCMODE) != O_RDONLY && ends_in_mem(path))
        thread->process->writes_memory_file = true;
}

void tr_memory_file_written(struct tr_thread *thread, int32_t number, uint64_t count)
{
    const uint64_t *r = thread->app.r;
    bool at_position = number == __NR_write || number == __NR_writev;
    uint64_t start = r[TR_R10];
    if (at_position && thread->process->files_forbidden)
        return;
    if (at_position)
        start = (uint64_t)tr_syscall(__NR_lseek, r[TR_RDI], 0, SEEK_CUR) - count;
    if (start > INT64_MAX) /* of a pipe or the like */
        return;
    uint64_t page = start & ~(uint64_t)(TR_PAGE - 1);
    uint64_t end = (start + count + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);
    tr_lock(&thread->process->lock);
    tr_code_changed(thread, page, end);
    tr_unlock(&thread->process->lock);
}
