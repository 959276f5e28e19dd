#include "engine/translator/transcode/off_cpu_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t MAGIC = UINT64_C(0x31736863746977); /* "witchs1" */

struct head {
    uint64_t magic;
    uint64_t count;
};

static char *path_in(const char *folder)
{
    return memory_format("%s/switches", folder);
}

static off_t place_of(uint64_t number)
{
    return (off_t)(sizeof(struct head) +
                   number % OFF_CPU_FILE_MOST * sizeof(struct off_cpu_period));
}

struct off_cpu_file off_cpu_file_create(const char *folder)
{
    char *path = path_in(folder);
    struct off_cpu_file file = {.descriptor = file_create_private(path, NULL)};
    free(path);
    off_cpu_file_publish(&file);
    return file;
}

void off_cpu_file_close(struct off_cpu_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

void off_cpu_file_add(struct off_cpu_file *file, const struct off_cpu_period *period)
{
    if (file->descriptor < 0)
        return;
    if (pwrite(file->descriptor, period, sizeof *period, place_of(file->count)) ==
        (ssize_t)sizeof *period)
        file->count++;
    else
        off_cpu_file_close(file);
}

void off_cpu_file_publish(const struct off_cpu_file *file)
{
    const struct head head = {MAGIC, file->count};
    if (file->descriptor >= 0 && pwrite(file->descriptor, &head, sizeof head, 0) < 0)
        return; /* what was published before stays */
}

static bool read_view(const struct file_view *view, struct array *periods, uint64_t *lost)
{
    struct head head;
    if (view->size < sizeof head)
        return false;
    memcpy(&head, view->bytes, sizeof head);
    uint64_t kept = head.count < OFF_CPU_FILE_MOST ? head.count : OFF_CPU_FILE_MOST;
    if (head.magic != MAGIC || view->size < sizeof head + kept * sizeof(struct off_cpu_period))
        return false;
    *lost = head.count - kept;
    for (uint64_t number = *lost; number < head.count; number++)
        memcpy(array_add(periods), view->bytes + place_of(number), sizeof(struct off_cpu_period));
    return true;
}

bool off_cpu_file_read(const char *folder, struct array *periods, uint64_t *lost)
{
    struct file_view view;
    char *path = path_in(folder);
    bool ok = file_map(&view, path, NULL);
    free(path);
    if (!ok)
        return false;
    ok = read_view(&view, periods, lost);
    file_unmap(&view);
    return ok;
}
