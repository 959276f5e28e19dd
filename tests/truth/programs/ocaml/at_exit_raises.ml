(* Functions of at_exit that call, raise within and add others; exit within exit, from deep inside. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
let ran = ref 0
let rec work depth = if depth = 0 then 0 else 1 + work (depth - 1)
let rec leave depth status = if depth = 0 then exit status else 1 + leave (depth - 1) status

(* Functions that are added during exit run when exit is called again, the last one first. *)
let judge () = exit (if !ran = 5 * (1 + 20 + 300) then 0 else 1)
let prepare () = at_exit judge

let raises_within () =
  try raise (Failure (string_of_int (work 20)))
  with Failure text -> ran := !ran + int_of_string text

let adds_another () =
  ran := !ran + work 1;
  at_exit (fun () -> ran := !ran + work 300)

let () =
  at_exit (fun () -> exit (work 2));
  for _ = 1 to 5 do
    at_exit raises_within;
    at_exit adds_another
  done;
  at_exit prepare;
  ignore (leave 100 3)
