"""Becomes a program in another root directory, as containers and chroots are made: enter_root.py HOW ROOT PROGRAM ARGUMENTS...

HOW is words with commas: `users` (in user, pid and mount namespaces of its own, where root is user 100000; what runs there is our child); `pivot` (the mount namespace,
which the caller has made, gets ROOT as its only file system) or `chroot`; then, if wanted, `proc` (mounts one), `read-only`,
`nobody` (as that user).
"""
import ctypes
import os
import pathlib
import sys

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = 155
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
FIRST_USER, USERS = 100000, 65536
NOBODY = 65534

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        sys.exit(f"enter_root: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind, flags):
    check(libc.mount(source and source.encode(), target.encode(), kind and kind.encode(), flags, None))


def become_users_root():
    """Goes on in a child."""
    read, write = os.pipe()
    first, mapper = os.getpid(), os.fork()
    if mapper == 0:
        os.close(write)
        if not os.read(read, 1):  # no namespace could be made
            os._exit(1)
        for name in ("uid_map", "gid_map"):
            pathlib.Path(f"/proc/{first}/{name}").write_text(f"0 {FIRST_USER} {USERS}")
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID))
    os.write(write, b"x")
    if os.waitpid(mapper, 0)[1] != 0:
        sys.exit("enter_root: no users can be mapped")
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    libc.prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    os.setgroups([])
    os.setgid(0)
    os.setuid(0)


def enter(how, root):
    if "users" in how:
        become_users_root()
    if "pivot" in how:
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        mount(root, root, None, MS_BIND)
        if "proc" in how:  # while another one can be seen, which users need
            mount("proc", root + "/proc", "proc", 0)
        os.chdir(root)
        check(libc.syscall(SYS_PIVOT_ROOT, b".", b"."))
        check(libc.umount2(b".", MNT_DETACH))
    else:
        if "proc" in how:
            mount("proc", root + "/proc", "proc", 0)
        os.chroot(root)
    os.chdir("/")
    if "read-only" in how:
        mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY)
    if "nobody" in how:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


if __name__ == "__main__":
    enter(sys.argv[1].split(","), sys.argv[2])
    os.execv(sys.argv[3], sys.argv[3:])
