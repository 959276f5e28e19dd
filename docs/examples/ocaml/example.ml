(* Snapshots from OCaml:

     ocamlopt -o example magic_trace_stubs.c example.ml -cclib -lmagic_trace
     magic-trace run -trigger . ./example *)

external mark_start : unit -> unit = "example_mark_start" [@@noalloc]
external take_snapshot : int -> unit = "example_take_snapshot" [@@noalloc]

let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let () =
  for request = 0 to 2 do
    mark_start ();
    Printf.printf "%d\n" (fib (10 + request));
    take_snapshot request
  done
