//! A load balancer as simple as can be: every request goes to the next server, whoever asks.

use std::{
    collections::HashMap,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// The longest head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long a server may take to take a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// The end of the head of a request.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// An HTTP proxy on a port of its own; it ends when this is dropped.
///
/// Each request has a connection to itself, so that two requests of one client never go to the same
/// server by chance. A server that does not take a connection is passed over; what it did not answer
/// is not sent again.
#[derive(Debug)]
pub struct RoundRobin {
    address: SocketAddr,
    backends: Arc<Backends>,
    end: Option<watch::Sender<()>>,
}

#[derive(Debug, Default)]
struct Backends(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// In the order of their turns.
    addresses: Vec<SocketAddr>,
    next: usize,
    /// Told when the connections to a server are to break.
    breaks: HashMap<SocketAddr, watch::Sender<u64>>,
}

impl RoundRobin {
    /// Starts a proxy in front of servers.
    ///
    /// # Panics
    /// If there is no port for it.
    pub fn start(backends: impl IntoIterator<Item = SocketAddr>) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (end, mut ended) = watch::channel(());
        let started = Self { address, backends: Arc::default(), end: Some(end) };
        for backend in backends {
            started.add(backend);
        }
        let backends = Arc::clone(&started.backends);
        // Tests may be inside a runtime or not, and must not keep the proxy from its work.
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                loop {
                    tokio::select! {
                        _ = ended.changed() => return,
                        accepted = listener.accept() => {
                            let Ok((client, _)) = accepted else { continue };
                            let backends = Arc::clone(&backends);
                            tokio::spawn(async move { serve(client, &backends).await.ok() });
                        }
                    }
                }
            });
        });
        started
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives a server its turns from now on.
    pub fn add(&self, backend: SocketAddr) {
        let mut state = self.backends.lock();
        state.addresses.push(backend);
        state.breaks.entry(backend).or_default();
    }

    /// Sends a server nothing new from now on; what is under way goes on.
    pub fn remove(&self, backend: SocketAddr) {
        self.backends.lock().addresses.retain(|known| *known != backend);
    }

    /// Breaks the connections to a server, as a network does.
    pub fn break_connections(&self, backend: SocketAddr) {
        if let Some(breaks) = self.backends.lock().breaks.get(&backend) {
            breaks.send_modify(|count| *count += 1);
        }
    }
}

impl Drop for RoundRobin {
    fn drop(&mut self) {
        drop(self.end.take());
    }
}

impl Backends {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The servers in the order in which they are to be tried for the next request.
    fn turns(&self) -> Vec<SocketAddr> {
        let mut state = self.lock();
        let mut turns = state.addresses.clone();
        if !turns.is_empty() {
            let first = state.next % turns.len();
            state.next = first + 1;
            turns.rotate_left(first);
        }
        turns
    }

    /// Ends when the connections to a server are to break.
    async fn broken(&self, backend: SocketAddr) {
        let breaks = self.lock().breaks.get(&backend).map(watch::Sender::subscribe);
        if let Some(mut breaks) = breaks {
            // An error means that the proxy is gone.
            breaks.changed().await.ok();
        }
    }
}

/// Passes one request on.
async fn serve(mut client: TcpStream, backends: &Backends) -> io::Result<()> {
    client.set_nodelay(true)?;
    let request = closing(&read_head(&mut client).await?)?;
    for backend in backends.turns() {
        let connecting = TcpStream::connect(backend);
        let Ok(Ok(mut server)) = tokio::time::timeout(CONNECT_LIMIT, connecting).await else {
            continue;
        };
        server.set_nodelay(true)?;
        let passing = async {
            server.write_all(&request).await?;
            copy_bidirectional(&mut client, &mut server).await
        };
        return tokio::select! {
            passed = passing => passed.map(drop),
            () = backends.broken(backend) => Ok(()),
        };
    }
    client
        .write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .await
}

/// Reads the head of a request, and whatever came with it.
async fn read_head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    while find(&read, HEAD_END).is_none() {
        if read.len() > MAX_HEAD_BYTES || client.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(read)
}

/// The request, whose connection is to be closed after the answer.
fn closing(request: &[u8]) -> io::Result<Vec<u8>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let (head, rest) = request.split_at(find(request, HEAD_END).ok_or_else(invalid)?);
    let head = std::str::from_utf8(head).map_err(|_| invalid())?;
    let is_other = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default();
        !name.eq_ignore_ascii_case("connection") && !name.eq_ignore_ascii_case("keep-alive")
    };
    let mut lines: Vec<&str> = head.split("\r\n").filter(is_other).collect();
    lines.push("Connection: close");
    Ok([lines.join("\r\n").as_bytes(), rest].concat())
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// A server that answers each connection with its name, once it has read something.
    fn named(name: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 1024];
                let length = stream.read(&mut head).unwrap();
                let head = std::str::from_utf8(&head[..length]).unwrap().to_owned();
                assert!(head.contains("Connection: close\r\n\r\n"), "{head}");
                if !head.contains("/wait") {
                    write!(stream, "{name}").unwrap();
                    continue;
                }
                std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
            }
        });
        address
    }

    fn begin(proxy: &RoundRobin, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n").unwrap();
        stream
    }

    fn ask(proxy: &RoundRobin) -> String {
        let mut answer = String::new();
        begin(proxy, "/").read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn each_has_its_turn() {
        let (one, two) = (named("one"), named("two"));
        let proxy = RoundRobin::start([one, two]);
        assert_eq!([ask(&proxy), ask(&proxy), ask(&proxy)], ["one", "two", "one"]);
        proxy.remove(one);
        assert_eq!([ask(&proxy), ask(&proxy)], ["two", "two"]);
        // Nobody listens there.
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        proxy.add(gone);
        assert_eq!([ask(&proxy), ask(&proxy), ask(&proxy)], ["two", "two", "two"]);
        proxy.remove(two);
        assert!(ask(&proxy).starts_with("HTTP/1.1 502"));
    }

    #[test]
    fn connections_break() {
        let one = named("one");
        let proxy = RoundRobin::start([one]);
        let mut waiting = begin(&proxy, "/wait");
        std::thread::sleep(Duration::from_millis(200));
        proxy.break_connections(one);
        assert_eq!(waiting.read_to_end(&mut Vec::new()).unwrap(), 0);
        assert_eq!(ask(&proxy), "one");
    }
}
