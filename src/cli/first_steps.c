#include "cli/first_steps.h"

#include <stdio.h>
#include <unistd.h>

#define TRACE "trace.fxt.gz" /* as `run` and `decode` call it */

struct first_step {
    const char *command, *what;
};

static const struct first_step with_trace[] = {
    {"view " TRACE, "show the trace that is here in the browser"},
    {"report " TRACE, "and in the terminal: where its time went"},
};

static const struct first_step usual[] = {
    {"run ./program", "trace a program; its calls are then in " TRACE},
    {"run -trigger FUNCTION ./program", "what led up to the first call of a function"},
    {"attach -pid PID", "what a process does that runs already"},
    {"doctor", "what works on this machine"},
    {"help", "all commands"},
};

static void print_steps(const struct first_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("  magic-trace %-33s %s\n", steps[i].command, steps[i].what);
}

void first_steps_print(void)
{
    puts("magic-trace records every branch that a program takes, and shows its calls.\n");
    if (access(TRACE, R_OK) == 0)
        print_steps(with_trace, sizeof with_trace / sizeof *with_trace);
    print_steps(usual, sizeof usual / sizeof *usual);
}
