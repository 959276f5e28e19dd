//! resume_unwind: the payload of a caught panic is carried on, through frames with drops.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::any::Any;
use std::hint::black_box;
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};

static STEPS: AtomicU32 = AtomicU32::new(0);

struct Step;

impl Drop for Step {
    fn drop(&mut self) {
        STEPS.fetch_add(1, Ordering::Relaxed);
    }
}

#[inline(never)]
fn carry(depth: u32) -> u32 {
    let _step = Step;
    if depth == 0 {
        panic::resume_unwind(Box::new(String::from("carried")));
    }
    let result: Result<u32, Box<dyn Any + Send>> = if depth % 2 == 0 {
        panic::catch_unwind(|| carry(depth - 1))
    } else {
        Ok(black_box(carry(depth - 1)))
    };
    match result {
        Ok(value) => value + 1,
        Err(payload) => panic::resume_unwind(payload),
    }
}

fn main() {
    let mut lengths = 0;
    for depth in 0..30 {
        if let Err(payload) = panic::catch_unwind(|| carry(depth)) {
            lengths += payload.downcast_ref::<String>().map_or(0, String::len);
        }
    }
    let steps = STEPS.load(Ordering::Relaxed);
    println!("lengths {lengths} steps {steps}");
    std::process::exit(if lengths == 210 && steps == 465 { 0 } else { 1 });
}
