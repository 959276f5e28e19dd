#include "runtime/translator/syscalls/code_files.h"

#include "runtime/translator/code/code_pages.h"

#include <asm/unistd.h>

/* The argument that says which file is changed. */
static int32_t changed_file(const uint64_t *r, int32_t number)
{
    return (int32_t)(number == __NR_copy_file_range || number == __NR_splice ? r[TR_RDX]
                                                                             : r[TR_RDI]);
}

void tr_code_file_changed(struct tr_thread *thread, int32_t number)
{
    bool named = number == __NR_ftruncate || number == __NR_fallocate;
    if (named || tr_code_in_open_files())
        tr_code_file_written(thread, changed_file(thread->app.r, number), named);
}
