#include "symbol/dwarf/line_sections.h"

#include "base/memory.h"

#include <gelf.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *const wanted_names[] = {
    ".debug_info", ".debug_abbrev",      ".debug_line",   ".debug_line_str", ".debug_str",
    ".debug_addr", ".debug_str_offsets", ".debug_ranges", ".debug_rnglists",
};
enum { WANTED_COUNT = sizeof wanted_names / sizeof wanted_names[0] };

/* Sections of the image: the null section (with which every ELF file begins), the wanted ones,
 * their names. */
enum { FIRST_WANTED = 1, NAMES = FIRST_WANTED + WANTED_COUNT, SECTION_COUNT };

enum {
    HUGE_PAGE = 2 << 20,
    WORTH_A_THREAD = 4 << 20, /* bytes that are decompressed in about 5 ms */
};

/* A section as the file has it. */
struct packed_section {
    const uint8_t *bytes;
    size_t packed_size;
    size_t size; /* decompressed; 0: the file has no such section */
    bool compressed;
};

/* Deflate cannot do better (zlib.net, "Maximum Compression Factor"). */
static const size_t RATIO_MAX = 1032;

/* False for a section that is not read here. */
static bool find_packed(Elf_Scn *scn, struct packed_section *packed)
{
    GElf_Shdr header;
    GElf_Chdr compression;
    Elf_Data *data = elf_rawdata(scn, NULL);
    if (!data || !data->d_buf || !gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
        return false;
    *packed = (struct packed_section){data->d_buf, data->d_size, data->d_size, false};
    if (!(header.sh_flags & SHF_COMPRESSED))
        return true;
    if (!gelf_getchdr(scn, &compression) || compression.ch_type != ELFCOMPRESS_ZLIB ||
        data->d_size < sizeof(Elf64_Chdr))
        return false;
    packed->bytes += sizeof(Elf64_Chdr);
    packed->packed_size -= sizeof(Elf64_Chdr);
    packed->size = compression.ch_size;
    packed->compressed = true;
    return packed->size > 0 && packed->size <= UINT32_MAX &&
           packed->size / RATIO_MAX <= packed->packed_size && packed->packed_size <= UINT32_MAX;
}

static size_t wanted_index(const char *name)
{
    size_t i = 0;
    while (i < WANTED_COUNT && strcmp(name, wanted_names[i]) != 0)
        i++;
    return i;
}

/* False when libdw is to read the file. */
static bool find_wanted(Elf *elf, struct packed_section packed[WANTED_COUNT])
{
    size_t names;
    bool compressed = false;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name)
            return false;
        if (strcmp(name, ".gnu_debugaltlink") == 0)
            return false;
        size_t index = wanted_index(name);
        if (index == WANTED_COUNT)
            continue;
        if (packed[index].size > 0 || !find_packed(scn, &packed[index]))
            return false;
        compressed |= packed[index].compressed;
    }
    return compressed;
}

static bool unpack(const struct packed_section *packed, uint8_t *to, struct inflate_state *inflate)
{
    if (!packed->compressed) {
        memcpy(to, packed->bytes, packed->size);
        return true;
    }
    isal_inflate_init(inflate);
    inflate->crc_flag = ISAL_ZLIB;
    inflate->next_in = (uint8_t *)packed->bytes; /* read only, though isa-l does not say so */
    inflate->avail_in = (uint32_t)packed->packed_size;
    inflate->next_out = to;
    inflate->avail_out = (uint32_t)packed->size;
    return isal_inflate_stateless(inflate) == ISAL_DECOMP_OK && inflate->avail_out == 0;
}

/* Where the sections are in the image; gives its size. */
static size_t lay_out(const struct packed_section packed[WANTED_COUNT],
                      Elf64_Shdr headers[SECTION_COUNT])
{
    size_t end = sizeof(Elf64_Ehdr) + SECTION_COUNT * sizeof(Elf64_Shdr), name = 1;
    for (size_t i = 0; i < WANTED_COUNT; i++) {
        headers[FIRST_WANTED + i] = (Elf64_Shdr){
            .sh_name = (Elf64_Word)name,
            .sh_type = packed[i].size > 0 ? SHT_PROGBITS : SHT_NOBITS, /* which libdw ignores */
            .sh_offset = end,
            .sh_size = packed[i].size,
            .sh_addralign = 1,
        };
        end += packed[i].size;
        name += strlen(wanted_names[i]) + 1;
    }
    headers[NAMES] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = end, .sh_size = name, .sh_addralign = 1};
    return end + name;
}

static void put_headers(uint8_t *image, GElf_Ehdr header, const Elf64_Shdr headers[SECTION_COUNT])
{
    header.e_phnum = 0;
    header.e_phoff = 0;
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof *headers;
    header.e_shnum = SECTION_COUNT;
    header.e_shstrndx = NAMES;
    memcpy(image, &header, sizeof header);
    memcpy(image + header.e_shoff, headers, SECTION_COUNT * sizeof *headers);
    char *names = (char *)image + headers[NAMES].sh_offset;
    *names = 0;
    for (size_t i = 0; i < WANTED_COUNT; i++)
        strcpy(names + headers[FIRST_WANTED + i].sh_name, wanted_names[i]);
}

/* The sections that are put into the image, each by the thread that comes to it first. */
struct unpacking {
    const struct packed_section *packed;
    const Elf64_Shdr *headers;
    uint8_t *image;
    atomic_size_t next; /* of the sections */
    atomic_bool failed;
};

static void *put_sections(void *argument)
{
    struct unpacking *unpacking = argument;
    struct inflate_state *inflate = memory_allocate(sizeof *inflate);
    for (size_t i; (i = atomic_fetch_add(&unpacking->next, 1)) < WANTED_COUNT;)
        if (unpacking->packed[i].size > 0 &&
            !unpack(&unpacking->packed[i],
                    unpacking->image + unpacking->headers[FIRST_WANTED + i].sh_offset, inflate))
            atomic_store(&unpacking->failed, true);
    free(inflate);
    return NULL;
}

/* .debug_info, which comes first, is mostly larger than all the rest: two threads are as fast as
 * more. If the second one cannot be had, the first does everything. */
static bool put_all_sections(uint8_t *image, size_t size,
                             const struct packed_section packed[WANTED_COUNT],
                             const Elf64_Shdr headers[SECTION_COUNT])
{
    struct unpacking unpacking = {packed, headers, image, 0, false};
    pthread_t second;
    bool is_helped =
        size >= WORTH_A_THREAD && pthread_create(&second, NULL, put_sections, &unpacking) == 0;
    put_sections(&unpacking);
    if (is_helped)
        pthread_join(second, NULL);
    return !atomic_load(&unpacking.failed);
}

/* In huge pages, where the kernel has them: with small ones it would be interrupted hundreds of thousands
 * of times. */
static uint8_t *allocate_image(size_t size)
{
    uint8_t *image = memory_allocate(size), *first = memory_align(image, HUGE_PAGE);
    if (size >= 2 * HUGE_PAGE)
        madvise(first, (size - (size_t)(first - image)) & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
    return image;
}

static bool is_ours(Elf *elf, GElf_Ehdr *header)
{
    return elf && gelf_getehdr(elf, header) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type != ET_REL;
}

void line_sections_open(struct line_sections *sections, Elf *elf)
{
    *sections = (struct line_sections){0};
    GElf_Ehdr header;
    struct packed_section packed[WANTED_COUNT] = {0};
    if (!is_ours(elf, &header) || !find_wanted(elf, packed))
        return;
    Elf64_Shdr headers[SECTION_COUNT] = {0};
    size_t size = lay_out(packed, headers);
    sections->image = allocate_image(size);
    put_headers(sections->image, header, headers);
    if (put_all_sections(sections->image, size, packed, headers))
        sections->elf = elf_memory((char *)sections->image, size);
    if (sections->elf)
        sections->debug = dwarf_begin_elf(sections->elf, DWARF_C_READ, NULL);
    if (!sections->debug)
        line_sections_close(sections);
}

void line_sections_close(struct line_sections *sections)
{
    dwarf_end(sections->debug);
    elf_end(sections->elf);
    free(sections->image);
    *sections = (struct line_sections){0};
}
