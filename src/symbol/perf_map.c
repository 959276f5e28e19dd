#include "symbol/perf_map.h"

#include "base/file.h"
#include "base/memory.h"
#include "symbol/code_symbol.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a hexadecimal number at *at, and moves *at past it and the blanks that must follow. */
static bool read_number(char **at, uint64_t *number)
{
    if (!isxdigit((unsigned char)**at)) /* strtoull would take signs and blanks */
        return false;
    char *end;
    errno = 0;
    *number = strtoull(*at, &end, 16);
    if (errno != 0 || (*end != ' ' && *end != '\t'))
        return false;
    *at = end + strspn(end, " \t");
    return true;
}

static void add_code(struct array *symbols, const char *name, uint64_t start, uint64_t end)
{
    *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
        .name = name,
        .start = start,
        .end = end,
        .limit = end,
        .kind = CODE_FUNCTION,
        .binding = CODE_GLOBAL,
    };
}

static void read_line(char *line, struct array *symbols)
{
    uint64_t start, size, end;
    line += strspn(line, " \t");
    if (!read_number(&line, &start) || !read_number(&line, &size) || *line == 0 || size == 0 ||
        __builtin_add_overflow(start, size, &end))
        return;
    add_code(symbols, line, start, end);
}

static void read_lines(char *text, struct array *symbols)
{
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char *next = line + length + (line[length] == '\n');
        line[length] = 0;
        while (length > 0 && isspace((unsigned char)line[length - 1]))
            line[--length] = 0;
        read_line(line, symbols);
        line = next;
    }
}

static bool acceptable(int descriptor, bool owner_must_match)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
           (!owner_must_match || status.st_uid == 0 || status.st_uid == geteuid());
}

/* Checks the opened file, because the name may mean another one by now; does not wait for a FIFO.
 */
static char *read_text(const char *path, bool owner_must_match)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (owner_must_match ? O_NOFOLLOW : 0);
    int descriptor = open(path, flags);
    if (descriptor < 0)
        return NULL;
    char *text = acceptable(descriptor, owner_must_match)
                     ? file_read_descriptor(descriptor, path, NULL, NULL)
                     : NULL;
    close(descriptor);
    return text;
}

/* Frees `symbols`. */
static struct perf_map *new_map(char *text, struct array *symbols)
{
    struct perf_map *map = memory_allocate_zeroed(sizeof *map);
    map->text = text;
    symbol_table_build(&map->table, symbols, OVERLAP_LATER_ADDED);
    array_free(symbols);
    return map;
}

struct perf_map *perf_map_open(const char *folder, uint32_t pid, bool owner_must_match)
{
    char *path = memory_format("%s/perf-%u.map", folder, pid);
    char *text = read_text(path, owner_must_match);
    free(path);
    if (!text)
        return NULL;
    struct array symbols = array_of(sizeof(struct code_symbol));
    read_lines(text, &symbols);
    return new_map(text, &symbols);
}

struct perf_map *perf_map_of_dump(const struct process *process)
{
    struct array symbols = array_of(sizeof(struct code_symbol));
    for (size_t i = 0; i < process->change_count; i++) {
        const struct address_space_change *change = &process->changes[i];
        if (change->kind == ADDRESS_SPACE_MAP && change->mapping.file->code_name)
            add_code(&symbols, change->mapping.file->code_name, change->mapping.start,
                     change->mapping.end);
    }
    return symbols.count ? new_map(NULL, &symbols) : NULL;
}

void perf_map_close(struct perf_map *map)
{
    if (!map)
        return;
    symbol_table_free(&map->table);
    free(map->text);
    free(map);
}
