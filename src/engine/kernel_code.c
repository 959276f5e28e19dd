#include "engine/kernel_code.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_SEGMENTS = 4096 };

/* More than all modules take: what is farther apart is not one area. */
static const uint64_t largest_area = UINT64_C(2) << 30;

/* ---- where it lies ---- */

/* A line of kallsyms: "ffffffffc0201000 t name\t[module]". */
static void take_symbol(struct kernel_text *text, const char *line)
{
    char *name;
    uint64_t address = strtoull(line, &name, 16);
    if (address == 0 || strlen(name) < 3)
        return;
    name += 3; /* " t " */
    if (strcmp(name, "_stext") == 0)
        text->start = address;
    else if (strcmp(name, "_etext") == 0)
        text->end = address;
    if (!strchr(name, '['))
        return;
    if (!text->modules_start || address < text->modules_start)
        text->modules_start = address;
    if (address > text->modules_end)
        text->modules_end = address;
}

bool kernel_text_find(struct kernel_text *text, const char *proc, struct error *error)
{
    *text = (struct kernel_text){0};
    char *path = memory_format("%s/kallsyms", proc);
    char *symbols = file_read(path, NULL, error), *rest = symbols;
    free(path);
    if (!symbols)
        return false;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        take_symbol(text, line);
    free(symbols);
    if (!text->start || text->end <= text->start)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the kernel hides where its code lies. Run magic-trace as root, or allow "
                         "it with `sudo sysctl kernel.kptr_restrict=0`.");
    text->start &= ~(uint64_t)(PAGE - 1);
    text->end = (text->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (!text->modules_start || text->modules_end - text->modules_start > largest_area) {
        text->modules_start = text->modules_end = 0;
        return true;
    }
    /* How long the last function is, kallsyms does not say. */
    text->modules_start &= ~(uint64_t)(PAGE - 1);
    text->modules_end = (text->modules_end + 2 * PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return true;
}

/* ---- the copy ---- */

struct copy {
    int from, to;
    const char *from_path, *to_path;
    struct array segments; /* Elf64_Phdr of the copy */
    uint64_t end;          /* of the copy, so far */
};

static bool read_headers(const struct copy *copy, Elf64_Phdr *headers, size_t *count,
                         struct error *error)
{
    Elf64_Ehdr header;
    if (pread(copy->from, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof *headers ||
        header.e_phnum > MOST_SEGMENTS)
        return error_set(error, ERROR_FORMAT, "%s is not the ELF file that it should be",
                         copy->from_path);
    size_t size = header.e_phnum * sizeof *headers;
    if (pread(copy->from, headers, size, (off_t)header.e_phoff) != (ssize_t)size)
        return error_set_errno(error, ERROR_IO, errno, "cannot read %s", copy->from_path);
    *count = header.e_phnum;
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Memory that is not mapped reads as zeros, and becomes a hole. */
static bool copy_bytes(struct copy *copy, uint64_t offset, uint64_t size, struct error *error)
{
    enum { BLOCK = 16 * PAGE };
    uint8_t *block = memory_allocate(BLOCK);
    bool ok = true;
    for (uint64_t done = 0; ok && done < size;) {
        uint64_t wanted = size - done < BLOCK ? size - done : BLOCK;
        ssize_t got = pread(copy->from, block, wanted, (off_t)(offset + done));
        if (got < 0 && errno != EFAULT && errno != EIO)
            ok = error_set_errno(error, ERROR_IO, errno, "cannot read %s", copy->from_path);
        else if (got > 0 && !is_zero(block, (size_t)got) &&
                 pwrite(copy->to, block, (size_t)got, (off_t)(copy->end + done)) != got)
            ok = error_set_errno(error, ERROR_IO, errno, "cannot write %s", copy->to_path);
        done += got > 0 ? (uint64_t)got : wanted;
    }
    free(block);
    return ok;
}

/* What the segment has of the addresses from `start` to `end`. */
static bool copy_part(struct copy *copy, const Elf64_Phdr *segment, uint64_t start, uint64_t end,
                      struct error *error)
{
    uint64_t first = segment->p_vaddr > start ? segment->p_vaddr : start;
    uint64_t segment_end = segment->p_vaddr + segment->p_memsz;
    uint64_t last = segment_end < end ? segment_end : end;
    if (segment->p_type != PT_LOAD || segment_end < segment->p_vaddr || first >= last)
        return true;
    *(Elf64_Phdr *)array_add(&copy->segments) = (Elf64_Phdr){
        .p_type = PT_LOAD,
        .p_flags = PF_R | PF_W | PF_X,
        .p_offset = copy->end,
        .p_vaddr = first,
        .p_paddr = first,
        .p_filesz = last - first,
        .p_memsz = last - first,
        .p_align = PAGE,
    };
    bool ok = copy_bytes(copy, segment->p_offset + (first - segment->p_vaddr), last - first, error);
    copy->end += last - first;
    return ok;
}

static bool write_headers(const struct copy *copy, struct error *error)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (Elf64_Half)copy->segments.count,
    };
    size_t size = copy->segments.count * sizeof(Elf64_Phdr);
    return (pwrite(copy->to, &header, sizeof header, 0) == (ssize_t)sizeof header &&
            pwrite(copy->to, copy->segments.elements, size, sizeof header) == (ssize_t)size &&
            ftruncate(copy->to, (off_t)copy->end) == 0) ||
           error_set_errno(error, ERROR_IO, errno, "cannot write %s", copy->to_path);
}

static bool copy_segments(struct copy *copy, const struct kernel_text *text, struct error *error)
{
    Elf64_Phdr *headers = memory_allocate_zeroed(MOST_SEGMENTS * sizeof *headers);
    size_t count = 0;
    bool ok = read_headers(copy, headers, &count, error);
    /* The headers of the copy take less than the first page: a few segments. */
    for (size_t i = 0; ok && i < count && copy->segments.count < PAGE / sizeof *headers - 2; i++)
        ok = copy_part(copy, &headers[i], text->start, text->end, error) &&
             copy_part(copy, &headers[i], text->modules_start, text->modules_end, error);
    free(headers);
    if (ok && !copy->segments.count)
        ok = error_set(error, ERROR_FORMAT, "%s has not the kernel's code", copy->from_path);
    return ok && write_headers(copy, error);
}

static bool copy_memory(const struct kernel_text *text, const char *from, const char *to,
                        struct error *error)
{
    struct copy copy = {
        .from = open(from, O_RDONLY | O_CLOEXEC),
        .to = -1,
        .from_path = from,
        .to_path = to,
        .segments = array_of(sizeof(Elf64_Phdr)),
        .end = PAGE,
    };
    if (copy.from < 0)
        return error_set_errno(error, ERROR_UNSUPPORTED, errno,
                               "cannot read the kernel's code from %s. Run magic-trace as root; a "
                               "kernel without CONFIG_PROC_KCORE, or locked down, has none",
                               from);
    copy.to = file_create_private(to, error);
    bool ok = copy.to >= 0 && copy_segments(&copy, text, error);
    if (copy.to >= 0 && close(copy.to) != 0 && ok)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot write %s", to);
    close(copy.from);
    array_free(&copy.segments);
    return ok;
}

static bool copy_text(const char *proc, const char *folder, const char *name, struct error *error)
{
    char *from = memory_format("%s/%s", proc, name), *to = memory_format("%s/%s", folder, name);
    size_t size;
    char *text = file_read(from, &size, error);
    bool ok = text && file_replace(to, text, size, error);
    free(text);
    free(from);
    free(to);
    return ok;
}

struct sideband_record kernel_text_record(const struct kernel_text *text)
{
    return (struct sideband_record){
        .kind = SIDEBAND_MAPPING,
        .pid = UINT32_MAX,
        .mapping = {.start = text->start,
                    .length = text->end - text->start,
                    .file_offset = text->start,
                    .protection = PROT_READ | PROT_EXEC,
                    .executable = true,
                    .kernel = true,
                    .path = "[kernel.kallsyms]_stext"},
    };
}

bool kernel_code_keep(const struct kernel_text *text, const char *proc, const char *directory,
                      struct error *error)
{
    char *folder = memory_format("%s/kcore_dir", directory);
    char *from = memory_format("%s/kcore", proc), *to = memory_format("%s/kcore", folder);
    bool ok = file_make_directories(folder, error) && copy_memory(text, from, to, error) &&
              copy_text(proc, folder, "kallsyms", error);
    /* A kernel without modules has no such file. */
    if (ok)
        copy_text(proc, folder, "modules", NULL);
    else
        kernel_code_remove(directory);
    free(folder);
    free(from);
    free(to);
    return ok;
}

void kernel_code_remove(const char *directory)
{
    char *folder = memory_format("%s/kcore_dir", directory);
    file_remove_tree(folder, NULL);
    free(folder);
}
