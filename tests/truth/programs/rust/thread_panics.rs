//! Threads of which some panic deep in a recursion; join hands the payload to the main thread.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::hint::black_box;
use std::panic;
use std::thread;

#[inline(never)]
fn dive(depth: u32, fails: bool) -> u32 {
    if depth == 0 {
        if fails {
            panic::panic_any(1000u32);
        }
        return 0;
    }
    black_box(dive(black_box(depth - 1), fails)) + 1
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut sum = 0;
    for round in 0..5u32 {
        let threads: Vec<_> = (0..4u32)
            .map(|i| thread::spawn(move || dive(50 * i + round, i % 2 == 1)))
            .collect();
        for thread in threads {
            sum += match thread.join() {
                Ok(value) => value,
                Err(payload) => *payload.downcast_ref::<u32>().unwrap_or(&0),
            };
        }
    }
    let scoped: u32 = thread::scope(|scope| {
        let first = scope.spawn(|| dive(30, false));
        let second = scope.spawn(|| dive(20, true));
        first.join().unwrap_or(0) + second.join().unwrap_or(7)
    });
    println!("sum {sum} scoped {scoped}");
    std::process::exit(if sum == 10 * 1000 + 5 * 100 + 20 && scoped == 37 {
        0
    } else {
        1
    });
}
