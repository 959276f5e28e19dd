(* Lazy values that force each other, raise when forced, and raise again when forced again. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Undefined_cell of int

let forced = ref 0

let rec chain n : int Lazy.t =
  lazy
    (incr forced;
     if n = 0 then 0 else 1 + Lazy.force (chain (n - 1)))

let cells = Array.make 50 (lazy 0)

let () =
  Array.iteri
    (fun i _ ->
      cells.(i) <-
        lazy
          (incr forced;
           if i mod 10 = 9 then raise (Undefined_cell i)
           else if i < 2 then i
           else Lazy.force cells.(i - 1) + Lazy.force cells.(i - 2)))
    cells

let value i = try Lazy.force cells.(i) with Undefined_cell cell -> -cell

let rec stream n = Seq.Cons (n, fun () -> stream (n + 1))

let () =
  let sum = ref 0 in
  for i = 0 to 40 do
    sum := !sum + Lazy.force (chain i)
  done;
  let values = ref 0 in
  for _ = 1 to 2 do
    for i = 0 to 49 do
      values := !values + value i
    done
  done;
  let itself =
    let rec cell = lazy (1 + Lazy.force cell) in
    try Lazy.force cell with Lazy.Undefined -> 5
  in
  let taken = ref 0 in
  (try Seq.iter (fun n -> if n > 100 then raise Exit else taken := !taken + n) (fun () -> stream 0)
   with Exit -> ());
  Printf.printf "sum %d values %d itself %d taken %d\n" !sum !values itself !taken;
  exit (if !sum = 820 && !values = -1310 && itself = 5 && !taken = 5050 then 0 else 1)
