/* A random program as an ELF file with two segments. */
#include "program.h"

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_all(int file, const void *bytes, size_t size, const char *path)
{
    if (write(file, bytes, size) != (ssize_t)size)
        err(1, "%s", path);
}

void program_write(const struct program *program, const char *path)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[2];
        uint8_t rest[PROGRAM_HEADERS_SIZE - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr)];
    } start = {0};
    uint64_t data_at = (PROGRAM_HEADERS_SIZE + program->code.size + 4095) & ~UINT64_C(4095);
    memcpy(start.header.e_ident, ELFMAG "\2\1\1", 7);
    start.header.e_type = ET_EXEC;
    start.header.e_machine = EM_X86_64;
    start.header.e_version = EV_CURRENT;
    start.header.e_entry = program->code.base;
    start.header.e_phoff = sizeof start.header;
    start.header.e_ehsize = sizeof start.header;
    start.header.e_phentsize = sizeof *start.segments;
    start.header.e_phnum = 2;
    uint64_t size = PROGRAM_HEADERS_SIZE + program->code.size;
    uint64_t address = program->code.base - PROGRAM_HEADERS_SIZE;
    start.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                     .p_flags = PF_R | PF_X,
                                     .p_vaddr = address,
                                     .p_paddr = address,
                                     .p_filesz = size,
                                     .p_memsz = size,
                                     .p_align = 4096};
    start.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                     .p_flags = PF_R | PF_W,
                                     .p_offset = data_at,
                                     .p_vaddr = program->data_address,
                                     .p_paddr = program->data_address,
                                     .p_filesz = sizeof program->data,
                                     .p_memsz = DATA_SIZE,
                                     .p_align = 4096};
    unlink(path); /* it may be running */
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (file < 0)
        err(1, "%s", path);
    write_all(file, &start, sizeof start, path);
    write_all(file, program->code.bytes, program->code.size, path);
    if (ftruncate(file, (off_t)data_at) != 0 || lseek(file, (off_t)data_at, SEEK_SET) < 0)
        err(1, "%s", path);
    write_all(file, program->data, sizeof program->data, path);
    close(file);
}
