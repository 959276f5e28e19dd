(* Exceptions out of callbacks of List, Array.sort, Hashtbl, Map, Buffer and Printf. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Enough of int

module Ints = Map.Make (Int)

let countdown = ref 0

let tick value =
  decr countdown;
  if !countdown <= 0 then raise (Enough value);
  value

let numbers = List.init 100 (fun i -> i * 37 mod 100)
let table = Hashtbl.create 16
let map = List.fold_left (fun map i -> Ints.add i (2 * i) map) Ints.empty numbers
let () = List.iter (fun i -> Hashtbl.replace table i (i * i)) numbers

let print_sum () = string_of_int (List.fold_left (fun sum i -> sum + tick i) 0 numbers)

let use kind =
  match kind with
  | 0 -> List.iter (fun i -> ignore (tick i)) numbers
  | 1 -> ignore (List.fold_right (fun i sum -> tick i + sum) numbers 0)
  | 2 -> Array.sort (fun a b -> compare (tick a) b) (Array.of_list numbers)
  | 3 -> Hashtbl.iter (fun key _ -> ignore (tick key)) table
  | 4 -> ignore (Ints.map tick map)
  | 5 -> ignore (List.stable_sort (fun a b -> tick a - b) numbers)
  | 6 -> ignore (String.map (fun c -> Char.chr (tick (Char.code c))) (String.make 100 'x'))
  | _ -> ignore (Printf.sprintf "%d %t" 5 print_sum)

let () =
  let left = ref 0 in
  for i = 0 to 63 do
    countdown := 1 + (i / 8 * 10);
    try use (i mod 8) with Enough _ -> incr left
  done;
  Printf.printf "left %d\n" !left;
  exit (if !left = 64 then 0 else 1)
