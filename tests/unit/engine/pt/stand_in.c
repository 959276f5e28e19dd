#include "stand_in.h"

#include "base/memory.h"
#include "perf_event/sideband.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static void *must(void *pointer)
{
    if (!pointer || pointer == MAP_FAILED) {
        perror("stand-in kernel");
        abort();
    }
    return pointer;
}

static struct stand_in *self(const struct kernel *kernel)
{
    return (struct stand_in *)(uintptr_t)kernel;
}

static struct stand_in_event *event_of(struct stand_in *kernel, int descriptor)
{
    for (size_t i = kernel->event_count; i-- > 0;)
        if (kernel->events[i].descriptor == descriptor)
            return &kernel->events[i];
    return NULL;
}

/* Whether this call is refused. */
static bool refuses(int problem, size_t *calls)
{
    if (!problem)
        return false;
    if (*calls > 0) {
        --*calls;
        return false;
    }
    errno = problem;
    return true;
}

/* ---- the system calls ---- */

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    struct stand_in *stand_in = self(kernel);
    (void)group;
    if (stand_in->others_are_real && attributes->type != STAND_IN_UNIT)
        return kernel_real.open_event(&kernel_real, attributes, pid, cpu, group, flags);
    if (refuses(stand_in->open_problem, &stand_in->open_calls))
        return -1;
    if (!(flags & PERF_FLAG_FD_CLOEXEC) || stand_in->event_count == STAND_IN_EVENTS) {
        errno = EINVAL;
        return -1;
    }
    struct stand_in_event *event = &stand_in->events[stand_in->event_count++];
    *event = (struct stand_in_event){
        .attributes = *attributes,
        .pid = pid,
        .cpu = cpu,
        .descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .enabled = !attributes->disabled,
    };
    return event->descriptor;
}

static int control(const struct kernel *kernel, int descriptor, unsigned long request,
                   unsigned long argument)
{
    struct stand_in *stand_in = self(kernel);
    struct stand_in_event *event = event_of(stand_in, descriptor);
    if (!event)
        return kernel_real.control(&kernel_real, descriptor, request, argument);
    if (refuses(stand_in->control_problem, &stand_in->control_calls))
        return -1;
    switch (request) {
    case PERF_EVENT_IOC_ID:
        *(uint64_t *)argument = 100 + (uint64_t)(event - stand_in->events);
        return 0;
    case PERF_EVENT_IOC_SET_OUTPUT:
        event->ring = event_of(stand_in, (int)argument)->ring;
        return 0;
    case PERF_EVENT_IOC_ENABLE:
        event->enabled = true;
        if (stand_in->enabled)
            stand_in->enabled(stand_in, event);
        return 0;
    case PERF_EVENT_IOC_DISABLE:
        if (stand_in->disabled)
            stand_in->disabled(stand_in, event);
        event->enabled = false;
        return 0;
    default:
        errno = ENOTTY;
        return -1;
    }
}

/* The engine's view of new memory; *ours: the stand-in's. */
static void *map_twice(size_t size, int protection, uint8_t **ours)
{
    int memory = memfd_create("stand-in", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)size) != 0)
        abort();
    *ours = must(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
    void *theirs = must(mmap(NULL, size, protection, MAP_SHARED, memory, 0));
    close(memory);
    return theirs;
}

static bool is_power_of_two(uint64_t number)
{
    return number && !(number & (number - 1));
}

/* perf_mmap_aux(): after the ring, at the offset of the page, a power of two of pages. */
static bool may_map_area(const struct stand_in_ring *ring, size_t size, uint64_t offset)
{
    return ring && ring->page && !ring->packets && ring->page->aux_offset == offset &&
           ring->page->aux_size == size && is_power_of_two(size) &&
           offset >= (uint64_t)getpagesize() + ring->records_size;
}

static void *map(const struct kernel *kernel, size_t size, int protection, int descriptor,
                 uint64_t offset)
{
    struct stand_in *stand_in = self(kernel);
    struct stand_in_event *event = event_of(stand_in, descriptor);
    size_t page = (size_t)getpagesize();
    if (!event) {
        stand_in->mapped++;
        return kernel_real.map(&kernel_real, size, protection, descriptor, offset);
    }
    bool inherited_by_all = event->attributes.inherit && event->cpu == -1;
    if (refuses(stand_in->map_problem, &stand_in->map_calls))
        return MAP_FAILED;
    if (stand_in->largest_area && size > stand_in->largest_area) {
        errno = EPERM;
        return MAP_FAILED;
    }
    if (inherited_by_all || (offset ? !may_map_area(event->own, size, offset)
                                    : event->own || !is_power_of_two(size - page))) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    uint8_t *ours;
    void *theirs = map_twice(size, protection, &ours);
    stand_in->mapped++;
    if (offset) {
        event->own->packets = ours;
        event->own->packets_size = size;
        event->own->overwritten = !(protection & PROT_WRITE);
        return theirs;
    }
    event->own = event->ring = memory_allocate_zeroed(sizeof *event->own);
    *event->own = (struct stand_in_ring){
        .page = (struct perf_event_mmap_page *)ours,
        .records = ours + page,
        .records_size = size - page,
    };
    event->own->page->cap_user_time_zero = stand_in->clock.mult != 0;
    event->own->page->time_zero = stand_in->clock.zero;
    event->own->page->time_mult = stand_in->clock.mult;
    event->own->page->time_shift = stand_in->clock.shift;
    return theirs;
}

static int unmap(const struct kernel *kernel, void *address, size_t size)
{
    self(kernel)->mapped--;
    return munmap(address, size);
}

/* ---- making it ---- */

void stand_in_put(const struct stand_in *kernel, const char *name, const char *text)
{
    char *file = memory_format("bus/event_source/devices/intel_pt/%s", name);
    char *path = made_folder_path(&kernel->sysfs, file);
    if (text)
        made_folder_put(&kernel->sysfs, file, text);
    else
        unlink(path);
    free(path);
    free(file);
}

/* As of an Ice Lake. */
static void make_unit(const struct stand_in *kernel)
{
    static const char *const files[][2] = {
        {"type", "11\n"},
        {"max_nonturbo_ratio", "30\n"},
        {"tsc_art_ratio", "84:2\n"},
        {"format/pt", "config:0\n"},
        {"format/cyc", "config:1\n"},
        {"format/fup_on_ptw", "config:5\n"},
        {"format/mtc", "config:9\n"},
        {"format/tsc", "config:10\n"},
        {"format/noretcomp", "config:11\n"},
        {"format/ptw", "config:12\n"},
        {"format/branch", "config:13\n"},
        {"format/mtc_period", "config:14-17\n"},
        {"format/cyc_thresh", "config:19-22\n"},
        {"format/psb_period", "config:24-27\n"},
        {"caps/psb_cyc", "1\n"},
        {"caps/mtc", "1\n"},
        {"caps/ptwrite", "1\n"},
        {"caps/mtc_periods", "249\n"},
        {"caps/cycle_thresholds", "3fff\n"},
        {"caps/psb_periods", "3f\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        stand_in_put(kernel, files[i][0], files[i][1]);
    made_folder_put(&kernel->sysfs, "devices/system/cpu/online", "0-1\n");
}

void stand_in_begin(struct stand_in *kernel)
{
    *kernel = (struct stand_in){
        .kernel = {open_event, control, map, unmap, NULL, "/proc"},
        .events = memory_allocate_zeroed(STAND_IN_EVENTS * sizeof(struct stand_in_event)),
        .time = 1000,
        .clock.mult = 1,
    };
    made_folder_begin(&kernel->sysfs);
    kernel->kernel.sysfs = kernel->sysfs.path;
    make_unit(kernel);
}

/* Another file may have the number by now; eventfds are none of those. */
static bool is_open(int descriptor)
{
    char link[64], target[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    return readlink(link, target, sizeof target - 1) > 0 && strstr(target, "[eventfd]");
}

size_t stand_in_left_over(const struct stand_in *kernel)
{
    size_t count = kernel->mapped;
    for (size_t i = 0; i < kernel->event_count; i++)
        count += is_open(kernel->events[i].descriptor);
    return count;
}

void stand_in_forget(struct stand_in *kernel)
{
    for (size_t i = 0; i < kernel->event_count; i++) {
        struct stand_in_ring *ring = kernel->events[i].own;
        if (!ring)
            continue;
        munmap(ring->page, (size_t)getpagesize() + ring->records_size);
        if (ring->packets)
            munmap(ring->packets, ring->packets_size);
        free(ring);
    }
    kernel->event_count = 0;
}

void stand_in_end(struct stand_in *kernel)
{
    stand_in_forget(kernel);
    free(kernel->events);
    made_folder_end(&kernel->sysfs);
}

static struct stand_in_event *find_event(struct stand_in *kernel, uint32_t type, int cpu)
{
    for (size_t i = 0; i < kernel->event_count; i++)
        if (kernel->events[i].attributes.type == type && kernel->events[i].ring &&
            (cpu < 0 || kernel->events[i].cpu == cpu))
            return &kernel->events[i];
    return NULL;
}

struct stand_in_event *stand_in_packets_event(struct stand_in *kernel, int cpu)
{
    return find_event(kernel, STAND_IN_UNIT, cpu);
}

struct stand_in_event *stand_in_side_band_event(struct stand_in *kernel)
{
    return find_event(kernel, PERF_TYPE_SOFTWARE, -1);
}

/* ---- records ---- */

static void deadline(const struct stand_in_event *event)
{
    uint64_t one = 1;
    ssize_t ignored = write(event->descriptor, &one, sizeof one);
    (void)ignored;
}

static void copy_round(uint8_t *area, uint64_t area_size, uint64_t position, const void *bytes,
                       uint64_t size)
{
    uint64_t place = position % area_size;
    uint64_t first = size < area_size - place ? size : area_size - place;
    memcpy(area + place, bytes, first);
    memcpy(area, (const uint8_t *)bytes + first, size - first);
}

static bool put_record(struct stand_in_ring *ring, const void *record, size_t size)
{
    uint64_t head = ring->page->data_head;
    uint64_t tail = *(volatile __u64 *)&ring->page->data_tail;
    if (head + size - tail > ring->records_size)
        return false;
    copy_round(ring->records, ring->records_size, head, record, size);
    atomic_thread_fence(memory_order_release);
    *(volatile __u64 *)&ring->page->data_head = head + size;
    return true;
}

/* What SIDEBAND_SAMPLE_TYPE has each record end with. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
    uint64_t id;
};

static bool put_losses(struct stand_in_ring *ring)
{
    const struct {
        struct perf_event_header header;
        uint64_t id, lost;
        struct trailer trailer;
    } record = {.header = {PERF_RECORD_LOST, 0, sizeof record}, .id = 100, .lost = ring->lost};
    if (!put_record(ring, &record, sizeof record))
        return false;
    ring->lost = 0;
    return true;
}

void stand_in_write_record(struct stand_in_event *event, const void *record, size_t size)
{
    struct stand_in_ring *ring = event->ring;
    if ((ring->lost && !put_losses(ring)) || !put_record(ring, record, size))
        ring->lost++;
    deadline(event);
}

static void write_aux_record(struct stand_in *kernel, struct stand_in_event *event, uint64_t offset,
                             uint64_t size, uint64_t flags)
{
    const struct {
        struct perf_event_header header;
        uint64_t offset, size, flags;
        struct trailer trailer;
    } record = {
        .header = {PERF_RECORD_AUX, 0, sizeof record},
        .offset = offset,
        .size = size,
        .flags = flags,
        .trailer = {(uint32_t)event->pid, (uint32_t)event->pid, kernel->time++,
                    event->cpu < 0 ? 0 : (uint32_t)event->cpu, 0,
                    100 + (uint64_t)(event - kernel->events)},
    };
    stand_in_write_record(event, &record, sizeof record);
}

/* ---- packets ---- */

static size_t write_kept(struct stand_in *kernel, struct stand_in_event *event,
                         const uint8_t *packets, size_t size)
{
    struct stand_in_ring *ring = event->ring;
    uint64_t tail = *(volatile __u64 *)&ring->page->aux_tail;
    atomic_thread_fence(memory_order_acquire);
    uint64_t room = ring->packets_size - 1 - (ring->written - tail);
    uint64_t taken = size < room ? size : room, start = ring->written;
    copy_round(ring->packets, ring->packets_size, start, packets, taken);
    ring->written += taken;
    atomic_thread_fence(memory_order_release);
    *(volatile __u64 *)&ring->page->aux_head = ring->written;
    if (taken < size)
        event->enabled = false;
    write_aux_record(kernel, event, start, taken, taken < size ? PERF_AUX_FLAG_TRUNCATED : 0);
    return taken;
}

size_t stand_in_write_packets(struct stand_in *kernel, struct stand_in_event *event,
                              const uint8_t *packets, size_t size)
{
    struct stand_in_ring *ring = event->ring;
    if (!ring->overwritten)
        return write_kept(kernel, event, packets, size);
    uint64_t skipped = size > ring->packets_size ? size - ring->packets_size : 0;
    copy_round(ring->packets, ring->packets_size, ring->written + skipped, packets + skipped,
               size - skipped);
    ring->written += size;
    ring->page->aux_head = ring->written % ring->packets_size;
    write_aux_record(kernel, event, ring->page->aux_head, ring->packets_size,
                     PERF_AUX_FLAG_OVERWRITE);
    return size;
}
