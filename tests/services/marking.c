/* A library for LD_PRELOAD: where a program reads, writes and waits, the true call stack is written down.
 *
 * One call in MARKED_CALLS of these functions of the C library appends a line to the file $MARKING_FOLDER/TID: the return addresses of
 * all callers, hexadecimal, the innermost first, as _Unwind_Backtrace finds them; then it calls marking_marked, which a
 * trace shows. So the N-th line of a thread belongs to its N-th call of marking_marked. How often the thread has called that is in the
 * file TID.count, a 64-bit number: a thread that is stopped may have written a line whose call is still to come.
 *
 * tests/services/stacks loads it into servers; stack_judge compares.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

enum { MARKED_CALLS = 16, LINE_SIZE = 8192 };

struct marking {
    char line[LINE_SIZE];
    size_t length;
    unsigned skipped; /* innermost frames that are this library's */
};

static char folder[512]; /* servers clear their environment */
static __thread int marks_now;
static __thread unsigned calls_of_thread;

static __attribute__((constructor)) void find_folder(void)
{
    const char *named = getenv("MARKING_FOLDER");
    if (named)
        snprintf(folder, sizeof folder, "%s", named);
}

static __thread volatile uint64_t *marked; /* NULL: it cannot be counted */
static __thread long marked_thread;        /* another one after fork */

static void begin_count(long thread)
{
    char name[sizeof folder + 32];
    marked_thread = thread;
    marked = NULL;
    snprintf(name, sizeof name, "%s/%ld.count", folder, thread);
    int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (ftruncate(file, sizeof *marked) == 0) {
        void *count = mmap(NULL, sizeof *marked, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        marked = count == MAP_FAILED ? NULL : count;
    }
    close(file);
}

static __attribute__((noinline)) void marking_marked(void)
{
    if (marked)
        ++*marked;
}

static _Unwind_Reason_Code add_caller(struct _Unwind_Context *context, void *argument)
{
    struct marking *marking = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (address == 0 || LINE_SIZE - marking->length < 32)
        return _URC_END_OF_STACK;
    if (marking->skipped > 0)
        marking->skipped--;
    else
        marking->length +=
            (size_t)sprintf(marking->line + marking->length, "%lx ", (unsigned long)address);
    return _URC_NO_REASON;
}

static void put_line(const struct marking *marking)
{
    char name[sizeof folder + 32];
    if (!folder[0])
        return;
    snprintf(name, sizeof name, "%s/%ld", folder, syscall(SYS_gettid));
    int file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    syscall(SYS_write, file, marking->line, marking->length);
    close(file);
}

/* Its caller's callers are the line: that caller is the same function as the one from which marking_marked is called. */
static __attribute__((noinline)) void mark(void)
{
    if (marks_now || calls_of_thread++ % MARKED_CALLS != 0)
        return;
    struct marking marking = {.skipped = 1};
    marks_now = 1;
    long thread = syscall(SYS_gettid);
    if (marked_thread != thread)
        begin_count(thread);
    _Unwind_Backtrace(add_caller, &marking);
    marking.line[marking.length++] = '\n';
    put_line(&marking);
    marking_marked();
    marks_now = 0;
}

/* Takes the place of the C library's function, whose arguments are all in registers for integers (System V psABI, 3.2.3). */
#define MARKED(name)                                                                               \
    __attribute__((visibility("default"))) long marked_##name(                                     \
        long first, long second, long third, long fourth, long fifth) __asm__(#name);              \
    long marked_##name(long first, long second, long third, long fourth, long fifth)               \
    {                                                                                              \
        static long (*real)(long, long, long, long, long);                                         \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        mark();                                                                                    \
        return real(first, second, third, fourth, fifth);                                          \
    }

MARKED(read)
MARKED(write)
MARKED(readv)
MARKED(writev)
MARKED(recv)
MARKED(send)
MARKED(sendmsg)
MARKED(recvmsg)
MARKED(poll)
MARKED(epoll_wait)
MARKED(epoll_pwait)
