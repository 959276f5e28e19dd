#include "server/answers/source_text.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX = 16 << 20, /* bytes */
    LINES_BEFORE = 300,
    LINES_SHOWN = 1500,
    BINARY_MAX = 100, /* of that many bytes one may be no text */
};

static bool is_fit(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_size > 0 && status->st_size <= FILE_MAX;
}

/* Checked before it is opened, since opening a device or a pipe has side effects. */
static int open_file(const char *path)
{
    struct stat status;
    if (path[0] != '/' || stat(path, &status) != 0 || !is_fit(&status))
        return -1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !is_fit(&status))) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Source in old encodings has odd bytes here and there; programs have them everywhere, and NULs. */
static bool is_text(const char *bytes, size_t size)
{
    size_t odd = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == 0)
            return false;
        odd += byte < 0x20 && !strchr("\t\n\r\f\v\033", byte);
    }
    return odd <= size / BINARY_MAX;
}

/* The beginning of line `number` (from 1), or the end. */
static const char *find_line(const char *at, const char *end, uint32_t number)
{
    for (; number > 1 && at < end; number--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    return at;
}

static void keep_lines(struct source_text *text, const char *bytes, size_t size, uint32_t line)
{
    const char *end = bytes + size;
    text->first = line > LINES_BEFORE ? line - LINES_BEFORE : 1;
    const char *begin = find_line(bytes, end, text->first);
    const char *after = find_line(begin, end, LINES_SHOWN + 1);
    text->size = (size_t)(after - begin);
    text->bytes = memory_allocate(text->size + 1);
    memcpy(text->bytes, begin, text->size);
    if (text->size > 0 && text->bytes[text->size - 1] != '\n')
        text->bytes[text->size++] = '\n';
}

bool source_text_read(struct source_text *text, const char *path, uint32_t line,
                      struct error *error)
{
    *text = (struct source_text){0};
    int descriptor = open_file(path);
    size_t size = 0;
    char *bytes = descriptor >= 0 ? file_read_descriptor(descriptor, path, &size, NULL) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    bool ok = bytes && size <= FILE_MAX && is_text(bytes, size);
    if (ok)
        keep_lines(text, bytes, size, line);
    free(bytes);
    return ok || error_set(error, ERROR_NOT_FOUND,
                           "%s is not on this machine, or is no text that can be read.", path);
}

void source_text_free(struct source_text *text)
{
    free(text->bytes);
    *text = (struct source_text){0};
}
