// Panics that are caught, and that destructors clean up after; see landing_pad_log.c.
use std::panic::{catch_unwind, AssertUnwindSafe};

struct Guard<'a>(&'a mut u32);

impl Drop for Guard<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        *self.0 += 1;
    }
}

#[inline(never)]
fn descend(depth: u32, dropped: &mut u32) -> u32 {
    let guard = Guard(dropped);
    if depth == 0 {
        panic!("at the end");
    }
    let sum = descend(depth - 1, guard.0);
    sum + 1
}

fn main() {
    let mut dropped = 0;
    for depth in 0..5 {
        let result = catch_unwind(AssertUnwindSafe(|| descend(depth, &mut dropped)));
        assert!(result.is_err());
    }
    println!("{}", dropped);
}
