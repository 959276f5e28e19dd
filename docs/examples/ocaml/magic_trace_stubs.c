/* What example.ml needs of libmagic_trace. An OCaml int comes as 2x + 1. */
#include <caml/mlvalues.h>
#include <magic_trace.h>

value example_mark_start(value unit)
{
    (void)unit;
    magic_trace_mark_start();
    return Val_unit;
}

value example_take_snapshot(value argument)
{
    magic_trace_take_snapshot_with_arg(Long_val(argument));
    return Val_unit;
}
