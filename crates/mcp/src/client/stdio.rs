//! A server as a process of ours: one message a line, over its stdin and stdout.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::calls::Calls;
use super::connection::Link;
use super::process::{Pipes, Process, Stderr, describe};
use super::transport::Transport;
use super::{ClientError, ClientOptions, CloseReason, StdioConfig, limits, secrets};
use crate::cancellation;
use crate::lines::{Line, Lines};
use crate::message::{Id, Message, Request};
use crate::version::Version;

/// How long the rest of the output and the exit status are waited for after a first sign of death.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long a cancellation may wait for its place in a full queue.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// How much is written at once if that much waits.
const CHUNK: usize = 64 * 1024;

struct Stdio {
    calls: Arc<Calls>,
    queue: mpsc::Sender<Vec<u8>>,
    stderr: Stderr,
    shutdown: CancellationToken,
    ended: watch::Receiver<bool>,
    /// Ends the process when the connection is dropped.
    _guard: DropGuard,
}

/// The first sign that the process is of no more use.
enum Fault {
    /// Its stdout has ended.
    EndOfOutput,
    /// Its stdin takes no more.
    InputClosed,
}

/// Starts a process and the tasks that serve its pipes.
pub(super) fn start(
    config: &StdioConfig,
    options: &ClientOptions,
    calls: Arc<Calls>,
) -> Result<Link, ClientError> {
    let (process, Pipes { stdin, stdout, stderr: pipe }) =
        Process::spawn(config, options.reaper.as_ref())?;
    let secrets = secrets::of_process(config);
    let stderr = Stderr::new(secrets.clone());
    let drained = tokio::spawn(stderr.clone().drain(pipe, config.command.clone()));
    let shutdown = CancellationToken::new();
    let (queue, queued) = mpsc::channel(limits::WRITE_QUEUE);
    // One fault from the reader, one from the writer.
    let (fault, faults) = mpsc::channel(2);
    let (has_ended, ended) = watch::channel(false);
    let transport = Arc::new(Stdio {
        calls: calls.clone(),
        queue,
        stderr: stderr.clone(),
        shutdown: shutdown.clone(),
        ended,
        _guard: shutdown.clone().drop_guard(),
    });
    let dynamic: Arc<dyn Transport> = transport;

    let writing = write(stdin, queued, fault.clone(), shutdown.clone());
    let reader = Reader {
        calls: calls.clone(),
        // The tasks must not keep the connection alive.
        transport: Arc::downgrade(&dynamic),
        limit: options.max_message_bytes,
    };
    tokio::spawn(writing);
    tokio::spawn(reader.read(stdout, fault));
    let keeper = Keeper { process, calls: calls.clone(), stderr, drained, shutdown };
    tokio::spawn(async move {
        keeper.keep(faults).await;
        has_ended.send_replace(true);
    });
    Ok(Link { calls, transport: dynamic, secrets })
}

#[async_trait]
impl Transport for Stdio {
    async fn exchange(&self, _: u64, request: Request) -> Result<(), ClientError> {
        self.send(Message::Request(request)).await
    }

    async fn send(&self, message: Message) -> Result<(), ClientError> {
        self.queue.send(line_of(&message)).await.map_err(|_| {
            let reason = self.calls.closed().unwrap_or_else(|| {
                Arc::new(CloseReason::Broken("the process closed its stdin".to_owned()))
            });
            ClientError::Closed(reason)
        })
    }

    fn cancel(&self, call: u64, reason: &str) {
        let line = line_of(&cancellation::message(&Id::number(call), reason));
        if let Err(mpsc::error::TrySendError::Full(line)) = self.queue.try_send(line) {
            let queue = self.queue.clone();
            tokio::spawn(async move {
                drop(tokio::time::timeout(CANCEL_TIMEOUT, queue.send(line)).await);
            });
        }
    }

    fn established(&self, _: Version) {}

    async fn close(&self) {
        self.shutdown.cancel();
        // It ends in bounded time: the keeper kills what does not end by itself.
        drop(self.ended.clone().wait_for(|ended| *ended).await);
    }

    fn stderr(&self) -> String {
        self.stderr.tail()
    }
}

fn line_of(message: &Message) -> Vec<u8> {
    let mut line = message.to_json().into_bytes();
    line.push(b'\n');
    line
}

/// Writes what is queued, as much at once as waits. Closes stdin when told to.
async fn write(
    mut stdin: ChildStdin,
    mut queued: mpsc::Receiver<Vec<u8>>,
    fault: mpsc::Sender<Fault>,
    shutdown: CancellationToken,
) {
    let mut bytes = Vec::new();
    let writing = async {
        while let Some(line) = queued.recv().await {
            bytes.clear();
            bytes.extend_from_slice(&line);
            while bytes.len() < CHUNK
                && let Ok(line) = queued.try_recv()
            {
                bytes.extend_from_slice(&line);
            }
            if stdin.write_all(&bytes).await.is_err() || stdin.flush().await.is_err() {
                drop(fault.try_send(Fault::InputClosed));
                return;
            }
        }
    };
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = writing => {}
    }
}

/// Reads lines and routes what they hold.
struct Reader {
    calls: Arc<Calls>,
    transport: Weak<dyn Transport>,
    limit: usize,
}

impl Reader {
    async fn read(self, stdout: ChildStdout, fault: mpsc::Sender<Fault>) {
        let mut lines = Lines::new(stdout, self.limit);
        while let Ok(Some(line)) = lines.next().await {
            let Some(transport) = self.transport.upgrade() else { return };
            match line {
                Line::Text(line) => {
                    self.calls.route_text(line.trim_ascii(), None, &transport).await;
                }
                Line::TooLong(excerpt) => self.calls.too_large(&excerpt, self.limit, None),
            }
        }
        drop(fault.try_send(Fault::EndOfOutput));
    }
}

/// Watches over the process, and ends it.
struct Keeper {
    process: Process,
    calls: Arc<Calls>,
    stderr: Stderr,
    drained: JoinHandle<()>,
    shutdown: CancellationToken,
}

impl Keeper {
    async fn keep(mut self, mut faults: mpsc::Receiver<Fault>) {
        let reason = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => CloseReason::Closed,
            fault = faults.recv() => match fault {
                Some(Fault::InputClosed) => self.death_or("the process closed its stdin").await,
                Some(Fault::EndOfOutput) | None => {
                    self.death_or("the process closed its stdout").await
                }
            },
            status = self.process.wait() => {
                // What it still wrote is read before anyone is told of its death.
                let last_words = async {
                    while let Some(fault) = faults.recv().await {
                        if matches!(fault, Fault::EndOfOutput) { break }
                    }
                };
                drop(tokio::time::timeout(LAST_WORDS, last_words).await);
                self.exited(describe(status)).await
            }
        };
        self.calls.close(reason);
        let grace = if self.shutdown.is_cancelled() { limits::CLOSE_TIMEOUT } else { LAST_WORDS };
        // Ends the writer, which closes stdin.
        self.shutdown.cancel();
        self.process.end(grace).await;
    }

    /// What is wrong with a process that no longer talks or listens: most often it has ended.
    async fn death_or(&mut self, otherwise: &str) -> CloseReason {
        match tokio::time::timeout(LAST_WORDS, self.process.wait()).await {
            Ok(status) => self.exited(describe(status)).await,
            Err(_) => {
                CloseReason::Hangup { what: otherwise.to_owned(), stderr: self.stderr.tail() }
            }
        }
    }

    async fn exited(&mut self, status: String) -> CloseReason {
        // A grandchild may hold stderr open for ever.
        drop(tokio::time::timeout(LAST_WORDS, &mut self.drained).await);
        CloseReason::Exited { status, stderr: self.stderr.tail() }
    }
}
