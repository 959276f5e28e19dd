/* A child that goes on where its parent called fork or vfork, some calls deep.
 *
 *     child_callers fork|vfork
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) static void in_child(void)
{
    for (int i = 0; i < 1000; i++)
        sink += i;
}

__attribute__((noinline)) static int start_child(const char *how)
{
    int status = -1;
    pid_t child = strcmp(how, "vfork") == 0 ? vfork() : fork();
    if (child == 0) {
        in_child();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

__attribute__((noinline)) static int outer(const char *how)
{
    return start_child(how) + 1; /* no tail call */
}

int main(int argc, char **argv)
{
    return outer(argc > 1 ? argv[1] : "fork") - 1;
}
