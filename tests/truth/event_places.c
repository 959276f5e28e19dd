#include "event_places.h"

enum {
    COMPARED = 64,        /* events that have to be the same, unless the part ends before */
    FAR_ENOUGH = 1 << 17, /* events before and after the time that are compared */
    ENOUGH_TRIES = 1000,
};

bool is_same_event(const struct flow_event *left, const struct flow_event *right)
{
    return left->kind == right->kind && left->from == right->from && left->to == right->to;
}

static const struct flow_event *event_at(const struct array *events, size_t index)
{
    return array_at(events, index);
}

/* The first event of `whole` that is not before `time`. */
static long find_time(const struct array *whole, struct ticks time)
{
    size_t low = 0, high = whole->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (event_at(whole, middle)->time.value < time.value)
            low = middle + 1;
        else
            high = middle;
    }
    return (long)low;
}

static uint64_t difference(struct ticks left, struct ticks right)
{
    return left.value > right.value ? left.value - right.value : right.value - left.value;
}

/* Whether the events are the same; `*distance` is the sum of what their times differ by. */
static bool compare(const struct array *whole, size_t at, const struct array *part, size_t from,
                    uint64_t *distance)
{
    *distance = 0;
    for (size_t i = 0; i < COMPARED && from + i < part->count; i++) {
        const struct flow_event *event = event_at(part, from + i);
        if (event->kind == FLOW_GAP)
            return i > 0;
        if (at + i == whole->count || !is_same_event(event_at(whole, at + i), event))
            return false;
        *distance += difference(event_at(whole, at + i)->time, event->time);
    }
    return true;
}

static bool are_same(const struct array *whole, size_t at, const struct array *part, size_t from,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_same_event(event_at(whole, at + i), event_at(part, from + i)))
            return false;
    return true;
}

/* The place of the events from `from` on, known by one of them at `index` whose time is exact. */
static long find_by_exact_time(const struct array *whole, long least, const struct array *part,
                               size_t from, size_t index)
{
    const struct flow_event *event = event_at(part, index);
    for (long at = find_time(whole, event->time);
         at < (long)whole->count && event_at(whole, (size_t)at)->time.value == event->time.value;
         at++) {
        long begin = at - (long)(index - from);
        if (begin >= least && are_same(whole, (size_t)begin, part, from, index - from + 1))
            return begin;
    }
    return NO_PLACE;
}

/* Times between two timing packets depend on where decoding began. In a loop whose rounds are all
 * the same only the exact ones identify a round. */
static long find_exactly(const struct array *whole, long least, const struct array *part,
                         size_t from)
{
    long found = NO_PLACE;
    unsigned tries = 0;
    for (size_t i = from; i < part->count && found == NO_PLACE && tries < ENOUGH_TRIES; i++) {
        if (event_at(part, i)->kind == FLOW_GAP)
            break;
        if (!(event_at(part, i)->flags & FLOW_TIME_EXACT))
            continue;
        found = find_by_exact_time(whole, least, part, from, i);
        tries++;
    }
    return found;
}

static long find_about(const struct array *whole, long least, const struct array *part, size_t from)
{
    long middle = find_time(whole, event_at(part, from)->time);
    long best = NO_PLACE;
    uint64_t best_distance = UINT64_MAX;
    long begin = middle - FAR_ENOUGH > least ? middle - FAR_ENOUGH : least;
    for (long at = begin; at < middle + FAR_ENOUGH && at < (long)whole->count; at++) {
        uint64_t distance;
        if (compare(whole, (size_t)at, part, from, &distance) && distance < best_distance) {
            best = at;
            best_distance = distance;
        }
    }
    return best;
}

long find_place(const struct array *whole, long least, const struct array *part, size_t from)
{
    long place = find_exactly(whole, least, part, from);
    return place != NO_PLACE ? place : find_about(whole, least, part, from);
}
