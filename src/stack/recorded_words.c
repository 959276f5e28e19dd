#include "stack/recorded_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* `alias`: what older recordings call the engine. `has_clock`: -clock chooses among several. */
static const struct recorder {
    const char *engine, *alias;
    const char *words;
    bool has_clock;
} recorders[] = {
    {"translator", NULL,
     "Recorded by the translator: computing took longer than natively, some code more than other",
     true},
    {"qemu", "soft",
     "Recorded under emulation by qemu: computing took many times as long as natively, and some "
     "code far more than other",
     true},
    {"ptrace", "step",
     "Recorded by single steps: each instruction took thousands of times as long as natively",
     false},
    {"pt", NULL, "Recorded by Intel PT: times are native", false},
    {"perf", NULL, "Recorded by Intel PT with perf: times are native", false},
    {"sample", NULL, "Sampled: times are native, and as exact as samples are dense", false},
};

static const struct recorder *find_recorder(const char *engine)
{
    for (size_t i = 0; i < sizeof recorders / sizeof *recorders; i++)
        if (strcmp(engine, recorders[i].engine) == 0 ||
            (recorders[i].alias && strcmp(engine, recorders[i].alias) == 0))
            return &recorders[i];
    return NULL;
}

/* Samples show by themselves when a thread was not running. */
static bool knows_running(const struct session *session, bool has_switches)
{
    return has_switches || session->switches || strcmp(session->engine, "sample") == 0;
}

const char *recorded_words(struct arena *arena, const struct session *session, bool has_switches)
{
    const struct recorder *recorder = session->engine ? find_recorder(session->engine) : NULL;
    if (!recorder)
        return NULL;
    const char *clock = recorder->has_clock ? session->clock : NULL;
    bool counts = clock && strcmp(clock, "instructions") == 0;
    char text[384];
    if (counts)
        snprintf(text, sizeof text,
                 "Recorded with -engine %s and -clock instructions: a nanosecond is an instruction",
                 recorder->engine);
    else
        snprintf(text, sizeof text, "%s%s%s%s", recorder->words, clock ? "; clock: " : "",
                 clock ? clock : "",
                 knows_running(session, has_switches)
                     ? ""
                     : "; when threads were not running is unknown and counts as running");
    return arena_copy_string(arena, text);
}
