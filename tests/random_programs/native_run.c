#include "native_run.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

enum { SECONDS = 2, RUNS = 20, FAULTS = 2000 };

static pid_t start(const char *path, const char *output)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    struct rlimit limit = {SECONDS, SECONDS}, none = {0, 0};
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || setrlimit(RLIMIT_CPU, &limit) != 0 ||
        setrlimit(RLIMIT_CORE, &none) != 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        err(1, "%s", path);
    execl(path, path, (char *)NULL);
    err(1, "%s", path);
}

/* Length of the instruction at `rip` of the random part; 0: there is none. */
static size_t length_at(const struct program *program, uint64_t rip)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    uint64_t offset = rip - program->code.base;
    if (offset >= program->code.size)
        return 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, program->code.bytes + offset,
                                                    program->code.size - offset, &instruction)))
        return 0;
    return instruction.length;
}

/* In the process, too, which goes on. */
static bool replace_by_nops(struct program *program, pid_t child)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0)
        return false;
    size_t length = length_at(program, registers.rip);
    uint8_t *bytes = program->code.bytes + (registers.rip - program->code.base);
    if (length == 0)
        return false;
    memset(bytes, 0x90, length);
    uint64_t words[3];
    memcpy(words, bytes, sizeof words);
    for (unsigned i = 0; i < 2; i++)
        if (ptrace(PTRACE_POKETEXT, child, registers.rip + 8 * i, words[i]) != 0)
            return false;
    return true;
}

static bool is_fault(int number)
{
    return number == SIGILL || number == SIGSEGV || number == SIGBUS || number == SIGFPE;
}

static void stop(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* One run; its faults are counted. False: it has to be given up. */
static bool run(struct program *program, const char *path, const char *output, int *faults)
{
    int status;
    pid_t child = start(path, output);
    waitpid(child, &status, 0);
    while (!WIFEXITED(status)) {
        if (!WIFSTOPPED(status))
            return false;
        int number = WSTOPSIG(status);
        if (number != SIGTRAP &&
            (!is_fault(number) || ++*faults > FAULTS || !replace_by_nops(program, child))) {
            stop(child);
            return false;
        }
        if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0 || waitpid(child, &status, 0) < 0)
            err(1, "%s", path);
    }
    return WEXITSTATUS(status) == 0;
}

int native_run(struct program *program, const char *path, const char *output)
{
    int all = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        int faults = 0;
        program_write(program, path);
        if (!run(program, path, output, &faults))
            return -1;
        if (faults == 0)
            return all;
        all += faults;
    }
    return -1;
}
