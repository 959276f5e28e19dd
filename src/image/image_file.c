#include "image/image_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_segments(const void *left, const void *right)
{
    const struct image_segment *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

/* What of a program header is really there; false for what cannot be mapped. */
static bool segment_of_header(struct image_segment *segment, const GElf_Phdr *header,
                              size_t file_size)
{
    uint64_t address_end;
    if (header->p_type != PT_LOAD || header->p_memsz == 0 || header->p_offset > file_size ||
        __builtin_add_overflow(header->p_vaddr, header->p_memsz, &address_end))
        return false;
    *segment = (struct image_segment){
        .address = header->p_vaddr,
        .file_offset = header->p_offset,
        .file_size = header->p_filesz,
        .memory_size = header->p_memsz,
        .executable = (header->p_flags & PF_X) != 0,
    };
    if (segment->file_size > segment->memory_size)
        segment->file_size = segment->memory_size;
    if (segment->file_size > file_size - segment->file_offset)
        segment->file_size = file_size - segment->file_offset;
    return true;
}

/* Of an object without program headers, as perf inject --jit made them up to Linux 6.1: its
 * sections of code, as if each were a segment. */
static void read_sections(struct image_file *file, Elf *elf, struct arena *memory)
{
    size_t count;
    if (elf_getshdrnum(elf, &count) != 0 || count == 0 ||
        count > file->view.size / sizeof(Elf64_Shdr))
        return;
    file->segments = arena_allocate(memory, count * sizeof *file->segments);
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr section;
        Elf_Scn *found = elf_getscn(elf, i);
        if (!found || !gelf_getshdr(found, &section) || section.sh_type != SHT_PROGBITS ||
            !(section.sh_flags & SHF_EXECINSTR))
            continue;
        const GElf_Phdr header = {
            .p_type = PT_LOAD,
            .p_flags = PF_R | PF_X,
            .p_offset = section.sh_offset,
            .p_vaddr = section.sh_addr,
            .p_filesz = section.sh_size,
            .p_memsz = section.sh_size,
        };
        file->segment_count +=
            segment_of_header(&file->segments[file->segment_count], &header, file->view.size);
    }
}

static void read_segments(struct image_file *file, Elf *elf, struct arena *memory)
{
    size_t header_count;
    if (elf_getphdrnum(elf, &header_count) != 0 || header_count == 0 ||
        header_count > file->view.size / sizeof(Elf64_Phdr))
        return;
    file->segments = arena_allocate(memory, header_count * sizeof *file->segments);
    for (size_t i = 0; i < header_count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) &&
            segment_of_header(&file->segments[file->segment_count], &header, file->view.size))
            file->segment_count++;
    }
    qsort(file->segments, file->segment_count, sizeof *file->segments, compare_segments);
}

/* Facts of the dynamic section that distinguish programs from libraries. */
struct dynamic_facts {
    bool program_flag, has_own_name;
};

static struct dynamic_facts read_dynamic(Elf *elf, const GElf_Phdr *header)
{
    struct dynamic_facts facts = {0};
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)header->p_offset, header->p_filesz, ELF_T_DYN);
    GElf_Dyn entry;
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        facts.program_flag |= entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE);
        facts.has_own_name |= entry.d_tag == DT_SONAME;
    }
    return facts;
}

/* Programs that can be loaded anywhere are of the type of libraries. Linkers have marked them for
 * ten years; before, one was known by wanting a loader (as libc.so.6 does, which can be run) and
 * having no name to be linked by (which libc.so.6 has). */
static bool is_program(Elf *elf, const GElf_Ehdr *header, size_t file_size)
{
    struct dynamic_facts facts = {0};
    bool wants_loader = false;
    size_t count;
    if (header->e_type == ET_EXEC)
        return true;
    if (elf_getphdrnum(elf, &count) != 0 || count > file_size / sizeof(Elf64_Phdr))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment))
            continue;
        wants_loader |= segment.p_type == PT_INTERP;
        if (segment.p_type == PT_DYNAMIC)
            facts = read_dynamic(elf, &segment);
    }
    return facts.program_flag || (wants_loader && !facts.has_own_name);
}

static void read_elf(struct image_file *file, struct arena *memory)
{
    elf_version(EV_CURRENT);
    /* libelf does not write to the image of a little-endian file on a little-endian machine. */
    Elf *elf = elf_memory((char *)file->view.bytes, file->view.size);
    GElf_Ehdr header;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
        header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
        header.e_machine == EM_X86_64) {
        if (header.e_phnum == 0 && header.e_type == ET_DYN)
            read_sections(file, elf, memory);
        else
            read_segments(file, elf, memory);
        file->build_id = build_id_of_object(elf, file->view.size);
        file->program = is_program(elf, &header, file->view.size);
    }
    file->elf = file->segment_count > 0;
    elf_end(elf);
}

/* A JIT dump is a page or so and there can be more of them than the kernel allows mappings
 * (vm.max_map_count, 65,530): they are read instead of mapped. */
static bool read_jit_dump(struct image_file *file, struct arena *memory, struct error *error)
{
    size_t size;
    char *bytes = file_read(file->local_path, &size, error);
    if (!bytes)
        return false;
    file->view = (struct file_view){memcpy(arena_allocate(memory, size), bytes, size), size};
    free(bytes);
    return true;
}

bool image_file_open(struct image_file *file, struct arena *memory, struct error *error)
{
    bool ok = file->jit ? read_jit_dump(file, memory, error)
                        : file_map(&file->view, file->local_path, error);
    if (!ok)
        file->local_path = NULL;
    else if (file->view.size > 0)
        read_elf(file, memory);
    return ok;
}

void image_file_close(struct image_file *file)
{
    if (!file->jit)
        file_unmap(&file->view);
    if (file->memory)
        close(file->memory);
}

bool image_file_address(const struct image_file *file, uint64_t file_offset, uint64_t *address)
{
    /* Segments may overlap in the file (linkers put the tail of one and the head of the next on one
     * page, damaged files do as they please): code is asked for, so the executable one wins. */
    const struct image_segment *found = NULL;
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct image_segment *segment = &file->segments[i];
        if (file_offset >= segment->file_offset &&
            file_offset - segment->file_offset < segment->file_size &&
            (!found || (segment->executable && !found->executable)))
            found = segment;
    }
    if (found)
        *address = found->address + (file_offset - found->file_offset);
    return found != NULL;
}

const struct image_segment *image_file_segment(const struct image_file *file, uint64_t address)
{
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct image_segment *segment = &file->segments[i];
        if (address >= segment->address && address - segment->address < segment->memory_size)
            return segment;
    }
    return NULL;
}

bool image_file_offset(const struct image_file *file, uint64_t address, uint64_t *file_offset,
                       bool *executable)
{
    const struct image_segment *segment = image_file_segment(file, address);
    if (!segment || address - segment->address >= segment->file_size)
        return false;
    *file_offset = segment->file_offset + (address - segment->address);
    if (executable)
        *executable = segment->executable;
    return true;
}
