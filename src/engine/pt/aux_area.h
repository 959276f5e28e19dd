/* The memory into which the processor writes its packets, mapped after an event's ring of records.
 *
 * Two kinds (perf_event_open(2), "MMAP layout"; Documentation of Linux: perf-intel-pt(1)):
 *   - kept: the kernel stops at bytes that have not been read, and reports that by a truncated
 *     PERF_RECORD_AUX. aux_head counts all bytes ever written.
 *   - overwritten: mapped read-only. The newest bytes replace the oldest; aux_head is an offset in
 *     the area (pt_event_stop() in arch/x86/events/intel/pt.c). Whether the area has filled up shows
 *     in its contents: it is all zero at first.
 *
 * An overwritten area is read while the event is stopped.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_AUX_AREA_H
#define MAGIC_TRACE_ENGINE_PT_AUX_AREA_H

#include "perf_event/kernel.h"

#include <stdbool.h>
#include <sys/uio.h>

struct aux_area {
    const struct kernel *kernel;
    struct perf_event_mmap_page *page; /* of the ring, borrowed */
    const uint8_t *bytes;              /* NULL: not open */
    uint64_t size;                     /* a power of two, at least a page */
    bool overwritten;
    bool filled;  /* of overwritten areas: every byte has been written once */
    uint64_t end; /* end of the newest bytes taken, counted since the beginning; an estimate in
                   * overwritten areas */
};

/* What was written since it was last taken, or since the oldest byte that is left. */
struct aux_bytes {
    uint64_t offset; /* of the first, counted like aux_area.end */
    uint64_t size;
    struct iovec parts[2]; /* one after the other; the second may be empty */
};

/* `page` heads the ring of `event`, whose records take `ring_size` bytes. 0 or an errno. */
int aux_area_open(struct aux_area *area, const struct kernel *kernel, int event,
                  struct perf_event_mmap_page *page, uint64_t ring_size, uint64_t size,
                  bool overwritten);
void aux_area_close(struct aux_area *area);

/* The new bytes; valid until released or, if overwritten, until the event continues. They end with
 * a whole packet, unless the area was full: the head moves when tracing stops. */
struct aux_bytes aux_area_take(struct aux_area *area);

/* Lets the kernel overwrite the bytes that were taken. No effect on overwritten areas. */
void aux_area_release(struct aux_area *area);

#endif
