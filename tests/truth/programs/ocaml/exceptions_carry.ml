(* Exceptions with arguments of many kinds; local and generative ones; matched in several places. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Pair of int * string
exception Record of { depth : int; path : int list }
exception Wrapped of exn

let rec collect depth path =
  if depth = 0 then raise (Record { depth = List.length path; path })
  else 1 + collect (depth - 1) (depth :: path)

let rec wrap level =
  if level = 0 then raise (Pair (3, "bottom"))
  else try 1 + wrap (level - 1) with error -> raise (Wrapped error)

let rec unwrap = function
  | Wrapped inner -> 1 + unwrap inner
  | Pair (number, text) -> number + String.length text
  | _ -> -1000

(* Each call makes an exception of its own, that only its own handler takes. *)
let with_return (type result) (body : (result -> result) -> result) : result =
  let module Return = struct
    exception Return of result
  end in
  try body (fun value -> raise (Return.Return value)) with Return.Return value -> value

let rec nested depth =
  with_return (fun outer ->
      with_return (fun inner ->
          if depth = 0 then outer 1
          else if depth mod 2 = 0 then inner (1 + nested (depth - 1))
          else 1 + nested (depth - 1)))

let () =
  let right = ref 0 in
  for i = 1 to 40 do
    (try ignore (collect i [])
     with Record { depth; path } -> if depth = i && List.hd path = 1 then incr right);
    (try ignore (wrap i) with error -> if unwrap error = i + 9 then incr right);
    if nested i = i + 1 then incr right
  done;
  Printf.printf "right %d\n" !right;
  exit (if !right = 120 then 0 else 1)
