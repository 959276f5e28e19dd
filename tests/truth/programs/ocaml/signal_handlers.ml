(* Signal handlers in OCaml, run by the runtime at a safe place; one of them raises. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
exception Interrupted of int

let handled = ref 0

let rec work depth = if depth = 0 then 0 else 1 + work (depth - 1)

let rec dive depth =
  if depth = 0 then begin
    ignore (Sys.command "kill -USR1 $PPID; kill -USR2 $PPID");
    (* Allocation lets the runtime run pending handlers. *)
    List.length (List.init 1000 string_of_int)
  end
  else 1 + dive (depth - 1)

let () =
  Sys.set_signal Sys.sigusr1 (Sys.Signal_handle (fun _ -> handled := !handled + (work 7 / 7)));
  Sys.set_signal Sys.sigusr2 (Sys.Signal_handle (fun _ -> raise (Interrupted (work 9))));
  let caught = ref 0 in
  for i = 1 to 3 do
    match dive (10 * i) with _ -> () | exception Interrupted value -> caught := !caught + value
  done;
  Printf.printf "caught %d handled %d\n" !caught !handled;
  exit (if !caught = 27 && !handled = 3 then 0 else 1)
