/* A program that writes the packets of what it does to the kernel module of tests/kernel.
 *
 *     digits [--threads N] [--rounds N] [--cycle N] [--psb BYTES] [--pace MICROSECONDS] [--inject
 * FILE] [--ready FILE]
 *
 * Each of N threads runs N rounds (1 and 1000), which digits_packets.h describes; --rounds 0: until
 * SIGTERM. Round --cycle (999) is followed by round 1. --ready: this file is made when all is
 * prepared, just before the threads begin. At the end a line per thread says `thread TID rounds N`:
 * how many it ran.
 */
#include "digits_packets.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RATIO_FILE "/sys/bus/event_source/devices/intel_pt/max_nonturbo_ratio"

enum { MOST_THREADS = 64 };

struct options {
    unsigned long threads, rounds, cycle, psb, pace;
    const char *inject, *ready;
};

struct player {
    pthread_t thread;
    struct play play;
    unsigned long rounds;
    long tid;
};

static volatile int32_t stop;

void play_rounds(struct play *play);

static void end_it(int signal)
{
    stop = 1;
}

static void fail(const char *what)
{
    fprintf(stderr, "digits: %s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned long number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == 0 || *end != 0) {
        fprintf(stderr, "digits: '%s' is not a number\n", text);
        exit(2);
    }
    return value;
}

static struct options read_options(int argc, char **argv)
{
    static const struct option names[] = {
        {"threads", required_argument, NULL, 't'}, {"rounds", required_argument, NULL, 'r'},
        {"cycle", required_argument, NULL, 'c'},   {"psb", required_argument, NULL, 'b'},
        {"pace", required_argument, NULL, 'p'},    {"inject", required_argument, NULL, 'i'},
        {"ready", required_argument, NULL, 'y'},   {0},
    };
    struct options options = {
        .threads = 1,
        .rounds = 1000,
        .cycle = 999,
        .psb = 1024,
        .inject = "/sys/kernel/debug/intel_pt_stand_in/inject",
    };
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 't':
            options.threads = number(optarg);
            break;
        case 'r':
            options.rounds = number(optarg);
            break;
        case 'c':
            options.cycle = number(optarg);
            break;
        case 'b':
            options.psb = number(optarg);
            break;
        case 'p':
            options.pace = number(optarg);
            break;
        case 'i':
            options.inject = optarg;
            break;
        case 'y':
            options.ready = optarg;
            break;
        default:
            exit(2);
        }
    }
    if (options.threads == 0 || options.threads > MOST_THREADS || options.cycle == 0) {
        fprintf(stderr, "digits: 1 to %d threads, and a cycle of at least 1\n", MOST_THREADS);
        exit(2);
    }
    return options;
}

static uint8_t read_bus_ratio(void)
{
    enum { WITHOUT_UNIT = 24 };
    unsigned ratio = WITHOUT_UNIT;
    FILE *file = fopen(RATIO_FILE, "r");
    if (!file)
        return WITHOUT_UNIT;
    if (fscanf(file, "%u", &ratio) != 1)
        ratio = WITHOUT_UNIT;
    fclose(file);
    return (uint8_t)ratio;
}

static void *thread_main(void *argument)
{
    struct player *player = argument;
    player->tid = syscall(SYS_gettid);
    player->play.remaining = player->rounds ? player->rounds : UINT64_MAX;
    uint64_t at_first = player->play.remaining;
    play_rounds(&player->play);
    /* The turn that sees `stop` does not count itself. */
    player->rounds = at_first - player->play.remaining + (stop && player->play.remaining ? 1 : 0);
    return NULL;
}

static void prepare(struct player *player, const struct options *options,
                    const struct timespec *pace)
{
    if (!play_prepare(&player->play, options->cycle, options->psb, read_bus_ratio(),
                      options->pace ? pace : NULL))
        fail("no memory");
    player->rounds = options->rounds;
    player->play.stop = &stop;
    player->play.file = open(options->inject, O_WRONLY | O_CLOEXEC);
    if (player->play.file < 0)
        fail(options->inject);
}

int main(int argc, char **argv)
{
    static struct player players[MOST_THREADS];
    struct options options = read_options(argc, argv);
    struct timespec pace = {options.pace / 1000000, (long)(options.pace % 1000000) * 1000};
    for (unsigned long i = 0; i < options.threads; i++)
        prepare(&players[i], &options, &pace);
    signal(SIGTERM, end_it);
    if (options.ready && close(open(options.ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) != 0)
        fail(options.ready);
    /* The first thread is this one: a program of one thread has one. */
    for (unsigned long i = 1; i < options.threads; i++)
        if (pthread_create(&players[i].thread, NULL, thread_main, &players[i]) != 0)
            fail("a thread");
    thread_main(&players[0]);
    for (unsigned long i = 1; i < options.threads; i++)
        pthread_join(players[i].thread, NULL);
    for (unsigned long i = 0; i < options.threads; i++) {
        printf("thread %ld rounds %lu\n", players[i].tid, players[i].rounds);
        play_free(&players[i].play);
    }
    return 0;
}
