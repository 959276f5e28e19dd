#include "image/jit_code.h"

#include "base/memory.h"
#include "base/number_order.h"
#include "image/jitdump.h"

#include <stdlib.h>

/* From the dump's time to that of the recording. */
struct time_shift {
    const struct perf_data *data;
    bool ticks;        /* the dump counts ticks */
    bool known;        /* false: unknown; the code is taken to be there from the beginning */
    uint64_t from, to; /* the same moment, in the dump's time and in nanoseconds of the recording */
};

/* The moment is that at which the compiler made the dump and mapped it, so that perf would see it.
 * It does one right after the other: taken a little earlier, no code comes too late. */
static struct time_shift find_shift(const struct jitdump *dump, const struct perf_data *data,
                                    struct nanoseconds mapped)
{
    enum { EARLIER_NS = 100 * 1000 };
    if (dump->times_are_ticks)
        return (struct time_shift){
            .data = data, .ticks = true, .known = data->setup.has_clock, .to = mapped.value};
    return (struct time_shift){
        .data = data,
        .known = mapped.value > EARLIER_NS,
        .from = dump->begun,
        .to = mapped.value > EARLIER_NS ? mapped.value - EARLIER_NS : 0,
    };
}

static struct nanoseconds shift_time(const struct time_shift *shift, uint64_t time)
{
    if (!shift->known)
        return (struct nanoseconds){shift->to};
    if (shift->ticks)
        return clock_to_nanoseconds(&shift->data->setup.clock, (struct ticks){time});
    int64_t since = (int64_t)(time - shift->from);
    return (struct nanoseconds){since < 0 ? shift->to : shift->to + (uint64_t)since};
}

static void add_dump(struct array *codes, const struct perf_data *data, struct file_table *files,
                     const struct sideband_record *record)
{
    const struct image_file *file = file_table_get(files, record);
    struct jitdump dump;
    if (!jitdump_read(&dump, &file->view))
        return;
    const struct time_shift shift = find_shift(&dump, data, record->time);
    for (size_t i = 0; i < dump.codes.count; i++) {
        const struct jitdump_code *code = array_at(&dump.codes, i);
        *(struct jit_code *)array_add(codes) = (struct jit_code){
            .time = shift_time(&shift, code->time),
            .pid = record->pid,
            .start = code->address,
            .end = code->address + code->size,
            .file_offset = code->file_offset,
            .file = file_table_add_code(files, file, code->name),
        };
    }
    jitdump_free(&dump);
}

/* Stable: of code at the same time the later in the file hides the earlier. */
static struct array sort_by_time(struct array *codes)
{
    struct array sorted = array_of(codes->element_size);
    struct numbered *order = memory_allocate(codes->count * sizeof *order);
    for (size_t i = 0; i < codes->count; i++)
        order[i] = (struct numbered){((struct jit_code *)array_at(codes, i))->time.value, i};
    number_order(order, codes->count);
    for (size_t i = 0; i < codes->count; i++)
        array_add_all(&sorted, array_at(codes, order[i].index), 1);
    free(order);
    array_free(codes);
    return sorted;
}

/* A process maps its dump once; a damaged recording may claim otherwise. */
static bool was_seen(const struct array *codes, const struct sideband_record *record)
{
    enum { CODES_MAX = 1 << 24 };
    const struct jit_code *last = codes->count ? array_at(codes, codes->count - 1) : NULL;
    return codes->count > CODES_MAX || (last && last->pid == record->pid);
}

struct array jit_code_find(const struct perf_data *data, struct file_table *files)
{
    struct array codes = array_of(sizeof(struct jit_code));
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind == SIDEBAND_MAPPING && !record->mapping.kernel &&
            jitdump_is_name(record->mapping.path) && !was_seen(&codes, record))
            add_dump(&codes, data, files, record);
    }
    return sort_by_time(&codes);
}
