#include "engine/packets/off_cpu_log.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <unistd.h>

static FILE *make_file(const char *folder)
{
    char *path = memory_format("%s/off_cpu", folder);
    int descriptor = file_create_private(path, NULL);
    unlink(path);
    free(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (!file && descriptor >= 0)
        close(descriptor);
    return file;
}

void off_cpu_log_begin(struct off_cpu_log *log, const char *folder)
{
    *log = (struct off_cpu_log){
        .older = array_of(sizeof(struct off_cpu_period)),
        .newer = array_of(sizeof(struct off_cpu_period)),
        .file = folder ? make_file(folder) : NULL,
    };
}

void off_cpu_log_free(struct off_cpu_log *log)
{
    array_free(&log->older);
    array_free(&log->newer);
    if (log->file)
        fclose(log->file);
}

/* Makes room for as many again. */
static void put_away_older(struct off_cpu_log *log)
{
    size_t written = 0;
    if (log->file)
        written =
            fwrite(log->older.elements, sizeof(struct off_cpu_period), log->older.count, log->file);
    log->dropped += log->older.count - written;
    log->older.count = 0;
}

void off_cpu_log_add(struct off_cpu_log *log, const struct off_cpu_period *period)
{
    if (log->newer.count == OFF_CPU_LOG_MOST / 2) {
        put_away_older(log);
        struct array empty = log->older;
        log->older = log->newer;
        log->newer = empty;
    }
    array_add_all(&log->newer, period, 1);
}

typedef bool handler(void *context, const struct off_cpu_period *period);

static bool walk_file(struct off_cpu_log *log, handler *handle, void *context)
{
    struct off_cpu_period period;
    if (!log->file)
        return true;
    rewind(log->file);
    while (fread(&period, sizeof period, 1, log->file) == 1)
        if (!handle(context, &period))
            return false;
    return true;
}

static bool walk_array(const struct array *periods, handler *handle, void *context)
{
    for (size_t i = 0; i < periods->count; i++)
        if (!handle(context, array_at(periods, i)))
            return false;
    return true;
}

bool off_cpu_log_walk(struct off_cpu_log *log, handler *handle, void *context)
{
    return walk_file(log, handle, context) && walk_array(&log->older, handle, context) &&
           walk_array(&log->newer, handle, context);
}
