/* truth_marker (marker.h) for OCaml: external marker : unit -> unit = "ocaml_marker". */
#include "marker.h"

long ocaml_marker(long unit);

long ocaml_marker(long unit)
{
    truth_marker();
    return unit;
}
