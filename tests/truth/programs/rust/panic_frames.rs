//! Panics caught 1, 5 and 50 frames up.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3; -C opt-level=3 -C target-feature=+crt-static -C relocation-model=static
use std::hint::black_box;
use std::panic;

#[inline(never)]
fn dive(depth: u32) -> u32 {
    if depth == 1 {
        panic::panic_any(7u32);
    }
    black_box(dive(black_box(depth - 1))) + 1
}

#[inline(never)]
fn attempt(depth: u32) -> u32 {
    match panic::catch_unwind(|| dive(depth)) {
        Ok(_) => 0,
        Err(value) => *value.downcast_ref::<u32>().unwrap_or(&0),
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum: u32 = (0..60).map(|i| attempt([1, 5, 50][i % 3])).sum();
    println!("sum {sum}");
    std::process::exit(if sum == 420 { 0 } else { 1 });
}
