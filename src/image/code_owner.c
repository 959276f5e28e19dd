#include "image/code_owner.h"

#include <string.h>

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Names in brackets that stand for memory of the process; any other is the kernel's: itself or, in
 * perf's text, one of its modules. */
static enum code_owner owner_of_bracketed(const char *name)
{
    static const char *const of_process[] = {"[heap]",    "[stack", "[anon",
                                             "[unknown]", "[JIT]",  "[uprobes]"};
    if (begins_with(name, "[vdso]") || begins_with(name, "[vsyscall]"))
        return CODE_OF_LIBRARY;
    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        if (begins_with(name, of_process[i]))
            return CODE_OF_PROGRAM;
    return CODE_OF_KERNEL;
}

/* Whether `extension` is followed by nothing, or by one more extension, as in "libm.so.6" and
 * "nfs.ko.xz". */
static bool has_extension(const char *name, const char *extension)
{
    size_t length = strlen(extension);
    for (const char *at = name; (at = strstr(at, extension)); at++)
        if (at != name && (at[length] == 0 || at[length] == '.' || at[length] == ' '))
            return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* perf inject --jit puts each function into an object of this name. */
static bool is_jitted(const char *path)
{
    return begins_with(base_name(path), "jitted-");
}

enum code_owner code_owner_of_path(const char *path)
{
    if (!path)
        return CODE_OF_PROGRAM;
    if (*path == '[')
        return owner_of_bracketed(path);
    const char *name = base_name(path);
    if (begins_with(name, "vmlinux") || has_extension(name, ".ko"))
        return CODE_OF_KERNEL;
    return has_extension(name, ".so") && !is_jitted(path) ? CODE_OF_LIBRARY : CODE_OF_PROGRAM;
}

enum code_owner code_owner_of_file(const struct image_file *file)
{
    enum code_owner by_name = code_owner_of_path(file->path);
    if (!file->elf || file->jit || is_jitted(file->path) || by_name == CODE_OF_KERNEL)
        return by_name;
    return file->program ? CODE_OF_PROGRAM : CODE_OF_LIBRARY;
}
