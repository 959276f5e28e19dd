//! A callback that C (qsort, bsearch) calls panics, and catches the panic before it returns to C.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::ffi::{c_int, c_void};
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};

static CAUGHT: AtomicU32 = AtomicU32::new(0);

type Compare = extern "C" fn(*const c_void, *const c_void) -> c_int;

extern "C" {
    fn qsort(base: *mut c_void, count: usize, size: usize, compare: Compare);
    fn bsearch(
        key: *const c_void,
        base: *const c_void,
        count: usize,
        size: usize,
        compare: Compare,
    ) -> *mut c_void;
}

#[inline(never)]
fn order(left: i32, right: i32) -> c_int {
    if (left + right) % 7 == 0 {
        panic::panic_any((left - right).signum());
    }
    (left - right).signum()
}

extern "C" fn compare(left: *const c_void, right: *const c_void) -> c_int {
    let (left, right) = unsafe { (*left.cast::<i32>(), *right.cast::<i32>()) };
    match panic::catch_unwind(|| order(left, right)) {
        Ok(order) => order,
        Err(payload) => {
            CAUGHT.fetch_add(1, Ordering::Relaxed);
            *payload.downcast_ref::<c_int>().unwrap_or(&0)
        }
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut numbers: Vec<i32> = (0..200).map(|i| i * 77 % 200).collect();
    unsafe { qsort(numbers.as_mut_ptr().cast(), numbers.len(), 4, compare) };
    let sorted = numbers
        .iter()
        .enumerate()
        .all(|(i, &number)| number == i as i32);
    let found = (0..200i32)
        .filter(|key| {
            let key: *const i32 = key;
            unsafe { !bsearch(key.cast(), numbers.as_ptr().cast(), 200, 4, compare).is_null() }
        })
        .count();
    let caught = CAUGHT.load(Ordering::Relaxed);
    println!("sorted {sorted} found {found} caught {}", caught > 50);
    std::process::exit(if sorted && found == 200 && caught > 50 {
        0
    } else {
        1
    });
}
