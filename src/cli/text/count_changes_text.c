#include "cli/text/count_changes_text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BASELINE, RUN, SHOWN = 50 };

/* "+1.25 %", "new", "gone" */
static const char *print_change(char text[32], const uint64_t sides[2])
{
    double before = (double)sides[BASELINE], now = (double)sides[RUN];
    if (sides[BASELINE] == 0)
        snprintf(text, 32, "%s", sides[RUN] == 0 ? "+0.00 %" : "new");
    else if (sides[RUN] == 0)
        snprintf(text, 32, "gone");
    else
        snprintf(text, 32, "%+.2f %%", 100 * (now - before) / before);
    return text;
}

static void print_verdict(FILE *stream, const struct count_changes *changes)
{
    char change[32];
    if (changes->more > 0)
        fprintf(stream, "%zu function%s more than the baseline allows", changes->more,
                changes->more == 1 ? " needs" : "s need");
    else
        fputs("No function needs more than the baseline allows", stream);
    if (changes->less > 0)
        fprintf(stream, ", %zu need%s less", changes->less, changes->less == 1 ? "s" : "");
    fprintf(stream, ". All together: %" PRIu64 " instructions, %" PRIu64 " before (%s)",
            changes->instructions[RUN], changes->instructions[BASELINE],
            print_change(change, changes->instructions));
}

static size_t changes_that_count(const struct count_changes *changes)
{
    return changes->more + changes->less;
}

void count_changes_print(FILE *stream, const struct count_changes *changes)
{
    print_verdict(stream, changes);
    fputs(".\n", stream);
    size_t counted = changes_that_count(changes);
    if (counted > 0)
        fprintf(stream, "\n%14s %14s %10s %10s %10s  %s\n", "instructions", "before", "change",
                "calls", "before", "function (thread)");
    for (size_t i = 0; i < counted && i < SHOWN; i++) {
        const struct count_change *row = array_at(&changes->changes, i);
        char change[32];
        fprintf(stream, "%14" PRIu64 " %14" PRIu64 " %10s %10" PRIu64 " %10" PRIu64 "  %s (%s)\n",
                row->instructions[RUN], row->instructions[BASELINE],
                print_change(change, row->instructions), row->calls[RUN], row->calls[BASELINE],
                row->function, row->thread);
    }
    if (counted > SHOWN)
        fprintf(stream, "... and %zu more\n", counted - SHOWN);
}

/* Names hold what would be markup. */
static void print_code(FILE *stream, const char *name)
{
    fputs("<code>", stream);
    for (; *name; name++) {
        const char *escaped = *name == '<'   ? "&lt;"
                              : *name == '>' ? "&gt;"
                              : *name == '&' ? "&amp;"
                              : *name == '|' ? "&#124;"
                                             : NULL;
        if (escaped)
            fputs(escaped, stream);
        else
            fputc(*name, stream);
    }
    fputs("</code>", stream);
}

void count_changes_print_markdown(FILE *stream, const struct count_changes *changes)
{
    fputs("**", stream);
    print_verdict(stream, changes);
    fputs(".**\n", stream);
    size_t counted = changes_that_count(changes);
    if (counted > 0)
        fputs("\n| function | thread | instructions | before | change | calls | before |\n"
              "|---|---|--:|--:|--:|--:|--:|\n",
              stream);
    for (size_t i = 0; i < counted && i < SHOWN; i++) {
        const struct count_change *row = array_at(&changes->changes, i);
        char change[32];
        fputs("| ", stream);
        print_code(stream, row->function);
        fputs(" | ", stream);
        print_code(stream, row->thread);
        fprintf(stream, " | %" PRIu64 " | %" PRIu64 " | %s | %" PRIu64 " | %" PRIu64 " |\n",
                row->instructions[RUN], row->instructions[BASELINE],
                print_change(change, row->instructions), row->calls[RUN], row->calls[BASELINE]);
    }
    if (counted > SHOWN)
        fprintf(stream, "\n%zu more are not shown.\n", counted - SHOWN);
}
