#include "symbol/demangle/demangle.h"

#include "base/array.h"
#include "base/memory.h"
#include "symbol/demangle/demangle_d_bound.h"
#include "symbol/demangle/demangle_ocaml.h"
#include "symbol/demangle/demangle_rust_bound.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
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

/* ---- libiberty, within bounds ---- */

/* Mangled names refer back to parts of themselves, so 250 bytes can stand for gigabytes. */
enum { LONGEST_NAME = 64 << 10 };

struct bounded_name {
    struct array text; /* of char */
    jmp_buf too_long;
};

/* What libiberty prints next. Its printers cannot be stopped in another way; they hold no memory but
 * on the stack while they print. */
static void take_part(const char *part, size_t length, void *context)
{
    struct bounded_name *name = context;
    if (name->text.count + length > LONGEST_NAME)
        longjmp(name->too_long, 1);
    array_add_all(&name->text, part, length);
}

typedef int demangler(const char *symbol, int options, demangle_callbackref print, void *context);

static bool print_within_bounds(demangler *language, const char *symbol, struct bounded_name *name)
{
    return setjmp(name->too_long) == 0 &&
           language(symbol, DMGL_PARAMS | DMGL_ANSI, take_part, name) != 0;
}

/* NULL: it is no such symbol, or its readable name would be too long. */
static char *demangle_within_bounds(demangler *language, const char *symbol)
{
    struct bounded_name name = {.text = array_of(1)};
    if (print_within_bounds(language, symbol, &name) && name.text.count > 0) {
        *(char *)array_add(&name.text) = 0;
        return name.text.elements;
    }
    array_free(&name.text);
    return NULL;
}

/* The prefix of a name shows its language; Rust's older scheme is C++'s with a hash at the end, so
 * it is tried first. */
static char *demangle_language(const char *symbol)
{
    char *name = NULL;
    const bool is_rust = starts_with(symbol, "_R") || starts_with(symbol, "_ZN");
    if (is_rust && rust_symbol_lifetimes(symbol) <= LONGEST_NAME)
        name = demangle_within_bounds(rust_demangle_callback, symbol);
    if (!name && starts_with(symbol, "_Z"))
        name = demangle_within_bounds(cplus_demangle_v3_callback, symbol);
    if (!name && starts_with(symbol, "_D") && d_symbol_expanded_length(symbol) <= LONGEST_NAME)
        name = dlang_demangle(symbol, DMGL_PARAMS | DMGL_ANSI);
    if (!name)
        name = demangle_ocaml(symbol);
    return name;
}

/* Go's linker marks functions whose arguments are on the stack, to distinguish them from wrappers of
 * the same name. Go's own tools leave that out. Source: mangleABIName in cmd/link/internal/ld/symtab.go. */
static size_t length_without_go_abi(const char *symbol)
{
    static const char abi[] = ".abi0";
    size_t length = strlen(symbol), suffix = strlen(abi);
    return length > suffix && strcmp(symbol + length - suffix, abi) == 0 ? length - suffix : length;
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
    mangled[length_without_go_abi(mangled)] = 0;
    char *name = demangle_language(mangled);
    if (!name)
        return mangled;
    free(mangled);
    return name;
}
