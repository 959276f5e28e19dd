//! One request among 400 is slow, for the reason that is given.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;
use std::panic;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

const REQUESTS: usize = 400;
const SLOW_REQUEST: usize = 271;
const DELAY: Duration = Duration::from_millis(300);

static RATES: OnceLock<Vec<u64>> = OnceLock::new();

/// With a hasher that has no random keys, so that each run does the same.
type Sessions = HashMap<usize, u64, BuildHasherDefault<DefaultHasher>>;

trait Codec {
    fn encode(&self, text: &str) -> u64;
}

struct QuickCodec;
struct SlowCodec;

impl Codec for QuickCodec {
    #[inline(never)]
    fn encode(&self, text: &str) -> u64 {
        text.bytes().map(u64::from).sum()
    }
}

impl Codec for SlowCodec {
    #[inline(never)]
    fn encode(&self, text: &str) -> u64 {
        (0..3000).fold(0, |sum, round| sum ^ black_box(text.len() as u64 + round))
    }
}

struct Session {
    pages: Vec<Box<u64>>,
}

impl Drop for Session {
    #[inline(never)]
    fn drop(&mut self) {
        self.pages.clear();
    }
}

#[inline(never)]
fn load_rates() -> Vec<u64> {
    (0..3000).map(|i| black_box(i * 7)).collect()
}

#[inline(never)]
fn look_up_rate(number: usize) -> u64 {
    let rates = RATES.get_or_init(load_rates);
    rates[number % rates.len()]
}

#[inline(never)]
fn keep_session(sessions: &mut Sessions, number: usize) {
    sessions.insert(number, number as u64);
}

#[inline(never)]
fn grow_sessions(sessions: &mut Sessions) -> usize {
    sessions.reserve(2 * sessions.capacity());
    sessions.capacity()
}

#[inline(never)]
fn encode(codec: &dyn Codec) -> u64 {
    black_box(codec).encode("GET /index.html") + 1
}

#[inline(never)]
fn end_session(pages: usize) {
    drop(Session { pages: (0..pages).map(|i| Box::new(i as u64)).collect() });
}

#[inline(never)]
fn sort_rows(rows: &mut [u64]) {
    rows.sort_by_key(|row| black_box(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
}

#[inline(never)]
fn check(field: usize) {
    if field > 1000 {
        panic!("{} is too large", field);
    }
}

#[inline(never)]
fn retry(attempts: usize) {
    for _ in 0..attempts {
        black_box(panic::catch_unwind(|| check(black_box(2000))).is_err());
    }
}

#[inline(never)]
fn index_words(words: usize) -> usize {
    let mut index = BTreeMap::new();
    for word in 0..words {
        index.insert(word.wrapping_mul(2_654_435_761) % 4096, word);
    }
    index.len()
}

#[inline(never)]
fn walk_tree(depth: usize) -> usize {
    match black_box(depth) {
        0 => 1,
        depth => walk_tree(depth - 1) + walk_tree(depth - 1),
    }
}

#[inline(never)]
fn update_account(account: &Arc<Mutex<u64>>, contended: bool) {
    let (locked, is_locked) = mpsc::channel();
    let holder = contended.then(|| {
        let account = Arc::clone(account);
        thread::spawn(move || {
            let _held = account.lock();
            locked.send(()).unwrap();
            thread::sleep(DELAY);
        })
    });
    if contended {
        is_locked.recv().unwrap();
    }
    take_lock(account);
    if let Some(thread) = holder {
        thread.join().unwrap();
    }
}

#[inline(never)]
fn take_lock(account: &Mutex<u64>) {
    *account.lock().unwrap() += 1;
}

#[inline(never)]
fn wait_for_answer() {
    let (sender, answers) = mpsc::channel();
    thread::spawn(move || {
        thread::sleep(DELAY);
        sender.send(42).unwrap();
    });
    black_box(answers.recv().unwrap());
}

struct Server {
    sessions: Sessions,
    account: Arc<Mutex<u64>>,
    rows: RefCell<Vec<u64>>,
}

#[inline(never)]
fn handle_request(server: &mut Server, number: usize, reason: &str) {
    let because = |planted: &str| number == SLOW_REQUEST && reason == planted;
    keep_session(&mut server.sessions, number);
    black_box(encode(if because("encode") { &SlowCodec } else { &QuickCodec }));
    end_session(if because("end_session") { 3000 } else { 3 });
    let rows = if because("sort_rows") { 3000 } else { 20 };
    sort_rows(&mut server.rows.borrow_mut()[..rows]);
    black_box(index_words(if because("index_words") { 2000 } else { 10 }));
    black_box(walk_tree(if because("walk_tree") { 12 } else { 3 }));
    if number >= SLOW_REQUEST && reason == "look_up_rate" {
        black_box(look_up_rate(number));
    }
    if because("grow_sessions") {
        black_box(grow_sessions(&mut server.sessions));
    }
    if because("retry") {
        retry(20);
    }
    update_account(&server.account, because("take_lock"));
    if because("wait_for_answer") {
        wait_for_answer();
    }
}

fn main() {
    let reason = env::args().nth(1).unwrap_or_default();
    panic::set_hook(Box::new(|_| ()));
    let mut server = Server {
        sessions: (0..3000).map(|number| (number, 0)).collect(),
        account: Arc::new(Mutex::new(0)),
        rows: RefCell::new((0..3000).collect()),
    };
    for number in 0..REQUESTS {
        handle_request(&mut server, number, &reason);
    }
}
