(* Handlers within handlers, and handlers that raise while they handle. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception A of int
exception B of int
exception C

let rec fail depth error = if depth = 0 then raise error else 1 + fail (depth - 1) error

let inner depth =
  try
    try
      try fail depth (A depth) with B _ -> -1
    with C -> -2
  with A value -> fail (value / 2) (B (value + 1))

let outer depth =
  try inner depth with
  | A _ -> -3
  | B value -> (
      try fail 3 C with
      | C -> ( try fail 2 (A value) with A inside -> inside))

let () =
  let sum = ref 0 in
  for depth = 0 to 49 do
    sum := !sum + outer depth
  done;
  Printf.printf "sum %d\n" !sum;
  exit (if !sum = 1225 + 50 then 0 else 1)
