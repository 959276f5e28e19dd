//! Iterators, closures that capture and return closures, dyn traits, and recursion through them.
// truth: -C opt-level=0; -C opt-level=3; strip -C opt-level=3
use std::collections::BTreeMap;
use std::hint::black_box;

trait Node {
    fn value(&self, depth: u32) -> u64;
}

struct Leaf(u64);
struct Pair(Box<dyn Node>, Box<dyn Node>);
struct Mapped<F: Fn(u64) -> u64>(Box<dyn Node>, F);

impl Node for Leaf {
    #[inline(never)]
    fn value(&self, depth: u32) -> u64 {
        self.0 + (depth == 0) as u64
    }
}

impl Node for Pair {
    #[inline(never)]
    fn value(&self, depth: u32) -> u64 {
        self.0.value(depth + 1) + self.1.value(depth + 1)
    }
}

impl<F: Fn(u64) -> u64> Node for Mapped<F> {
    #[inline(never)]
    fn value(&self, depth: u32) -> u64 {
        (self.1)(self.0.value(depth + 1))
    }
}

fn build(depth: u64) -> Box<dyn Node> {
    match depth {
        0 => Box::new(Leaf(1)),
        _ if depth % 2 == 0 => Box::new(Pair(build(depth - 1), build(depth - 1))),
        _ => Box::new(Mapped(build(depth - 1), move |value| {
            black_box(value + depth)
        })),
    }
}

#[inline(never)]
fn compose(functions: Vec<Box<dyn Fn(u64) -> u64>>) -> Box<dyn Fn(u64) -> u64> {
    functions
        .into_iter()
        .fold(Box::new(|value| value), |first, next| {
            Box::new(move |value| next(first(value)))
        })
}

fn main() {
    let tree = build(14).value(0);
    let adders: Vec<Box<dyn Fn(u64) -> u64>> = (0..100u64)
        .map(|i| Box::new(move |value| black_box(value) + i) as Box<dyn Fn(u64) -> u64>)
        .collect();
    let composed = compose(adders)(5);
    let map: BTreeMap<u64, String> = (0..200).map(|i| (i * 37 % 200, i.to_string())).collect();
    let letters: usize = map
        .range(50..150)
        .map(|(_, text)| text.len())
        .filter(|&n| n > 1)
        .sum();
    let mut words: Vec<String> = map.into_values().collect();
    words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    println!(
        "tree {tree} composed {composed} letters {letters} first {}",
        words[0]
    );
    let right = tree == 862 && composed == 4955 && letters == 238 && words[0] == "100";
    std::process::exit(if right { 0 } else { 1 });
}
