#include "symbol/demangle.h"

#include "base/memory.h"
#include "symbol/demangle_ocaml.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

/* ThinLTO adds ".llvm.HASH" to local names that it exports between modules. It does not help
 * readers, and the demanglers reject it. */
static size_t length_without_llvm_hash(const char *symbol)
{
    const char *suffix = strstr(symbol, ".llvm.");
    return suffix && strspn(suffix + 6, "0123456789") == strlen(suffix + 6)
               ? (size_t)(suffix - symbol)
               : strlen(symbol);
}

/* "__GI_" marks glibc's internal aliases (include/libc-symbols.h there); sometimes the linker keeps
 * only the alias. */
static const char *without_glibc_prefix(const char *symbol)
{
    static const char prefix[] = "__GI_";
    return starts_with(symbol, prefix) && symbol[strlen(prefix)] ? symbol + strlen(prefix) : symbol;
}

/* The prefix of a name shows its language; Rust's older scheme is C++'s with a hash at the end, so
 * it is tried first. */
static char *demangle_language(const char *symbol)
{
    enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
    char *name = NULL;
    if (starts_with(symbol, "_R") || starts_with(symbol, "_ZN"))
        name = rust_demangle(symbol, OPTIONS);
    if (!name && starts_with(symbol, "_Z"))
        name = cplus_demangle_v3(symbol, OPTIONS);
    if (!name && starts_with(symbol, "_D"))
        name = dlang_demangle(symbol, OPTIONS);
    if (!name)
        name = demangle_ocaml(symbol);
    return name;
}

char *demangle(const char *symbol)
{
    static const char plt[] = "@plt";
    size_t length = strlen(symbol);
    if (length > strlen(plt) && strcmp(symbol + length - strlen(plt), plt) == 0) {
        char *callee = memory_copy_string(symbol);
        callee[length - strlen(plt)] = 0;
        char *readable = demangle(callee);
        char *name = memory_format("%s%s", readable, plt);
        free(readable);
        free(callee);
        return name;
    }
    char *mangled = memory_copy_string(without_glibc_prefix(symbol));
    mangled[length_without_llvm_hash(mangled)] = 0;
    char *name = demangle_language(mangled);
    if (!name)
        return mangled;
    free(mangled);
    return name;
}
