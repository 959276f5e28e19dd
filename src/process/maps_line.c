#include "process/maps_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void restore_line_feeds(char *path)
{
    static const char escaped[] = "\\012";
    char *to = path;
    for (const char *from = path; *from; to++) {
        bool line_feed = strncmp(from, escaped, sizeof escaped - 1) == 0;
        *to = line_feed ? '\n' : *from;
        from += line_feed ? sizeof escaped - 1 : 1;
    }
    *to = 0;
}

static bool parse(char *text, struct maps_line *line)
{
    char rights[5];
    int path = 0;
    *line = (struct maps_line){0};
    if (sscanf(text,
               "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
               &line->start, &line->end, rights, &line->file_offset, &line->device_major,
               &line->device_minor, &line->inode, &path) < 7 ||
        strlen(rights) != 4 || line->start >= line->end)
        return false;
    line->protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                       (rights[2] == 'x' ? PROT_EXEC : 0);
    line->shared = rights[3] == 's';
    line->path = text + path;
    restore_line_feeds(line->path);
    return true;
}

bool maps_line_next(char **text, struct maps_line *line)
{
    for (char *next; (next = strsep(text, "\n"));)
        if (parse(next, line))
            return true;
    return false;
}

bool maps_line_is_code_of_file(const struct maps_line *line)
{
    return (line->protection & PROT_EXEC) && line->path[0] == '/';
}
