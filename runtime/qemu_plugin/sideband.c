#include "runtime/qemu_plugin/sideband.h"

#include "engine/packets/private_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool sideband_open(struct sideband *log, const char *control_path)
{
    int descriptor = private_file_open(control_path, O_RDWR);
    if (descriptor < 0)
        return false;
    /* More than the file has: only what log_allocated covers is ever touched. */
    struct qemu_control *control = mmap(NULL, (size_t)QEMU_LOG_OFFSET + QEMU_LOG_LIMIT,
                                        PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    off_t size = lseek(descriptor, 0, SEEK_END);
    close(descriptor);
    if (control == MAP_FAILED)
        return false;
    if (size < QEMU_LOG_OFFSET || control->magic != QEMU_CONTROL_MAGIC ||
        control->version != QEMU_VERSION) {
        munmap(control, (size_t)QEMU_LOG_OFFSET + QEMU_LOG_LIMIT);
        return false;
    }
    *log = (struct sideband){.control = control, .control_path = control_path};
    return true;
}

static bool allocate_up_to(struct sideband *log, uint64_t end)
{
    struct qemu_control *control = log->control;
    uint64_t allocated = atomic_load(&control->log_allocated);
    if (end <= allocated)
        return true;
    uint64_t wanted = (end + QEMU_LOG_STEP - 1) / QEMU_LOG_STEP * QEMU_LOG_STEP;
    int descriptor = private_file_open(log->control_path, O_RDWR);
    if (descriptor < 0)
        return false;
    bool ok = private_file_allocate(descriptor, QEMU_LOG_OFFSET + wanted);
    close(descriptor);
    while (ok && allocated < wanted &&
           !atomic_compare_exchange_weak(&control->log_allocated, &allocated, wanted))
        ;
    return ok;
}

/* Space for a record of `size` bytes after its struct logged_record, NULL: the log is full. */
static struct logged_record *reserve(struct sideband *log, size_t size)
{
    struct qemu_control *control = log->control;
    uint32_t whole = (uint32_t)((sizeof(struct logged_record) + size + 15) / 16 * 16);
    uint64_t at = atomic_fetch_add(&control->log_tail, whole);
    if (at + whole > QEMU_LOG_LIMIT || !allocate_up_to(log, at + whole)) {
        atomic_fetch_add(&control->lost_records, 1);
        return NULL;
    }
    struct logged_record *record = (void *)((char *)control + QEMU_LOG_OFFSET + at);
    record->size = whole;
    return record;
}

/* `fixed` are the bytes between struct logged_record and the text. */
static void append(struct sideband *log, const struct sideband_subject *subject,
                   enum logged_kind kind, const void *fixed, size_t fixed_size, const char *text)
{
    if (sideband_frozen(log))
        return;
    size_t text_size = text ? strlen(text) + 1 : 0;
    struct logged_record *record = reserve(log, fixed_size + text_size);
    if (!record)
        return;
    record->kind = (uint16_t)kind;
    record->pid = (uint32_t)subject->pid;
    record->tid = (uint32_t)subject->tid;
    record->serial = subject->serial;
    record->time = subject->time;
    char *end = mempcpy(record + 1, fixed, fixed_size);
    if (text)
        memcpy(end, text, text_size);
    record->magic = LOGGED_MAGIC;
    atomic_store_explicit(&record->ready, 1, memory_order_release);
}

void sideband_mapping(struct sideband *log, const struct sideband_subject *subject,
                      const struct logged_mapping *mapping, const char *path)
{
    append(log, subject, LOGGED_MAPPING, &mapping->record + 1,
           offsetof(struct logged_mapping, path) - sizeof mapping->record, path);
}

void sideband_name(struct sideband *log, const struct sideband_subject *subject, bool exec,
                   const char *name)
{
    uint32_t fixed = exec;
    append(log, subject, LOGGED_NAME, &fixed, sizeof fixed, name);
}

void sideband_fork(struct sideband *log, const struct sideband_subject *subject, pid_t parent_pid,
                   pid_t parent_tid)
{
    uint32_t fixed[] = {(uint32_t)parent_pid, (uint32_t)parent_tid};
    append(log, subject, LOGGED_FORK, fixed, sizeof fixed, NULL);
}

void sideband_exit(struct sideband *log, const struct sideband_subject *subject)
{
    uint32_t fixed[] = {0, 0};
    append(log, subject, LOGGED_EXIT, fixed, sizeof fixed, NULL);
}

void sideband_reaped(struct sideband *log, const struct sideband_subject *subject)
{
    uint32_t fixed[] = {0, 0};
    append(log, subject, LOGGED_REAPED, fixed, sizeof fixed, NULL);
}

void sideband_death(struct sideband *log, const struct sideband_subject *subject,
                    const struct logged_death *death)
{
    append(log, subject, LOGGED_DEATH, &death->record + 1, sizeof *death - sizeof death->record,
           NULL);
}

void sideband_hit(struct sideband *log, const struct sideband_subject *subject,
                  const struct logged_hit *hit)
{
    append(log, subject, LOGGED_HIT, &hit->record + 1, sizeof *hit - sizeof hit->record, NULL);
}

void sideband_kept(struct sideband *log, const struct sideband_subject *subject,
                   const struct logged_kept *kept)
{
    append(log, subject, LOGGED_KEPT, &kept->record + 1, sizeof *kept - sizeof kept->record, NULL);
}

void sideband_untraced(struct sideband *log, const struct sideband_subject *subject,
                       enum untraced_reason reason, const char *name)
{
    uint32_t fixed = reason;
    append(log, subject, LOGGED_UNTRACED, &fixed, sizeof fixed, name);
}
