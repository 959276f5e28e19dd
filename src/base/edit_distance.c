#include "base/edit_distance.h"

#include <stdio.h>
#include <string.h>

enum {
    LONGEST = 64,      /* longer names are never typing errors of ours */
    SHORTEST_PART = 4, /* of a name, by which to know it */
};

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

/* A name that contains what was written is near, however much longer it is. */
static size_t distance_to(const struct nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->wanted);
    if (length >= SHORTEST_PART && strstr(candidate, nearest->wanted))
        return 1;
    /* A name much longer or shorter differs by as much. */
    size_t other = strlen(candidate);
    size_t difference = length > other ? length - other : other - length;
    if (difference >= nearest->distances[NEAREST_NAMES - 1])
        return difference;
    return edit_distance(nearest->wanted, candidate);
}

struct nearest nearest_to(const char *wanted)
{
    struct nearest nearest = {.wanted = wanted};
    /* A third of the letters may be wrong, and one always: "rum" is "run", "xyz" is nothing. */
    for (size_t i = 0; i < NEAREST_NAMES; i++)
        nearest.distances[i] = strlen(wanted) / 3 + 2;
    return nearest;
}

static bool is_known(const struct nearest *nearest, const char *candidate)
{
    for (size_t i = 0; i < NEAREST_NAMES && nearest->names[i]; i++)
        if (strcmp(nearest->names[i], candidate) == 0)
            return true;
    return false;
}

bool nearest_would_take(const struct nearest *nearest, const char *candidate)
{
    return distance_to(nearest, candidate) < nearest->distances[NEAREST_NAMES - 1] &&
           !is_known(nearest, candidate);
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    if (!nearest_would_take(nearest, candidate))
        return;
    size_t distance = distance_to(nearest, candidate);
    size_t at = NEAREST_NAMES - 1;
    for (; at > 0 && distance < nearest->distances[at - 1]; at--) {
        nearest->distances[at] = nearest->distances[at - 1];
        nearest->names[at] = nearest->names[at - 1];
    }
    nearest->distances[at] = distance;
    nearest->names[at] = candidate;
}

void nearest_list(const struct nearest *nearest, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < NEAREST_NAMES && nearest->names[i] && used < size; i++) {
        bool last = i + 1 == NEAREST_NAMES || !nearest->names[i + 1];
        const char *separator = i == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, nearest->names[i]);
    }
}
