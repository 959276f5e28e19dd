/* How many lifetimes the binders of a symbol of Rust's v0 scheme declare ("for<'a, 'b>").
 *
 * A binder's number is written in base 62, so a symbol of 26 bytes can declare a thousand million, and
 * libiberty counts them one by one; where they are in the path of an impl it prints nothing
 * meanwhile, so that it cannot be stopped. demangle.c leaves such symbols as they are.
 *
 * The grammar is that of https://doc.rust-lang.org/rustc/symbol-mangling/v0.html.
 */
#ifndef MAGIC_TRACE_SYMBOL_DEMANGLE_DEMANGLE_RUST_BOUND_H
#define MAGIC_TRACE_SYMBOL_DEMANGLE_DEMANGLE_RUST_BOUND_H

#include <stdint.h>

/* The sum over the binders, back references aside; more than any when the symbol nests too deeply. Of
 * what is no such symbol, that of what can be read. */
uint64_t rust_symbol_lifetimes(const char *symbol);

#endif
