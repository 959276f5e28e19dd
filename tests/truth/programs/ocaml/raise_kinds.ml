(* raise, raise_notrace and reraise, with and without recorded backtraces, in one program. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Stop of string

let rec dive kind depth =
  if depth > 0 then 1 + dive kind (depth - 1)
  else if kind = 0 then raise (Stop "raise")
  else if kind = 1 then raise_notrace (Stop "notrace")
  else failwith "failure"

(* `raise error` of the exception just caught is a re-raise: it keeps the backtrace. *)
let passes_on kind depth = try dive kind depth with Stop _ as error -> raise error

let keeps_backtrace kind depth =
  try passes_on kind depth
  with error ->
    let backtrace = Printexc.get_raw_backtrace () in
    Printexc.raise_with_backtrace error backtrace

let attempt kind depth =
  try keeps_backtrace kind depth with
  | Stop text -> String.length text
  | Failure text -> 10 * String.length text

let run () =
  let sum = ref 0 in
  for i = 0 to 29 do
    sum := !sum + attempt (i mod 3) i
  done;
  !sum

let () =
  Printexc.record_backtrace true;
  let first = run () in
  Printexc.record_backtrace false;
  let second = run () in
  Printexc.record_backtrace true;
  let third = run () in
  Printf.printf "sums %d %d %d\n" first second third;
  let expected = 10 * (5 + 7 + 70) in
  exit (if first = expected && second = expected && third = expected then 0 else 1)
