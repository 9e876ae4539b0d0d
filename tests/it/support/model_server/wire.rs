//! As much of HTTP/1.1 as the agents' clients speak, over one blocking connection a thread.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How often a waiting exchange checks that its client is still there.
pub(super) const CHECK_EVERY: Duration = Duration::from_millis(40);

/// The client is gone, or the server is closing.
#[derive(Debug)]
pub(super) struct Lost;

impl From<io::Error> for Lost {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// One request, read whole.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path without its query.
    pub(super) path: String,
    /// `null` when the body is not JSON.
    pub(super) body: Value,
}

impl Request {
    /// Whether the client asked for the answer as it grows.
    pub(super) fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }
}

pub(super) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    /// The next request, or nothing when the client has closed the connection.
    pub(super) fn read(&mut self) -> io::Result<Option<Request>> {
        let Some(first) = self.line()? else { return Ok(None) };
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut length, mut chunked, mut expects) = (0, false, false);
        while let Some(line) = self.line()?.filter(|line| !line.is_empty()) {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap_or(0),
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                "expect" => expects = value.eq_ignore_ascii_case("100-continue"),
                _ => {}
            }
        }
        if expects {
            self.reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let bytes = if chunked { self.chunks()? } else { self.exactly(length)? };
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let path = target.split('?').next().unwrap_or_default();
        Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), body }))
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        if self.reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_owned()))
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let line = self.line()?.unwrap_or_default();
            let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).unwrap_or(0);
            bytes.extend(self.exactly(size)?);
            self.line()?;
            if size == 0 {
                return Ok(bytes);
            }
        }
    }
}

/// The answer to one request, as it is being written.
pub(super) struct Reply<'a> {
    connection: &'a mut Connection,
    closing: &'a AtomicBool,
    reusable: bool,
}

impl<'a> Reply<'a> {
    pub(super) fn new(connection: &'a mut Connection, closing: &'a AtomicBool) -> Self {
        Self { connection, closing, reusable: true }
    }

    /// Whether the connection can carry another request.
    pub(super) fn reusable(&self) -> bool {
        self.reusable
    }

    /// Writes a whole reply.
    pub(super) fn json(&mut self, status: u16, body: &Value) -> Result<(), Lost> {
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            reason(status),
            body.len()
        );
        self.write(head.as_bytes())?;
        self.write(body.as_bytes())
    }

    /// Writes the head of a reply that streams events.
    pub(super) fn begin_stream(&mut self) -> Result<(), Lost> {
        self.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )
    }

    /// Writes events, each named by its `type`.
    pub(super) fn events(&mut self, events: &[Value]) -> Result<(), Lost> {
        for event in events {
            let name = event["type"].as_str().unwrap_or_default();
            let text = format!("event: {name}\ndata: {event}\n\n");
            self.write(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())?;
        }
        Ok(())
    }

    /// Writes the end of a stream.
    pub(super) fn end_stream(&mut self) -> Result<(), Lost> {
        self.write(b"0\r\n\r\n")
    }

    /// Cuts the connection where it stands.
    pub(super) fn cut(&mut self) {
        self.reusable = false;
        drop(self.connection.reader.get_ref().shutdown(Shutdown::Both));
    }

    /// Lets time pass, and notices when the client hangs up meanwhile.
    pub(super) fn wait(&mut self, time: Duration) -> Result<(), Lost> {
        let end = Instant::now() + time;
        loop {
            self.check()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(CHECK_EVERY));
        }
    }

    fn check(&self) -> Result<(), Lost> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(Lost);
        }
        let stream = self.connection.reader.get_ref();
        stream.set_nonblocking(true)?;
        let seen = stream.peek(&mut [0]);
        stream.set_nonblocking(false)?;
        match seen {
            Ok(0) => Err(Lost),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(_) => Err(Lost),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        let written = self.connection.reader.get_mut().write_all(bytes);
        if written.is_err() {
            self.reusable = false;
        }
        Ok(written?)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Other",
    }
}
