(* Printf, Scanf, Format and Str-like parsing: deep library code that uses exceptions inside. *)
(* truth: compiler=ocamlopt -g; compiler=ocamlopt -inline 0; compiler=ocamlopt -g -unsafe -inline 200 *)
let total number word real = number + String.length word + int_of_float real
let parse text = Scanf.sscanf text "%d,%s@;%f" total

let attempt text =
  match parse text with
  | value -> value
  | exception Scanf.Scan_failure _ -> -1
  | exception End_of_file -> -2
  | exception Failure _ -> -3

let pretty depth =
  let rec print formatter depth =
    if depth = 0 then Format.fprintf formatter "leaf"
    else Format.fprintf formatter "@[<hov 2>(node@ %a@ %d)@]" print (depth - 1) depth
  in
  Format.asprintf "%a" print depth

let () =
  let sum = ref 0 in
  for i = 0 to 19 do
    sum := !sum + attempt (Printf.sprintf "%d,%s;%.2f" i "word" (float_of_int i));
    sum := !sum + attempt "x,word;1" + attempt ""
  done;
  let letters = String.length (String.concat "" (String.split_on_char '\n' (pretty 12))) in
  Printf.printf "sum %d letters %d\n" !sum letters;
  exit (if !sum = 2 * 190 + 80 - 20 + 20 * attempt "" && letters > 100 then 0 else 1)
