#include "recording/perf_data/partial_file.h"

#include "base/memory.h"
#include "recording/perf_data/perf_file_format.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_at(int descriptor, uint64_t offset, void *bytes, size_t size)
{
    return pread(descriptor, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* The record's length, with what follows it; 0: no whole record begins there. */
static uint64_t length_of_record(int descriptor, uint64_t offset, uint64_t file_size)
{
    struct perf_event_header header;
    struct auxtrace_record auxtrace;
    if (!read_at(descriptor, offset, &header, sizeof header) || header.size < sizeof header)
        return 0;
    uint64_t length = header.size, left = file_size - offset;
    if (header.type == USER_RECORD_AUXTRACE) {
        if (length < sizeof header + sizeof auxtrace ||
            !read_at(descriptor, offset + sizeof header, &auxtrace, sizeof auxtrace) ||
            auxtrace.size > left)
            return 0;
        length += auxtrace.size;
    }
    return length <= left ? length : 0;
}

static bool read_header(int descriptor, struct file_header *header)
{
    return read_at(descriptor, 0, header, sizeof *header) &&
           memcmp(header->magic, PERF_FILE_MAGIC, sizeof header->magic) == 0 &&
           header->size == sizeof *header && header->data.offset >= sizeof *header;
}

uint64_t partial_file_end(int descriptor)
{
    struct file_header header;
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !read_header(descriptor, &header) ||
        header.data.offset > (uint64_t)status.st_size)
        return 0;
    uint64_t end = header.data.offset, size = (uint64_t)status.st_size;
    for (uint64_t length; (length = length_of_record(descriptor, end, size)) > 0;)
        end += length;
    return end > header.data.offset ? end : 0;
}

bool partial_file_complete(int descriptor)
{
    struct file_header header;
    uint64_t end = partial_file_end(descriptor);
    if (end == 0 || !read_header(descriptor, &header))
        return false;
    header.data.size = end - header.data.offset;
    memset(header.features, 0, sizeof header.features);
    return ftruncate(descriptor, (off_t)end) == 0 &&
           pwrite(descriptor, &header, sizeof header, 0) == (ssize_t)sizeof header;
}

static bool salvage_file(const char *partial, const char *whole, int descriptor,
                         struct error *error)
{
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s is being written just now: the recording has not ended yet.", partial);
    if (!partial_file_complete(descriptor))
        return error_set(error, ERROR_FORMAT,
                         "nothing was recorded: %s, which a killed magic-trace left, holds no "
                         "record. Record again.",
                         partial);
    return rename(partial, whole) == 0 ||
           error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", partial, whole);
}

bool partial_file_salvage(const char *directory, struct error *error)
{
    char *partial = memory_format("%s/perf.data.partial", directory);
    char *whole = memory_format("%s/perf.data", directory);
    int descriptor =
        access(whole, F_OK) == 0 ? -1 : open(partial, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ok = descriptor < 0 || salvage_file(partial, whole, descriptor, error);
    if (descriptor >= 0)
        close(descriptor);
    free(partial);
    free(whole);
    return ok;
}
