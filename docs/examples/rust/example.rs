//! Snapshots from Rust:
//!
//!     rustc -O example.rs -L native=/usr/local/lib
//!     magic-trace run -trigger . ./example

#[link(name = "magic_trace", kind = "static")]
extern "C" {
    fn magic_trace_mark_start();
    fn magic_trace_take_snapshot_with_arg(argument: i64);
}

fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn main() {
    for request in 0..3 {
        unsafe { magic_trace_mark_start() };
        println!("{}", fib(10 + request));
        unsafe { magic_trace_take_snapshot_with_arg(request.into()) };
    }
}
