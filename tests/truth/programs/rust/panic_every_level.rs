//! Recursion that catches at several levels and passes panics on to the level they are meant for.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::hint::black_box;
use std::panic;

const DEEPEST: u32 = 24;

#[inline(never)]
fn descend(level: u32, goal: u32) -> u32 {
    if level == DEEPEST {
        panic::panic_any(goal);
    }
    if level % 3 != 0 {
        return black_box(descend(level + 1, goal)) + 1;
    }
    match panic::catch_unwind(|| descend(level + 1, goal)) {
        Ok(value) => value + 1,
        Err(payload) => match payload.downcast_ref::<u32>() {
            Some(&wanted) if wanted == level => 100,
            _ => panic::resume_unwind(payload),
        },
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut sum = 0;
    for _ in 0..5 {
        for goal in (0..DEEPEST).step_by(3) {
            sum += descend(0, goal);
        }
    }
    println!("sum {sum}");
    let expected: u32 = (0..DEEPEST).step_by(3).map(|goal| 100 + goal).sum();
    std::process::exit(if sum == 5 * expected { 0 } else { 1 });
}
