(* Recursion with a handler at every level; exceptions go 1, 2, 5 and all levels up. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Up of int

let handled = ref 0

let rec descend level up =
  if level = 30 then raise (Up up)
  else
    try 1 + descend (level + 1) up
    with Up remaining ->
      incr handled;
      if remaining <= 1 then 100 else raise (Up (remaining - 1))

let rec some_levels level goal =
  if level = 30 then raise (Up goal)
  else if level mod 3 <> 0 then 1 + some_levels (level + 1) goal
  else try 1 + some_levels (level + 1) goal with Up wanted when wanted = level -> 1000

let () =
  let sum = ref 0 in
  for _ = 1 to 10 do
    List.iter (fun up -> sum := !sum + descend 0 up) [ 1; 2; 5; 30 ];
    List.iter (fun goal -> sum := !sum + some_levels 0 goal) [ 0; 3; 15; 27 ]
  done;
  Printf.printf "sum %d handled %d\n" !sum !handled;
  let expected = (100 + 29) + (100 + 28) + (100 + 25) + 100 + 4000 + 0 + 3 + 15 + 27 in
  exit (if !sum = 10 * expected && !handled = 380 then 0 else 1)
