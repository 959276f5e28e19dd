// A server with a thread per connection, for tests/services/run: server PORT
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

#[no_mangle]
#[inline(never)]
pub extern "C" fn answer(count: u64) -> u64 {
    let numbers: std::collections::BTreeMap<u64, u64> = (0..count).map(|number| (number, number)).collect();
    numbers.values().sum()
}

fn serve(stream: TcpStream) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    while let Some(line) = lines.next() {
        if !line?.is_empty() {
            continue;
        }
        let text = format!("the answer is {}\n", answer(1000));
        let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", text.len(), text);
        writer.write_all(response.as_bytes())?;
    }
    Ok(())
}

fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("to listen");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(stream));
    }
}
