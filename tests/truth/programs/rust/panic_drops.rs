//! Values dropped on the way of a panic; their drops call, loop and recurse.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3; -C opt-level=3 -C target-feature=+crt-static -C relocation-model=static
use std::hint::black_box;
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};

static DROPPED: AtomicU32 = AtomicU32::new(0);

#[inline(never)]
fn work(depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    black_box(work(black_box(depth - 1))) + 1
}

struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {
        DROPPED.fetch_add(work(self.0), Ordering::Relaxed);
    }
}

#[inline(never)]
fn dive(depth: u32) -> usize {
    let _first = Guard(1);
    let others: Vec<Box<Guard>> = (0..3).map(|i| Box::new(Guard(i))).collect();
    if depth == 0 {
        panic!("bottom");
    }
    dive(depth - 1) + others.len()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut caught = 0;
    for depth in 0..40 {
        caught += panic::catch_unwind(|| dive(depth)).is_err() as u32;
    }
    let dropped = DROPPED.load(Ordering::Relaxed);
    println!("caught {caught} dropped {dropped}");
    std::process::exit(if caught == 40 && dropped == 4 * 820 {
        0
    } else {
        1
    });
}
