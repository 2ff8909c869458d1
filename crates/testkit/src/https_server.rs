//! A server that speaks TLS, with a certificate of its own authority.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// Gives bytes to everybody, by the path they ask for.
pub struct HttpsServer {
    /// Where it listens, on this machine.
    pub address: SocketAddr,
    /// The certificate of its authority, in DER.
    pub authority: Vec<u8>,
    asked: Arc<Mutex<Vec<String>>>,
}

/// How long a client may keep the server waiting.
const PATIENCE: Duration = Duration::from_secs(10);

impl HttpsServer {
    /// Listens as a host of these names. `answer` gives the whole response for a path.
    pub fn start(names: &[&str], answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        let (config, authority) = certified(names);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that breaks off is what some tests are about.
                serve(stream, &config, &seen, &answer).ok();
            }
        });
        Self { address, authority, asked }
    }

    /// The paths that were asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    mut socket: TcpStream,
    config: &Arc<ServerConfig>,
    asked: &Mutex<Vec<String>>,
    answer: &impl Fn(&str) -> Vec<u8>,
) -> std::io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut connection =
        ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut stream = Stream::new(&mut connection, &mut socket);
    let mut request = vec![0; 16 * 1024];
    let length = stream.read(&mut request)?;
    let text = String::from_utf8_lossy(&request[..length]).into_owned();
    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
    asked.lock().unwrap().push(path.clone());
    stream.write_all(&answer(&path))?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// A server's configuration for these names, and the certificate of who vouches for it.
fn certified(names: &[&str]) -> (Arc<ServerConfig>, Vec<u8>) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (Arc::new(config), authority.der().to_vec())
}
