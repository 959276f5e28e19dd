#include "cli/nearest.h"

#include <string.h>

enum { LONGEST = 64 }; /* longer names are never typing errors of ours */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance: G. Navarro, "A guided tour to approximate string matching",
 * 2001. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return LONGEST;
    size_t rows[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= length_a; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        for (size_t j = 1; j <= length_b; j++) {
            size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[i][j] = smaller(replaced, smaller(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = smaller(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[length_a][length_b];
}

struct nearest nearest_to(const char *wanted)
{
    /* A third of the letters may be wrong, and one always: "rum" is "run", "xyz" is nothing. */
    return (struct nearest){.wanted = wanted, .distance = strlen(wanted) / 3 + 2};
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    size_t distance = edit_distance(nearest->wanted, candidate);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = candidate;
    }
}
