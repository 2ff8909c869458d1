//! The lines to a client.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::task::Poll;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::message::Message;
use crate::server::outlet::{Answer, Outlet};

/// How many bytes of small messages are gathered into one write.
const WRITE_BYTES: usize = 64 << 10;

/// How many messages are gathered into one write.
const WRITE_MESSAGES: usize = 64;

/// The way to a client. Clones lead to the same one.
#[derive(Clone)]
pub(super) struct Output(mpsc::Sender<Outgoing>);

/// The other end of an [`Output`].
pub(super) struct Outgoings(mpsc::Receiver<Outgoing>);

enum Outgoing {
    Message(Message),
    /// Whoever made it is gone by then: many may wait for the same moment, and are cheaper to keep
    /// here than as calls under way.
    Later(Later),
}

/// An answer, and what it has to wait for.
struct Later {
    after: BoxFuture<'static, ()>,
    answer: Box<Answer>,
}

impl Output {
    /// A way on which so many messages may wait.
    pub(super) fn new(limit: usize) -> (Self, Outgoings) {
        let (sender, receiver) = mpsc::channel(limit);
        (Self(sender), Outgoings(receiver))
    }

    async fn put(&self, outgoing: Outgoing) {
        // The only error is that the writer is gone, which whoever serves the client sees.
        drop(self.0.send(outgoing).await);
    }
}

#[async_trait]
impl Outlet for Output {
    async fn send(&self, message: Message) {
        self.put(Outgoing::Message(message)).await;
    }

    async fn answer(&self, answer: Answer) {
        match answer.after() {
            Some(after) => {
                self.put(Outgoing::Later(Later { after, answer: Box::new(answer) })).await;
            }
            None => {
                let (message, _place) = answer.open();
                if let Some(message) = message {
                    self.put(Outgoing::Message(message)).await;
                }
            }
        }
    }
}

impl Outgoings {
    /// Writes messages as lines until there will be no more; what waits together is written
    /// together.
    pub(super) async fn write_to<W: AsyncWrite + Unpin>(self, mut writer: W) -> io::Result<()> {
        let Self(mut queue) = self;
        let mut waiting = Vec::with_capacity(WRITE_MESSAGES);
        let mut later = VecDeque::new();
        let mut text = String::new();
        let mut is_open = true;
        while is_open || !later.is_empty() {
            let mut ready = Vec::new();
            tokio::select! {
                biased;
                answers = over(&mut later), if !later.is_empty() => ready = answers,
                count = queue.recv_many(&mut waiting, WRITE_MESSAGES), if is_open => {
                    is_open = count > 0;
                }
            }
            // What is still on its way to here has often come to its moment, too, and each write wakes
            // the client.
            while waiting.len() < WRITE_MESSAGES
                && let Ok(outgoing) = queue.try_recv()
            {
                waiting.push(outgoing);
            }
            for outgoing in waiting.drain(..) {
                match outgoing {
                    Outgoing::Message(message) => put(message, &mut text, &mut writer).await?,
                    Outgoing::Later(one) => later.push_back(one),
                }
            }
            if !ready.is_empty() {
                ready.extend(over(&mut later).now_or_never().into_iter().flatten());
            }
            // Where the client does not want one any more there is nothing to send.
            for message in ready.into_iter().filter_map(|answer| answer.open().0) {
                put(message, &mut text, &mut writer).await?;
            }
            if !text.is_empty() {
                writer.write_all(text.as_bytes()).await?;
                writer.flush().await?;
                text.clear();
                text.shrink_to(WRITE_BYTES);
            }
        }
        Ok(())
    }
}

/// Adds a message to what is written next, which is written when it is long.
async fn put<W: AsyncWrite + Unpin>(
    message: Message,
    text: &mut String,
    writer: &mut W,
) -> io::Result<()> {
    if text.len() >= WRITE_BYTES {
        writer.write_all(mem::take(text).as_bytes()).await?;
    }
    message.write_json(text);
    text.push('\n');
    Ok(())
}

/// The first answers that need not wait any more, at least one.
///
/// What they wait for happens in their order, to many at the same moment, so only the first is looked
/// at until it may be sent.
async fn over(later: &mut VecDeque<Later>) -> Vec<Answer> {
    poll_fn(|context| {
        let mut answers = Vec::new();
        while answers.len() < WRITE_MESSAGES
            && let Some(first) = later.front_mut()
            && first.after.poll_unpin(context).is_ready()
        {
            answers.extend(later.pop_front().map(|first| *first.answer));
        }
        if answers.is_empty() { Poll::Pending } else { Poll::Ready(answers) }
    })
    .await
}
