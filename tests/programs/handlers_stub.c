/* The C of handlers.ml: calls OCaml, and takes an exception for 1000. */
#include <caml/callback.h>
#include <caml/mlvalues.h>

value handlers_through_c(value function)
{
    value result = caml_callback_exn(function, Val_unit);
    return Is_exception_result(result) ? Val_int(1000) : result;
}
