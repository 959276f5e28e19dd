(* Effects: performed at several depths, resumed once, also from elsewhere than the handler, and discontinued; handlers within
   one another, of which the outer one handles what the inner one does not. *)
open Effect
open Effect.Deep

external marker : unit -> unit = "ocaml_marker"

type _ Effect.t += Yield : int -> int Effect.t
type _ Effect.t += Ask : int Effect.t

let sum = ref 0
let[@inline never] step n = sum := (!sum + n) land 0xffffff
let[@inline never] work n = for i = 1 to n do step i done

let rec descend depth =
  if depth = 0 then begin
    marker ();
    let got = perform (Yield 1) in
    marker ();
    work got
  end else begin
    descend (depth - 1);
    step depth
  end

let rec other_way depth =
  if depth = 0 then begin
    let got = perform (Yield 2) in
    marker ();
    work got
  end else begin
    (try other_way (depth - 1) with Not_found -> step 1);
    step depth
  end

(* Handled at once, in the handler. *)
let[@inline never] handled_at_once n =
  match_with (fun () -> for i = 1 to n do
      if i mod 2 = 0 then descend (i mod 5) else other_way (i mod 4) done)
    () { retc = (fun () -> marker (); step 7);
         exnc = raise;
         effc = fun (type a) (e : a Effect.t) -> match e with
           | Yield n -> Some (fun (k : (a, _) continuation) -> work 20; marker (); continue k (n + 30))
           | _ -> None }

(* Threads that take turns: continued by a scheduler, from one place, and from another one. *)
let queue : (unit -> unit) Queue.t = Queue.create ()

let[@inline never] spawn f =
  match_with f ()
    { retc = (fun () -> step 3);
      exnc = (fun _ -> marker ());
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Yield n -> Some (fun (k : (a, _) continuation) ->
            Queue.add (fun () -> marker (); continue k n; step 4) queue)
        | _ -> None }

let[@inline never] run_one () = let next = Queue.pop queue in next (); step 5
let[@inline never] run_one_deeper n = if n land 1 = 0 then (run_one (); step 6) else (work 10; run_one (); step 9)

let[@inline never] threads n =
  for i = 1 to n do
    spawn (fun () -> for j = 1 to 6 do
      if (i + j) mod 3 = 0 then other_way (j mod 3) else descend ((i + j) mod 6) done)
  done;
  let count = ref 0 in
  while not (Queue.is_empty queue) do
    incr count;
    if !count mod 3 = 0 then run_one () else run_one_deeper !count;
    work 50
  done

(* The inner handler does not handle Ask. *)
let[@inline never] asks depth =
  let rec down d = if d = 0 then begin let v = perform Ask in marker (); work v end else begin down (d - 1); step d end in
  down depth

let[@inline never] nested n =
  match_with (fun () ->
      for i = 1 to n do handled_at_once 2; 
        match_with (fun () -> asks (i mod 4); descend 2) ()
          { retc = (fun () -> step 1); exnc = raise;
            effc = fun (type a) (e : a Effect.t) -> match e with
              | Yield n -> Some (fun (k : (a, _) continuation) -> continue k n)
              | _ -> None }
      done) ()
    { retc = (fun () -> step 2); exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Ask -> Some (fun (k : (a, _) continuation) -> marker (); continue k 25)
        | _ -> None }

(* Discontinued: an exception where it waits, caught further out in it, or by its handler. *)
exception Stop

let rec caught depth =
  if depth = 0 then descend 1
  else begin (try caught (depth - 1) with Stop when depth = 2 -> marker (); step 11); step 12 end

let[@inline never] discontinued n =
  for i = 1 to n do
    match_with (fun () -> caught (i mod 4)) ()
      { retc = (fun () -> marker (); step 13);
        exnc = (fun _ -> marker (); step 14);
        effc = fun (type a) (e : a Effect.t) -> match e with
          | Yield _ -> Some (fun (k : (a, _) continuation) -> work 10; discontinue k Stop)
          | _ -> None };
    marker ()
  done

(* A handler at each level of a recursion, all of one code; they go on after the fiber has ended, and what they pass on is resumed from elsewhere. *)
let rec levels n =
  match_with (fun () ->
      if n = 0 then begin descend 2; marker (); work (perform Ask) end else begin levels (n - 1); step n end;
      marker ()) ()
    { retc = (fun () -> marker (); step 15); exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Yield v -> Some (fun (k : (a, _) continuation) -> continue k v; marker (); step 16)
        | _ -> None };
  marker ()

let[@inline never] levels_elsewhere n =
  match_with levels n
    { retc = (fun () -> step 17); exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Ask -> Some (fun (k : (a, _) continuation) -> Queue.add (fun () -> marker (); continue k 3; step 18) queue)
        | _ -> None };
  marker ();
  run_one_deeper n;
  marker ()

let () =
  handled_at_once 20;
  threads 8;
  nested 6;
  discontinued 12;
  for i = 0 to 9 do levels_elsewhere (i mod 5) done;
  marker ();
  Printf.printf "sum %d\n" !sum
