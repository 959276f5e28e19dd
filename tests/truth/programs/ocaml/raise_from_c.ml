(* Exceptions raised by the runtime, in C: Failure, Not_found, Invalid_argument, Sys_error. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
let nothing = Sys.opaque_identity (-1)
let zero = Sys.opaque_identity 0
let block = Bytes.make 4 'x'

let misuse kind =
  match kind with
  | 0 -> int_of_string "no number"
  | 1 -> String.length (Sys.getenv "TRUTH_NO_SUCH_VARIABLE")
  | 2 -> compare (fun x -> x + zero) (fun x -> x - zero)
  | 3 -> String.length (input_line (open_in "/no/such/file"))
  | 4 -> Bytes.length (Bytes.create nothing)
  | 5 -> Int32.to_int (Bytes.get_int32_le block 2)
  | 6 -> int_of_float (float_of_string "1.2.3")
  | 7 -> Array.length (Array.make nothing 0)
  | 8 -> Int64.to_int (Int64.of_string "0x")
  | _ -> Hashtbl.find (Hashtbl.create 1) zero

let rec dive kind depth = if depth = 0 then misuse kind else 1 + dive kind (depth - 1)

let attempt kind depth =
  match dive kind depth with
  | _ -> -1
  | exception Failure _ -> if kind = 0 || kind = 6 || kind = 8 then kind else -1
  | exception Not_found -> if kind = 9 then 9 else 1
  | exception Sys_error _ -> 3
  | exception Invalid_argument _ -> kind

let () =
  let right = ref 0 in
  for i = 0 to 99 do
    if attempt (i mod 10) (i / 3) = i mod 10 then incr right
  done;
  Printf.printf "right %d\n" !right;
  exit (if !right = 100 then 0 else 1)
