#include "stack/spans/span_functions.h"

#include "base/memory.h"
#include "base/printable.h"
#include "decode/flow.h"
#include "stack/rules/kernel_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct gap_function {
    uint8_t kind, error; /* as in struct gap */
    const struct span_function *function;
};

void span_functions_init(struct span_functions *functions, struct symbols *symbols)
{
    *functions = (struct span_functions){
        .symbols = symbols,
        .by_id = array_of(sizeof(struct shown_function *)),
        .ready = {array_of(sizeof(struct span_function *)),
                  array_of(sizeof(struct span_function *))},
        .of_gaps = array_of(sizeof(struct gap_function)),
    };
}

void span_functions_free(struct span_functions *functions)
{
    array_free(&functions->by_id);
    array_free(&functions->ready[false]);
    array_free(&functions->ready[true]);
    array_free(&functions->of_gaps);
    arena_free(&functions->memory);
}

static enum span_origin origin_of(const struct function *function)
{
    if (function->inlined)
        return SPAN_INLINED;
    switch (function->owner) {
    case CODE_OF_LIBRARY:
        return SPAN_LIBRARY;
    case CODE_OF_KERNEL:
        return SPAN_KERNEL;
    case CODE_OF_PROGRAM:
        break;
    }
    return SPAN_OWN;
}

/* The symbol, unless it equals the name: a trace would have it twice with each call. */
static const char *other_symbol(const struct function *function)
{
    bool same = function->symbol && strcmp(function->symbol, function->name) == 0;
    return same ? NULL : function->symbol;
}

static struct shown_function *make_function(struct span_functions *functions, function_id id)
{
    const struct function *function = symbols_function(functions->symbols, id);
    struct shown_function *shown = arena_allocate(&functions->memory, sizeof(*shown));
    *shown = (struct shown_function){
        .function =
            {
                .name = printable_name(&functions->memory, function->name),
                .symbol = printable_name(&functions->memory, other_symbol(function)),
                .special = kernel_frames_is_special(id),
                .origin = origin_of(function),
                .index = functions->count++,
            },
        .line_known = id < FUNCTION_FIRST,
    };
    return shown;
}

static void find_line(struct span_functions *functions, struct shown_function *shown,
                      function_id id)
{
    struct source_line line = symbols_line(functions->symbols, id);
    shown->function.file = printable_name(&functions->memory, line.file);
    shown->function.line = line.file != NULL ? line.line : 0;
    shown->line_known = true;
}

static void make_ready(struct array *ready, function_id id, const struct span_function *function)
{
    while (ready->count <= id)
        array_add(ready);
    *(const struct span_function **)array_at(ready, id) = function;
}

const struct span_function *span_functions_look_up(struct span_functions *functions, function_id id,
                                                   bool with_line)
{
    while (functions->by_id.count <= id)
        array_add(&functions->by_id);
    struct shown_function **shown = array_at(&functions->by_id, id);
    if (*shown == NULL)
        *shown = make_function(functions, id);
    if (with_line && !(*shown)->line_known)
        find_line(functions, *shown, id);
    make_ready(&functions->ready[with_line], id, &(*shown)->function);
    return &(*shown)->function;
}

static char *gap_name(const struct gap *gap)
{
    switch ((enum flow_gap)gap->kind) {
    case FLOW_GAP_OVERFLOW:
        return memory_copy_string("[overflow]");
    case FLOW_GAP_LOST:
        return memory_copy_string("[lost]");
    case FLOW_GAP_ERROR:
        return memory_format("[decode error: %s]", flow_error_text(gap->error));
    case FLOW_GAP_NO_IMAGE:
        return memory_copy_string("[no image]");
    case FLOW_GAP_NONE:
        break;
    }
    return memory_copy_string("[too many distinct stacks]");
}

const struct span_function *span_functions_get_special(struct span_functions *functions,
                                                       const char *name)
{
    struct span_function *function = arena_allocate(&functions->memory, sizeof(*function));
    *function = (struct span_function){
        .name = printable_name(&functions->memory, arena_copy_string(&functions->memory, name)),
        .special = true,
        .index = functions->count++,
    };
    return function;
}

static const struct span_function *make_gap_function(struct span_functions *functions,
                                                     const struct gap *gap)
{
    char *name = gap_name(gap);
    const struct span_function *function = span_functions_get_special(functions, name);
    free(name);
    return function;
}

const struct span_function *span_functions_get_gap(struct span_functions *functions,
                                                   const struct gap *gap)
{
    for (size_t i = 0; i < functions->of_gaps.count; i++) {
        struct gap_function *known = array_at(&functions->of_gaps, i);
        if (known->kind == gap->kind && known->error == gap->error)
            return known->function;
    }
    struct gap_function *added = array_add(&functions->of_gaps);
    *added = (struct gap_function){
        .kind = gap->kind,
        .error = gap->error,
        .function = make_gap_function(functions, gap),
    };
    return added->function;
}

const char *gap_text(const struct gap *gap, struct arena *memory)
{
    char *name = gap_name(gap);
    char *text = gap->address != 0 ? memory_format("%s at 0x%" PRIx64, name, gap->address)
                                   : memory_copy_string(name);
    const char *copy = arena_copy_string(memory, text);
    free(text);
    free(name);
    return copy;
}
