#include "runtime/translator/code/supplied_pages.h"

#include "runtime/translator/syscalls/maps.h"

bool tr_page_is_awaited(uint64_t address)
{
    const struct tr_process *process = &tr_process;
    return process->supplies_pages && !process->files_forbidden && !tr_maps_is_present(address);
}
