#include "symbol/symbol_table.h"

#include "base/memory.h"
#include "base/number_order.h"
#include "symbol/code_symbol.h"
#include "symbol/cold_part.h"
#include "symbol/range_cover.h"
#include "symbol/symbol_choice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const struct code_symbol *symbol)
{
    return symbol->kind >= CODE_LABEL;
}

/* The better of two that start at the same place comes first. */
static int compare_sources(const void *left, const void *right)
{
    const struct code_symbol *a = left, *b = right;
    if (is_named(a) && is_named(b))
        return symbol_choice_compare(a, b);
    if (a->kind != b->kind)
        return (int)b->kind - (int)a->kind;
    return (a->end > b->end) - (a->end < b->end);
}

/* One past the symbols that start where symbols[first] does. */
static size_t end_of_group(const struct code_symbol *symbols, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && symbols[end].start == symbols[first].start)
        end++;
    return end;
}

static void sort_by_place(struct array *symbols)
{
    size_t count = symbols->count;
    const struct code_symbol *elements = symbols->elements;
    if (!count)
        return;
    struct numbered *order = memory_allocate(count * sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct numbered){elements[i].start, i};
    number_order(order, count);
    struct code_symbol *sorted = memory_allocate(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = elements[order[i].index];
    free(order);
    for (size_t first = 0, end; first < count; first = end) {
        end = end_of_group(sorted, count, first);
        if (end - first > 1)
            qsort(sorted + first, end - first, sizeof *sorted, compare_sources);
    }
    memcpy(symbols->elements, sorted, count * sizeof *sorted);
    free(sorted);
}

/* Where what starts after a symbol bounds it, if its size is not known. */
struct next_starts {
    uint64_t named;    /* of any function or label */
    uint64_t function; /* of a function, or a label that is not local */
};

static uint64_t unknown_end(const struct code_symbol *symbol, const struct next_starts *next,
                            uint64_t frame_end)
{
    if (frame_end > symbol->start)
        return frame_end;
    uint64_t end = symbol->kind == CODE_LABEL ? next->named : next->function;
    return end < symbol->limit ? end : symbol->limit;
}

/* Gives every named symbol an end. Walks down from the highest start. */
static void complete_ends(struct code_symbol *symbols, size_t count)
{
    struct next_starts next = {UINT64_MAX, UINT64_MAX};
    for (size_t last = count; last > 0;) {
        size_t first = last - 1;
        while (first > 0 && symbols[first - 1].start == symbols[last - 1].start)
            first--;
        uint64_t frame_end = 0;
        for (size_t i = first; i < last; i++)
            if (symbols[i].kind == CODE_FRAME && symbols[i].end > frame_end)
                frame_end = symbols[i].end;
        struct next_starts here = next;
        for (size_t i = first; i < last; i++) {
            if (!is_named(&symbols[i]))
                continue;
            if (symbols[i].end <= symbols[i].start)
                symbols[i].end = unknown_end(&symbols[i], &next, frame_end);
            here.named = symbols[i].start;
            if (symbols[i].kind == CODE_FUNCTION || symbols[i].binding != CODE_LOCAL)
                here.function = symbols[i].start;
        }
        next = here;
        last = first;
    }
}

/* The longest of the aliases that are of the best one's kind. */
static uint64_t end_of_aliases(const struct code_symbol *symbols, size_t first, size_t last)
{
    uint64_t end = symbols[first].end;
    for (size_t i = first + 1; i < last && symbols[i].kind == symbols[first].kind; i++)
        if (symbols[i].end > end)
            end = symbols[i].end;
    return end;
}

/* While a table is built: functions and the ranges that they would like to have. */
struct builder {
    struct array functions;  /* of struct table_function */
    struct array candidates; /* of struct ranked_range; the owner is a symbol's index */
};

static uint32_t add_function(struct builder *builder, const char *name, uint64_t start,
                             uint64_t end)
{
    struct table_function *function = array_add(&builder->functions);
    function->symbol = name;
    function->start = start;
    function->end = end;
    return (uint32_t)(builder->functions.count - 1);
}

static void add_candidate(struct builder *builder, size_t symbol, uint64_t start, uint64_t end,
                          uint64_t rank)
{
    *(struct ranked_range *)array_add(&builder->candidates) =
        (struct ranked_range){start, end, rank, (uint32_t)symbol};
}

/* Better sources win over worse ones; within one source, who starts later. */
static uint64_t static_rank(const struct code_symbol *symbol, size_t index)
{
    uint64_t source = is_named(symbol) ? 2 : symbol->kind == CODE_FRAME ? 1 : 0;
    return source << 32 | index;
}

static void add_static_symbols(struct builder *builder, struct code_symbol *symbols, size_t count,
                               uint32_t *function_of)
{
    uint64_t functions_end = 0;
    for (size_t first = 0, last; first < count; first = last) {
        const struct code_symbol *best = &symbols[first];
        last = end_of_group(symbols, count, first);
        size_t i = first;
        if (is_named(best)) {
            uint64_t end = end_of_aliases(symbols, first, last);
            bool inside_function = best->kind == CODE_LABEL && best->start < functions_end;
            if (!inside_function)
                add_candidate(builder, first, best->start, end, static_rank(best, first));
            if (best->kind == CODE_FUNCTION && end > functions_end)
                functions_end = end;
            uint32_t function = add_function(builder, best->name, best->start, end);
            for (; i < last && is_named(&symbols[i]); i++)
                function_of[i] = function;
        }
        for (; i < last; i++) {
            function_of[i] = add_function(builder, NULL, symbols[i].start, symbols[i].end);
            add_candidate(builder, i, symbols[i].start, symbols[i].end,
                          static_rank(&symbols[i], i));
        }
    }
    cold_parts_join(symbols, count, function_of);
}

static void add_dynamic_symbols(struct builder *builder, const struct code_symbol *symbols,
                                size_t count, uint32_t *function_of)
{
    for (size_t i = 0; i < count; i++) {
        function_of[i] = add_function(builder, symbols[i].name, symbols[i].start, symbols[i].end);
        add_candidate(builder, i, symbols[i].start, symbols[i].end, i);
    }
}

void symbol_table_build(struct symbol_table *table, struct array *symbols, enum overlap_rule rule)
{
    struct builder builder = {
        .functions = array_of(sizeof(struct table_function)),
        .candidates = array_of(sizeof(struct ranked_range)),
    };
    array_reserve(&builder.functions, symbols->count);
    array_reserve(&builder.candidates, symbols->count);
    struct code_symbol *elements = symbols->elements;
    uint32_t *function_of = memory_allocate(symbols->count * sizeof *function_of);
    if (rule == OVERLAP_LATER_START) {
        sort_by_place(symbols);
        complete_ends(elements, symbols->count);
        add_static_symbols(&builder, elements, symbols->count, function_of);
    } else {
        add_dynamic_symbols(&builder, elements, symbols->count, function_of);
    }

    struct array covered = range_cover(builder.candidates.elements, builder.candidates.count);
    table->ranges = memory_allocate(covered.count * sizeof *table->ranges);
    table->range_count = (uint32_t)covered.count;
    for (size_t i = 0; i < covered.count; i++) {
        const struct covered_range *range = array_at(&covered, i);
        uint32_t function = function_of[range->owner];
        /* Each gap is a function of its own: no source connects them. */
        if (elements[range->owner].kind == CODE_GAP)
            function = add_function(&builder, NULL, range->start, range->end);
        table->ranges[i] = (struct table_range){range->start, range->end, function};
    }
    table->functions = builder.functions.elements;
    table->function_count = (uint32_t)builder.functions.count;
    array_free(&covered);
    array_free(&builder.candidates);
    free(function_of);
}

void symbol_table_free(struct symbol_table *table)
{
    free(table->functions);
    free(table->ranges);
    *table = (struct symbol_table){0};
}

const struct table_range *symbol_table_find(const struct symbol_table *table, uint64_t address,
                                            uint64_t *gap_start, uint64_t *gap_end)
{
    /* The first range that ends after the address. */
    uint32_t low = 0, high = table->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->ranges[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    if (low < table->range_count && table->ranges[low].start <= address)
        return &table->ranges[low];
    *gap_start = low > 0 ? table->ranges[low - 1].end : 0;
    *gap_end = low < table->range_count ? table->ranges[low].start : UINT64_MAX;
    return NULL;
}
