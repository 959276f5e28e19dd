#include "runtime/translator/call_values.h"

#include "runtime/translator/code/translation.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"
#include "runtime/translator/timed_calls.h"

enum {
    RETURN_ADDRESS = 8,
    MOST_STEPS = 64,     /* of one record */
    LOOKED_AT = 64,      /* calls that are searched for the one that has returned */
    LONGEST_PART = 1024, /* bytes of memory of one step */
};

/* The record that is being made. */
struct record {
    struct tr_thread *thread;
    uint64_t *words; /* in the log */
    unsigned count;
    bool is_full;                /* a step found no room; later ones are left out, too */
    unsigned begins[MOST_STEPS]; /* of each step so far: its first word */
};

_Static_assert(TR_VALUE_WORDS * 8 + 4 < 4096, "a record fits into what the log has ready");

static unsigned words_of(unsigned bytes)
{
    return (bytes + 7) / 8;
}

static void put(struct record *record, uint64_t word)
{
    record->is_full |= record->count == TR_VALUE_WORDS;
    if (!record->is_full)
        record->words[record->count++] = word;
}

/* The next words, all 0; NULL: they would be too many. */
static uint8_t *put_room(struct record *record, unsigned words)
{
    record->is_full |= record->count + words > TR_VALUE_WORDS;
    if (record->is_full)
        return NULL;
    uint64_t *room = &record->words[record->count];
    for (unsigned i = 0; i < words; i++)
        room[i] = 0;
    record->count += words;
    return (uint8_t *)room;
}

/* ---- registers ---- */

#define STORE(number)                                                                              \
    case number:                                                                                   \
        __asm__ volatile("movups %%xmm" #number ", %0" : "=m"(*(uint64_t(*)[2])words));            \
        break;

static void read_vector(unsigned number, uint64_t words[2])
{
    switch (number) {
        STORE(0)
        STORE(1)
        STORE(2)
        STORE(3)
        STORE(4)
        STORE(5)
        STORE(6)
    default:
        __asm__ volatile("movups %%xmm7, %0" : "=m"(*(uint64_t(*)[2])words));
        break;
    }
}

static void put_vector(struct record *record, const struct tr_value_step *step)
{
    uint64_t words[2];
    read_vector(step->number, words);
    put(record, words[0]);
    if (step->size > 8)
        put(record, words[1]);
}

/* ---- memory ---- */

static bool has_zero_byte(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (word - ones) & ~word & ones << 7;
}

/* How many bytes could be read, up to `size`; a string's, without the 0 that ends it, which *is_ended says to have come.
 * Loads of aligned words, which lie in one page each. */
static unsigned read_bytes(uint8_t *to, uint64_t from, unsigned size, bool is_string,
                           bool *is_ended)
{
    unsigned done = 0;
    *is_ended = false;
    while (done < size) {
        uint64_t at = from + done, word;
        unsigned skipped = (unsigned)(at % 8), left = size - done;
        if (!tr_load_safely(&word, at - skipped))
            break;
        word >>= 8 * skipped;
        unsigned part = 8 - skipped < left ? 8 - skipped : left;
        if (part == 8 && !(is_string && has_zero_byte(word))) {
            __builtin_memcpy(to + done, &word, 8);
            done += 8;
            continue;
        }
        for (unsigned i = 0; i < part; i++, word >>= 8) {
            if (is_string && (word & 0xff) == 0) {
                *is_ended = true;
                return done + i;
            }
            to[done + i] = (uint8_t)word;
        }
        done += part;
    }
    return done;
}

static bool is_zero_byte(uint64_t at)
{
    uint64_t word;
    return tr_load_safely(&word, at - at % 8) && (word >> 8 * (at % 8) & 0xff) == 0;
}

/* The address that an earlier step has recorded; 0: it is not there. */
static uint64_t recorded_address(const struct record *record, const struct tr_value_step *step,
                                 unsigned steps)
{
    if (step->number >= steps)
        return 0;
    unsigned word = record->begins[step->number] + (unsigned)step->offset / 8;
    return word < record->count ? record->words[word] : 0;
}

static void put_memory(struct record *record, const struct tr_value_step *step, uint64_t from)
{
    unsigned size = step->size < LONGEST_PART ? step->size : LONGEST_PART;
    bool is_string = step->source == TR_VALUE_STRING;
    unsigned before = record->count;
    bool is_ended = false;
    put(record, 0);
    uint8_t *room = put_room(record, words_of(size));
    if (!room) {
        record->count = before;
        return;
    }
    unsigned got = from == 0 ? 0 : read_bytes(room, from, size, is_string, &is_ended);
    if (is_string && got == size)
        is_ended = is_zero_byte(from + size);
    uint64_t cut = is_string && !is_ended ? TR_VALUE_CUT : 0;
    record->words[before] = got | cut;
    record->count = before + 1 + words_of(got);
}

static void put_stack(struct record *record, const struct tr_value_step *step)
{
    unsigned size = step->size < LONGEST_PART ? step->size : LONGEST_PART;
    uint64_t from =
        record->thread->app.r[TR_RSP] + RETURN_ADDRESS + (uint64_t)(int64_t)step->offset;
    uint8_t *room = put_room(record, words_of(size));
    bool is_ended;
    if (room)
        read_bytes(room, from, size, false, &is_ended);
}

/* ---- records ---- */

static void take_step(struct record *record, const struct tr_value_step *step, unsigned steps)
{
    record->begins[steps] = record->count;
    switch ((enum tr_value_source)step->source) {
    case TR_VALUE_REGISTER:
        put(record, record->thread->app.r[step->number % TR_REGISTERS]);
        break;
    case TR_VALUE_VECTOR:
        put_vector(record, step);
        break;
    case TR_VALUE_STACK:
        put_stack(record, step);
        break;
    case TR_VALUE_MEMORY:
    case TR_VALUE_STRING:
        put_memory(record, step, recorded_address(record, step, steps));
        break;
    }
}

static void record_steps(struct tr_thread *thread, uint64_t head, unsigned first, unsigned count)
{
    const struct tr_value_step *steps = thread->process->control->options.value_steps;
    struct record record;
    record.thread = thread;
    record.words = tr_log_open_event(thread, TR_VALUE_WORDS);
    record.count = 0;
    record.is_full = false;
    if (!record.words)
        return;
    put(&record, head);
    for (unsigned i = 0;
         i < count && i < MOST_STEPS && first + i < TR_VALUE_STEPS && !record.is_full; i++)
        take_step(&record, &steps[first + i], i);
    tr_log_end_event(thread, TR_VALUES, record.count, record.count);
}

/* ---- calls in progress ---- */

static struct tr_value_call *call_at(const struct tr_value_calls *calls, uint64_t number)
{
    return &calls->calls[number % TR_VALUE_CALLS];
}

/* The number of the newest call whose return address lay there, plus 1; 0: none. */
static uint64_t find_call(const struct tr_value_calls *calls, uint64_t stack_pointer)
{
    uint64_t looked_at = 0;
    for (uint64_t i = calls->count; i > 0 && looked_at < LOOKED_AT; i--, looked_at++)
        if (call_at(calls, i - 1)->stack_pointer == stack_pointer)
            return i;
    return 0;
}

static void remove_call(struct tr_value_calls *calls, uint64_t number)
{
    call_at(calls, number - 1)->stack_pointer = 0;
    while (calls->count > 0 && call_at(calls, calls->count - 1)->stack_pointer == 0)
        calls->count--;
}

static void begin_call(struct tr_thread *thread, uint64_t place)
{
    struct tr_value_calls *calls = &thread->value_calls;
    uint64_t stack_pointer = thread->app.r[TR_RSP], return_address;
    if (!calls->calls)
        calls->calls = tr_own_map(TR_VALUE_CALLS * sizeof *calls->calls);
    if (!calls->calls || !tr_load_safely(&return_address, stack_pointer) ||
        !tr_return_place_add(thread, return_address))
        return;
    /* An older call with its return address in the same place was left by longjmp or by a tail call. */
    uint64_t left = find_call(calls, stack_pointer);
    if (left)
        remove_call(calls, left);
    *call_at(calls, calls->count++) = (struct tr_value_call){return_address, stack_pointer, place};
}

/* A call may have returned to app.pc. */
static void end_call(struct tr_thread *thread)
{
    struct tr_value_calls *calls = &thread->value_calls;
    uint64_t number = find_call(calls, thread->app.r[TR_RSP] - RETURN_ADDRESS);
    if (!number || call_at(calls, number - 1)->return_address != thread->app.pc)
        return;
    uint64_t index = call_at(calls, number - 1)->place;
    const struct tr_value_place *place = &thread->process->control->options.value_places[index];
    remove_call(calls, number);
    record_steps(thread, TR_VALUES_HEAD(index, 1), place->first + place->arguments, place->results);
}

void tr_call_values_record(struct tr_thread *thread, const struct tr_translation *translation)
{
    if (thread->stops)
        return;
    if (translation->is_return_place && thread->value_calls.calls)
        end_call(thread);
    if (translation->value_place == 0)
        return;
    uint64_t index = translation->value_place - 1u;
    const struct tr_value_place *place = &thread->process->control->options.value_places[index];
    if (place->arguments)
        record_steps(thread, TR_VALUES_HEAD(index, 0), place->first, place->arguments);
    if (place->results)
        begin_call(thread, index);
}
