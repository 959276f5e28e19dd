#include "runtime/translator/syscalls/maps.h"

#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/layout.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>

/* --- Parsing --- */

struct cursor {
    const char *at, *end;
    bool failed;
};

static uint64_t take_number(struct cursor *cursor, unsigned base)
{
    uint64_t value = 0;
    const char *first = cursor->at;
    for (; cursor->at < cursor->end; cursor->at++) {
        char c = *cursor->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : base;
        if (digit >= base)
            break;
        value = value * base + digit;
    }
    cursor->failed |= cursor->at == first;
    return value;
}

static void skip_character(struct cursor *cursor, char wanted)
{
    if (cursor->at < cursor->end && *cursor->at == wanted)
        cursor->at++;
    else
        cursor->failed = true;
}

static void take_rights(struct cursor *cursor, struct tr_map_line *line)
{
    if (cursor->end - cursor->at < 4) {
        cursor->failed = true;
        return;
    }
    const char *rights = cursor->at;
    line->protection =
        (uint8_t)((rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                  (rights[2] == 'x' ? PROT_EXEC : 0));
    line->shared = rights[3] == 's';
    cursor->at += 4;
}

const char *tr_maps_line(const char *text, const char *end, struct tr_map_line *line)
{
    const char *line_end = text;
    while (line_end < end && *line_end != '\n')
        line_end++;
    if (line_end == end)
        return NULL;
    struct cursor cursor = {text, line_end, false};
    line->start = take_number(&cursor, 16);
    skip_character(&cursor, '-');
    line->end = take_number(&cursor, 16);
    skip_character(&cursor, ' ');
    take_rights(&cursor, line);
    skip_character(&cursor, ' ');
    line->offset = take_number(&cursor, 16);
    skip_character(&cursor, ' ');
    line->major = (uint32_t)take_number(&cursor, 16);
    skip_character(&cursor, ':');
    line->minor = (uint32_t)take_number(&cursor, 16);
    skip_character(&cursor, ' ');
    line->inode = take_number(&cursor, 10);
    while (cursor.at < line_end && *cursor.at == ' ')
        cursor.at++;
    line->path = cursor.at;
    line->path_size = (size_t)(line_end - cursor.at);
    return cursor.failed ? NULL : line_end + 1;
}

void tr_maps_path(const struct tr_map_line *line, char *path, size_t size)
{
    static const char line_feed[4] = {'\\', '0', '1', '2'};
    const char *from = line->path, *end = from + line->path_size;
    char *to = path, *last = path + size - 1;
    while (from < end && to < last) {
        bool escaped = end - from >= 4 && memcmp(from, line_feed, sizeof line_feed) == 0;
        *to++ = escaped ? '\n' : *from;
        from += escaped ? 4 : 1;
    }
    *to = 0;
}

/* --- Reading --- */

/* The memory of the calling thread's address space, whether or not its group's leader has ended. */
static int64_t open_own(const char *thread_path, const char *process_path)
{
    int64_t descriptor = tr_syscall6(__NR_openat, (uint64_t)AT_FDCWD, (uint64_t)thread_path,
                                     O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (descriptor == -ENOENT)
        descriptor = tr_syscall6(__NR_openat, (uint64_t)AT_FDCWD, (uint64_t)process_path,
                                 O_RDONLY | O_CLOEXEC, 0, 0, 0);
    return descriptor;
}

static bool has_space(struct tr_maps_text *maps)
{
    enum { LEAST = 1 << 16, STEP = TR_PAGE };
    if (maps->capacity - maps->size >= STEP)
        return true;
    size_t capacity = maps->capacity ? 2 * maps->capacity : LEAST;
    char *text = tr_own_map(capacity);
    if (!text)
        return false;
    memcpy(text, maps->text, maps->size);
    maps->text = text;
    maps->capacity = capacity;
    return true;
}

int64_t tr_maps_open(void)
{
    return open_own("/proc/thread-self/maps", "/proc/self/maps");
}

bool tr_maps_read(struct tr_maps_text *maps)
{
    int64_t descriptor = tr_maps_open();
    if (descriptor < 0)
        return false;
    maps->size = 0;
    int64_t got = -ENOMEM;
    while (has_space(maps)) {
        got = tr_syscall(__NR_read, (uint64_t)descriptor, (uint64_t)maps->text + maps->size,
                         maps->capacity - maps->size);
        if (got == 0 || (got < 0 && got != -EINTR))
            break;
        maps->size += got > 0 ? (size_t)got : 0;
    }
    tr_syscall(__NR_close, (uint64_t)descriptor, 0, 0);
    return got == 0 && maps->size > 0;
}

/* Bits of the entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
static const uint64_t page_present = UINT64_C(1) << 63, page_swapped = UINT64_C(1) << 62,
                      page_of_file = UINT64_C(1) << 61;

static int64_t open_page_map(void)
{
    return open_own("/proc/thread-self/pagemap", "/proc/self/pagemap");
}

bool tr_maps_is_present(uint64_t address)
{
    uint64_t flags = 0;
    int64_t descriptor = open_page_map();
    if (descriptor < 0)
        return true;
    int64_t got = tr_syscall6(__NR_pread64, (uint64_t)descriptor, (uint64_t)&flags, sizeof flags,
                              address / TR_PAGE * sizeof flags, 0, 0);
    tr_syscall(__NR_close, (uint64_t)descriptor, 0, 0);
    return got != (int64_t)sizeof flags || (flags & (page_present | page_swapped));
}

uint64_t tr_maps_written(uint64_t start, uint64_t end)
{
    enum { COUNT = 512 };
    uint64_t flags[COUNT], page = start / TR_PAGE, last = (end - 1) / TR_PAGE, written = end;
    int64_t descriptor = open_page_map();
    if (descriptor < 0)
        return end;
    while (page <= last && written == end) {
        uint64_t wanted = last - page + 1 < COUNT ? last - page + 1 : COUNT;
        int64_t got = tr_syscall6(__NR_pread64, (uint64_t)descriptor, (uint64_t)flags,
                                  wanted * sizeof *flags, page * sizeof *flags, 0, 0);
        if (got < (int64_t)sizeof *flags)
            break;
        uint64_t count = (uint64_t)got / sizeof *flags;
        for (uint64_t i = 0; i < count && written == end; i++)
            if ((flags[i] & page_swapped) ||
                ((flags[i] & page_present) && !(flags[i] & page_of_file)))
                written = (page + i) * TR_PAGE;
        page += count;
    }
    tr_syscall(__NR_close, (uint64_t)descriptor, 0, 0);
    return written;
}

bool tr_maps_equals_file(uint64_t address, const char *path, uint64_t offset)
{
    uint8_t bytes[TR_PAGE];
    struct stat status;
    int64_t descriptor = tr_syscall6(__NR_openat, (uint64_t)AT_FDCWD, (uint64_t)path,
                                     O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
    if (descriptor < 0)
        return false;
    int64_t got = -EINVAL;
    if (tr_syscall(__NR_fstat, (uint64_t)descriptor, (uint64_t)&status, 0) == 0 &&
        (status.st_mode & S_IFMT) == S_IFREG)
        got = tr_syscall6(__NR_pread64, (uint64_t)descriptor, (uint64_t)bytes, sizeof bytes, offset,
                          0, 0);
    tr_syscall(__NR_close, (uint64_t)descriptor, 0, 0);
    uint8_t here[TR_PAGE];
    if (got <= 0 || !tr_read_safely(here, address, sizeof here))
        return false;
    tr_breakpoints_hide(here, address, sizeof here);
    return memcmp(bytes, here, (size_t)got) == 0;
}
