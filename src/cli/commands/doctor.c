/* magic-trace doctor: what this machine can do, what will be used, and what would make it better.
 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/commands/checked_program.h"
#include "cli/commands/hardware_check.h"
#include "cli/options/options.h"
#include "cli/recording_folder.h"
#include "engine/registry.h"
#include "process/debug_registers.h"
#include "recording/flags.h"
#include "recording/perf_script/perf_program.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_finding(const char *what, const char *finding)
{
    printf("%-17s %s\n", what, finding);
}

static void print_advice(const char *advice)
{
    if (*advice)
        printf("%-17s -> %s\n", "", advice);
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
    const struct engine *engine;
    for (size_t i = 0; (engine = engine_at(i)); i++) {
        struct engine_probe probe = {0};
        engine->probe(&probe);
        char what[64], finding[640];
        snprintf(what, sizeof what, "engine %s", engine->name);
        snprintf(finding, sizeof finding, "%s: %s", probe.available ? "works" : "does not work",
                 probe.why);
        print_finding(what, engine->description);
        print_finding("", finding);
        print_advice(probe.advice);
    }
}

/* Said only where they are missing: elsewhere it may be that it could not be tried. */
static void examine_breakpoints(void)
{
    if (debug_registers_fire())
        return;
    print_finding("breakpoints", DEBUG_REGISTERS_SILENT);
    print_advice("not to be had here: " FLAG_RECORD_FROM ", and " FLAG_TRIGGER
                 " of the engines pt, perf, sample and ptrace; " FLAG_TRIGGER
                 " of the translator and qemu needs none");
}

static bool can_write(const char *folder)
{
    return access(folder, W_OK | X_OK) == 0;
}

/* Where recordings lie while magic-trace works on them. False: nowhere, with the command that changes that. */
static bool examine_folder(char *command, size_t size)
{
    static const char *const others[] = {"/tmp", "/var/tmp", "/dev/shm"};
    const char *folder = recording_folder_parent();
    char finding[640];
    size_t i = 0;
    bool writable = can_write(folder);
    snprintf(finding, sizeof finding, "%s%s", folder, writable ? "" : " cannot be written to");
    print_finding("recordings", finding);
    while (i + 1 < sizeof others / sizeof *others && !can_write(others[i]))
        i++;
    snprintf(command, size, "export TMPDIR=%s", can_write(others[i]) ? others[i] : "FOLDER");
    if (!writable)
        print_advice(command);
    return writable;
}

/* A way of recording, and the engines that do it without the processor's own trace, the best first:
 * what they lack can be mended here. */
struct use {
    const char *command;
    enum engine_use use;
    struct record_options options;
    const char *engines[3]; /* NULL after the last */
};

static const struct use uses[] = {
    {"run", ENGINE_TO_RECORD, {0}, {"translator", "qemu"}},
    {"attach", ENGINE_TO_ATTACH, {0}, {"translator", "sample"}},
    {"attach -trigger", ENGINE_TO_ATTACH, {.triggered = true}, {"translator", "ptrace"}},
    {"run -sampling", ENGINE_TO_RECORD, {.processor.sampling = true}, {"sample"}},
};
enum { USES = sizeof uses / sizeof *uses };

/* The first words in backquotes of the advice of these engines; "" if it has none. */
static void find_command(const char *const *engines, char *command, size_t size)
{
    *command = 0;
    for (; *engines && !*command; engines++) {
        struct engine_probe probe = {0};
        engine_find(*engines)->probe(&probe);
        const char *start = probe.available ? NULL : strchr(probe.advice, '`');
        if (start)
            snprintf(command, size, "%.*s", (int)strcspn(start + 1, "`"), start + 1);
    }
}

/* What -engine auto takes. Else false, with the command that would change that; "" for none. */
static bool print_choice(const struct use *use, char *command, size_t size)
{
    struct engine_choice choice;
    if (engine_choose(&choice, "auto", use->use, &use->options, NULL)) {
        printf("`magic-trace %s` will use the %s engine, the best that works here.\n", use->command,
               choice.engine->name);
        return true;
    }
    printf("`magic-trace %s` does not work here.\n", use->command);
    find_command(use->engines, command, size);
    return false;
}

/* Whether anything can be recorded. `folder_command`: what makes a folder for recordings; NULL: there is one. */
static bool print_choices(const char *folder_command)
{
    char command[256] = "", first[256] = "";
    const char *lacking = NULL;
    bool works[USES];
    for (size_t i = 0; i < USES; i++) {
        works[i] = print_choice(&uses[i], command, sizeof command);
        if (works[i] || *first)
            continue;
        lacking = uses[i].command;
        memcpy(first, command, sizeof first);
    }
    putchar('\n');
    if (folder_command)
        printf("To have a folder for recordings: %s\n", folder_command);
    else if (!lacking)
        puts("All is well: nothing needs to be installed or set.");
    else if (*first)
        printf("To have `magic-trace %s`, too: %s\n", lacking, first);
    return works[0] || works[1];
}

static int examine(void)
{
    examine_processor();
    examine_engines();
    examine_breakpoints();
    examine_perf();
    char command[64];
    bool has_folder = examine_folder(command, sizeof command);
    putchar('\n');
    if (print_choices(has_folder ? NULL : command))
        return EXIT_SUCCESS;
    puts("Nothing can be recorded here until one of the engines above works.");
    return EXIT_STATUS_ERROR;
}

struct doctor_request {
    bool check;
    const char *engine;
    const char *work, *file; /* of checked_program() */
};

static const struct option_spec doctor_options[] = {
    {.name = "check-hardware",
     .help =
         "record a program whose calls are known, in every way\nthere is, and say what is right "
         "and what it costs",
     .manual = "Tests what the processor's own trace does on this machine: records a program whose "
               "calls are known, in every way there is, and prints a line for each: pass, fail or "
               "skip, and the figures (overhead, bytes per second, hits). Run it as root once, and "
               "without to see what users can do.",
     .apply = option_set_flag,
     .field = offsetof(struct doctor_request, check)},
    {.name = "engine",
     .argument = "NAME",
     .help = "with -check-hardware: of this engine; default: the\nbest that uses the processor's "
             "own trace",
     .manual = "With -check-hardware: checks this engine; without it, the best that uses the "
               "processor's own trace.",
     .apply = option_set_text,
     .field = offsetof(struct doctor_request, engine)},
    {.name = "check-program",
     .argument = "WORK",
     .apply = option_set_text,
     .field = offsetof(struct doctor_request, work)},
    {0},
};

static const struct option_group doctor_groups[] = {{doctor_options, 0}, {0}};

static int take_file(const struct command *self, void *context, const char *operand)
{
    struct doctor_request *request = context;
    if (!request->work || request->file)
        return command_usage_error(self, "doctor takes no operands, and there is `%s`.", operand);
    request->file = operand;
    return 0;
}

static int check_request(const struct command *self, const struct doctor_request *request)
{
    if (request->work && !request->file)
        return command_usage_error(self, "-check-program needs a file.");
    if (!request->check && request->engine)
        return command_usage_error(self, "-engine goes with -check-hardware.");
    return 0;
}

/* The best engine that uses the processor's own trace. */
static const char *hardware_engine(void)
{
    const struct engine *engine;
    for (size_t i = 0; (engine = engine_at(i)); i++)
        if (engine->is_hardware)
            return engine->name;
    return "auto";
}

static int run_doctor(const struct command *self, int argc, char **argv)
{
    struct doctor_request request = {0};
    int status = command_read_options(self, argc, argv, &request, take_file);
    if (status != COMMAND_GOES_ON || (status = check_request(self, &request)) != 0)
        return status;
    if (request.work)
        return checked_program(request.work, request.file);
    if (request.check)
        return hardware_check(request.engine ? request.engine : hardware_engine());
    return examine();
}

const struct command doctor_command = {
    .name = "doctor",
    .summary = "say what this machine can record with, and what to install",
    .operands = "",
    .description =
        "Examines this machine: which engines work, which one `magic-trace run` will use\n"
        "and why, and what to install or set to get a better one. The last line says that\n"
        "all is well, or names one command that makes more possible. Exits with 0 when\n"
        "something can be recorded, else with 1.\n"
        "\n"
        "With -check-hardware, tests what the processor's own trace does here: records a\n"
        "program whose calls are known, in every way there is, prints pass or fail with the\n"
        "figures, and exits with 0 when nothing failed. Takes some seconds.\n",
    .options = doctor_groups,
    .run = run_doctor,
};
