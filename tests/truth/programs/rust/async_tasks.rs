//! Tasks of async functions that an executor polls: they yield at several depths, from recursion, and in destructors' reach.
// truth: --edition 2021 -C opt-level=0; --edition 2021 -C opt-level=3; strip --edition 2021 -C opt-level=3
use std::collections::VecDeque;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

static SUM: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
fn step(value: u64) {
    SUM.fetch_add(black_box(value), Ordering::Relaxed);
}

#[inline(never)]
fn work(count: u64) {
    for i in 0..count {
        step(i);
    }
}

struct Guard(u64);
impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        step(self.0);
    }
}

/// Ready when it has been polled as often as it says.
struct Yield(u32);
impl Future for Yield {
    type Output = u64;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        work(5);
        if self.0 == 0 {
            return Poll::Ready(3);
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn leaf(times: u32) -> u64 {
    let guard = Guard(u64::from(times));
    let got = Yield(times).await;
    work(got);
    guard.0 + got
}

fn descend(depth: u32) -> Pin<Box<dyn Future<Output = u64>>> {
    Box::pin(async move {
        if depth == 0 {
            return leaf(2).await;
        }
        let inner = descend(depth - 1).await;
        step(inner);
        inner + leaf(depth % 3).await
    })
}

async fn task(number: u32) {
    for i in 0..8 {
        step(descend((number + i) % 5).await);
    }
    step(u64::from(number));
}

struct Woken(AtomicU64);
impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let woken = Arc::new(Woken(AtomicU64::new(0)));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut tasks: VecDeque<Pin<Box<dyn Future<Output = ()>>>> = VecDeque::new();
    for number in 0..12 {
        tasks.push_back(Box::pin(task(number)));
    }
    while let Some(mut next) = tasks.pop_front() {
        if next.as_mut().poll(&mut context).is_pending() {
            tasks.push_back(next);
        }
    }
    println!("sum {} woken {}", SUM.load(Ordering::Relaxed), woken.0.load(Ordering::Relaxed));
}
