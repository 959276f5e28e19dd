#include "analysis/function_ids.h"

#include "analysis/compiler_copies.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A group of one of the two traces, to be sorted by name. */
struct named_group {
    char *copied; /* by which it is matched; owned */
    const char *name;
    uint32_t trace, group;
};

static int compare_names(const void *left, const void *right)
{
    const struct named_group *a = left, *b = right;
    int order = strcmp(a->copied, b->copied);
    if (order == 0)
        order = (a->trace > b->trace) - (a->trace < b->trace);
    if (order == 0)
        order = strcmp(a->name, b->name);
    return order ? order : (a->group > b->group) - (a->group < b->group);
}

static uint32_t *filled(size_t count)
{
    uint32_t *numbers = memory_allocate((count + 1) * sizeof *numbers);
    for (size_t i = 0; i <= count; i++)
        numbers[i] = NO_FUNCTION;
    return numbers;
}

static void number_groups(struct function_ids *ids, const struct named_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(groups[i].copied, groups[i - 1].copied) != 0)
            ids->count++;
        uint32_t id = ids->count - 1, *first = &ids->groups[groups[i].trace][id];
        ids->by_group[groups[i].trace][groups[i].group] = id;
        if (*first == NO_FUNCTION)
            *first = groups[i].group;
    }
}

struct function_ids function_ids_new(const struct trace_index *a, const struct trace_index *b)
{
    struct function_ids ids = {.indexes = {a, b}};
    size_t all = 0, count = 0;
    for (int trace = 0; trace < 2; trace++)
        all += trace_index_facts(ids.indexes[trace])->functions;
    struct named_group *groups = memory_allocate((all + 1) * sizeof *groups);
    for (uint32_t trace = 0; trace < 2; trace++) {
        uint32_t functions = trace_index_facts(ids.indexes[trace])->functions;
        ids.by_group[trace] = filled(functions);
        ids.groups[trace] = filled(all);
        for (uint32_t i = 0; i < functions; i++) {
            struct index_function function = trace_index_function(ids.indexes[trace], i);
            if (function.group == i)
                groups[count++] =
                    (struct named_group){name_of_copied(function.name), function.name, trace, i};
        }
    }
    if (count > 1)
        qsort(groups, count, sizeof *groups, compare_names);
    number_groups(&ids, groups, count);
    for (size_t i = 0; i < count; i++)
        free(groups[i].copied);
    free(groups);
    return ids;
}

void function_ids_free(struct function_ids *ids)
{
    for (int trace = 0; trace < 2; trace++) {
        free(ids->by_group[trace]);
        free(ids->groups[trace]);
    }
}

void function_ids_join(struct function_ids *ids, uint32_t of_a, uint32_t of_b)
{
    ids->groups[1][of_a] = ids->groups[1][of_b];
    ids->groups[1][of_b] = NO_FUNCTION;
    for (uint32_t i = 0; i < trace_index_facts(ids->indexes[1])->functions; i++)
        if (ids->by_group[1][i] == of_b)
            ids->by_group[1][i] = of_a;
}

struct index_function function_ids_function(const struct function_ids *ids, uint32_t id)
{
    int trace = ids->groups[1][id] != NO_FUNCTION;
    return trace_index_function(ids->indexes[trace], ids->groups[trace][id]);
}
