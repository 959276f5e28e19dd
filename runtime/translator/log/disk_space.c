#include "runtime/translator/log/disk_space.h"

#include "runtime/translator/layout.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/futex.h>

/* The kernel adds 0 to a word, and says so when it cannot: a fault of ours would be a signal, for which there is no
 * handler yet when a process begins. */
static bool is_page_backed(uint64_t page)
{
    return tr_syscall6(__NR_futex, page, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, page,
                       FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

bool tr_is_backed(uint64_t start, uint64_t size)
{
    for (uint64_t page = start / TR_PAGE * TR_PAGE; page < start + size; page += TR_PAGE)
        if (!is_page_backed(page))
            return false;
    return true;
}
