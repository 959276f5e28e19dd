// SPDX-License-Identifier: GPL-2.0
/* A stand-in for the kernel's Intel PT driver, for machines without the hardware.
 *
 * Registers a perf unit named intel_pt with the format files, capabilities and AUX buffers of the
 * real one (arch/x86/events/intel/pt.c), which never registers where the processor lacks Intel PT.
 * What a processor would have written to the buffer is written by whoever writes packets to the
 * file `inject`: they go to the event that is active on the writer's processor, which is the
 * writer's own if the event belongs to a task. Programs of tests/kernel/programs do so about
 * themselves. Without such an event the packets vanish, as they do in a processor that does not
 * trace.
 *
 * Files in /sys/kernel/debug/intel_pt_stand_in, all numbers, 0 at first:
 *   inject        packets, up to 1 MiB at once. A TSC packet 19 EE EE EE EE EE EE EE gets the time
 * at which it is copied; it may not be cut in two by a buffer of the writer. fail_errno event_init
 * fails with this error ... fail_after    ... after so many more events have been let through
 * (counts down) truncate      so many of the next writes are lost and leave the flag TRUNCATED
 * (counts down) overflow      so many of the next writes leave an OVF packet instead (counts down)
 *   skip          bytes of PAD packets in front of what is written to each new AUX buffer: the ring
 * wraps elsewhere psb_at_start  1: whenever an event starts, PSB, TSC, CBR, PSBEND are written, as
 * by a processor events, starts, stops, injected, lost, snapshots   what happened so far: events
 * that exist, calls, bytes, bytes, calls of snapshot_aux
 *
 * Module parameters set what the capabilities say, to play older processors.
 *
 * Does not imitate: what packets a configuration asks for, filters, privilege levels, the
 * granularity of ToPA, packets that arrive while other code runs.
 */
#include <asm/tsc.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

enum {
    MOST_BYTES_PER_WRITE = 1 << 20,
    ADDRESS_RANGES = 2,
    TSC_PACKET = 0x19,
    TSC_PACKET_SIZE = 8,
    TSC_MARK = 0xee, /* each byte of a time that is to be filled in */
};

/* Bits of attr.config that the format files below name, and 0: the unit as a whole. */
#define CONFIG_BITS                                                                                \
    (BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(4) | BIT_ULL(5) | GENMASK_ULL(17, 9) |                      \
     GENMASK_ULL(22, 19) | GENMASK_ULL(27, 24) | BIT_ULL(31) | BIT_ULL(55))

/* An AUX buffer, made when it is mapped. */
struct aux_buffer {
    void **pages;
    unsigned long size; /* bytes */
    bool overwrite;
    bool skipped;          /* the bytes that `skip` asks for are written */
    unsigned long at;      /* where the next byte goes; below size */
    unsigned long written; /* since the output began */
};

/* What is traced on a processor. Touched on it alone, with interrupts off. */
struct processor {
    struct perf_output_handle handle;
};

static DEFINE_PER_CPU(struct processor, processors);

static u32 fail_errno, fail_after, truncate_writes, overflow_writes, skip_bytes, psb_at_start;
static u32 events, starts, stops, snapshots;
static u64 injected, lost;
static DEFINE_SPINLOCK(knobs);

static unsigned int psb_cyc = 1, mtc = 1, ptwrite = 1, power_event_trace = 1, event_trace,
                    tnt_disable, num_address_ranges = ADDRESS_RANGES;
module_param(psb_cyc, uint, 0444);
module_param(mtc, uint, 0444);
module_param(ptwrite, uint, 0444);
module_param(power_event_trace, uint, 0444);
module_param(event_trace, uint, 0444);
module_param(tnt_disable, uint, 0444);
module_param(num_address_ranges, uint, 0444);

static long (*copy_aux)(struct perf_output_handle *from, struct perf_output_handle *to,
                        unsigned long begin, unsigned long end);

/* ---- sysfs ---- */

PMU_FORMAT_ATTR(pt, "config:0");
PMU_FORMAT_ATTR(cyc, "config:1");
PMU_FORMAT_ATTR(pwr_evt, "config:4");
PMU_FORMAT_ATTR(fup_on_ptw, "config:5");
PMU_FORMAT_ATTR(mtc, "config:9");
PMU_FORMAT_ATTR(tsc, "config:10");
PMU_FORMAT_ATTR(noretcomp, "config:11");
PMU_FORMAT_ATTR(ptw, "config:12");
PMU_FORMAT_ATTR(branch, "config:13");
PMU_FORMAT_ATTR(mtc_period, "config:14-17");
PMU_FORMAT_ATTR(cyc_thresh, "config:19-22");
PMU_FORMAT_ATTR(psb_period, "config:24-27");
PMU_FORMAT_ATTR(event, "config:31");
PMU_FORMAT_ATTR(notnt, "config:55");

static struct attribute *format_attributes[] = {
    &format_attr_pt.attr,         &format_attr_cyc.attr,        &format_attr_pwr_evt.attr,
    &format_attr_fup_on_ptw.attr, &format_attr_mtc.attr,        &format_attr_tsc.attr,
    &format_attr_noretcomp.attr,  &format_attr_ptw.attr,        &format_attr_branch.attr,
    &format_attr_mtc_period.attr, &format_attr_cyc_thresh.attr, &format_attr_psb_period.attr,
    &format_attr_event.attr,      &format_attr_notnt.attr,      NULL,
};

static const struct attribute_group format_group = {.name = "format", .attrs = format_attributes};

/* As of an Ice Lake server, where a module parameter does not say otherwise. Hexadecimal, as the
 * real driver's. */
#define CAPABILITY(name, value)                                                                    \
    static ssize_t capability_##name##_show(struct device *device,                                 \
                                            struct device_attribute *attribute, char *page)        \
    {                                                                                              \
        return sysfs_emit(page, "%x\n", value);                                                    \
    }                                                                                              \
    static struct device_attribute capability_##name =                                             \
        __ATTR(name, 0444, capability_##name##_show, NULL)

CAPABILITY(cr3_filtering, 1);
CAPABILITY(psb_cyc, psb_cyc);
CAPABILITY(ip_filtering, num_address_ranges > 0);
CAPABILITY(mtc, mtc);
CAPABILITY(ptwrite, ptwrite);
CAPABILITY(power_event_trace, power_event_trace);
CAPABILITY(event_trace, event_trace);
CAPABILITY(tnt_disable, tnt_disable);
CAPABILITY(topa_output, 1);
CAPABILITY(topa_multiple_entries, 1);
CAPABILITY(single_range_output, 1);
CAPABILITY(output_subsys, 0);
CAPABILITY(payloads_lip, 0);
CAPABILITY(num_address_ranges, num_address_ranges);
CAPABILITY(mtc_periods, mtc ? 0x249 : 0);
CAPABILITY(cycle_thresholds, psb_cyc ? 0x1fff : 0);
CAPABILITY(psb_periods, psb_cyc ? 0x3f : 0);

static struct attribute *capability_attributes[] = {
    &capability_cr3_filtering.attr,
    &capability_psb_cyc.attr,
    &capability_ip_filtering.attr,
    &capability_mtc.attr,
    &capability_ptwrite.attr,
    &capability_power_event_trace.attr,
    &capability_event_trace.attr,
    &capability_tnt_disable.attr,
    &capability_topa_output.attr,
    &capability_topa_multiple_entries.attr,
    &capability_single_range_output.attr,
    &capability_output_subsys.attr,
    &capability_payloads_lip.attr,
    &capability_num_address_ranges.attr,
    &capability_mtc_periods.attr,
    &capability_cycle_thresholds.attr,
    &capability_psb_periods.attr,
    NULL,
};

static const struct attribute_group capability_group = {.name = "caps",
                                                        .attrs = capability_attributes};

/* The bus clock of all processors with Intel PT is 100 MHz. */
static unsigned int bus_ratio(void)
{
    return tsc_khz / 100000;
}

static ssize_t max_nonturbo_ratio_show(struct device *device, struct device_attribute *attribute,
                                       char *page)
{
    return sysfs_emit(page, "%u\n", bus_ratio());
}

/* What src/packet/encoder.h takes for its MTC packets. */
static ssize_t tsc_art_ratio_show(struct device *device, struct device_attribute *attribute,
                                  char *page)
{
    return sysfs_emit(page, "64:1\n");
}

static DEVICE_ATTR_RO(max_nonturbo_ratio);
static DEVICE_ATTR_RO(tsc_art_ratio);

static struct attribute *timing_attributes[] = {&dev_attr_max_nonturbo_ratio.attr,
                                                &dev_attr_tsc_art_ratio.attr, NULL};
static const struct attribute_group timing_group = {.attrs = timing_attributes};

static const struct attribute_group *attribute_groups[] = {&capability_group, &format_group,
                                                           &timing_group, NULL};

/* ---- knobs that count down ---- */

static bool take_one(u32 *knob)
{
    unsigned long flags;
    bool any;

    spin_lock_irqsave(&knobs, flags);
    any = *knob > 0;
    if (any)
        --*knob;
    spin_unlock_irqrestore(&knobs, flags);
    return any;
}

static void count(u32 *counter, int change)
{
    unsigned long flags;

    spin_lock_irqsave(&knobs, flags);
    *counter += change;
    spin_unlock_irqrestore(&knobs, flags);
}

static void count_bytes(u64 *counter, size_t bytes)
{
    unsigned long flags;

    spin_lock_irqsave(&knobs, flags);
    *counter += bytes;
    spin_unlock_irqrestore(&knobs, flags);
}

/* ---- the buffer ---- */

static void *setup_aux(struct perf_event *event, void **pages, int page_count, bool overwrite)
{
    struct aux_buffer *buffer;

    if (!page_count)
        return NULL;
    buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
    if (!buffer)
        return NULL;
    buffer->pages = pages;
    buffer->size = (unsigned long)page_count << PAGE_SHIFT;
    buffer->overwrite = overwrite;
    return buffer;
}

static void free_aux(void *buffer)
{
    kfree(buffer);
}

/* How many bytes may be written before the reader is in the way. */
static unsigned long room(const struct processor *processor, const struct aux_buffer *buffer)
{
    return buffer->overwrite ? ULONG_MAX : processor->handle.size - buffer->written;
}

/* NULL: all bytes are PAD packets. There must be room for them. */
static void copy_in(struct aux_buffer *buffer, const u8 *bytes, unsigned long length)
{
    while (length > 0) {
        unsigned long offset = offset_in_page(buffer->at);
        unsigned long part = min(length, PAGE_SIZE - offset);
        u8 *to = (u8 *)buffer->pages[buffer->at >> PAGE_SHIFT] + offset;

        if (bytes) {
            memcpy(to, bytes, part);
            bytes += part;
        } else {
            memset(to, 0, part);
        }
        buffer->at = (buffer->at + part) % buffer->size;
        buffer->written += part;
        length -= part;
    }
}

static struct aux_buffer *begin_output(struct processor *processor, struct perf_event *event)
{
    struct aux_buffer *buffer = perf_aux_output_begin(&processor->handle, event);

    if (!buffer)
        return NULL;
    buffer->at = processor->handle.head % buffer->size;
    buffer->written = 0;
    if (!buffer->skipped) {
        buffer->skipped = true;
        copy_in(buffer, NULL, min_t(unsigned long, READ_ONCE(skip_bytes), room(processor, buffer)));
    }
    return buffer;
}

/* In a ring that is overwritten, the real driver says that all of it is new, and where the next
 * byte would go. */
static void end_output(struct processor *processor, struct aux_buffer *buffer)
{
    if (buffer->overwrite)
        processor->handle.head = buffer->at;
    perf_aux_output_end(&processor->handle, buffer->overwrite ? buffer->size : buffer->written);
}

/* What the interrupt handler does when a region is full. */
static void hand_over(struct processor *processor, struct aux_buffer *buffer)
{
    struct perf_event *event = processor->handle.event;

    end_output(processor, buffer);
    if (!begin_output(processor, event))
        event->hw.state = PERF_HES_STOPPED;
}

static void hand_over_truncated(struct processor *processor, struct aux_buffer *buffer)
{
    perf_aux_output_flag(&processor->handle, PERF_AUX_FLAG_TRUNCATED);
    hand_over(processor, buffer);
}

/* Writes what fits; the rest is lost, and the kernel stops the event. */
static void put(struct processor *processor, const u8 *bytes, size_t length)
{
    struct aux_buffer *buffer = perf_get_aux(&processor->handle);
    unsigned long fits;

    if (!buffer)
        return;
    fits = min_t(unsigned long, length, room(processor, buffer));
    copy_in(buffer, bytes, fits);
    if (fits < length) {
        count_bytes(&lost, length - fits);
        hand_over_truncated(processor, buffer);
    } else if (!buffer->overwrite &&
               processor->handle.head + buffer->written >= processor->handle.wakeup) {
        hand_over(processor, buffer);
    }
}

/* ---- packets ---- */

static void put_time(u8 *packet)
{
    u64 now = rdtsc_ordered();

    memcpy(packet + 1, &now, TSC_PACKET_SIZE - 1);
}

static void put_psb(struct processor *processor)
{
    u8 packets[] = {0x02,     0x82,     0x02,     0x82,     0x02,       0x82,
                    0x02,     0x82,     0x02,     0x82,     0x02,       0x82,
                    0x02,     0x82,     0x02,     0x82,     TSC_PACKET, TSC_MARK,
                    TSC_MARK, TSC_MARK, TSC_MARK, TSC_MARK, TSC_MARK,   TSC_MARK,
                    0x02,     0x03,     0,        0,        0x02,       0x23};

    put_time(packets + 16);
    packets[26] = bus_ratio();
    put(processor, packets, sizeof(packets));
}

static void put_overflow(struct processor *processor)
{
    static const u8 packet[] = {0x02, 0xf3};

    put(processor, packet, sizeof(packet));
}

static bool is_marked_time(const u8 *packet)
{
    static const u8 marked[TSC_PACKET_SIZE] = {TSC_PACKET, TSC_MARK, TSC_MARK, TSC_MARK,
                                               TSC_MARK,   TSC_MARK, TSC_MARK, TSC_MARK};

    return memcmp(packet, marked, sizeof(marked)) == 0;
}

static void put_times(u8 *bytes, size_t length)
{
    size_t at;

    for (at = 0; at + TSC_PACKET_SIZE <= length; at++)
        if (bytes[at] == TSC_PACKET && is_marked_time(bytes + at))
            put_time(bytes + at);
}

/* ---- the unit ---- */

static struct pmu unit;

static bool is_paused(const struct perf_event *event)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
    return READ_ONCE(event->hw.aux_paused);
#else
    return false;
#endif
}

static void event_destroyed(struct perf_event *event)
{
    count(&events, -1);
}

static int event_init(struct perf_event *event)
{
    if (event->attr.type != unit.type)
        return -ENOENT;
    if (event->attr.config & ~CONFIG_BITS)
        return -EINVAL;
    if (READ_ONCE(fail_errno) && !take_one(&fail_after))
        return -(int)READ_ONCE(fail_errno);
    count(&events, 1);
    event->destroy = event_destroyed;
    return 0;
}

static void event_start(struct perf_event *event, int mode)
{
    struct processor *processor = this_cpu_ptr(&processors);

#ifdef PERF_EF_RESUME
    if (mode & PERF_EF_RESUME)
        return;
#endif
    count(&starts, 1);
    if (!begin_output(processor, event)) {
        event->hw.state = PERF_HES_STOPPED;
        return;
    }
    event->attach_state |= PERF_ATTACH_ITRACE; /* perf_event_itrace_started is not exported */
    event->hw.state = 0;
    if (READ_ONCE(psb_at_start) && !is_paused(event))
        put_psb(processor);
}

static void event_stop(struct perf_event *event, int mode)
{
    struct processor *processor = this_cpu_ptr(&processors);
    struct aux_buffer *buffer;

#ifdef PERF_EF_PAUSE
    if (mode & PERF_EF_PAUSE)
        return;
#endif
    if (event->hw.state == PERF_HES_STOPPED)
        return;
    count(&stops, 1);
    event->hw.state = PERF_HES_STOPPED;
    if (!(mode & PERF_EF_UPDATE))
        return;
    buffer = perf_get_aux(&processor->handle);
    if (buffer)
        end_output(processor, buffer);
}

static int event_add(struct perf_event *event, int mode)
{
    struct processor *processor = this_cpu_ptr(&processors);

    if (processor->handle.event)
        return -EBUSY;
    event->hw.state = PERF_HES_STOPPED;
    if (mode & PERF_EF_START) {
        event_start(event, 0);
        if (event->hw.state == PERF_HES_STOPPED)
            return -EINVAL;
    }
    return 0;
}

static void event_del(struct perf_event *event, int mode)
{
    event_stop(event, PERF_EF_UPDATE);
}

static void event_read(struct perf_event *event)
{
}

/* For samples of another event that want what came last (perf record --aux-sample). */
static long snapshot_aux(struct perf_event *event, struct perf_output_handle *to,
                         unsigned long length)
{
    struct processor *processor = this_cpu_ptr(&processors);
    struct aux_buffer *buffer = perf_get_aux(&processor->handle);
    unsigned long end, begin;

    count(&snapshots, 1);
    if (!buffer || processor->handle.event != event || !copy_aux)
        return 0;
    end = buffer->at;
    begin = end < length ? buffer->size + end - length : end - length;
    return copy_aux(&processor->handle, to, begin, end);
}

static int address_filters_validate(struct list_head *filters)
{
    struct perf_addr_filter *filter;
    unsigned int ranges = 0;

    list_for_each_entry(filter, filters,
                        entry) if (++ranges > num_address_ranges) return -EOPNOTSUPP;
    return 0;
}

/* Filters are taken, and have no effect. */
static void address_filters_sync(struct perf_event *event)
{
}

static struct pmu unit = {
    .module = THIS_MODULE,
    .task_ctx_nr = perf_sw_context,
    .capabilities = PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_EXCLUSIVE
#ifdef PERF_PMU_CAP_AUX_PAUSE
                    | PERF_PMU_CAP_AUX_PAUSE
#endif
    ,
    .attr_groups = attribute_groups,
    .event_init = event_init,
    .add = event_add,
    .del = event_del,
    .start = event_start,
    .stop = event_stop,
    .read = event_read,
    .snapshot_aux = snapshot_aux,
    .setup_aux = setup_aux,
    .free_aux = free_aux,
    .addr_filters_validate = address_filters_validate,
    .addr_filters_sync = address_filters_sync,
};

/* ---- debugfs ---- */

static bool is_tracing(const struct processor *processor)
{
    const struct perf_event *event = processor->handle.event;

    return event && event->hw.state == 0 && !is_paused(event);
}

/* On this processor, with interrupts off. */
static void inject_here(u8 *bytes, size_t length)
{
    struct processor *processor = this_cpu_ptr(&processors);

    if (!is_tracing(processor))
        return;
    if (take_one(&truncate_writes)) {
        put_times(bytes, length / 2);
        put(processor, bytes, length / 2);
        count_bytes(&lost, length - length / 2);
        /* The kernel stops the event, as when the buffer is full. */
        if (processor->handle.event)
            hand_over_truncated(processor, perf_get_aux(&processor->handle));
    } else if (take_one(&overflow_writes)) {
        count_bytes(&lost, length);
        put_overflow(processor);
    } else {
        put_times(bytes, length);
        count_bytes(&injected, length);
        put(processor, bytes, length);
    }
}

static ssize_t inject_write(struct file *file, const char __user *from, size_t length, loff_t *at)
{
    unsigned long flags;
    u8 *bytes;

    if (length > MOST_BYTES_PER_WRITE)
        return -EMSGSIZE;
    bytes = memdup_user(from, length);
    if (IS_ERR(bytes))
        return PTR_ERR(bytes);
    local_irq_save(flags);
    inject_here(bytes, length);
    local_irq_restore(flags);
    kfree(bytes);
    return length;
}

static const struct file_operations inject_operations = {
    .owner = THIS_MODULE,
    .open = simple_open,
    .write = inject_write,
};

static struct dentry *folder;

static void make_files(void)
{
    folder = debugfs_create_dir("intel_pt_stand_in", NULL);
    debugfs_create_file("inject", 0222, folder, NULL, &inject_operations);
    debugfs_create_u32("fail_errno", 0644, folder, &fail_errno);
    debugfs_create_u32("fail_after", 0644, folder, &fail_after);
    debugfs_create_u32("truncate", 0644, folder, &truncate_writes);
    debugfs_create_u32("overflow", 0644, folder, &overflow_writes);
    debugfs_create_u32("skip", 0644, folder, &skip_bytes);
    debugfs_create_u32("psb_at_start", 0644, folder, &psb_at_start);
    debugfs_create_u32("events", 0444, folder, &events);
    debugfs_create_u32("starts", 0444, folder, &starts);
    debugfs_create_u32("stops", 0444, folder, &stops);
    debugfs_create_u64("injected", 0444, folder, &injected);
    debugfs_create_u64("lost", 0444, folder, &lost);
    debugfs_create_u32("snapshots", 0444, folder, &snapshots);
}

/* perf_output_copy_aux is not exported; a kprobe that is never hit gives its address. */
static void find_copy_aux(void)
{
    struct kprobe probe = {.symbol_name = "perf_output_copy_aux"};

    if (register_kprobe(&probe) < 0)
        return;
    copy_aux = (void *)probe.addr;
    unregister_kprobe(&probe);
}

static int __init load(void)
{
    int error;

    find_copy_aux();
    unit.nr_addr_filters = num_address_ranges;
    error = perf_pmu_register(&unit, "intel_pt", -1);
    if (error)
        return error;
    make_files();
    return 0;
}

static void __exit unload(void)
{
    debugfs_remove_recursive(folder);
    perf_pmu_unregister(&unit);
}

module_init(load);
module_exit(unload);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Plays back Intel PT packets, for tests of magic-trace");
