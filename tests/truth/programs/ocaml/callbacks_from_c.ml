(* OCaml called by C: finalisers and alarms of the collector, that call and raise inside. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
let finalised = ref 0
let alarms = ref 0

let rec work depth = if depth = 0 then 0 else 1 + work (depth - 1)

let finalise value =
  (try if !value mod 3 = 0 then raise Not_found else finalised := !finalised + (work 5 / 5)
   with Not_found -> incr finalised)

let make i =
  let value = ref i in
  Gc.finalise finalise value;
  let other = ref (i + 1) in
  Gc.finalise_last (fun () -> finalised := !finalised + (work 3 / 3)) other;
  !value + !other

let () =
  let alarm = Gc.create_alarm (fun () -> alarms := !alarms + (work 10 / 10)) in
  let sum = ref 0 in
  for i = 1 to 60 do
    sum := !sum + make i;
    if i mod 20 = 0 then Gc.full_major ()
  done;
  Gc.full_major ();
  Gc.delete_alarm alarm;
  Printf.printf "sum %d finalised %d\n" !sum !finalised;
  exit (if !sum = 3720 && !finalised = 120 && !alarms > 0 then 0 else 1)
