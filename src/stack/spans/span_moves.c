#include "stack/spans/span_moves.h"

struct span_moves span_moves_of(const struct inlined_moves *moves, struct span_functions *functions)
{
    return (struct span_moves){.moves = moves,
                               .functions = functions,
                               .by_number = array_of(sizeof(const struct span_move *))};
}

void span_moves_free(struct span_moves *moves)
{
    array_free(&moves->by_number);
    arena_free(&moves->memory);
}

static const struct span_function *function_of(struct span_moves *moves, inlined_id inlined)
{
    return span_functions_get(moves->functions,
                              inlined_table_call(moves->moves->calls, inlined)->function,
                              moves->with_lines);
}

const struct span_move *span_moves_make(struct span_moves *moves, uint32_t number)
{
    const struct inlined_move *move = inlined_moves_at(moves->moves, number);
    const struct inlined_table *calls = moves->moves->calls;
    size_t count = (size_t)move->left + move->begun;
    const struct span_function **functions =
        arena_allocate(&moves->memory, count * sizeof *functions);
    inlined_id inlined = move->from;
    for (uint32_t i = 0; i < move->left; i++, inlined = inlined_table_at(calls, inlined)->outer)
        functions[i] = function_of(moves, inlined);
    inlined = move->to;
    for (size_t i = count; i > move->left; inlined = inlined_table_at(calls, inlined)->outer)
        functions[--i] = function_of(moves, inlined);
    struct span_move *made = arena_allocate(&moves->memory, sizeof *made);
    *made = (struct span_move){.left = move->left,
                               .begun = move->begun,
                               .from = move->from,
                               .to = move->to,
                               .number = moves->count++,
                               .functions = functions};
    while (moves->by_number.count <= number)
        array_add(&moves->by_number);
    *(const struct span_move **)array_at(&moves->by_number, number) = made;
    return made;
}
