/* Handles 400 requests, one of which is slow for the reason that the first argument names: for
 * `magic-trace explain`. The function that is the reason carries the reason's name.
 *
 *     slow_calls REASON
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 400, SLOW = 271, WORK = 20 };

static volatile unsigned sink;

__attribute__((noinline)) static void step(unsigned amount)
{
    for (unsigned i = 0; i < amount; i++)
        sink += i;
}

__attribute__((noinline)) static void usual_work(void)
{
    for (int i = 0; i < WORK; i++)
        step(20);
}

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* ---- other work ---- */

static unsigned *table;
static unsigned table_size;

__attribute__((noinline)) static void move_entry(unsigned *to, unsigned i)
{
    to[i * 7 % (2 * table_size)] = table[i];
    step(10);
}

__attribute__((noinline)) static void rehash(void)
{
    unsigned *larger = calloc(2 * table_size, sizeof *larger);
    for (unsigned i = 0; i < table_size; i++)
        move_entry(larger, i);
    free(table);
    table = larger;
    table_size *= 2;
}

__attribute__((noinline)) static void insert(int is_slow)
{
    if (is_slow)
        rehash();
    table[sink % table_size] = sink;
}

static void request_rehash(int is_slow)
{
    insert(is_slow);
}

__attribute__((noinline)) static void extra_loop(int is_slow)
{
    unsigned turns = is_slow ? 4000 : 4;
    for (unsigned i = 0; i < turns; i++)
        step(50);
}

__attribute__((noinline)) static int attempt(int number, int needed)
{
    step(2000);
    return number >= needed;
}

static void request_retry(int is_slow)
{
    int number = 1;
    while (!attempt(number, is_slow ? 60 : 1))
        number++;
}

__attribute__((noinline)) static void mark_object(unsigned i)
{
    step(i % 64);
}

__attribute__((noinline)) static void sweep(void)
{
    step(3000);
}

__attribute__((noinline)) static void collect_garbage(void)
{
    for (unsigned i = 0; i < 5000; i++)
        mark_object(i);
    sweep();
}

__attribute__((noinline)) static void *allocate_object(int is_slow)
{
    if (is_slow)
        collect_garbage();
    return malloc(24);
}

static void request_gc(int is_slow)
{
    for (int i = 0; i < 10; i++)
        free(allocate_object(is_slow && i == 7));
}

static int is_initialised;

__attribute__((noinline)) static void initialise(void)
{
    for (int i = 0; i < 3000; i++)
        step(40);
    is_initialised = 1;
}

__attribute__((noinline)) static void look_up(int is_slow)
{
    if (is_slow && !is_initialised)
        initialise();
    step(30);
}

static void request_lazy(int is_slow)
{
    look_up(is_slow);
}

/* The same calls, but more turns of a loop that calls nothing. */
__attribute__((noinline)) static void scan_rows(unsigned rows)
{
    for (unsigned i = 0; i < rows; i++)
        sink ^= i * 7;
}

static void request_scan(int is_slow)
{
    scan_rows(is_slow ? 300000 : 200);
}

__attribute__((noinline)) static unsigned descend(unsigned depth)
{
    step(20);
    return depth == 0 ? 0 : 1 + descend(depth - 1);
}

static void request_recursion(int is_slow)
{
    sink += descend(is_slow ? 3000 : 5);
}

static int compare(const void *a, const void *b)
{
    return (*(const unsigned *)a > *(const unsigned *)b) -
           (*(const unsigned *)a < *(const unsigned *)b);
}

__attribute__((noinline)) static void sort_rows(unsigned count)
{
    unsigned *rows = malloc(count * sizeof *rows);
    for (unsigned i = 0; i < count; i++)
        rows[i] = i * 2654435761u % count;
    qsort(rows, count, sizeof *rows, compare);
    free(rows);
}

static void request_sort(int is_slow)
{
    sort_rows(is_slow ? 4000 : 12);
}

/* A slow one among many equal children, each of which is usually quick. */
__attribute__((noinline)) static void parse_field(unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        sink += i & 3;
}

__attribute__((noinline)) static void parse_line(int is_slow)
{
    for (int i = 0; i < 16; i++)
        parse_field(is_slow && i == 11 ? 200000 : 30);
}

static void request_field(int is_slow)
{
    for (int i = 0; i < 5; i++)
        parse_line(is_slow && i == 2);
}

/* Takes another way, which costs more, and leaves out the usual one. */
__attribute__((noinline)) static void answer_from_cache(void)
{
    step(400);
}

__attribute__((noinline)) static void answer_from_store(void)
{
    for (int i = 0; i < 500; i++)
        step(100);
}

static void request_miss(int is_slow)
{
    if (is_slow)
        answer_from_store();
    else
        answer_from_cache();
}

/* The same helper is called more often from several places. */
__attribute__((noinline)) static void check_permission(void)
{
    step(60);
}

__attribute__((noinline)) static void read_part(int times)
{
    for (int i = 0; i < times; i++)
        check_permission();
}

__attribute__((noinline)) static void write_part(int times)
{
    for (int i = 0; i < times; i++)
        check_permission();
}

static void request_checks(int is_slow)
{
    read_part(is_slow ? 900 : 3);
    write_part(is_slow ? 1100 : 3);
}

/* ---- waiting ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *hold_lock(void *argument)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&barrier);
    sleep_ms(300);
    pthread_mutex_unlock(&lock);
    return argument;
}

__attribute__((noinline)) static void update_account(void)
{
    pthread_mutex_lock(&lock);
    step(30);
    pthread_mutex_unlock(&lock);
}

static void request_lock(int is_slow)
{
    (void)is_slow;
    update_account();
}

__attribute__((noinline)) static void wait_for_answer(long ms)
{
    int ends[2];
    if (pipe(ends) < 0)
        return;
    if (fork() == 0) {
        sleep_ms(ms);
        _exit(write(ends[1], "x", 1) != 1);
    }
    char byte;
    while (read(ends[0], &byte, 1) < 0)
        continue;
    close(ends[0]);
    close(ends[1]);
    while (wait(NULL) < 0 && errno == EINTR)
        continue;
}

static void request_read(int is_slow)
{
    if (is_slow)
        wait_for_answer(300);
}

__attribute__((noinline)) static void back_off(long ms)
{
    sleep_ms(ms);
}

static void request_sleep(int is_slow)
{
    back_off(is_slow ? 300 : 0);
}

__attribute__((noinline)) static void flush_log(void)
{
    for (int i = 0; i < 3; i++)
        sleep_ms(100);
}

__attribute__((noinline)) static void write_log(int is_full)
{
    step(20);
    if (is_full)
        flush_log();
}

static void request_log(int is_slow)
{
    write_log(is_slow);
}

__attribute__((noinline)) static void on_alarm(int number)
{
    (void)number;
    for (int i = 0; i < 2000; i++)
        step(50);
}

static void request_signal(int is_slow)
{
    if (is_slow)
        raise(SIGUSR1);
}

/* The first call of a function of a library. */
static void request_binding(int is_slow)
{
    if (is_slow)
        sink += (unsigned)getppid();
}

/* ---- requests ---- */

static const struct {
    const char *reason;
    void (*handle)(int is_slow);
} requests[] = {
    {"rehash", request_rehash},           {"extra_loop", extra_loop},
    {"attempt", request_retry},           {"collect_garbage", request_gc},
    {"initialise", request_lazy},         {"scan_rows", request_scan},
    {"descend", request_recursion},       {"sort_rows", request_sort},
    {"parse_field", request_field},       {"answer_from_store", request_miss},
    {"check_permission", request_checks}, {"update_account", request_lock},
    {"wait_for_answer", request_read},    {"back_off", request_sleep},
    {"flush_log", request_log},           {"on_alarm", request_signal},
    {"_dl_fixup", request_binding},
};

__attribute__((noinline)) static void handle_request(void (*handle)(int), int is_slow)
{
    usual_work();
    handle(is_slow);
}

int main(int argc, char **argv)
{
    table_size = 2000;
    table = calloc(table_size, sizeof *table);
    signal(SIGUSR1, on_alarm);
    for (size_t which = 0; which < sizeof requests / sizeof *requests; which++) {
        if (argc < 2 || strcmp(requests[which].reason, argv[1]) != 0)
            continue;
        for (int i = 0; i < REQUESTS; i++) {
            pthread_t holder;
            int holds = i == SLOW && requests[which].handle == request_lock;
            if (holds) {
                pthread_barrier_init(&barrier, NULL, 2);
                pthread_create(&holder, NULL, hold_lock, NULL);
                pthread_barrier_wait(&barrier);
            }
            handle_request(requests[which].handle, i == SLOW);
            if (holds)
                pthread_join(holder, NULL);
        }
        return 0;
    }
    fprintf(stderr, "unknown reason\n");
    return 1;
}
