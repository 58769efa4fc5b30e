//! The load: each connection sends its next request when it has the last one's answer.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

/// What a round of load gave.
pub(crate) struct Round {
    pub(crate) errors: usize,
    times: Vec<Duration>,
    took: Duration,
}

impl Round {
    pub(crate) fn a_second(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }

    fn at(&self, share: usize) -> f64 {
        let at = (self.times.len() * share / 100).min(self.times.len() - 1);
        self.times[at].as_secs_f64() * 1_000.0
    }
}

impl fmt::Display for Round {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, p50, p99) = (self.a_second(), self.at(50), self.at(99));
        write!(
            out,
            "{rate:.0} requests/s, p50 {p50:.2} ms, p99 {p99:.2} ms, {} errors",
            self.errors
        )
    }
}

/// Asks over and over for a time.
pub(crate) fn load(port: u16, queries: &[String], connections: usize, time: Duration) -> Round {
    let start = Instant::now();
    let mut round = Round { errors: 0, times: Vec::new(), took: Duration::ZERO };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..connections)
            .map(|at| scope.spawn(move || ask(port, queries, at * 7, start, time)))
            .collect();
        for thread in threads {
            let (times, errors) = thread.join().unwrap();
            round.times.extend(times);
            round.errors += errors;
        }
    });
    round.took = start.elapsed();
    round.times.sort_unstable();
    round
}

fn ask(
    port: u16,
    queries: &[String],
    first: usize,
    start: Instant,
    time: Duration,
) -> (Vec<Duration>, usize) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut times, mut errors) = (Vec::new(), 0);
    for (id, query) in queries.iter().cycle().skip(first).enumerate() {
        if start.elapsed() >= time {
            break;
        }
        let call = json!({ "name": "docs_search", "arguments": { "query": query } });
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call });
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n\
            Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let sent = Instant::now();
        stream.write_all(request.as_bytes()).unwrap();
        let answer = answer(&mut reader);
        times.push(sent.elapsed());
        errors +=
            usize::from(!answer.contains("\"result\"") || answer.contains("\"isError\":true"));
    }
    (times, errors)
}

fn answer(reader: &mut BufReader<TcpStream>) -> String {
    let (mut length, mut is_chunked) = (0, false);
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let head = line.trim_end().to_ascii_lowercase();
        if head.is_empty() {
            break;
        }
        if let Some(value) = head.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        is_chunked |= head == "transfer-encoding: chunked";
    }
    let mut body = Vec::new();
    loop {
        if is_chunked {
            line.clear();
            reader.read_line(&mut line).unwrap();
            length = usize::from_str_radix(line.trim(), 16).unwrap();
        }
        let so_far = body.len();
        body.resize(so_far + length, 0);
        reader.read_exact(&mut body[so_far..]).unwrap();
        if is_chunked {
            reader.read_line(&mut line).unwrap();
        }
        if !is_chunked || length == 0 {
            return String::from_utf8(body).unwrap();
        }
    }
}
