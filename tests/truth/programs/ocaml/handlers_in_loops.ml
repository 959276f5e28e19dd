(* Handlers in every turn of a loop and around a loop; exceptions used as break and continue. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Break
exception Continue of int

let visited = ref 0

let step i =
  incr visited;
  if i mod 4 = 1 then raise (Continue i) else if i mod 100 = 99 then raise_notrace Break else i

let one_round () =
  let sum = ref 0 in
  (try
     for i = 0 to 1000 do
       try sum := !sum + step i with Continue value -> sum := !sum + (2 * value)
     done
   with Break -> ());
  !sum

let search table wanted =
  let place = ref (-1) in
  (try Array.iteri (fun i value -> if value = wanted then (place := i; raise_notrace Exit)) table
   with Exit -> ());
  !place

let () =
  let sum = ref 0 and found = ref 0 in
  for _ = 1 to 10 do
    sum := !sum + one_round ()
  done;
  let table = Array.init 60 (fun i -> i * 7 mod 60) in
  for wanted = 0 to 59 do
    if table.(search table wanted) = wanted then incr found
  done;
  Printf.printf "sum %d found %d visited %d\n" !sum !found !visited;
  exit (if !sum = 10 * (4851 + 1225) && !found = 60 && !visited = 1000 then 0 else 1)
