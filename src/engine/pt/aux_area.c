#include "engine/pt/aux_area.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int aux_area_open(struct aux_area *area, const struct kernel *kernel, int event,
                  struct perf_event_mmap_page *page, uint64_t ring_size, uint64_t size,
                  bool overwritten)
{
    *area =
        (struct aux_area){.kernel = kernel, .page = page, .size = size, .overwritten = overwritten};
    page->aux_offset = (uint64_t)sysconf(_SC_PAGESIZE) + ring_size;
    page->aux_size = size;
    int protection = overwritten ? PROT_READ : PROT_READ | PROT_WRITE;
    void *memory = kernel->map(kernel, size, protection, event, page->aux_offset);
    if (memory == MAP_FAILED)
        return errno;
    area->bytes = memory;
    return 0;
}

void aux_area_close(struct aux_area *area)
{
    if (area->bytes)
        area->kernel->unmap(area->kernel, (void *)(uintptr_t)area->bytes, area->size);
    area->bytes = NULL;
}

/* The kernel writes packets, then the head; so it is read first. */
static uint64_t head_of(const struct aux_area *area)
{
    uint64_t head = *(volatile __u64 *)&area->page->aux_head;
    atomic_thread_fence(memory_order_acquire);
    return head;
}

/* `size` bytes from position `offset` on, wherever the area's end cuts them. */
static struct aux_bytes bytes_at(const struct aux_area *area, uint64_t offset, uint64_t size)
{
    uint64_t place = offset & (area->size - 1);
    uint64_t until_end = area->size - place;
    uint64_t first = size < until_end ? size : until_end;
    return (struct aux_bytes){
        .offset = offset,
        .size = size,
        .parts = {{(void *)(uintptr_t)(area->bytes + place), first},
                  {(void *)(uintptr_t)area->bytes, size - first}},
    };
}

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static struct aux_bytes take_overwritten(struct aux_area *area)
{
    uint64_t place = head_of(area) & (area->size - 1);
    if (!area->filled)
        area->filled = !is_zero(area->bytes + place, area->size - place);
    uint64_t end = (area->end & ~(area->size - 1)) | place;
    if (end < area->end || (area->filled && end < area->size))
        end += area->size;
    if (!area->filled) {
        area->end = end;
        return bytes_at(area, 0, end);
    }
    /* How often the area has wrapped is unknown. If the position suggests that nothing is missing
     * between the last bytes taken and these, add a lap: the loss must be visible. */
    if (area->end && end - area->size == area->end)
        end += area->size;
    area->end = end;
    return bytes_at(area, end - area->size, area->size);
}

struct aux_bytes aux_area_take(struct aux_area *area)
{
    if (area->overwritten)
        return take_overwritten(area);
    uint64_t head = head_of(area), tail = area->page->aux_tail;
    area->end = head;
    return bytes_at(area, tail, head - tail);
}

void aux_area_release(struct aux_area *area)
{
    if (area->overwritten)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    *(volatile __u64 *)&area->page->aux_tail = area->end;
}
