//! Panics that the library raises: index, unwrap, overflow, RefCell, ranges; caught in a loop.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::cell::RefCell;
use std::hint::black_box;
use std::panic;

#[inline(never)]
fn misuse(kind: u32) -> u32 {
    let numbers = [1u32, 2, 3];
    let cell = RefCell::new(1u32);
    match kind {
        0 => numbers[black_box(5)],
        1 => black_box(None::<u32>).unwrap(),
        2 => "no number".parse::<u32>().expect("a number"),
        3 => {
            let _first = cell.borrow_mut();
            let value = *cell.borrow();
            value
        }
        4 => numbers[black_box(3)..black_box(1)].len() as u32,
        5 => "grüße"[..black_box(3)].len() as u32,
        6 => 1 / black_box(0u32),
        _ => unreachable!("no such kind"),
    }
}

#[inline(never)]
fn dive(depth: u32, kind: u32) -> u32 {
    if depth == 0 {
        return misuse(kind);
    }
    black_box(dive(black_box(depth - 1), kind)) + 1
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let caught = (0..64)
        .filter(|&i| panic::catch_unwind(|| dive(i / 2, i % 8)).is_err())
        .count();
    println!("caught {caught}");
    std::process::exit(if caught == 64 { 0 } else { 1 });
}
