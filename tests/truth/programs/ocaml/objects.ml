(* Classes, virtual methods, functors and first-class modules: calls to unknown functions. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
class virtual node =
  object (self)
    method virtual value : int -> int
    method twice depth = self#value depth + self#value depth
  end

class leaf number =
  object
    inherit node
    method value depth = if depth < 0 then raise Exit else number
  end

class pair (left : node) (right : node) =
  object
    inherit node as super
    method value depth = left#value (depth - 1) + right#value (depth - 1)
    method! twice depth = super#twice depth
  end

module type Operation = sig
  val apply : int -> int -> int
end

module Add = struct
  let apply a b = a + b
end

module Repeat (Inner : Operation) = struct
  let rec apply a b = if b = 0 then 0 else Inner.apply a (apply a (b - 1))
end

module Multiply = Repeat (Add)

let operations : (module Operation) array = [| (module Add); (module Multiply) |]

let operate kind a b =
  let module Chosen = (val operations.(kind)) in
  Chosen.apply a b

let rec tree depth : node =
  if depth = 0 then new leaf 1 else new pair (tree (depth - 1)) (tree (depth - 1))

let () =
  let root = tree 8 in
  let sum = root#twice 8 and exits = ref 0 in
  for depth = 0 to 7 do
    try ignore (root#twice depth) with Exit -> incr exits
  done;
  let operated = ref 0 in
  for i = 0 to 49 do
    operated := !operated + operate (i mod 2) i 3
  done;
  Printf.printf "sum %d exits %d operated %d\n" sum !exits !operated;
  exit (if sum = 512 && !exits = 8 && !operated = 600 + 75 + 3 * 625 then 0 else 1)
