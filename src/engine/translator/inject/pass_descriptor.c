#include "engine/translator/inject/pass_descriptor.h"

#include "process/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the process's memory. The byte is sent because a stream carries no descriptor without data. */
struct letter {
    int32_t sockets[2]; /* it receives by the first; we send by the second */
    char byte;
    struct iovec data;
    struct msghdr message;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

_Static_assert(sizeof(struct letter) <= PASS_DESCRIPTOR_MEMORY, "memory of the process");

static bool call(const struct descriptor_passing *passing, int64_t number,
                 const uint64_t arguments[6], struct error *error)
{
    int64_t result;
    if (!remote_call(passing->stub, passing->tid, passing->to, number, arguments, &result, error))
        return false;
    return result >= 0 || error_set_errno(error, ERROR_UNSUPPORTED, (int)-result,
                                          "it cannot be given the recording");
}

static bool read_letter(const struct descriptor_passing *passing, struct letter *letter,
                        struct error *error)
{
    return pread(passing->stub->memory, letter, sizeof *letter, (off_t)passing->memory) ==
               sizeof *letter ||
           error_set_errno(error, ERROR_IO, errno, "its memory cannot be read");
}

static bool make_sockets(const struct descriptor_passing *passing, struct letter *letter,
                         struct error *error)
{
    const uint64_t arguments[6] = {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
                                   passing->memory + offsetof(struct letter, sockets)};
    return call(passing, SYS_socketpair, arguments, error) && read_letter(passing, letter, error);
}

static void close_sockets(const struct descriptor_passing *passing, const struct letter *letter)
{
    for (size_t i = 0; i < 2; i++) {
        const uint64_t arguments[6] = {(uint64_t)letter->sockets[i]};
        call(passing, SYS_close, arguments, NULL);
    }
}

static bool send_through(int socket, int descriptor)
{
    struct letter letter = {0};
    letter.data = (struct iovec){&letter.byte, sizeof letter.byte};
    letter.message = (struct msghdr){.msg_iov = &letter.data,
                                     .msg_iovlen = 1,
                                     .msg_control = letter.control,
                                     .msg_controllen = sizeof letter.control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&letter.message);
    *rights = (struct cmsghdr){CMSG_LEN(sizeof descriptor), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    return sendmsg(socket, &letter.message, MSG_NOSIGNAL) == sizeof letter.byte;
}

static bool send_descriptor(const struct descriptor_passing *passing, int their_socket,
                            int descriptor, struct error *error)
{
    int process = pidfd_of(passing->stub->pid);
    int socket = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, their_socket, 0) : -1;
    bool sent = socket >= 0 && send_through(socket, descriptor);
    int reason = errno;
    if (socket >= 0)
        close(socket);
    if (process >= 0)
        close(process);
    return sent || error_set_errno(error, ERROR_UNSUPPORTED, reason,
                                   "it cannot open the recording, and giving it a descriptor "
                                   "(pidfd_getfd, Linux 5.6) fails");
}

static bool receive_descriptor(const struct descriptor_passing *passing, struct letter *letter,
                               int32_t *theirs, struct error *error)
{
    uint64_t memory = passing->memory;
    letter->data =
        (struct iovec){(void *)(memory + offsetof(struct letter, byte)), sizeof letter->byte};
    letter->message = (struct msghdr){
        .msg_iov = (void *)(memory + offsetof(struct letter, data)),
        .msg_iovlen = 1,
        .msg_control = (void *)(memory + offsetof(struct letter, control)),
        .msg_controllen = sizeof letter->control,
    };
    const uint64_t arguments[6] = {(uint64_t)letter->sockets[0],
                                   memory + offsetof(struct letter, message), MSG_CMSG_CLOEXEC};
    if (pwrite(passing->stub->memory, letter, sizeof *letter, (off_t)memory) != sizeof *letter)
        return error_set_errno(error, ERROR_IO, errno, "its memory cannot be written");
    if (!call(passing, SYS_recvmsg, arguments, error) || !read_letter(passing, letter, error))
        return false;
    const struct cmsghdr *rights = (const void *)letter->control;
    memcpy(theirs, CMSG_DATA(rights), sizeof *theirs);
    return (letter->message.msg_controllen >= sizeof *rights && rights->cmsg_type == SCM_RIGHTS) ||
           error_set(error, ERROR_UNSUPPORTED,
                     "it cannot be given the recording: it has no descriptors left");
}

bool pass_descriptor(const struct descriptor_passing *passing, int descriptor, int32_t *theirs,
                     struct error *error)
{
    struct letter letter;
    if (!make_sockets(passing, &letter, error))
        return false;
    bool passed = send_descriptor(passing, letter.sockets[1], descriptor, error) &&
                  receive_descriptor(passing, &letter, theirs, error);
    close_sockets(passing, &letter);
    return passed;
}

/* ---- at exec ---- */

/* Bytes below the stack pointer that the kernel has mapped for a new program and nothing uses yet. */
enum { BELOW_STACK = 1024 };

static bool pass_with(pid_t pid, int memory, int descriptor, int32_t *theirs, struct error *error)
{
    struct remote_return to;
    struct remote_stub stub;
    struct descriptor_passing passing = {.stub = &stub, .tid = pid, .to = &to};
    if (!remote_stub_place(&stub, pid, pid, memory, error) || !remote_end_exec(pid, &to, error))
        return false;
    passing.memory = (to.registers.rsp - BELOW_STACK) / 16 * 16;
    bool passed =
        remote_begin(&stub, &to, error) && pass_descriptor(&passing, descriptor, theirs, error);
    bool ended = remote_end(&stub, pid, &to, NULL);
    remote_stub_remove(&stub);
    const struct letter nothing = {0};
    return passed && ended &&
           pwrite(memory, &nothing, sizeof nothing, (off_t)passing.memory) == sizeof nothing;
}

bool pass_descriptor_at_exec(pid_t pid, int descriptor, int32_t *theirs, struct error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        return error_set_errno(error, ERROR_IO, errno, "its memory cannot be opened");
    bool passed = pass_with(pid, memory, descriptor, theirs, error);
    close(memory);
    return passed;
}
