(* Generators made of closures, partial application, currying and continuation-passing style. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
let generator list =
  let rest = ref list in
  fun () ->
    match !rest with
    | [] -> raise End_of_file
    | first :: others ->
        rest := others;
        first

let rec walk low high visit =
  if low < high then begin
    let middle = (low + high) / 2 in
    walk low middle visit;
    visit middle;
    walk (middle + 1) high visit
  end

(* Nothing here returns before the end: all calls are tail calls of unknown functions. *)
let rec fibonacci n continue =
  if n < 2 then continue n
  else fibonacci (n - 1) (fun a -> fibonacci (n - 2) (fun b -> continue (a + b)))

let add6 a b c d e f = a + b + c + d + e + f
let apply function_ = List.fold_left (fun sum argument -> sum + function_ argument)

let () =
  let next = generator (List.init 100 Fun.id) in
  let sum = ref 0 in
  (try
     while true do
       sum := !sum + next ()
     done
   with End_of_file -> ());
  walk 0 100 (fun i -> sum := !sum + i);
  let fib = fibonacci 15 Fun.id in
  let partial = Sys.opaque_identity (add6 1 2 3) in
  let applied = apply (partial 4 5) 0 [ 6; 7; 8 ] in
  let composed = List.fold_left (fun f i x -> f (x + i)) Fun.id (List.init 50 Fun.id) 0 in
  Printf.printf "sum %d fib %d applied %d composed %d\n" !sum fib applied composed;
  exit (if !sum = 9900 && fib = 610 && applied = 66 && composed = 1225 then 0 else 1)
