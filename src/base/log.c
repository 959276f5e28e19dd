#include "base/log.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Messages hold names that are not ours to choose. */
static void print_message(const char *before, const char *format, va_list arguments,
                          const char *after)
{
    char *text;
    log_progress_end();
    if (vasprintf(&text, format, arguments) < 0)
        return;
    char *escaped = printable_copy(text, PRINTABLE_TEXT);
    fprintf(stderr, "%s%s%s", before, escaped ? escaped : text, after);
    free(escaped);
    free(text);
}

void log_status(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message("[ ", format, arguments, " ]\n");
    va_end(arguments);
}

void log_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message("Warning: ", format, arguments, "\n");
    va_end(arguments);
}

/* There is one terminal per process, so its progress line is global state. */
static struct {
    const char *what;
    double began;
    double drawn; /* 0: not on the screen */
} progress;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void log_progress(const char *what, uint64_t done, uint64_t total)
{
    double now = seconds_now();
    if (progress.what != what) {
        log_progress_end();
        progress.what = what;
        progress.began = now;
    }
    if (now - progress.began < 1 || now - progress.drawn < 0.1 || !isatty(STDERR_FILENO))
        return;
    progress.drawn = now;
    if (total)
        fprintf(stderr, "\r\033[K%s... %3.0f%%", what, 100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r\033[K%s... %llu", what, (unsigned long long)done);
    fflush(stderr);
}

void log_progress_end(void)
{
    if (progress.drawn > 0)
        fputs("\r\033[K", stderr);
    progress.what = NULL;
    progress.drawn = 0;
}
