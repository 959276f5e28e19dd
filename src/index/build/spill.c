#include "index/build/spill.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

struct spill spill_of(size_t element_size, const char *beside)
{
    return (struct spill){.element_size = element_size, .descriptor = -1, .beside = beside};
}

void spill_free(struct spill *spill)
{
    if (spill->elements)
        munmap(spill->elements, spill->capacity * spill->element_size);
    if (spill->descriptor >= 0)
        close(spill->descriptor);
    free(spill->nowhere);
    *spill = spill_of(spill->element_size, spill->beside);
}

/* Not all file systems know files without a name. */
static int open_nameless(const char *beside)
{
    char *copy = memory_copy_string(beside);
    int descriptor = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(copy);
    if (descriptor >= 0)
        return descriptor;
    char *name = memory_format("%s.XXXXXX", beside);
    descriptor = mkostemp(name, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(name);
    free(name);
    return descriptor;
}

/* The file's blocks are reserved, because a page that has none when the disk is full means death.
 */
static bool grow(struct spill *spill)
{
    if (spill->descriptor < 0)
        spill->descriptor = open_nameless(spill->beside);
    if (spill->descriptor < 0)
        return error_set_errno(&spill->failed, ERROR_IO, errno,
                               "cannot make a temporary file beside %s", spill->beside);
    size_t old_size = spill->capacity * spill->element_size;
    size_t capacity = spill->capacity ? 2 * spill->capacity : FIRST_BYTES / spill->element_size + 1;
    size_t size = capacity * spill->element_size;
    int reason = posix_fallocate(spill->descriptor, 0, (off_t)size);
    if (reason != 0)
        return error_set_errno(&spill->failed, ERROR_IO, reason,
                               "cannot write to a temporary file beside %s", spill->beside);
    void *elements = spill->elements ? mremap(spill->elements, old_size, size, MREMAP_MAYMOVE)
                                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                            spill->descriptor, 0);
    if (elements == MAP_FAILED)
        return error_set_errno(&spill->failed, ERROR_IO, errno,
                               "cannot map a temporary file beside %s", spill->beside);
    spill->elements = elements;
    spill->capacity = capacity;
    return true;
}

static void *nowhere(struct spill *spill)
{
    if (!spill->nowhere)
        spill->nowhere = memory_allocate(spill->element_size);
    return memset(spill->nowhere, 0, spill->element_size);
}

void *spill_add(struct spill *spill)
{
    if (spill->failed.code != ERROR_NONE || (spill->count == spill->capacity && !grow(spill))) {
        spill->count++;
        return nowhere(spill);
    }
    return memset(spill->elements + spill->count++ * spill->element_size, 0, spill->element_size);
}

void *spill_at(const struct spill *spill, size_t index)
{
    return index < spill->capacity ? spill->elements + index * spill->element_size : spill->nowhere;
}
