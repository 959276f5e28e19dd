#include "switch_stand_in.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct switch_stand_in *stand_in_of(const struct kernel *kernel)
{
    return (struct switch_stand_in *)(uintptr_t)kernel;
}

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    struct switch_stand_in *stand_in = stand_in_of(kernel);
    errno = stand_in->refuses;
    if (errno)
        return -1;
    stand_in->events++;
    stand_in->attributes = *attributes;
    return eventfd(0, EFD_CLOEXEC);
}

static int control(const struct kernel *kernel, int event, unsigned long request,
                   unsigned long argument)
{
    return 0;
}

static void *map(const struct kernel *kernel, size_t size, int protection, int event,
                 uint64_t offset)
{
    struct switch_stand_in *stand_in = stand_in_of(kernel);
    errno = stand_in->refuses_rings;
    if (errno)
        return MAP_FAILED;
    assert_true(stand_in->ring_count < STAND_IN_PROCESSORS);
    stand_in->ring_bytes = size;
    void *ring = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stand_in->rings[stand_in->ring_count++] = ring;
    return ring;
}

static int unmap(const struct kernel *kernel, void *address, size_t size)
{
    return munmap(address, size);
}

void switch_stand_in_open(struct switch_stand_in *stand_in)
{
    *stand_in = (struct switch_stand_in){0};
    made_folder_begin(&stand_in->sysfs);
    stand_in->kernel = (struct kernel){.open_event = open_event,
                                       .control = control,
                                       .map = map,
                                       .unmap = unmap,
                                       .sysfs = stand_in->sysfs.path,
                                       .proc = "/proc"};
    made_folder_put(&stand_in->sysfs, "devices/system/cpu/online", "0-1\n");
}

void switch_stand_in_close(struct switch_stand_in *stand_in)
{
    made_folder_end(&stand_in->sysfs);
}

static void write_record(struct switch_stand_in *stand_in, unsigned processor, const void *record,
                         size_t size)
{
    struct perf_event_mmap_page *page = stand_in->rings[processor];
    uint8_t *data = (uint8_t *)page + sysconf(_SC_PAGESIZE);
    memcpy(data + page->data_head, record, size); /* tests do not fill it */
    page->data_head += size;
}

void switch_stand_in_record(struct switch_stand_in *stand_in, unsigned processor,
                            enum switch_kind kind, uint32_t tid, uint64_t time)
{
    struct {
        struct perf_event_header header;
        uint32_t pid, tid;
        uint64_t time;
        uint32_t cpu, reserved;
    } record = {
        .header = {.type = PERF_RECORD_SWITCH, .size = sizeof record},
        .pid = tid,
        .tid = tid,
        .time = time,
        .cpu = processor,
    };
    if (kind != SWITCH_IN)
        record.header.misc |= PERF_RECORD_MISC_SWITCH_OUT;
    if (kind == SWITCH_PREEMPTED)
        record.header.misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    write_record(stand_in, processor, &record, sizeof record);
}

void switch_stand_in_lose(struct switch_stand_in *stand_in, unsigned processor, uint64_t count)
{
    const struct {
        struct perf_event_header header;
        uint64_t id, lost;
    } record = {{.type = PERF_RECORD_LOST, .size = sizeof record}, 0, count};
    write_record(stand_in, processor, &record, sizeof record);
}

void switch_stand_in_cut(struct switch_stand_in *stand_in, unsigned processor)
{
    const struct {
        struct perf_event_header header;
        uint64_t time;
    } record = {{.type = PERF_RECORD_SWITCH, .size = sizeof record}, 1};
    write_record(stand_in, processor, &record, sizeof record);
}
