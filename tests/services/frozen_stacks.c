/* frozen_stacks PID...: the call stack of each thread of frozen processes (cgroup freezer), as elfutils' unwinder finds it.
 *
 * A line per thread: "TID PC RETURN-ADDRESS...", hexadecimal, the innermost caller first. A stack ends at the first
 * address that no unwinding rules (.eh_frame, .debug_frame) are for, such as code of a just-in-time compiler, and the line
 * with "?": from there the unwinder would guess by frame pointers. PC is after a SYSCALL instruction
 * that will be made again.
 *
 * eu-stack and gdb attach with a signal, which a frozen thread does not get; this seizes and interrupts. tests/services/stacks runs it
 * before magic-trace attaches, and compares. Exit status 0: every thread was read.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct frozen {
    Dwfl *dwfl;
    pid_t pid;
    int memory;      /* /proc/PID/mem */
    DIR *tasks;      /* /proc/PID/task */
    unsigned frames; /* of it, so far */
};

enum { DWARF_REGISTERS = 17 }; /* System V psABI, figure 3.36: the last one is the return address */

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
    struct frozen *frozen = argument;
    (void)dwfl;
    if (*thread == NULL)
        rewinddir(frozen->tasks);
    *thread = frozen;
    for (struct dirent *entry; (entry = readdir(frozen->tasks)) != NULL;)
        if (entry->d_name[0] != '.')
            return (pid_t)strtol(entry->d_name, NULL, 10);
    return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread)
{
    (void)dwfl;
    (void)tid;
    *thread = argument;
    return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *argument)
{
    struct frozen *frozen = argument;
    (void)dwfl;
    return pread(frozen->memory, word, sizeof *word, (off_t)address) == sizeof *word;
}

static bool read_registers(pid_t tid, struct user_regs_struct *registers)
{
    int status;
    if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0)
        return false;
    bool read = ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && waitpid(tid, &status, __WALL) == tid &&
                ptrace(PTRACE_GETREGS, tid, 0, registers) == 0;
    return ptrace(PTRACE_DETACH, tid, 0, 0) == 0 && read;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    struct user_regs_struct from;
    (void)argument;
    if (!read_registers(dwfl_thread_tid(thread), &from))
        return false;
    const Dwarf_Word registers[DWARF_REGISTERS] = {
        from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi, from.rbp, from.rsp, from.r8,
        from.r9,  from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.rip,
    };
    return dwfl_thread_state_registers(thread, 0, DWARF_REGISTERS, registers);
}

static bool has_rules(Dwfl *dwfl, Dwarf_Addr address)
{
    Dwarf_Addr bias;
    Dwarf_Frame *rules = NULL;
    Dwfl_Module *object = dwfl_addrmodule(dwfl, address);
    if (!object)
        return false;
    Dwarf_CFI *eh = dwfl_module_eh_cfi(object, &bias);
    bool found = eh && dwarf_cfi_addrframe(eh, address - bias, &rules) == 0;
    free(rules);
    if (found)
        return true;
    Dwarf_CFI *debug = dwfl_module_dwarf_cfi(object, &bias);
    rules = NULL;
    found = debug && dwarf_cfi_addrframe(debug, address - bias, &rules) == 0;
    free(rules);
    return found;
}

static int put_frame(Dwfl_Frame *frame, void *argument)
{
    struct frozen *frozen = argument;
    Dwarf_Addr pc;
    bool stands; /* it has not called */
    if (!dwfl_frame_pc(frame, &pc, &stands) || (pc == 0 && frozen->frames > 0))
        return DWARF_CB_ABORT;
    printf(" %" PRIx64, pc);
    frozen->frames++;
    if (has_rules(frozen->dwfl, stands ? pc : pc - 1))
        return DWARF_CB_OK;
    printf(" ?");
    return DWARF_CB_ABORT;
}

/* True when it goes on to the next one. */
static int put_thread(Dwfl_Thread *thread, void *argument)
{
    struct frozen *frozen = argument;
    frozen->frames = 0;
    printf("%d", (int)dwfl_thread_tid(thread));
    dwfl_thread_getframes(thread, put_frame, frozen); /* ends with an error where rules end */
    printf("\n");
    return frozen->frames > 0 ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static bool put_process(pid_t pid)
{
    static const Dwfl_Callbacks objects = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo};
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_memory,
                                                  .set_initial_registers = set_registers};
    char name[64];
    struct frozen frozen = {.dwfl = dwfl_begin(&objects), .pid = pid};
    snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
    frozen.memory = open(name, O_RDONLY);
    snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
    frozen.tasks = opendir(name);
    bool read = frozen.memory >= 0 && frozen.tasks &&
                dwfl_linux_proc_report(frozen.dwfl, pid) == 0 &&
                dwfl_report_end(frozen.dwfl, NULL, NULL) == 0 &&
                dwfl_attach_state(frozen.dwfl, NULL, pid, &threads, &frozen) &&
                dwfl_getthreads(frozen.dwfl, put_thread, &frozen) == 0;
    if (!read)
        fprintf(stderr, "frozen_stacks: process %d cannot be read: %s\n", (int)pid,
                dwfl_errmsg(-1));
    dwfl_end(frozen.dwfl);
    if (frozen.tasks)
        closedir(frozen.tasks);
    if (frozen.memory >= 0)
        close(frozen.memory);
    return read;
}

int main(int argc, char **argv)
{
    bool read = argc > 1;
    for (int i = 1; i < argc; i++)
        read &= put_process((pid_t)strtol(argv[i], NULL, 10));
    return read ? 0 : 1;
}
