#include "base/edit_distance.h"

#include "base/smaller.h"

#include <stdio.h>
#include <string.h>

enum {
    LONGEST = 64,      /* longer names are not taken for typing errors */
    SHORTEST_PART = 4, /* bytes that a name must have in common with a longer one */
};

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

/* A name that contains what was written is close, however much longer it is. */
static size_t distance_to(const struct closest_names *closest, const char *candidate)
{
    size_t length = strlen(closest->wanted);
    if (length >= SHORTEST_PART && strstr(candidate, closest->wanted))
        return 1;
    /* The distance is at least the difference in length. */
    size_t other = strlen(candidate);
    size_t difference = length > other ? length - other : other - length;
    if (difference >= closest->distances[CLOSEST_NAMES - 1])
        return difference;
    return edit_distance(closest->wanted, candidate);
}

struct closest_names closest_names_to(const char *wanted)
{
    struct closest_names closest = {.wanted = wanted};
    /* A third of the letters may be wrong, and one letter always: "rum" suggests "run", "xyz"
     * suggests nothing. */
    for (size_t i = 0; i < CLOSEST_NAMES; i++)
        closest.distances[i] = strlen(wanted) / 3 + 2;
    return closest;
}

static bool is_known(const struct closest_names *closest, const char *candidate)
{
    for (size_t i = 0; i < CLOSEST_NAMES && closest->names[i]; i++)
        if (strcmp(closest->names[i], candidate) == 0)
            return true;
    return false;
}

bool closest_names_would_take(const struct closest_names *closest, const char *candidate)
{
    return distance_to(closest, candidate) < closest->distances[CLOSEST_NAMES - 1] &&
           !is_known(closest, candidate);
}

void closest_names_offer(struct closest_names *closest, const char *candidate)
{
    if (!closest_names_would_take(closest, candidate))
        return;
    size_t distance = distance_to(closest, candidate);
    size_t at = CLOSEST_NAMES - 1;
    for (; at > 0 && distance < closest->distances[at - 1]; at--) {
        closest->distances[at] = closest->distances[at - 1];
        closest->names[at] = closest->names[at - 1];
    }
    closest->distances[at] = distance;
    closest->names[at] = candidate;
}

void closest_names_list(const struct closest_names *closest, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < CLOSEST_NAMES && closest->names[i] && used < size; i++) {
        bool last = i + 1 == CLOSEST_NAMES || !closest->names[i + 1];
        const char *separator = i == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, closest->names[i]);
    }
}
