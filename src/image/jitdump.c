#include "image/jitdump.h"

#include "base/memory.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

static const uint32_t MAGIC = 0x4a695444; /* "JiTD", in the byte order of this machine */

enum { VERSION = 1, TIMES_ARE_TICKS = 1 };

enum record_type { CODE_LOAD = 0, CODE_MOVE = 1 };

struct header {
    uint32_t magic, version;
    uint32_t size; /* of this header; more may follow */
    uint32_t machine;
    uint32_t reserved;
    uint32_t pid;
    uint64_t time;
    uint64_t flags;
};

struct record_header {
    uint32_t type;
    uint32_t size; /* with this header */
    uint64_t time;
};

/* Followed by a name with its NUL, then the code. */
struct load {
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
};

struct move {
    uint32_t pid, tid;
    uint64_t vma, old_address, new_address, size, index;
};

/* Moved code is named by its number. */
struct numbered_code {
    uint64_t index;
    size_t position; /* in dump->codes */
    UT_hash_handle hh;
};

struct reader {
    struct jitdump *dump;
    const struct file_view *view;
    struct numbered_code *by_index;
};

bool jitdump_is_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strncmp(name, "jit-", 4) != 0 || !isdigit((unsigned char)name[4]))
        return false;
    return strcmp(name + 4 + strspn(name + 4, "0123456789"), ".dump") == 0;
}

static void number_code(struct reader *reader, uint64_t index)
{
    struct numbered_code *code;
    HASH_FIND(hh, reader->by_index, &index, sizeof index, code);
    if (!code) {
        code = memory_allocate_zeroed(sizeof *code);
        code->index = index;
        HASH_ADD(hh, reader->by_index, index, sizeof code->index, code);
    }
    code->position = reader->dump->codes.count - 1;
}

/* `offset` is where the record's contents begin, of which there are `size` bytes. */
static void read_load(struct reader *reader, uint64_t time, uint64_t offset, uint64_t size)
{
    struct load load;
    const uint8_t *body = reader->view->bytes + offset;
    if (size < sizeof load)
        return;
    memcpy(&load, body, sizeof load);
    const char *name = (const char *)body + sizeof load;
    uint64_t rest = size - sizeof load, name_size = strnlen(name, rest) + 1;
    if (name_size > rest || load.size > rest - name_size || load.size == 0 ||
        load.vma > UINT64_MAX - load.size)
        return;
    *(struct jitdump_code *)array_add(&reader->dump->codes) = (struct jitdump_code){
        .time = time,
        .address = load.vma,
        .size = load.size,
        .file_offset = offset + sizeof load + name_size,
        .name = name,
    };
    number_code(reader, load.index);
}

static void read_move(struct reader *reader, uint64_t time, uint64_t offset, uint64_t size)
{
    struct move move;
    struct numbered_code *found;
    if (size < sizeof move)
        return;
    memcpy(&move, reader->view->bytes + offset, sizeof move);
    HASH_FIND(hh, reader->by_index, &move.index, sizeof move.index, found);
    if (!found)
        return;
    struct jitdump_code code =
        *(struct jitdump_code *)array_at(&reader->dump->codes, found->position);
    if (move.vma > UINT64_MAX - code.size)
        return;
    code.time = time;
    code.address = move.vma;
    array_add_all(&reader->dump->codes, &code, 1);
    number_code(reader, move.index);
}

static void read_records(struct reader *reader, uint64_t offset)
{
    const struct file_view *view = reader->view;
    struct record_header header;
    while (offset <= view->size && view->size - offset >= sizeof header) {
        memcpy(&header, view->bytes + offset, sizeof header);
        if (header.size < sizeof header || header.size > view->size - offset)
            return;
        uint64_t body = offset + sizeof header, size = header.size - sizeof header;
        if (header.type == CODE_LOAD)
            read_load(reader, header.time, body, size);
        else if (header.type == CODE_MOVE)
            read_move(reader, header.time, body, size);
        offset += header.size;
    }
}

static void free_numbers(struct reader *reader)
{
    struct numbered_code *code, *next;
    HASH_ITER(hh, reader->by_index, code, next)
    {
        HASH_DEL(reader->by_index, code);
        free(code);
    }
}

bool jitdump_read(struct jitdump *dump, const struct file_view *view)
{
    struct header header;
    if (view->size < sizeof header)
        return false;
    memcpy(&header, view->bytes, sizeof header);
    if (header.magic != MAGIC || header.version != VERSION || header.machine != EM_X86_64 ||
        header.size < sizeof header)
        return false;
    *dump = (struct jitdump){
        .times_are_ticks = header.flags & TIMES_ARE_TICKS,
        .begun = header.time,
        .codes = array_of(sizeof(struct jitdump_code)),
    };
    struct reader reader = {.dump = dump, .view = view};
    read_records(&reader, header.size);
    free_numbers(&reader);
    return true;
}

void jitdump_free(struct jitdump *dump)
{
    array_free(&dump->codes);
}
