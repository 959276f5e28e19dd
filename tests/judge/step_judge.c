/* The branches that a program takes, as single-stepping sees them: the judge of what an engine recorded.
 *
 *   step_judge OUTPUT COMMAND [ARGUMENT ...]
 *
 * Runs COMMAND without address space randomization and writes to OUTPUT, a line each, from where to where every branch
 * led that its first thread took, in hexadecimal digits, as `magic-trace dump -branches` has them after the thread's
 * number. What system calls and signals lead to is not listed. Conditional jumps to the next instruction count as
 * not taken. Exit status: COMMAND's; 128 + N when signal N ended it.
 */
#include "x86/decode.h"

#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRAP = 1 << 8 };

/* An instruction that is about to run. */
struct place {
    uint64_t pc;
    struct x86_instruction instruction;
    uint8_t bytes[X86_LONGEST_INSTRUCTION];
};

struct stepping {
    pid_t child;
    FILE *output;
    struct place place;
};

static void start(char **command)
{
    if (personality(ADDR_NO_RANDOMIZE) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        err(1, "%s", command[0]);
    execvp(command[0], command);
    err(1, "%s", command[0]);
}

static const struct place *place_at(struct stepping *stepping, uint64_t pc)
{
    struct place *place = &stepping->place;
    struct iovec local = {place->bytes, sizeof place->bytes};
    struct iovec remote = {(void *)pc, sizeof place->bytes};
    ssize_t size = process_vm_readv(stepping->child, &local, 1, &remote, 1, 0);
    if (size < 0) { /* the page's last instruction */
        remote.iov_len = 4096 - pc % 4096;
        size = process_vm_readv(stepping->child, &local, 1, &remote, 1, 0);
    }
    if (size <= 0 || !x86_decode(&place->instruction, place->bytes, (size_t)size, pc, X86_MODE_64))
        place->instruction = (struct x86_instruction){.flow = X86_SEQUENTIAL, .length = 1};
    place->pc = pc;
    return place;
}

/* The opcode's place: prefixes before it do not matter here. */
static unsigned opcode_at(const uint8_t *bytes)
{
    unsigned at = 0;
    while (at < X86_LONGEST_INSTRUCTION - 2 &&
           ((bytes[at] & 0xf0) == 0x40 ||
            strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", bytes[at])))
        at++;
    return at;
}

static bool is_branch(const struct place *place, uint64_t pc)
{
    switch (place->instruction.flow) {
    case X86_CONDITIONAL:
        return pc != place->pc + place->instruction.length;
    case X86_JUMP:
    case X86_CALL:
    case X86_INDIRECT_JUMP:
    case X86_INDIRECT_CALL:
    case X86_RETURN:
        return true;
    default:
        return false;
    }
}

/* What the program could see of the trap flag: flags that it pushed, or that SYSCALL put into r11. */
static void hide_trap_flag(const struct stepping *stepping, const struct place *place,
                           struct user_regs_struct *registers)
{
    const uint8_t *bytes = place->bytes + opcode_at(place->bytes);
    if (bytes[0] == 0x9c) {
        long pushed = ptrace(PTRACE_PEEKDATA, stepping->child, registers->rsp, NULL);
        ptrace(PTRACE_POKEDATA, stepping->child, registers->rsp, pushed & ~(long)TRAP);
    } else if (bytes[0] == 0x0f && bytes[1] == 0x05 && registers->r11 & TRAP) {
        registers->r11 &= ~(uint64_t)TRAP;
        ptrace(PTRACE_SETREGS, stepping->child, NULL, registers);
    }
}

static int step_to_end(struct stepping *stepping)
{
    int status, deliver = 0;
    struct user_regs_struct after;
    waitpid(stepping->child, &status, 0);
    ptrace(PTRACE_GETREGS, stepping->child, NULL, &after);
    for (;;) {
        const struct place *place = place_at(stepping, after.rip);
        bool signalled = deliver != 0;
        if (ptrace(PTRACE_SINGLESTEP, stepping->child, NULL, deliver) != 0 ||
            waitpid(stepping->child, &status, 0) < 0)
            err(1, "process %d", stepping->child);
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        if (WIFSIGNALED(status))
            return 128 + WTERMSIG(status);
        deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        ptrace(PTRACE_GETREGS, stepping->child, NULL, &after);
        if (deliver || signalled)
            continue;
        hide_trap_flag(stepping, place, &after);
        if (is_branch(place, after.rip))
            fprintf(stepping->output, "%lx %llx\n", place->pc, after.rip);
    }
}

/* One processor for both: a step is two switches between them. */
static void use_one_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
    static struct stepping stepping;
    if (argc < 3)
        errx(2, "usage: step_judge OUTPUT COMMAND [ARGUMENT ...]");
    use_one_processor();
    stepping.output = fopen(argv[1], "we");
    if (!stepping.output)
        err(1, "%s", argv[1]);
    stepping.child = fork();
    if (stepping.child == 0)
        start(argv + 2);
    int status = step_to_end(&stepping);
    if (fclose(stepping.output) != 0)
        err(1, "%s", argv[1]);
    return status;
}
