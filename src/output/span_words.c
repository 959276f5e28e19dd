#include "output/span_words.h"

#include "output/fxt/fxt_format.h"

const char *span_end_word(enum span_end end)
{
    static const char *const words[] = {
        [SPAN_END_RETURN] = "return",
        [SPAN_END_TAIL_CALL] = FXT_NAME_TAIL_CALL,
        [SPAN_END_UNWOUND] = FXT_NAME_UNWOUND,
        [SPAN_END_GAP] = FXT_NAME_GAP,
        [SPAN_END_OF_TRACE] = FXT_NAME_END_OF_TRACE,
        [SPAN_END_EXEC] = FXT_NAME_EXEC,
        [SPAN_END_FILTER] = FXT_NAME_FILTER,
        [SPAN_END_SWITCH] = FXT_NAME_SWITCH,
    };
    return words[end];
}

const char *span_origin_word(const struct span_function *function)
{
    static const char *const words[] = {
        [SPAN_OWN] = "own",
        [SPAN_LIBRARY] = FXT_NAME_LIBRARY,
        [SPAN_KERNEL] = FXT_NAME_KERNEL,
        [SPAN_INLINED] = FXT_NAME_INLINED,
    };
    return function->special ? FXT_NAME_SPECIAL : words[function->origin];
}

const char *span_inlined_suffix(const struct span_function *function)
{
    return function->origin == SPAN_INLINED ? " [inlined]" : "";
}
