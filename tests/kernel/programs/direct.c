/* Records itself with the stand-in for Intel PT, by perf_event_open alone, and compares what lies
 * in the ring with what it wrote: what the kernel and the module do, without perf or us between.
 *
 *     direct wraps      a ring of one page that is overwritten, wrapped at every offset modulo
 * 4096 direct fills      a ring of four pages that is read: it is full one byte before its end, and
 * goes on when read direct pause      packets between two breakpoints alone, by AUX pause and
 * resume
 *
 * Prints lines for tests/kernel/run: `ok` or `FAIL`, what, and why. Run in a folder that may be
 * written to.
 */
#include "digits_packets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNIT "/sys/bus/event_source/devices/intel_pt/"
#define KNOBS "/sys/kernel/debug/intel_pt_stand_in/"

enum {
    PAGE = 4096,
    LARGE_RING = 4 * PAGE,
    BASE_SIZE = 2 * PAGE, /* the control page, and a page of records */
    LAST_ROUND = 999,
    PSB_INTERVAL = 1024,
    TSC_PACKET = 0x19,
    TSC_MARK = 0xee,
    /* struct perf_event_attr.aux_action, which headers before Linux 6.13 call __reserved_3. */
    AUX_START_PAUSED = 1 << 0,
    AUX_PAUSE = 1 << 1,
    AUX_RESUME = 1 << 2,
    PT_AND_BRANCHES = 0x2401,
};

void play_rounds(struct play *play);
void hundred(void);
void fifty(void);

struct ring {
    uint64_t size; /* of aux, in bytes */
    int event;
    struct perf_event_mmap_page *page;
    const uint8_t *aux;
};

static volatile int32_t never_stop;

static bool say(bool good, const char *what, const char *format, unsigned long a, unsigned long b)
{
    printf("%s  %s", good ? "ok  " : "FAIL", what);
    if (!good) {
        printf(": ");
        printf(format, a, b);
    }
    printf("\n");
    fflush(stdout);
    return good;
}

static void die(const char *what)
{
    printf("FAIL  direct: %s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned read_number(const char *path)
{
    unsigned number = 0;
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%u", &number) != 1)
        die(path);
    fclose(file);
    return number;
}

static void set_knob(const char *path, unsigned value)
{
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%u\n", value) < 0 || fclose(file) != 0)
        die(path);
}

static struct perf_event_attr unit_attributes(void)
{
    return (struct perf_event_attr){
        .type = read_number(UNIT "type"),
        .size = sizeof(struct perf_event_attr),
        .config = PT_AND_BRANCHES,
        .disabled = 1,
        .exclude_kernel = 1,
    };
}

static int open_event(struct perf_event_attr *attributes, int group)
{
    return (int)syscall(SYS_perf_event_open, attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* A ring whose AUX area cannot be written to is overwritten. */
static struct ring open_ring(struct perf_event_attr *attributes, uint64_t size, bool overwrite)
{
    struct ring ring = {.size = size, .event = open_event(attributes, -1)};
    if (ring.event < 0)
        die("perf_event_open");
    ring.page = mmap(NULL, BASE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ring.event, 0);
    if (ring.page == MAP_FAILED)
        die("mmap of the records");
    ring.page->aux_offset = BASE_SIZE;
    ring.page->aux_size = size;
    ring.aux = mmap(NULL, size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
                    ring.event, BASE_SIZE);
    if (ring.aux == MAP_FAILED)
        die("mmap of the AUX area");
    return ring;
}

static void close_ring(struct ring *ring)
{
    munmap((void *)ring->aux, ring->size);
    munmap(ring->page, BASE_SIZE);
    close(ring->event);
}

static void enable(const struct ring *ring, bool on)
{
    if (ioctl(ring->event, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) != 0)
        die("ioctl");
}

/* Rounds 0 and on. */
static void play_from_start(struct play *play, uint64_t rounds)
{
    play->next = play->rounds;
    play->remaining = rounds;
    play_rounds(play);
}

static uint64_t packets_of_rounds(const struct play *play, uint64_t rounds)
{
    return (uint64_t)(play->rounds[rounds].packets - play->packets);
}

/* Whether `found` at stream position `at` can be what was written there: times were filled in. */
static bool is_written(const struct play *play, uint64_t at, uint8_t found)
{
    uint8_t written = play->packets[at];
    return written == found || written == TSC_MARK;
}

/* How many bytes of the ring, which holds the last bytes of `length`, are not what was
 * written there. `skip` bytes were written before. */
static unsigned long wrong_bytes(const struct play *play, const struct ring *ring, uint64_t length,
                                 uint64_t skip)
{
    unsigned long wrong = 0;
    for (uint64_t back = 1; back <= ring->size && back <= length; back++)
        wrong += !is_written(play, length - back, ring->aux[(skip + length - back) % ring->size]);
    return wrong;
}

static void test_wraps(struct play *play)
{
    enum { ROUNDS = 110 };
    struct perf_event_attr attributes = unit_attributes();
    uint64_t length = packets_of_rounds(play, ROUNDS);
    unsigned long bad_heads = 0, bad_rings = 0;
    say(length > PAGE, "there are more packets than the ring holds", "%lu of %lu", length, PAGE);
    for (unsigned skip = 0; skip < PAGE; skip++) {
        set_knob(KNOBS "skip", skip);
        struct ring ring = open_ring(&attributes, PAGE, true);
        enable(&ring, true);
        play_from_start(play, ROUNDS);
        enable(&ring, false);
        bad_heads += ring.page->aux_head != (skip + length) % PAGE;
        bad_rings += wrong_bytes(play, &ring, length, skip) != 0;
        close_ring(&ring);
    }
    set_knob(KNOBS "skip", 0);
    say(bad_heads == 0, "aux_head is where the next byte would go, at 4096 offsets",
        "%lu of %lu are wrong", bad_heads, PAGE);
    say(bad_rings == 0, "the ring holds the last packets, at 4096 offsets", "%lu of %lu are wrong",
        bad_rings, PAGE);
}

static void test_fills(struct play *play)
{
    enum { ROUNDS = 600, TRIES = 100 };
    struct perf_event_attr attributes = unit_attributes();
    struct ring ring = open_ring(&attributes, LARGE_RING, false);
    enable(&ring, true);
    play_from_start(play, ROUNDS);
    uint64_t full = ring.page->aux_head;
    say(full == LARGE_RING - 1, "a ring that is not read is full one byte before its end",
        "aux_head is %lu and not %lu", full, LARGE_RING - 1);
    say(wrong_bytes(play, &ring, full, 0) == 0, "it holds the first packets", "%lu%lu", 0, 0);
    __atomic_store_n(&ring.page->aux_tail, full, __ATOMIC_RELEASE);
    /* The kernel stops the event in an interrupt of its own, which may be yet to come, as our
     * recorder has to know (engine/pt/pt_recorder.c): then the event is enabled again. */
    for (int i = 0; i < TRIES && ring.page->aux_head == full; i++) {
        if (i > 0)
            usleep(1000);
        enable(&ring, true);
        play_from_start(play, 1);
        enable(&ring, false);
    }
    uint64_t more = packets_of_rounds(play, 1);
    say(ring.page->aux_head == full + more, "when it was read, it goes on", "aux_head: %lu, %lu",
        ring.page->aux_head, full + more);
    close_ring(&ring);
}

static int open_breakpoint(int group, void (*function)(void), unsigned action)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(attributes),
        .bp_type = HW_BREAKPOINT_X,
        .bp_addr = (uintptr_t)function,
        .bp_len = sizeof(long),
        .sample_period = 1,
        .exclude_kernel = 1,
        .__reserved_3 = (uint16_t)action,
    };
    return open_event(&attributes, group);
}

/* Rounds 50 to 99, 150 to 199 and so on are played while paused; `fifty` pauses, `hundred` resumes.
 * The packets of a round are written at its end. */
static uint64_t packets_while_resumed(const struct play *play, uint64_t rounds, uint8_t *packets)
{
    uint64_t length = 0;
    for (uint64_t number = 0; number < rounds; number++) {
        const struct played_round *played = &play->rounds[number];
        if (number % 100 >= 50)
            continue;
        memcpy(packets + length, played->packets, played->length);
        length += played->length;
    }
    return length;
}

static unsigned long differences(const uint8_t *written, const uint8_t *found, uint64_t length)
{
    unsigned long wrong = 0;
    for (uint64_t at = 0; at < length; at++)
        wrong += written[at] != found[at] && written[at] != TSC_MARK;
    return wrong;
}

static void compare_paused(const struct play *play, const struct ring *ring, uint64_t rounds)
{
    static uint8_t expected[LARGE_RING];
    uint64_t length = packets_while_resumed(play, rounds, expected);
    uint64_t head = ring->page->aux_head;
    if (say(head == length, "the ring holds what ran between the breakpoints",
            "%lu bytes and not %lu", head, length))
        say(differences(expected, ring->aux, length) == 0, "byte for byte", "%lu%lu", 0, 0);
}

static void test_pause(struct play *play)
{
    enum { ROUNDS = 260 };
    struct perf_event_attr attributes = unit_attributes();
    attributes.__reserved_3 = AUX_START_PAUSED;
    int event = open_event(&attributes, -1);
    if (event < 0) {
        printf("skip  AUX pause: this kernel has none (%s)\n", strerror(errno));
        return;
    }
    close(event);
    struct ring ring = open_ring(&attributes, LARGE_RING, false);
    int resume = open_breakpoint(ring.event, hundred, AUX_RESUME);
    int pause = open_breakpoint(ring.event, fifty, AUX_PAUSE);
    if (resume < 0 || pause < 0)
        die("a breakpoint that pauses");
    enable(&ring, true);
    play_from_start(play, ROUNDS);
    enable(&ring, false);
    compare_paused(play, &ring, ROUNDS);
    close(resume);
    close(pause);
    close_ring(&ring);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(struct play *play);
    } tests[] = {{"wraps", test_wraps}, {"fills", test_fills}, {"pause", test_pause}};
    struct play play;
    if (!play_prepare(&play, LAST_ROUND, PSB_INTERVAL,
                      (uint8_t)read_number(UNIT "max_nonturbo_ratio"), NULL))
        die("memory");
    play.stop = &never_stop;
    play.file = open(KNOBS "inject", O_WRONLY | O_CLOEXEC);
    if (play.file < 0)
        die(KNOBS "inject");
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (argc == 2 && strcmp(argv[1], tests[i].name) == 0) {
            tests[i].test(&play);
            play_free(&play);
            return 0;
        }
    fprintf(stderr, "direct: say wraps, fills or pause\n");
    return 2;
}
