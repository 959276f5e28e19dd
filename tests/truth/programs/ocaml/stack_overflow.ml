(* Recursion without end: the runtime turns the fault into the exception Stack_overflow. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)

let never = Sys.opaque_identity min_int

(* Many values live across the call make large frames, so that few of them fill the stack. A condition
   at every level, since Intel PT has no packet for a direct call: of a recursion without conditions
   it does not show how deep it was when the fault came. *)
let rec endless a b c d e f =
  let g = a + b and h = b * c and i = c - d and j = d lxor e and k = e + f and l = f * a in
  let m = g + h and n = h - i and o = i * j and p = j + k and q = k - l and r = l * g in
  let s = m + n and t = n - o and u = o * p and v = p + q and w = q - r and x = r * m in
  let below = if s = never then t else endless s t u v w x in
  below + a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p
  + q + r + s + t + u + v + w + x

let attempt () = try endless 1 2 3 4 5 6 with Stack_overflow -> 5

let () =
  let sum = attempt () in
  Printf.printf "sum %d\n" sum;
  exit (if sum = 5 then 0 else 1)
