/* Fuzz target: any bytes as a perf.data whose writing was cut off. What is left of it is completed or refused; what was completed
 * is whole. */
#include "recording/perf_data/partial_file.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char *new_folder(void)
{
    char *folder = memory_copy_string("/tmp/magic-trace-salvage-fuzz.XXXXXX");
    if (!mkdtemp(folder))
        abort();
    return folder;
}

static void check_completed(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &status) != 0 || partial_file_end(file) != (uint64_t)status.st_size)
        abort();
    close(file);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char *folder;
    if (!folder)
        folder = new_folder();
    char *path = memory_format("%s/perf.data", folder);
    char *partial = memory_format("%s.partial", path);
    int file = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0)
        abort();
    if (partial_file_salvage(folder, NULL))
        check_completed(path);
    unlink(partial);
    free(partial);
    free(path);
    return 0;
}
