/* Readable names of OCaml functions.
 *
 * ocamlopt names the function bar of module Foo "camlFoo__bar_123": "caml", the compilation unit
 * (with "__" where a library's modules nest, as in Stdlib__List), "__" or, since OCaml 5.1, "."
 * before the function, and a stamp that makes it unique. Characters that assemblers reject are
 * written "$xx" in hexadecimal. It becomes "Foo.bar". The stamp stays where nothing else
 * distinguishes two functions: in anonymous ones ("Foo.fun_123").
 *
 * Source: OCaml's asmcomp/compilenv.ml and asmcomp/emitaux.ml (emit_symbol).
 */
#ifndef MAGIC_TRACE_SYMBOL_DEMANGLE_OCAML_H
#define MAGIC_TRACE_SYMBOL_DEMANGLE_OCAML_H

/* The result is owned by the caller (free); NULL for what is not OCaml's, such as the runtime's
 * "caml_alloc". */
char *demangle_ocaml(const char *symbol);

#endif
