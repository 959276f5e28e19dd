#include "engine/translator/inject/inject.h"

#include "base/child_wait.h"
#include "base/file.h"
#include "base/memory.h"
#include "engine/translator/inject/loader.h"
#include "process/processes.h"
#include "runtime/translator/places.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(offsetof(struct loader_parameters, size) == LOADER_SIZE, "loader.h");
_Static_assert(offsetof(struct loader_parameters, arena_hint) == LOADER_ARENA_HINT, "loader.h");
_Static_assert(offsetof(struct loader_parameters, arena_size) == LOADER_ARENA_SIZE, "loader.h");
_Static_assert(offsetof(struct loader_parameters, open_size) == LOADER_OPEN_SIZE, "loader.h");
_Static_assert(offsetof(struct loader_parameters, image_hint) == LOADER_IMAGE_HINT, "loader.h");
_Static_assert(offsetof(struct loader_parameters, memory_size) == LOADER_MEMORY_SIZE, "loader.h");
_Static_assert(offsetof(struct loader_parameters, file_size) == LOADER_FILE_SIZE, "loader.h");
_Static_assert(offsetof(struct loader_parameters, start_info) == LOADER_START_INFO, "loader.h");
_Static_assert(offsetof(struct loader_parameters, entry) == LOADER_ENTRY, "loader.h");
_Static_assert(offsetof(struct loader_parameters, arena_file) == LOADER_ARENA_FILE, "loader.h");
_Static_assert(offsetof(struct loader_parameters, start) == LOADER_START, "loader.h");
_Static_assert(offsetof(struct loader_parameters, path) == LOADER_PATH, "loader.h");
_Static_assert(sizeof(struct tr_start) == LOADER_START_SIZE, "loader.h");
_Static_assert(offsetof(struct tr_start, pc) == TR_START_PC, "loader.h");
_Static_assert(offsetof(struct tr_start, image) == TR_START_IMAGE, "loader.h");
_Static_assert(offsetof(struct tr_start, arena) == TR_START_ARENA, "loader.h");
_Static_assert(LOADER_IMAGE_OFFSET == TR_IMAGE_OFFSET, "loader.h");

/* Bytes between the program's stack pointer and the parameters: the loader's own stack, a word. */
enum { STACK_GAP = 64, PAGE = 4096, WORD = sizeof(long) };

/* ---- the vDSO ---- */

struct vdso {
    const Elf64_Ehdr *header; /* ours; NULL: none */
    uint64_t hole; /* offset of bytes, as many as the loader has, that are in no segment */
};

static uint64_t end_of_segments(const Elf64_Ehdr *header)
{
    const Elf64_Phdr *segments = (const void *)((const uint8_t *)header + header->e_phoff);
    uint64_t end = 0;
    for (size_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && end < segments[i].p_vaddr + segments[i].p_memsz)
            end = segments[i].p_vaddr + segments[i].p_memsz;
    return end;
}

/* Segments are what programs can see of the vDSO; after them there are section headers and zeros, up to the end of the
 * file's last page (arch/x86/entry/vdso/vdso2c.h of Linux). */
static struct vdso find_vdso(uint64_t size)
{
    struct vdso vdso = {.header = (const void *)getauxval(AT_SYSINFO_EHDR)};
    if (!vdso.header)
        return vdso;
    uint64_t used = end_of_segments(vdso.header);
    uint64_t end = vdso.header->e_shoff + (uint64_t)vdso.header->e_shnum * vdso.header->e_shentsize;
    end = ((end > used ? end : used) + PAGE - 1) / PAGE * PAGE;
    vdso.hole = (end - size) / 16 * 16;
    if (used == 0 || end < size || vdso.hole < used)
        vdso.header = NULL;
    return vdso;
}

static uint64_t loader_size(void)
{
    return (uint64_t)(loader_code_end - loader_code);
}

bool inject_possible(struct error *error)
{
    return find_vdso(loader_size()).header ||
           error_set(error, ERROR_UNSUPPORTED,
                     "the kernel's vDSO is missing, or has no room for the loader. Boot without "
                     "vdso=0.");
}

void inject_store_image(uint8_t *arena, const struct runtime_image *image)
{
    memcpy(arena + TR_IMAGE_OFFSET, image->bytes, image->size);
}

/* ---- the stopped process ---- */

static bool failed(int reason, const char *what, struct error *error)
{
    return error_set_errno(error, ERROR_IO, reason, "%s", what);
}

static bool get_registers(pid_t pid, struct user_regs_struct *registers, struct error *error)
{
    struct iovec where = {registers, sizeof *registers};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &where) != 0)
        return failed(errno, "its registers cannot be read", error);
    /* A 32-bit process has fewer. */
    return where.iov_len == sizeof *registers ||
           error_set(error, ERROR_UNSUPPORTED, "it is a 32-bit program");
}

/* By ptrace's own means: they may write to pages that the program may not. */
static bool write_words(pid_t pid, uint64_t address, const void *bytes, size_t size,
                        struct error *error)
{
    for (size_t done = 0; done < size; done += WORD) {
        long word = 0;
        memcpy(&word, (const char *)bytes + done, size - done < WORD ? size - done : WORD);
        if (ptrace(PTRACE_POKEDATA, pid, address + done, word) != 0)
            return failed(errno, "its memory cannot be written", error);
    }
    return true;
}

/* All 64-bit programs have the same vDSO. */
static bool has_our_vdso(pid_t pid, uint64_t address, const struct vdso *vdso)
{
    const long *ours = (const void *)vdso->header;
    for (size_t i = 0; i < sizeof *vdso->header / WORD; i++) {
        errno = 0;
        if (ptrace(PTRACE_PEEKDATA, pid, address + i * WORD, NULL) != ours[i] || errno)
            return false;
    }
    return true;
}

uint64_t inject_place_of(pid_t pid, uint64_t size)
{
    struct vdso vdso = find_vdso(size);
    uint64_t base = vdso.header ? process_auxiliary(pid, AT_SYSINFO_EHDR) : 0;
    return base ? base + vdso.hole : 0;
}

bool inject_find_place(pid_t pid, uint64_t size, uint64_t *address, struct error *error)
{
    struct vdso vdso = find_vdso(size);
    if (!vdso.header)
        return inject_possible(error);
    *address = inject_place_of(pid, size);
    return (*address && has_our_vdso(pid, *address - vdso.hole, &vdso)) ||
           error_set(error, ERROR_UNSUPPORTED,
                     "it has not the vDSO of 64-bit programs, or cannot be read");
}

/* ---- loading ---- */

static struct loader_parameters *make_parameters(const struct injection *injection, pid_t pid,
                                                 uint64_t entry)
{
    size_t size =
        (sizeof(struct loader_parameters) + strlen(injection->arena) + WORD) / WORD * WORD;
    struct loader_parameters *parameters = memory_allocate_zeroed(size);
    *parameters = (struct loader_parameters){
        .size = size,
        .arena_hint = TR_PLACE + TR_PLACE_ARENA,
        .arena_size = injection->arena_size,
        .open_size = injection->open_size,
        .image_hint = TR_PLACE,
        .memory_size = injection->image->memory,
        .file_size = injection->image->size,
        .start_info = injection->image->start_info,
        .entry = injection->image->entry,
        .arena_file = injection->arena_file,
        .start = injection->start,
    };
    parameters->start.pc = entry;
    parameters->start.image_size = injection->image->memory;
    strcpy(parameters->path, injection->arena);
    process_name(pid, parameters->start.name, sizeof parameters->start.name);
    return parameters;
}

/* The last step makes the program begin in the loader. */
static bool place_loader(pid_t pid, const struct injection *injection, struct error *error)
{
    struct user_regs_struct registers;
    uint64_t hole;
    if (!get_registers(pid, &registers, error) ||
        !inject_find_place(pid, loader_size(), &hole, error))
        return false;
    struct loader_parameters *parameters = make_parameters(injection, pid, registers.rip);
    uint64_t place = (registers.rsp - STACK_GAP - parameters->size) / 16 * 16;
    bool ok = write_words(pid, hole, loader_code, loader_size(), error) &&
              write_words(pid, place, parameters, parameters->size, error);
    free(parameters);
    registers.rip = hole;
    registers.rbx = place;
    return ok && (ptrace(PTRACE_SETREGS, pid, NULL, &registers) == 0 ||
                  failed(errno, "its registers cannot be written", error));
}

/* ---- what can be foreseen ---- */

/* In a chroot, or in another mount namespace, it is not there, or on a file system that is mounted to be read only: sandboxes and services
 * have all of theirs so. */
static bool finds_writable_arena(pid_t pid, const char *arena)
{
    struct stat ours, theirs;
    struct statvfs mount;
    char *path = memory_format("/proc/%d/root%s", (int)pid, arena);
    bool found = stat(path, &theirs) == 0 && stat(arena, &ours) == 0 &&
                 file_is_same(&ours, &theirs) && statvfs(path, &mount) == 0 &&
                 !(mount.f_flag & ST_RDONLY);
    free(path);
    return found;
}

/* The arena can be opened by its owner alone. */
static bool may_open_arena(pid_t pid, const char *arena)
{
    struct stat file;
    uid_t user;
    return stat(arena, &file) == 0 && process_user(pid, &user) &&
           (user == 0 || user == file.st_uid);
}

bool inject_can_open(pid_t pid, const char *arena, struct error *error)
{
    if (!finds_writable_arena(pid, arena))
        return error_set(error, ERROR_UNSUPPORTED,
                         "it runs in another root directory or mount namespace than the recording");
    return may_open_arena(pid, arena) ||
           error_set(error, ERROR_UNSUPPORTED,
                     "it runs as another user than the one that the recording belongs to");
}

bool inject_has_space(pid_t pid, uint64_t arena_size, struct error *error)
{
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur < arena_size)
        return error_set(error, ERROR_UNSUPPORTED,
                         "it has no address space for the recording (see ulimit -v)");
    return true;
}

bool inject(pid_t pid, const struct injection *injection, struct error *error)
{
    struct error unheard;
    if (!error)
        error = &unheard;
    return place_loader(pid, injection, error) && (ptrace(PTRACE_DETACH, pid, NULL, NULL) == 0 ||
                                                   failed(errno, "it cannot be continued", error));
}

/* ---- watching ---- */

/* The system calls of the loader that can fail, in its order. */
static const char *const calls[] = {
    "exec",
    "it cannot open the recording (openat)",
    "it has no address space for the recording (mmap; see ulimit -v)",
    "it may not have memory that is writable and executable (mmap)",
};
enum { CALLS = sizeof calls / sizeof *calls };

/* The kernel's internal error numbers (include/linux/errno.h): the call begins again after a signal. */
static bool is_restarted(int64_t result)
{
    enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };
    return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
}

/* Stops for system calls are in turn at the end of a call and at the beginning of the next: the first is at the end of the
 * exec. (PTRACE_GET_SYSCALL_INFO would say it, from Linux 5.3 on.) */
struct progress {
    int done; /* calls that have succeeded */
    bool in_call;
};

/* At a stop for a system call. */
static bool count_call(pid_t pid, struct progress *progress, struct error *error)
{
    enum { LARGEST_ERROR = 4095 };
    struct user_regs_struct registers;
    progress->in_call = !progress->in_call;
    if (progress->in_call ||
        !get_registers(pid, &registers, NULL)) /* it was killed: watch_loader finds out */
        return true;
    int64_t result = (int64_t)registers.rax;
    if (is_restarted(result))
        return true;
    if (result < 0 && result >= -LARGEST_ERROR)
        return failed((int)-result, calls[progress->done], error);
    progress->done++;
    return true;
}

/* A process that SIGSTOP has stopped is left alone: it loads the runtime when it is continued. */
static bool watch_loader(pid_t pid, struct error *error)
{
    long signal = 0;
    struct progress progress = {.in_call = true};
    while (progress.done < CALLS && ptrace(PTRACE_SYSCALL, pid, NULL, (void *)signal) == 0) {
        int status = child_wait(pid);
        if (status < 0)
            return failed(errno, "it cannot be waited for", error);
        if (!WIFSTOPPED(status))
            return error_set(error, ERROR_NOT_FOUND, "it was killed");
        bool called = WSTOPSIG(status) == (SIGTRAP | 0x80);
        signal = called || status >> 16 ? 0 : WSTOPSIG(status);
        if (!called && status >> 16)
            break;
        if (called && !count_call(pid, &progress, error))
            return false;
    }
    ptrace(PTRACE_DETACH, pid, NULL, (void *)signal);
    return true;
}

bool inject_watched(pid_t pid, const struct injection *injection, struct error *error)
{
    struct error unheard;
    if (!error)
        error = &unheard;
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0)
        return failed(errno, "it cannot be traced", error);
    return place_loader(pid, injection, error) && watch_loader(pid, error);
}
