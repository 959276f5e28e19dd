(* Exceptions caught 1, 5 and 50 frames up. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200; strip compiler=ocamlopt -inline 0 *)
exception Found of int

let calls = ref 0

let rec dive depth =
  incr calls;
  if depth = 1 then raise (Found 7);
  dive (depth - 1) + 1

let attempt depth = try dive depth with Found value -> value

let () =
  let sum = ref 0 in
  for i = 0 to 59 do
    sum := !sum + attempt [| 1; 5; 50 |].(i mod 3)
  done;
  Printf.printf "sum %d calls %d\n" !sum !calls;
  exit (if !sum = 420 && !calls = 20 * 56 then 0 else 1)
