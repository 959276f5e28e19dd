#include "base/shrunk_files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE_SIZE = 4200 }; /* of /proc/self/maps: a path of PATH_MAX and what stands before it */

static struct {
    atomic_bool seen;
    struct sigaction before;
} shrunk;

/* All below is called in the handler: async-signal-safe, without malloc and stdio. */

static uint64_t hexadecimal(const char **text)
{
    uint64_t number = 0;
    for (;; ++*text) {
        char digit = **text;
        if (digit >= '0' && digit <= '9')
            number = number << 4 | (uint64_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            number = number << 4 | (uint64_t)(digit - 'a' + 10);
        else
            return number;
    }
}

/* The next line of the file, without its end; false: the last one was read. */
static bool read_line(int maps, char line[LINE_SIZE])
{
    size_t length = 0;
    char byte;
    while (read(maps, &byte, 1) == 1 && byte != '\n')
        if (length < LINE_SIZE - 1)
            line[length++] = byte;
    line[length] = 0;
    return length > 0;
}

/* "START-END PERM OFFSET DEVICE INODE PATH": whether the address lies there. */
static bool holds(const char *line, uintptr_t address, const char **permissions)
{
    uint64_t start = hexadecimal(&line);
    if (*line++ != '-')
        return false;
    uint64_t end = hexadecimal(&line);
    *permissions = *line ? line + 1 : line;
    return address >= start && address < end;
}

/* The file that is mapped there for reading only; NULL: no file is. `line` holds it. */
static const char *file_at(uintptr_t address, char line[LINE_SIZE])
{
    const char *permissions = "", *path = NULL;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool found = false;
    while (maps >= 0 && !found && read_line(maps, line))
        found = holds(line, address, &permissions);
    if (found && strncmp(permissions, "r-", 2) == 0)
        path = strchr(permissions, '/');
    if (maps >= 0)
        close(maps);
    return path;
}

static void say(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void handle(int number, siginfo_t *info, void *unused)
{
    char line[LINE_SIZE];
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)info->si_addr & ~(size - 1);
    const char *path = info->si_code == BUS_ADRERR ? file_at(page, line) : NULL;
    if (!path || mmap((void *)page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                      0) == MAP_FAILED) {
        sigaction(SIGBUS, &shrunk.before, NULL); /* it happens again, as it would have */
        return;
    }
    if (!atomic_exchange(&shrunk.seen, true)) {
        say("Warning: ");
        say(path);
        say(" was cut off while it was read, by whoever writes to it. What is missing counts as "
            "damaged.\n");
    }
}

void shrunk_files_handle(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &shrunk.before);
}

bool shrunk_files_seen(void)
{
    return atomic_load(&shrunk.seen);
}
