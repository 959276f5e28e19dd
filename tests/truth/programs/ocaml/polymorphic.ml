(* Polymorphic compare and hash on deep values, and the exceptions that they raise out of C. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
type shape = Dot | Group of shape list | Label of string * int | Action of (int -> int)

let rec nested depth last =
  if depth = 0 then Group [ last ] else Group [ Dot; Label ("x", depth); nested (depth - 1) last ]

let order a b =
  match compare a b with
  | value -> value
  | exception Invalid_argument text -> if text = "compare: functional value" then 10 else 20

let rec repeated depth a b =
  if depth = 0 then order a b else Sys.opaque_identity (repeated (depth - 1) a b)

let () =
  let sum = ref 0 in
  for i = 0 to 39 do
    let dot = nested i Dot and label = nested i (Label ("y", i)) in
    let action = nested i (Action succ) and other = nested i (Action pred) in
    sum := !sum + repeated i dot dot + repeated i dot label + repeated i action other;
    let again = nested i Dot in
    if Hashtbl.hash dot = Hashtbl.hash again && dot = again && dot <> label then incr sum
  done;
  let sorted = List.sort compare [ Label ("b", 1); Dot; Group []; Label ("a", 2); Group [ Dot ] ] in
  Printf.printf "sum %d\n" !sum;
  exit (if !sum = 40 * (0 - 1 + 10 + 1) && List.hd sorted = Dot then 0 else 1)
