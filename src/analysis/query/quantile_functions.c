#include "analysis/query/quantile_functions.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A number with how often it came. Whole numbers stay exact. */
struct counted {
    union {
        sqlite3_int64 whole;
        double real;
    } value;
    uint32_t is_real;
    uint64_t count; /* 0: the slot is free */
};

struct counts {
    struct counted *slots; /* by hash; owned */
    size_t capacity;       /* a power of two, or 0 */
    size_t used;
    uint64_t all;
    double percent;
    bool failed; /* out of memory */
};

/* ---- counting ---- */

static struct counted *find_slot(struct counted *slots, size_t capacity,
                                 const struct counted *number)
{
    uint64_t hash = (uint64_t)number->value.whole * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 20) & (capacity - 1);
    while (slots[at].count > 0 &&
           (slots[at].value.whole != number->value.whole || slots[at].is_real != number->is_real))
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct counts *counts)
{
    enum { FIRST_CAPACITY = 16 };
    size_t capacity = counts->capacity ? 2 * counts->capacity : FIRST_CAPACITY;
    struct counted *slots = sqlite3_malloc64(capacity * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0, capacity * sizeof *slots);
    for (size_t i = 0; i < counts->capacity; i++)
        if (counts->slots[i].count > 0)
            *find_slot(slots, capacity, &counts->slots[i]) = counts->slots[i];
    sqlite3_free(counts->slots);
    counts->slots = slots;
    counts->capacity = capacity;
    return true;
}

static void count_number(struct counts *counts, struct counted number)
{
    if (counts->failed)
        return;
    if (2 * counts->used >= counts->capacity && !grow(counts)) {
        counts->failed = true;
        return;
    }
    struct counted *slot = find_slot(counts->slots, counts->capacity, &number);
    counts->used += slot->count == 0;
    number.count = slot->count + 1;
    *slot = number;
    counts->all++;
}

static void step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct counts *counts = sqlite3_aggregate_context(context, sizeof *counts);
    if (!counts) {
        sqlite3_result_error_nomem(context);
        return;
    }
    counts->percent = count > 1 ? sqlite3_value_double(values[1]) : 50;
    if (!(counts->percent >= 0 && counts->percent <= 100)) {
        sqlite3_result_error(context, "percentile(x, p): p is a number from 0 to 100", -1);
        return;
    }
    int type = sqlite3_value_numeric_type(values[0]);
    if (type == SQLITE_INTEGER)
        count_number(counts, (struct counted){.value.whole = sqlite3_value_int64(values[0])});
    else if (type == SQLITE_FLOAT)
        count_number(counts, (struct counted){.value.real = sqlite3_value_double(values[0]),
                                              .is_real = true});
}

/* ---- the result ---- */

static double number_of(const struct counted *counted)
{
    return counted->is_real ? counted->value.real : (double)counted->value.whole;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    if (!a->is_real && !b->is_real)
        return (a->value.whole > b->value.whole) - (a->value.whole < b->value.whole);
    return (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
}

/* Percents like 99.9 are not exact: what is a whole number but for that is not rounded up. */
static uint64_t nearest_rank(double percent, uint64_t count)
{
    double rank = percent * (double)count / 100, whole = rint(rank);
    if (fabs(rank - whole) > whole * 1e-12)
        whole = ceil(rank);
    return whole < 1 ? 1 : (uint64_t)whole;
}

static const struct counted *find_quantile(struct counts *counts)
{
    size_t used = 0;
    for (size_t i = 0; i < counts->capacity; i++)
        if (counts->slots[i].count > 0)
            counts->slots[used++] = counts->slots[i];
    qsort(counts->slots, used, sizeof *counts->slots, compare_numbers);
    uint64_t left = nearest_rank(counts->percent, counts->all);
    size_t found = 0;
    while (found + 1 < used && counts->slots[found].count < left)
        left -= counts->slots[found++].count;
    return &counts->slots[found];
}

static void finish(sqlite3_context *context)
{
    struct counts *counts = sqlite3_aggregate_context(context, 0);
    if (!counts)
        return;
    if (counts->failed)
        sqlite3_result_error_nomem(context);
    else if (counts->all > 0) {
        const struct counted *quantile = find_quantile(counts);
        if (quantile->is_real)
            sqlite3_result_double(context, quantile->value.real);
        else
            sqlite3_result_int64(context, quantile->value.whole);
    }
    sqlite3_free(counts->slots);
    counts->slots = NULL;
}

int quantile_functions_register(sqlite3 *database)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int status = sqlite3_create_function(database, "median", 1, flags, NULL, NULL, step, finish);
    return status != SQLITE_OK ? status
                               : sqlite3_create_function(database, "percentile", 2, flags, NULL,
                                                         NULL, step, finish);
}
