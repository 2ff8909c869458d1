//! A connection to a server that can be cut, and mended again.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// How much is passed on at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Passes connections on to a server, from a port of its own; it ends when this is dropped.
///
/// While it is cut nothing comes through, in either direction, and nobody is told: connections
/// stand still, as they do when packets are lost. What was sent meanwhile arrives when it is mended,
/// however late that is.
#[derive(Debug)]
pub struct Cable {
    address: SocketAddr,
    is_cut: watch::Sender<bool>,
}

impl Cable {
    /// A cable to a server.
    ///
    /// # Panics
    /// If there is no port for it.
    pub fn to(server: SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let is_cut = watch::Sender::new(false);
        let cut = is_cut.subscribe();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                let serving = async {
                    loop {
                        let Ok((client, _)) = listener.accept().await else { continue };
                        let cut = cut.clone();
                        tokio::spawn(async move { connect(client, server, cut).await.ok() });
                    }
                };
                let mut gone = cut.clone();
                tokio::select! {
                    () = serving => {}
                    // Nobody can cut it any more.
                    () = async { while gone.changed().await.is_ok() {} } => {}
                }
            });
        });
        Self { address, is_cut }
    }

    /// Where it begins.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets nothing through any more.
    pub fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    /// Lets everything through again.
    pub fn mend(&self) {
        self.is_cut.send_replace(false);
    }
}

async fn connect(
    client: TcpStream,
    server: SocketAddr,
    mut cut: watch::Receiver<bool>,
) -> io::Result<()> {
    whole(&mut cut).await?;
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    tokio::try_join!(
        pass(from_client, to_server, cut.clone()),
        pass(from_server, to_client, cut.clone())
    )?;
    Ok(())
}

/// Passes on what comes from one side, until that says no more.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut cut: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = from.read(&mut chunk).await;
        whole(&mut cut).await?;
        match read? {
            0 => return to.shutdown().await,
            length => to.write_all(&chunk[..length]).await?,
        }
    }
}

/// Waits until the cable is not cut.
async fn whole(cut: &mut watch::Receiver<bool>) -> io::Result<()> {
    // An error means that it is gone.
    cut.wait_for(|is_cut| !is_cut).await.map(drop).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{TcpListener, TcpStream},
        time::Duration,
    };

    use super::*;

    #[test]
    fn what_was_sent_while_it_was_cut_arrives_later() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let cable = Cable::to(listener.local_addr().unwrap());
        let mut client = TcpStream::connect(cable.address()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut read = [0; 3];
        client.write_all(b"one").unwrap();
        server.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"one");
        cable.cut();
        client.write_all(b"two").unwrap();
        let mut other = TcpStream::connect(cable.address()).unwrap();
        other.write_all(b"six").unwrap();
        server.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        assert!(server.read(&mut read).is_err());
        cable.mend();
        server.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        server.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"two");
        listener.accept().unwrap().0.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"six");
    }
}
