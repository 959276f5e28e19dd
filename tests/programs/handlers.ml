(* Raises exceptions in every way that there is: with and without backtrace, through recursion, from the runtime, out of
   C and through C. Says how often. *)
exception Number of int
exception Stop

external through_c : (unit -> int) -> int = "handlers_through_c"

let raised = ref 0

let[@inline never] choose n =
  incr raised;
  match n mod 4 with
  | 0 -> raise (Number n)
  | 1 -> raise_notrace Not_found
  | 2 -> failwith "two" (* the library's *)
  | _ ->
      decr raised;
      n

let[@inline never] one n = try choose n with Number k -> k
let[@inline never] two n = try one n with Not_found -> 7

let[@inline never] three n =
  try try two n with Number _ -> assert false
  with Failure _ when n > 0 -> String.length (try incr raised; raise Stop with Stop -> "caught")

(* To a handler of the same function, in the same activation and further out. *)
let[@inline never] local n =
  try
    if n > 3 then begin
      incr raised;
      raise_notrace Stop
    end;
    n
  with Stop -> 2

let rec climb n =
  if n = 0 then begin
    incr raised;
    raise_notrace Stop
  end
  else if n mod 5 = 0 then try 1 + climb (n - 1) with Stop when n = 10 -> 1
  else 1 + climb (n - 1)

(* Raised by C, and by OCaml that C has called. *)
let[@inline never] by_c text =
  try
    incr raised;
    let n = int_of_string text in
    decr raised;
    n
  with Failure _ -> -1

let[@inline never] through n = through_c (fun () -> choose n)

let () =
  let sum = ref 0 in
  for n = 1 to 40 do
    sum := !sum + three n + local n + climb 12 + by_c (if n mod 2 = 0 then "12" else "twelve") + through n
  done;
  Printf.printf "%d\nCOUNT raised %d\n" !sum !raised
