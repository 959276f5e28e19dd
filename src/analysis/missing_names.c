#include "analysis/missing_names.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>

/* By how the program's name begins. */
static const struct runtime {
    const char *program, *remedy;
} runtimes[] = {
    {"node", "magic-trace run -jit-names, or node --perf-basic-prof"},
    {"java", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (Java 17 or later), or, "
             "before the recording of a running one ends, `jcmd PID Compiler.perfmap`"},
    {"python", "python 3.12 or later with magic-trace run -jit-names, or python -X perf"},
    {"dotnet", "magic-trace run -jit-names, or DOTNET_PerfMapEnabled=1"},
    {"beam", "erl +JPperf true, or ERL_FLAGS=\"+JPperf true\""},
    {"erl", "erl +JPperf true, or ERL_FLAGS=\"+JPperf true\""},
    {"ruby", "ruby 3.3 or later with --yjit --yjit-perf"},
    {"luajit", "a LuaJIT that was built with -DLUAJIT_USE_PERFTOOLS"},
    {"php", "php -d opcache.jit_debug=16"},
    {"qemu", "qemu 8.0 or later with -perfmap"},
    {"wasmtime", "wasmtime --profile=perfmap"},
    {"chrom", "--js-flags=--perf-basic-prof"},
};

static const char other_runtimes[] = "an option of the runtime that has it write /tmp/perf-PID.map";

const char *jit_names_remedy(const char *program)
{
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strncmp(program, runtimes[i].program, strlen(runtimes[i].program)) == 0)
            return runtimes[i].remedy;
    return other_runtimes;
}

/* The length of the object's name in "libfoo.so.1+0x3430"; 0: it is another name. */
static size_t object_name_length(const char *function)
{
    const char *plus = strrchr(function, '+');
    if (!plus || plus == function || strncmp(plus, "+0x", 3) != 0)
        return 0;
    const char *digits = plus + 3;
    size_t count = strspn(digits, "0123456789abcdef");
    return count > 0 && digits[count] == 0 ? (size_t)(plus - function) : 0;
}

char *missing_name_words(const char *function, const char *process)
{
    if (strcmp(function, "[JIT code]") == 0)
        return memory_format("Code of a JIT compiler. What gives its names: %s.",
                             jit_names_remedy(process));
    size_t length = object_name_length(function);
    if (length > 0)
        return memory_format("%.*s has no symbols. What gives its names: build it with them (not "
                             "stripped), install its debug symbols (of Debian: NAME-dbgsym or "
                             "NAME-dbg), or, where a "
                             "server has them, DEBUGINFOD_URLS=SERVER magic-trace decode.",
                             (int)length, function);
    return NULL;
}
