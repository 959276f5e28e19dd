(* Fun.protect: finally runs on every way out, and may itself raise. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
let finished = ref 0

let rec work depth = if depth = 0 then 0 else 1 + work (depth - 1)

let rec dive depth =
  Fun.protect
    ~finally:(fun () -> finished := !finished + work (depth mod 4))
    (fun () -> if depth = 0 then raise Not_found else 1 + dive (depth - 1))

let rec returns depth =
  Fun.protect
    ~finally:(fun () -> incr finished)
    (fun () -> if depth = 0 then 0 else 1 + returns (depth - 1))

let broken () = Fun.protect ~finally:(fun () -> failwith "finally") (fun () -> work 5)

let () =
  let caught = ref 0 and returned = ref 0 in
  for i = 0 to 29 do
    (try ignore (dive i) with Not_found -> incr caught);
    returned := !returned + returns i;
    try ignore (broken ()) with Fun.Finally_raised (Failure _) -> incr caught
  done;
  let expected = ref 465 in
  for i = 0 to 29 do
    for k = 0 to i do
      expected := !expected + (k mod 4)
    done
  done;
  Printf.printf "caught %d returned %d finished %d\n" !caught !returned !finished;
  exit (if !caught = 60 && !returned = 435 && !finished = !expected then 0 else 1)
