#include "output/report/folded_lines.h"

#include "base/memory.h"
#include "output/report/tree_lines.h"

#include <stdbool.h>
#include <stdlib.h>

/* The shape of a line and all below it. */
struct subtree {
    size_t lines;
    uint64_t hash;  /* of the functions and how they are nested, not of times */
    size_t skip_to; /* not 0: this and what follows up to there repeats what was printed */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    /* The multiplier of SplitMix64 (Steele, Lea, Flood 2014). */
    hash = (hash ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = mix(hash, (unsigned char)*text);
    return hash;
}

static struct subtree *measure_subtrees(const struct array *lines)
{
    struct subtree *subtrees = memory_allocate((lines->count + 1) * sizeof *subtrees);
    for (size_t i = lines->count; i-- > 0;) {
        const struct tree_line *line = array_at(lines, i);
        uint64_t hash =
            mix_text(line->function != NULL, line->function ? line->function->name : line->text);
        hash = mix(hash, (uint64_t)line->flags << 8 | line->end);
        if (line->values)
            hash = mix_text(hash, line->values->text);
        if (line->hit)
            hash = mix(hash, line->hit->has_argument ? (uint64_t)line->hit->argument : 0);
        size_t next = i + 1;
        while (next < lines->count &&
               ((struct tree_line *)array_at(lines, next))->depth > line->depth) {
            hash = mix(hash, subtrees[next].hash);
            next += subtrees[next].lines;
        }
        subtrees[i] = (struct subtree){.lines = next - i, .hash = mix(hash, next - i)};
    }
    return subtrees;
}

/* The neighbours that look like line `first`, itself included, and how long they took together. */
struct repetition {
    struct tree_repetition seen;
    size_t end; /* the line after the last of them */
};

static struct repetition find_repetition(const struct array *lines, const struct subtree *subtrees,
                                         size_t first)
{
    struct repetition repetition = {.end = first};
    uint32_t depth = ((struct tree_line *)array_at(lines, first))->depth;
    while (repetition.end < lines->count) {
        const struct tree_line *line = array_at(lines, repetition.end);
        if (line->depth != depth || subtrees[repetition.end].hash != subtrees[first].hash)
            break;
        repetition.seen.count++;
        repetition.seen.together += line->length;
        repetition.end += subtrees[repetition.end].lines;
    }
    return repetition;
}

/* A repetition is printed as its first occurrence with all below it. */
void folded_lines_print(const struct array *lines, uint64_t first, bool short_names, FILE *stream)
{
    struct subtree *subtrees = measure_subtrees(lines);
    for (size_t i = 0; i < lines->count;) {
        if (subtrees[i].skip_to) {
            i = subtrees[i].skip_to;
            continue;
        }
        struct repetition repetition = find_repetition(lines, subtrees, i);
        if (repetition.seen.count > 1)
            subtrees[i + subtrees[i].lines].skip_to = repetition.end;
        struct tree_line line = *(const struct tree_line *)array_at(lines, i);
        line.has_short_name = short_names;
        tree_print_line(&line, first, &repetition.seen, stream);
        i++;
    }
    free(subtrees);
}
