//! The real server over real sockets: requests go out byte for byte as they are written.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{PATIENCE, command};

/// Longest wait for a server to take bytes: one that has answered takes no more.
const WRITE_PATIENCE: Duration = Duration::from_secs(2);

/// A running server with a token that may do everything, unless it asks nobody.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
    said: Arc<Mutex<String>>,
    _caches: TempDir,
}

/// An answer, or the end of the connection in its place.
#[derive(Debug)]
pub(crate) struct Answer {
    /// `None` when the connection was closed before.
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Makes a token with these scopes and gives its secret.
pub(crate) fn token(home: &Path, name: &str, scopes: &str) -> String {
    let mut create = command(home);
    create.current_dir(home).args(["token", "create", "--state", "st", "--name", name]);
    let made = create.args(["--scope", scopes]).output().expect("the program runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).expect("UTF-8").trim().to_owned()
}

impl HttpServer {
    /// Serves what is in `home`: `docs`, and `flows` when it is there.
    pub(crate) fn start(home: &Path, args: &[&str]) -> Self {
        let asks = !args.contains(&"--insecure-no-auth");
        let token = if asks { token(home, "all", "admin:*") } else { String::new() };
        let caches = tempfile::tempdir().expect("a temporary folder");
        let mut server = command(caches.path());
        server.current_dir(home).args(["serve", "--docs", "docs", "--http", "127.0.0.1:0"]);
        if asks {
            server.args(["--state", "st"]);
        }
        Self::spawn(server.args(args), token, caches)
    }

    fn spawn(command: &mut Command, token: String, caches: TempDir) -> Self {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the server starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let said = Arc::new(Mutex::new(String::new()));
        let port = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).expect("text") > 0, "the server ended: {said:?}");
            said.lock().expect("whole").push_str(&line);
            if let Some(address) = line.trim().strip_prefix("serving MCP at http://127.0.0.1:") {
                let port = address.split('/').next().and_then(|port| port.parse().ok());
                break port.expect("a port");
            }
        };
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut said = heard.lock().expect("whole");
                said.push_str(&line);
                said.push('\n');
            }
        });
        Self { child, port, token, said, _caches: caches }
    }

    /// What the server wrote to standard error so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("whole").clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> Connection {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        stream.set_write_timeout(Some(WRITE_PATIENCE)).expect("a limit");
        stream.set_nodelay(true).expect("no delay");
        let reader = BufReader::new(stream.try_clone().expect("the same"));
        Connection { stream, reader }
    }

    /// A `POST /mcp` with this token and these further headers, on a connection of its own.
    pub(crate) fn post(&self, token: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut connection = self.connect();
        connection.send(&self.request(token, headers, body));
        connection.answer(false)
    }

    /// The bytes of such a request.
    pub(crate) fn request(&self, token: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let mut text = format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port);
        let known = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        if !known("content-type") {
            text += "Content-Type: application/json\r\n";
        }
        if !token.is_empty() && !known("authorization") {
            write!(text, "Authorization: Bearer {token}\r\n").expect("a string takes it");
        }
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").expect("a string takes it");
        }
        write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a string takes it");
        text.into()
    }

    /// The result of a call under revision 2025-06-18.
    pub(crate) fn call(&self, token: &str, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let version = [("MCP-Protocol-Version", "2025-06-18")];
        self.post(token, &version, &body.to_string()).json()["result"].take()
    }

    /// Sends SIGTERM and waits for the end; gives the exit status.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().expect("kill runs");
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            thread::yield_now();
        }
        panic!("the server does not end")
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// Writes bytes, and says whether they went: a server that has answered need not read on.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Reads an answer; one to HEAD has no body.
    pub(crate) fn answer(&mut self, is_head: bool) -> Answer {
        let mut answer = Answer { status: None, headers: Vec::new(), body: String::new() };
        let mut line = String::new();
        if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
            return answer;
        }
        answer.status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        loop {
            line.clear();
            if self.reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("a header");
            answer.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let length = answer.header("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.filter(|_| !is_head).unwrap_or(0)];
        self.reader.read_exact(&mut body).expect("the whole body");
        answer.body = String::from_utf8(body).expect("UTF-8");
        answer
    }
}
