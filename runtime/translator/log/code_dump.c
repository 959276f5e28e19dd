#include "runtime/translator/log/code_dump.h"

#include "engine/packets/code_image.h"
#include "runtime/translator/code/supplied_pages.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/log/word_hash.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/mman.h>

enum {
    SIZE = TR_PAGE + CODE_IMAGE_TAIL,
    ALIGNMENT = 8,
    WINDOW = 1 << 18, /* bytes of the dump area that are made accessible at once */
};

_Static_assert(TR_DUMP_SPAN < CODE_IMAGE_PARTS * SIZE, "all that begin in a span are parts");

/* Zeros where no page is mapped, or none has been supplied yet. */
static void copy_part(uint8_t *to, uint64_t from, uint64_t size)
{
    if (tr_page_is_awaited(from) || !tr_read_safely(to, from, size))
        memset(to, 0, size);
}

static void copy(uint8_t code[SIZE], uint64_t page)
{
    copy_part(code, page, TR_PAGE);
    copy_part(code + TR_PAGE, page + TR_PAGE, CODE_IMAGE_TAIL);
}

bool tr_code_dump_has_tail(const struct tr_page *page)
{
    uint8_t tail[CODE_IMAGE_TAIL];
    copy_part(tail, page->address + TR_PAGE, sizeof tail);
    return memcmp(tail, page->dump + TR_PAGE, sizeof tail) == 0;
}

static uint64_t hash_of(const uint8_t code[SIZE])
{
    uint64_t hash = SIZE;
    for (unsigned i = 0; i < SIZE; i += 8) {
        uint64_t word;
        memcpy(&word, code + i, sizeof word);
        hash = tr_hash_word(hash, word);
    }
    return hash;
}

/* The area is mapped PROT_NONE. The part that this process made accessible last: */
static uint64_t window_start, window_end;

static bool is_accessible(uint64_t start, uint64_t end)
{
    if (window_start <= start && end <= window_end)
        return true;
    uint64_t first = start / WINDOW * WINDOW, last = (end + WINDOW - 1) / WINDOW * WINDOW;
    if (tr_syscall(__NR_mprotect, first, last - first, PROT_READ | PROT_WRITE) != 0)
        return false;
    window_start = first;
    window_end = last;
    return true;
}

uint64_t tr_dump_reserve(struct tr_process *process, uint64_t size, uint64_t *offset)
{
    struct tr_control *control = process->control;
    uint64_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *offset = atomic_fetch_add(&control->dump_tail, whole);
    uint64_t place = (uint64_t)process->arena + control->dump_offset + *offset;
    bool fits = *offset + whole <= control->dump_size && is_accessible(place, place + size);
    return fits ? place : 0;
}

/* Writes the bytes into the dump area. Returns their address; 0: no space. */
static uint64_t store(struct tr_process *process, const uint8_t code[SIZE], uint64_t *offset)
{
    uint64_t place = tr_dump_reserve(process, SIZE, offset);
    if (place && tr_write_safely(place, code, SIZE))
        return place;
    atomic_fetch_add(&process->control->lost_dumps, 1);
    return 0;
}

static char *write_hexadecimal(char *to, uint64_t number)
{
    char digits[16];
    unsigned count = 0;
    do
        digits[count++] = "0123456789abcdef"[number % 16];
    while ((number /= 16) != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static void name_file(char *path, uint64_t offset)
{
    static const char name[] = "images/dump.";
    memcpy(path, name, sizeof name - 1);
    *write_hexadecimal(path + sizeof name - 1, offset / TR_DUMP_SPAN) = 0;
}

void tr_code_dump(struct tr_thread *thread, struct tr_page *page, uint32_t protection,
                  uint64_t since)
{
    uint8_t code[SIZE];
    uint64_t place, offset;
    char path[64];
    copy(code, page->address);
    uint64_t hash = hash_of(code);
    if ((page->flags & TR_PAGE_DUMPED) && page->hash == hash)
        return;
    page->hash = hash;
    page->flags &= (uint8_t)~TR_PAGE_DUMPED;
    if (atomic_load(&thread->process->control->frozen) ||
        !(place = store(thread->process, code, &offset)))
        return;
    page->dump = (const uint8_t *)place;
    page->flags |= TR_PAGE_DUMPED | TR_PAGE_SHOWN;
    name_file(path, offset);
    struct tr_mapping mapping = {
        .start = page->address,
        .length = TR_PAGE,
        .file_offset = CODE_IMAGE_OFFSET + offset % TR_DUMP_SPAN,
        .protection = protection,
        .dumped = true,
    };
    tr_sideband_mapping(thread, since, &mapping, path);
}
