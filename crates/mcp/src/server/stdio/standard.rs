//! Standard input and output without a thread in between, where the system allows it.

use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// The process's standard input.
pub type StandardInput = Pin<Box<dyn AsyncRead + Send>>;

/// The process's standard output.
pub type StandardOutput = Pin<Box<dyn AsyncWrite + Send>>;

/// The process's standard streams.
///
/// Pipes and sockets, which is what clients start servers with, are driven by the runtime itself;
/// a blocking thread that hands over every read costs several times as much. Files and terminals
/// have no other way.
pub fn standard_streams() -> (StandardInput, StandardOutput) {
    (
        direct::input().unwrap_or_else(|_| Box::pin(tokio::io::stdin())),
        direct::output().unwrap_or_else(|_| Box::pin(tokio::io::stdout())),
    )
}

#[cfg(target_os = "linux")]
mod direct {
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::net::UnixStream;

    use tokio::net::unix::pipe;

    use super::{StandardInput, StandardOutput, io};

    // A pipe is opened anew, so that only our end of it stops blocking: the streams that child
    // processes inherit stay as they are. The call fails for what is not a pipe.

    pub(super) fn input() -> io::Result<StandardInput> {
        match pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
            Ok(pipe) => Ok(Box::pin(pipe)),
            Err(_) => Ok(Box::pin(socket(io::stdin().as_fd())?)),
        }
    }

    pub(super) fn output() -> io::Result<StandardOutput> {
        match pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
            Ok(pipe) => Ok(Box::pin(pipe)),
            Err(_) => Ok(Box::pin(socket(io::stdout().as_fd())?)),
        }
    }

    /// The stream as a socket, if it is one. Node.js connects its children by sockets.
    fn socket(stream: BorrowedFd<'_>) -> io::Result<tokio::net::UnixStream> {
        let socket = UnixStream::from(stream.try_clone_to_owned()?);
        // Anything else has no address of this kind.
        socket.local_addr()?;
        socket.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(socket)
    }
}

#[cfg(not(target_os = "linux"))]
mod direct {
    use super::{StandardInput, StandardOutput, io};

    pub(super) fn input() -> io::Result<StandardInput> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn output() -> io::Result<StandardOutput> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
