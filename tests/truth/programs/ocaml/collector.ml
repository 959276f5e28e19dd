(* Much allocation in deep recursion: the collector is entered from many places, walks deep stacks. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
type tree = Leaf | Node of tree * int * tree

let rec build depth number =
  if depth = 0 then Leaf
  else
    let left = build (depth - 1) (2 * number) in
    Node (left, number, build (depth - 1) ((2 * number) + 1))

let rec sum = function Leaf -> 0 | Node (left, number, right) -> sum left + number + sum right

let rec copies depth =
  if depth = 0 then []
  else
    let below = copies (depth - 1) in
    String.make (depth mod 50) 'x' :: below

let () =
  Gc.set { (Gc.get ()) with Gc.minor_heap_size = 4096 };
  let total = ref 0 and letters = ref 0 in
  for _ = 1 to 3 do
    total := !total + sum (build 11 1);
    letters := List.fold_left (fun sum text -> sum + String.length text) !letters (copies 3000)
  done;
  Printf.printf "total %d letters %d\n" !total !letters;
  exit (if !total = 3 * (2047 * 1024) && !letters = 3 * 60 * 1225 then 0 else 1)
