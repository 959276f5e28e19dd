#include "engine/perf/perf_machine.h"

#include "base/file.h"
#include "base/helper_program.h"
#include "base/memory.h"
#include "perf_event/permissions.h"
#include "perf_event/pmu.h"
#include "recording/perf_script/perf_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool ask_version(struct perf_machine *machine, struct error *error)
{
    char *const arguments[] = {machine->perf, "--version", NULL};
    char *output = helper_program_output(arguments, true);
    bool ok = output && perf_version_parse(&machine->version, output);
    if (!ok)
        error_set(error, ERROR_UNSUPPORTED,
                  "%s does not run: its --version says `%.*s`. Install the perf of this kernel "
                  "(Debian: apt-get install linux-perf; Ubuntu: linux-tools-$(uname -r)), or name "
                  "another by MAGIC_TRACE_PERF_PATH.",
                  machine->perf, output ? (int)strcspn(output, "\n") : 0, output ? output : "");
    free(output);
    return ok;
}

/* Whether the kernel counts cycles for us, as perf would ask it to. */
static bool counts_cycles(const struct kernel *kernel)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_HW_CPU_CYCLES,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int event = kernel->open_event(kernel, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return errno == EACCES || errno == EPERM; /* it is there: perf will say what it needs */
    close(event);
    return true;
}

static uint64_t number_in(const struct kernel *kernel, const char *name)
{
    char *path = memory_format("%s/sys/kernel/%s", kernel->proc, name);
    char *text = file_read(path, NULL, NULL);
    uint64_t number = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    free(path);
    return number;
}

/* Call stacks of branch records are Intel's (pdcm); "branches" says how many a processor remembers,
 * and is missing where a virtual machine hides them. */
static bool remembers_branches(const struct kernel *kernel)
{
    struct pmu pmu;
    char *path = memory_format("%s/cpuinfo", kernel->proc);
    char *processors = file_read(path, NULL, NULL);
    bool intel = processors && strstr(processors, " pdcm");
    free(processors);
    free(path);
    return intel &&
           (pmu_open(&pmu, kernel, "cpu", NULL) || pmu_open(&pmu, kernel, "cpu_core", NULL)) &&
           pmu_capability(&pmu, "branches") > 0;
}

static void examine_processor(struct perf_machine *machine, const struct kernel *kernel)
{
    struct pmu pmu;
    machine->intel_pt = pmu_open(&pmu, kernel, "intel_pt", NULL);
    machine->cycle_packets = machine->intel_pt && pmu_capability(&pmu, "psb_cyc") == 1;
    machine->cycles = counts_cycles(kernel);
    machine->branch_stack = remembers_branches(kernel);
    machine->sample_rate = number_in(kernel, "perf_event_max_sample_rate");
}

bool perf_machine_examine(struct perf_machine *machine, const struct kernel *kernel,
                          struct error *error)
{
    *machine = (struct perf_machine){
        .perf = perf_program_find(),
        .privileged = event_privileged(kernel) || getenv("MAGIC_TRACE_PERF_IS_PRIVILEGED"),
        .no_kcore = getenv("MAGIC_TRACE_PERF_NO_KCORE") != NULL,
    };
    const char *named = getenv("MAGIC_TRACE_PERF_PATH");
    if (!machine->perf)
        return error_set(error, ERROR_NOT_FOUND,
                         "%s%s is not a program%s. Install perf (Debian: apt-get install "
                         "linux-perf; Ubuntu: linux-tools-$(uname -r)), or name it by "
                         "MAGIC_TRACE_PERF_PATH.",
                         named ? named : "perf", named ? ", named by MAGIC_TRACE_PERF_PATH," : "",
                         named ? "" : " in PATH");
    if (ask_version(machine, error)) {
        examine_processor(machine, kernel);
        return true;
    }
    perf_machine_free(machine);
    return false;
}

void perf_machine_free(struct perf_machine *machine)
{
    free(machine->perf);
    machine->perf = NULL;
}
