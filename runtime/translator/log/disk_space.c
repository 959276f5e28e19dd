#include "runtime/translator/log/disk_space.h"

#include "runtime/translator/layout.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/futex.h>
#include <stdatomic.h>

/* The kernel adds 0 to a word, and says so when it cannot: a fault of ours would be a signal, for which there is no
 * handler yet when a process begins. */
static bool is_page_backed(uint64_t page)
{
    return tr_syscall6(__NR_futex, page, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, page,
                       FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

/* Under a hypervisor that shadows page tables (PVM, Xen's PV, KVM without EPT) the first access to a page is a fault even though
 * the kernel has the page in its tables: 5 to 10 us, in whatever the program does then. */
static void touch(uint64_t page, uint64_t end)
{
    for (; page < end; page += TR_PAGE)
        atomic_fetch_or_explicit((volatile _Atomic uint8_t *)page, 0, memory_order_relaxed);
}

uint64_t tr_backed_until(uint64_t start, uint64_t end)
{
    uint64_t page = start / TR_PAGE * TR_PAGE, pages_end = (end + TR_PAGE - 1) / TR_PAGE * TR_PAGE;
    if (pages_end - page > TR_PAGE && tr_own_populate(page, pages_end - page)) {
        touch(page, pages_end);
        return pages_end;
    }
    while (page < end && is_page_backed(page))
        page += TR_PAGE;
    return page;
}
