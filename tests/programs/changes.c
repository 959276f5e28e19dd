/* A small database that changes from build to build, for `magic-trace compare`: CHANGE is the number
 * of what is different. 0 is the first build.
 *
 *     cc -DCHANGE=3 ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CHANGE
#define CHANGE 0
#endif
#define APART __attribute__((noinline))

enum { ROWS = 600, QUERIES = 60 };

struct row {
    unsigned key;
    char text[16];
};

static struct row rows[ROWS];
static volatile unsigned sink;

APART static unsigned hash(const char *text)
{
    unsigned value = 5381;
    for (; *text; text++)
        value = value * 33 + (unsigned char)*text;
#if CHANGE == 1 /* its own code takes longer */
    for (int i = 0; i < 12; i++)
        value ^= value >> 7;
#endif
    return value;
}

/* Another name, and nothing else. */
#if CHANGE == 2
#define check_row validate_row
#endif
APART static int check_row(const struct row *row)
{
    return hash(row->text) != 0 && row->key < ROWS;
}

/* The same name in another file. */
#if CHANGE == 3
#line 10 "packing.c"
#endif
APART static void pack_row(struct row *row, unsigned i)
{
    row->key = i * 7 % ROWS;
    snprintf(row->text, sizeof row->text, "row %u", i);
}

APART static void audit(const struct row *row)
{
    sink += hash(row->text);
}

APART static void load(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        pack_row(&rows[i], i);
        if (!check_row(&rows[i]))
            abort();
#if CHANGE == 4 /* a new function */
        audit(&rows[i]);
#endif
    }
}

static int compare_rows(const void *a, const void *b)
{
    return (int)((const struct row *)a)->key - (int)((const struct row *)b)->key;
}

#if CHANGE == 5 /* another algorithm */
APART static void sort_by_insertion(void)
{
    for (int i = 1; i < ROWS; i++)
        for (int j = i; j > 0 && compare_rows(&rows[j - 1], &rows[j]) > 0; j--) {
            struct row other = rows[j];
            rows[j] = rows[j - 1];
            rows[j - 1] = other;
        }
}
#endif

APART static void sort(void)
{
#if CHANGE == 5
    sort_by_insertion();
#else
    qsort(rows, ROWS, sizeof *rows, compare_rows);
#endif
}

APART static const struct row *search_half(unsigned key)
{
    unsigned low = 0, high = ROWS;
    while (low + 1 < high) {
        unsigned middle = (low + high) / 2;
        if (rows[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    return &rows[low];
}

APART static const struct row *search_all(unsigned key)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (rows[i].key == key)
            return &rows[i];
    return rows;
}

APART static const struct row *find(unsigned key)
{
#if CHANGE == 6 /* a function is replaced by another */
    return search_all(key);
#else
    (void)search_all;
    return search_half(key);
#endif
}

APART static unsigned depth_of(unsigned number)
{
    return number == 0 ? 0 : 1 + depth_of(number / (CHANGE == 7 ? 2 : 8)); /* deeper recursion */
}

APART static char *answer(const struct row *row)
{
    char *text = malloc(64);
    memset(text, 0, 64);
    for (int i = 0; i < (CHANGE == 8 ? 9 : 3); i++) /* more turns of a loop */
        sink += hash(row->text);
    sink += depth_of(1u << 20);
    return text;
}

APART static void log_query(unsigned i)
{
    static char line[64];
    size_t length = (size_t)snprintf(line, sizeof line, "query %u\n", i);
    sink += (unsigned)length;
}

APART static void query(unsigned i)
{
    char *text = answer(find(i * 11 % ROWS));
#if CHANGE != 9 /* a function is not called any more */
    log_query(i);
#else
    (void)log_query;
#endif
    free(text);
}

int main(void)
{
    load();
    for (int i = 0; i < (CHANGE == 10 ? 2 : 1); i++) /* sorted twice */
        sort();
    for (unsigned i = 0; i < QUERIES; i++)
        query(i);
    (void)audit;
    printf("%d rows\n", ROWS);
    return 0;
}
