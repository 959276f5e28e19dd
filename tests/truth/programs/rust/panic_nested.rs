//! catch_unwind within catch_unwind, and panics that are caught while another one unwinds.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::hint::black_box;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, Ordering};

static CAUGHT_IN_DROP: AtomicU32 = AtomicU32::new(0);

#[inline(never)]
fn fail(depth: u32) -> u32 {
    if depth == 0 {
        panic!("deep");
    }
    black_box(fail(black_box(depth - 1))) + 1
}

struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {
        let depth = self.0;
        if panic::catch_unwind(|| fail(depth)).is_err() {
            CAUGHT_IN_DROP.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Every level catches its own panic and then panics for the level above.
#[inline(never)]
fn levels(level: u32) -> u32 {
    let below = panic::catch_unwind(|| {
        if level == 0 {
            fail(3)
        } else {
            levels(level - 1)
        }
    });
    let value = match below {
        Ok(value) => value,
        Err(payload) => *payload.downcast_ref::<u32>().unwrap_or(&0),
    };
    panic::panic_any(value + 1);
}

#[inline(never)]
fn guarded(depth: u32) -> u32 {
    let _guard = Guard(depth);
    black_box(fail(depth))
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut sum = 0;
    for i in 0..20 {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| levels(i))) {
            sum += *payload.downcast_ref::<u32>().unwrap_or(&0);
        }
        let _ = panic::catch_unwind(|| guarded(i));
    }
    let caught = CAUGHT_IN_DROP.load(Ordering::Relaxed);
    println!("sum {sum} caught in drop {caught}");
    std::process::exit(if sum == 210 && caught == 20 { 0 } else { 1 });
}
