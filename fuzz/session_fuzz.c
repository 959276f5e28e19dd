/* Fuzz target: any bytes as a recording's session.json. What can be read can be written, and is then
 * read as the same. */
#include "recording/session.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char *new_folder(void)
{
    char *folder = memory_copy_string("/tmp/magic-trace-session-fuzz.XXXXXX");
    if (!mkdtemp(folder))
        abort();
    return folder;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0)
        abort();
}

static bool is_same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static void check_same(const struct session *left, const struct session *right)
{
    if (!is_same_text(left->version, right->version) ||
        !is_same_text(left->engine, right->engine) ||
        !is_same_text(left->program, right->program) ||
        !is_same_text(left->trigger, right->trigger) ||
        left->wall_clock_ns != right->wall_clock_ns || left->exit_status != right->exit_status ||
        left->snapshot_size != right->snapshot_size || left->hit_count != right->hit_count ||
        left->death_count != right->death_count || left->untraced_count != right->untraced_count)
        abort();
    for (size_t i = 0; i < left->hit_count; i++)
        if (left->hits[i].time != right->hits[i].time ||
            left->hits[i].argument != right->hits[i].argument)
            abort();
    for (size_t i = 0; left->command && left->command[i]; i++)
        if (!right->command || !is_same_text(left->command[i], right->command[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char *folder;
    if (!folder)
        folder = new_folder();
    char *path = memory_format("%s/session.json", folder);
    struct session session, again;
    write_file(path, bytes, size);
    if (session_read(&session, folder, NULL)) {
        if (!session_write(&session, folder, NULL) || !session_read(&again, folder, NULL))
            abort();
        check_same(&session, &again);
        session_free(&again);
    }
    session_free(&session);
    unlink(path);
    free(path);
    return 0;
}
