/* magic-trace doctor: what this machine can do, what will be used, and what would make it better.
 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/commands/checked_program.h"
#include "cli/commands/hardware_check.h"
#include "engine/registry.h"
#include "recording/perf_script/perf_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum doctor_option { DOCTOR_CHECK_HARDWARE, DOCTOR_ENGINE, DOCTOR_CHECK_PROGRAM };

static const struct option_spec doctor_options[] = {
    {"check-hardware", NULL, DOCTOR_CHECK_HARDWARE, NULL,
     "record a program whose calls are known, in every way\nthere is, and say what is right and "
     "what "
     "it costs",
     NULL},
    {"engine", NULL, DOCTOR_ENGINE, "NAME", "with -check-hardware: of this engine; default: pt",
     NULL},
    {"check-program", NULL, DOCTOR_CHECK_PROGRAM, "WORK", NULL, NULL},
    {0},
};

static void print_finding(const char *what, const char *finding)
{
    printf("%-14s %s\n", what, finding);
}

static void print_advice(const char *advice)
{
    if (*advice)
        printf("%-14s -> %s\n", "", advice);
}

/* The value of the first line "KEY : VALUE" of /proc/cpuinfo, copied into `value`; "" when there is
 * none. */
static void read_cpu_field(const char *cpuinfo, const char *key, char *value, size_t size)
{
    *value = 0;
    size_t length = strlen(key);
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0 || !strchr("\t :", line[length]))
            continue;
        const char *colon = strchr(line, ':');
        if (!colon)
            return;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        return;
    }
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

static void examine_processor(void)
{
    char *cpuinfo = file_read("/proc/cpuinfo", NULL, NULL);
    char model[128] = "unknown", flags[8192] = "";
    if (cpuinfo) {
        read_cpu_field(cpuinfo, "model name", model, sizeof model);
        read_cpu_field(cpuinfo, "flags", flags, sizeof flags);
    }
    free(cpuinfo);
    char finding[256];
    snprintf(finding, sizeof finding, "%s%s", model,
             has_word(flags, "hypervisor") ? " (a virtual machine)" : "");
    print_finding("processor", finding);

    if (access("/sys/bus/event_source/devices/intel_pt", F_OK) == 0)
        print_finding("Intel PT", "offered by the kernel");
    else if (has_word(flags, "intel_pt"))
        print_finding("Intel PT", "the processor has it, the kernel does not offer it; not needed");
    else
        print_finding("Intel PT", "not on this machine; not needed");
}

static void examine_perf(void)
{
    char *path = perf_program_find();
    print_finding("perf", path ? path : "not found; not needed");
    if (!path)
        print_advice("for `magic-trace decode -decoder perf`, and to look at recordings with `perf "
                     "script --itrace=bei -i DIR/perf.data`: apt-get install linux-perf");
    free(path);
}

static void examine_engines(void)
{
    for (const struct engine *const *engine = engine_all(); *engine; engine++) {
        struct engine_probe probe = {0};
        (*engine)->probe(&probe);
        char what[64], finding[640];
        snprintf(what, sizeof what, "engine %s", (*engine)->name);
        snprintf(finding, sizeof finding, "%s: %s", probe.available ? "works" : "does not work",
                 probe.why);
        print_finding(what, (*engine)->description);
        print_finding("", finding);
        print_advice(probe.advice);
    }
}

/* What -engine auto takes. */
static bool print_choice(const char *command, enum engine_use use,
                         const struct record_options *options)
{
    struct engine_choice choice;
    if (!engine_choose(&choice, "auto", use, options, NULL))
        return false;
    printf("`magic-trace %s` will use the %s engine, the best that works here.\n", command,
           choice.engine->name);
    return true;
}

static bool print_choices(void)
{
    const struct record_options tracing = {0}, triggered = {.triggered = true},
                                sampling = {.processor.sampling = true};
    bool recorded = print_choice("run", ENGINE_TO_RECORD, &tracing);
    bool attached = print_choice("attach", ENGINE_TO_ATTACH, &tracing);
    print_choice("attach -trigger", ENGINE_TO_ATTACH, &triggered);
    print_choice("run -sampling", ENGINE_TO_RECORD, &sampling);
    return recorded || attached;
}

static int examine(void)
{
    examine_processor();
    examine_engines();
    examine_perf();
    putchar('\n');
    if (print_choices())
        return 0;
    puts("Nothing can be recorded here until one of the engines above works.");
    return EXIT_STATUS_ERROR;
}

struct doctor_request {
    bool check;
    const char *engine;
    const char *work, *file; /* of checked_program() */
};

static int check_request(const struct command *self, const struct doctor_request *request,
                         const char *operand)
{
    if (request->work && !operand)
        return command_usage_error(self, "-check-program needs a file.");
    if (!request->work && operand)
        return command_usage_error(self, "doctor takes no operands, and there is `%s`.", operand);
    if (!request->check && request->engine)
        return command_usage_error(self, "-engine goes with -check-hardware.");
    return 0;
}

/* 0 with everything read, -1 after help, or the exit status after a message. */
static int read_options(const struct command *self, int argc, char **argv,
                        struct doctor_request *request)
{
    struct option_reader reader;
    option_reader_open(&reader, doctor_options, NULL, argc, argv);
    int option;
    while ((option = option_reader_next(&reader)) >= 0) {
        if (option == DOCTOR_CHECK_HARDWARE)
            request->check = true;
        else if (option == DOCTOR_ENGINE)
            request->engine = reader.value;
        else
            request->work = reader.value;
    }
    request->file = argv[reader.next];
    option_reader_close(&reader);
    if (option == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (option != OPTION_HELP)
        return check_request(self, request, request->file);
    command_print_help(self);
    return -1;
}

static int run_doctor(const struct command *self, int argc, char **argv)
{
    struct doctor_request request = {0};
    int status = read_options(self, argc, argv, &request);
    if (status)
        return status < 0 ? 0 : status;
    if (request.work)
        return checked_program(request.work, request.file);
    if (request.check)
        return hardware_check(request.engine ? request.engine : "pt");
    return examine();
}

const struct command doctor_command = {
    .name = "doctor",
    .summary = "say what this machine can record with, and what to install",
    .operands = "",
    .description =
        "Examines this machine: which engines work, which one `magic-trace run` will use\n"
        "and why, and what to install or set to get a better one. Exits with 0 when\n"
        "something can be recorded, else with 1.\n"
        "\n"
        "With -check-hardware, tests what the processor's own trace does here: records a\n"
        "program whose calls are known, in every way there is, prints pass or fail with the\n"
        "figures, and exits with 0 when nothing failed. Takes some seconds.\n",
    .options = doctor_options,
    .run = run_doctor,
};
