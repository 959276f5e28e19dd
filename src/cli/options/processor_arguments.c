#include "cli/options/processor_arguments.h"

#include "cli/options/callgraph_mode.h"
#include "cli/options/event_list.h"
#include "cli/options/options.h"
#include "cli/options/timer_resolution.h"
#include "recording/flags.h"

#include <stddef.h>
#include <stdlib.h>

static int set_scope(struct processor_options *options, const struct command *self,
                     enum trace_scope scope)
{
    if (options->scope != TRACE_USER && options->scope != scope)
        return command_usage_error(self, FLAG_INCLUDE_KERNEL " and " FLAG_KERNEL_ONLY
                                                             " exclude each other: give one.");
    options->scope = scope;
    return 0;
}

static int take_include_kernel(const struct option_spec *option, const struct command *self,
                               void *target, const char *value)
{
    return set_scope(target, self, TRACE_USER_AND_KERNEL);
}

static int take_kernel_only(const struct option_spec *option, const struct command *self,
                            void *target, const char *value)
{
    return set_scope(target, self, TRACE_KERNEL);
}

static int take_timer_resolution(const struct option_spec *option, const struct command *self,
                                 void *target, const char *value)
{
    struct processor_options *options = target;
    struct error error = {0};
    return timer_resolution_parse(&options->timer, value, &error)
               ? 0
               : command_usage_error(self, "%s", error.text);
}

static int take_callgraph_mode(const struct option_spec *option, const struct command *self,
                               void *target, const char *value)
{
    struct processor_options *options = target;
    if (callgraph_mode_parse(&options->callgraph, value))
        return 0;
    char *names = option_value_names(callgraph_mode_at);
    int status = command_usage_error(self, "-%s is %s, not `%s`.", option->name, names, value);
    free(names);
    return status;
}

static int take_events(const struct option_spec *option, const struct command *self, void *target,
                       const char *value)
{
    struct error error = {0};
    return event_list_parse(target, value, &error) ? 0
                                                   : command_usage_error(self, "%s", error.text);
}

const struct option_spec processor_option_specs[] = {
    {.name = &FLAG_SAMPLING[1],
     .help = "look at the stack many times a second instead of\nrecording every branch",
     .manual =
         "Look at the stack many times a second instead of recording every branch. Needs neither "
         "Intel PT nor an emulator; what happens between two samples is not seen. The stacks are "
         "sampled by the processor's cycles, or by the kernel's clock where the processor counts "
         "none for us. magic-trace-decode(1) says what a trace of samples shows.",
     .apply = option_set_flag,
     .field = offsetof(struct processor_options, sampling)},
    {.name = &FLAG_CALLGRAPH_MODE[1],
     .argument = "MODE",
     .help = "how -sampling finds the stack:",
     .manual = "How -sampling finds the stack. The default is `lbr` where the processor has it, "
               "else `dwarf`.",
     .values = callgraph_mode_at,
     .apply = take_callgraph_mode},
    {.name = &FLAG_TIMER_RESOLUTION[1],
     .argument = "RESOLUTION",
     .help = "Low, Normal or High, of Intel PT and of -sampling",
     .manual =
         "`Low`, `Normal` (default) or `High`. Of Intel PT: `Low` leaves the time to rare packets, "
         "`Normal` adds cycle counts to every packet that can have one (CYC), `High` also records "
         "the target of every return. Of -sampling: 1,000 samples per second, 10,000, and as many "
         "as /proc/sys/kernel/perf_event_max_sample_rate allows. `(Sample((freq N)))` is a number "
         "of samples per second; "
         "`(Custom((cyc true)(cyc_thresh 1)(mtc true)(mtc_period 3)(noretcomp true)(psb_period "
         "3)))` sets any of these fields of Intel PT and leaves the others to perf(1).",
     .apply = take_timer_resolution},
    {.name = &FLAG_INCLUDE_KERNEL[1],
     .help = "record what the kernel does for the program, too",
     .apply = take_include_kernel},
    {.name = &FLAG_KERNEL_ONLY[1],
     .help = "record only what the kernel does for the program",
     .apply = take_kernel_only},
    {.name = &FLAG_EVENTS[1],
     .argument = "LIST",
     .help = "show these events too: branch-misses, cache-misses,\npage-faults, context-switches, "
             "cpu-migrations",
     .manual =
         "Show these events too, on tracks of their own, beside Intel PT as with -sampling: "
         "`branch-misses` (every 50th), `cache-misses`, `page-faults`, `context-switches`, "
         "`cpu-migrations` (each), or some of them with commas between. "
         "`((when_to_sample (Period N))(name Cache_misses)(precision Zero_skid))` in place of a "
         "name says how many of them make a sample (or `(Frequency N)`, samples per second) and "
         "how close to the event the address must be: `Arbitrary_skid`, `Constant_skid`, "
         "`Request_zero_skid`, `Zero_skid`, `Maximum_possible`.",
     .apply = take_events},
    {0},
};

int processor_arguments_check(const struct processor_options *options, const struct command *self)
{
    if (options->callgraph != CALLGRAPH_DEFAULT && !options->sampling)
        return command_usage_error(self, "-callgraph-mode says how the stacks of samples are "
                                         "found: it needs -sampling.");
    if (options->timer.kind == TIMER_SAMPLE && !options->sampling)
        return command_usage_error(self, "-timer-resolution Sample is a number of samples per "
                                         "second: it needs -sampling.");
    if (options->timer.kind == TIMER_CUSTOM && options->sampling)
        return command_usage_error(self, "-timer-resolution Custom configures Intel PT, and "
                                         "-sampling does without it. Give (Sample((freq N))).");
    return 0;
}
