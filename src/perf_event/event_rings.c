#include "perf_event/event_rings.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool event_rings_begin(struct event_rings *rings, const struct kernel *kernel,
                       const struct perf_event_attr *attributes, const struct array *processors,
                       uint64_t size, struct error *error)
{
    *rings = (struct event_rings){
        .kernel = kernel,
        .attributes = *attributes,
        .processors = processors,
        .size = size,
        .rings = array_of(sizeof(struct event_ring)),
        .descriptor = epoll_create1(EPOLL_CLOEXEC),
    };
    return rings->descriptor >= 0 ||
           error_set_errno(error, ERROR_IO, errno, "cannot wait for the kernel's records (epoll)");
}

void event_rings_close(struct event_rings *rings)
{
    for (size_t i = 0; i < rings->rings.count; i++) {
        struct event_ring *ring = event_ring_at(rings, i);
        perf_ring_close(&ring->records);
        for (size_t j = 0; j < ring->events.count; j++)
            close(ring_event_at(ring, j)->descriptor);
        array_free(&ring->events);
    }
    array_free(&rings->rings);
    if (rings->kernel && rings->descriptor >= 0)
        close(rings->descriptor);
    rings->descriptor = -1;
    file_limit_restore(&rings->file_limit);
}

/* ---- epoll ---- */

/* Edge-triggered: the descriptor of a thread that has ended stays ready for ever. */
static void listen_to(const struct event_rings *rings, const struct event_ring *ring, int operation)
{
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLET,
        .data.u64 = (uint64_t)(ring - (struct event_ring *)rings->rings.elements),
    };
    if (ring->listener < ring->events.count)
        epoll_ctl(rings->descriptor, operation, ring_event_at(ring, ring->listener)->descriptor,
                  &event);
}

/* A ring's wakeups go to all events that write into it. When the thread of one has ended, epoll
 * waits for the next. */
static void listen_to_next(const struct event_rings *rings, struct event_ring *ring)
{
    listen_to(rings, ring, EPOLL_CTL_DEL);
    ring->listener++;
    listen_to(rings, ring, EPOLL_CTL_ADD);
}

void event_rings_handle(struct event_rings *rings)
{
    enum { AT_ONCE = 64 };
    struct epoll_event events[AT_ONCE];
    int count;
    do {
        count = epoll_wait(rings->descriptor, events, AT_ONCE, 0);
        for (int i = 0; i < count; i++)
            if (events[i].events & (EPOLLHUP | EPOLLERR))
                listen_to_next(rings, event_ring_at(rings, events[i].data.u64));
    } while (count == AT_ONCE);
}

/* ---- opening ---- */

static struct event_ring *find_ring(const struct event_rings *rings, uint32_t tid, uint32_t cpu)
{
    for (size_t i = 0; i < rings->rings.count; i++) {
        struct event_ring *ring = event_ring_at(rings, i);
        if (ring->tid == tid && ring->cpu == cpu)
            return ring;
    }
    return NULL;
}

/* Has the event write into the ring, which is mapped if it is the first. 0 or an errno. */
static int join_ring(struct event_rings *rings, struct ring_event joined, uint32_t tid,
                     uint32_t cpu)
{
    const struct kernel *kernel = rings->kernel;
    int event = joined.descriptor;
    if (kernel->control(kernel, event, PERF_EVENT_IOC_ID, (unsigned long)&joined.id) != 0)
        return errno;
    struct event_ring *ring = find_ring(rings, tid, cpu);
    if (ring) {
        int owner = ring_event_at(ring, 0)->descriptor;
        if (kernel->control(kernel, event, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)owner) != 0)
            return errno;
        array_add_all(&ring->events, &joined, 1);
        if (ring->listener == ring->events.count - 1)
            listen_to(rings, ring, EPOLL_CTL_ADD);
        return 0;
    }
    struct perf_ring records;
    errno = 0;
    rings->unmapped = !perf_ring_open(&records, kernel, event, rings->size,
                                      rings->attributes.write_backward, NULL);
    if (rings->unmapped)
        return errno ? errno : ENOMEM;
    ring = array_add(&rings->rings);
    *ring = (struct event_ring){
        .records = records, .tid = tid, .cpu = cpu, .events = array_of(sizeof joined)};
    array_add_all(&ring->events, &joined, 1);
    listen_to(rings, ring, EPOLL_CTL_ADD);
    return 0;
}

static int open_on(struct event_rings *rings, pid_t tid, int cpu)
{
    const struct kernel *kernel = rings->kernel;
    int event;
    do
        event = kernel->open_event(kernel, &rings->attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    while (event < 0 && errno == EMFILE && file_limit_raise(&rings->file_limit));
    if (event < 0)
        return errno;
    bool per_thread = !rings->processors;
    int problem =
        join_ring(rings, (struct ring_event){event, tid, 0, rings->kind},
                  per_thread ? (uint32_t)tid : UINT32_MAX, per_thread ? UINT32_MAX : (uint32_t)cpu);
    if (problem)
        close(event);
    return problem;
}

int event_rings_add_thread(struct event_rings *rings, pid_t tid)
{
    rings->unmapped = false;
    if (!rings->processors)
        return open_on(rings, tid, -1);
    for (size_t i = 0; i < rings->processors->count; i++) {
        int problem = open_on(rings, tid, *(int *)array_at(rings->processors, i));
        /* A processor that was just switched off runs nothing. */
        if (problem && problem != ENODEV)
            return problem;
    }
    return rings->rings.count ? 0 : ENODEV;
}

int event_rings_add_fitting(struct event_rings *rings, pid_t tid, bool any_precision)
{
    enum { HIGHEST_PRECISION = 3 };
    struct perf_event_attr *attributes = &rings->attributes;
    if (any_precision)
        attributes->precise_ip = HIGHEST_PRECISION;
    for (;;) {
        int problem = event_rings_add_thread(rings, tid);
        bool refused = problem == EINVAL || problem == EOPNOTSUPP;
        if (refused && any_precision && attributes->precise_ip > 0)
            attributes->precise_ip--;
        else if (refused && attributes->inherit_thread)
            attributes->inherit_thread = 0;
        else
            return problem;
    }
}

/* ---- public functions ---- */

void event_ring_control(const struct event_rings *rings, const struct event_ring *ring,
                        unsigned long request)
{
    for (size_t i = 0; i < ring->events.count; i++)
        rings->kernel->control(rings->kernel, ring_event_at(ring, i)->descriptor, request, 0);
}

void event_rings_control(const struct event_rings *rings, unsigned long request)
{
    for (size_t i = 0; i < rings->rings.count; i++)
        event_ring_control(rings, event_ring_at(rings, i), request);
}

/* perf_poll() of Linux reports POLLHUP of an event whose task has ended, and has no children left (is_event_hup()). */
static bool has_hung_up(int descriptor)
{
    struct pollfd event = {.fd = descriptor};
    return poll(&event, 1, 0) > 0 && event.revents & (POLLHUP | POLLERR | POLLNVAL);
}

int event_rings_recorded(const struct event_rings *rings)
{
    for (size_t i = 0; i < rings->rings.count; i++) {
        const struct event_ring *ring = event_ring_at(rings, i);
        for (size_t k = 0; k < ring->events.count; k++)
            if (!has_hung_up(ring_event_at(ring, k)->descriptor))
                return ring_event_at(ring, k)->descriptor;
    }
    return -1;
}

bool event_rings_map_again(struct event_rings *rings, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < rings->rings.count; i++) {
        struct event_ring *ring = event_ring_at(rings, i);
        struct perf_ring mapped;
        ok = perf_ring_open(&mapped, rings->kernel, ring_event_at(ring, 0)->descriptor,
                            ring->records.size, ring->records.backward, error);
        if (ok)
            ring->records = mapped;
    }
    return ok;
}

void event_rings_write_ids(const struct event_rings *rings, struct raw_perf_data_writer *writer,
                           size_t first)
{
    for (size_t i = 0; i < rings->rings.count; i++) {
        const struct event_ring *ring = event_ring_at(rings, i);
        for (size_t j = 0; j < ring->events.count; j++) {
            const struct ring_event *event = ring_event_at(ring, j);
            raw_perf_data_add_id(writer, first + event->kind, event->id);
        }
    }
}
