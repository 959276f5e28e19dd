(* Accesses out of bounds and divisions by zero, checked by compiled code, raised out of line. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; strip compiler=ocamlopt -inline 100 *)
let table = Array.init 10 (fun i -> i)
let text = "0123456789"
let floats = Array.init 10 float_of_int

let get kind i =
  match kind with
  | 0 -> table.(i)
  | 1 -> Char.code text.[i] - 48
  | 2 -> int_of_float floats.(i)
  | _ -> if i = 10 then i / Sys.opaque_identity (i - 10) else i mod Sys.opaque_identity (10 - i)

let rec sum kind i last = if i > last then 0 else get kind i + sum kind (i + 1) last

let () =
  let caught = ref 0 and total = ref 0 in
  for i = 0 to 99 do
    let kind = i mod 4 in
    match sum kind (i mod 5) (if i mod 2 = i / 4 mod 2 then 9 else 10) with
    | value -> if kind < 3 then total := !total + value
    | exception Invalid_argument _ -> incr caught
    | exception Division_by_zero -> incr caught
  done;
  Printf.printf "caught %d total %d\n" !caught !total;
  exit (if !caught = 50 && !total = 1640 then 0 else 1)
