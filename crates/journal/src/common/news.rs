//! What one process changes, and the others hear of.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How much of the news a reader may miss before it is told that anything may have changed.
const MAX_UNREAD: usize = 256;

/// Something changed that is not a run. The store is the truth: news only say where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Workflows or the scripts of their hooks.
    Definitions,
    /// Tokens.
    Tokens,
    /// The keys of seals.
    SealKeys,
    /// The session with this name, or it is gone.
    Session(Arc<str>),
    /// A letter was left at this address.
    Letter(Arc<str>),
    /// Something for the session with this name, which is kept nowhere else.
    Word {
        /// The session.
        session: Arc<str>,
        /// What is said to it, without line breaks.
        text: Arc<str>,
    },
    /// Some may have been missed.
    Anything,
}

impl News {
    /// As one process tells it to the others.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Definitions => "definitions".to_owned(),
            Self::Tokens => "tokens".to_owned(),
            Self::SealKeys => "keys".to_owned(),
            Self::Session(name) => format!("session {name}"),
            Self::Letter(address) => format!("letter {address}"),
            Self::Word { session, text } => format!("word {session} {text}"),
            Self::Anything => String::new(),
        }
    }

    /// What was told; what is not understood may be anything.
    pub(crate) fn from_text(text: &str) -> Self {
        match text.split_once(' ') {
            None if text == "definitions" => Self::Definitions,
            None if text == "tokens" => Self::Tokens,
            None if text == "keys" => Self::SealKeys,
            Some(("session", name)) => Self::Session(name.into()),
            Some(("letter", address)) => Self::Letter(address.into()),
            Some(("word", rest)) => match rest.split_once(' ') {
                Some((session, text)) => Self::Word { session: session.into(), text: text.into() },
                None => Self::Anything,
            },
            _ => Self::Anything,
        }
    }
}

/// Where news are told to those in this process.
pub(crate) struct Announcing(broadcast::Sender<News>);

impl Default for Announcing {
    fn default() -> Self {
        Self(broadcast::Sender::new(MAX_UNREAD))
    }
}

impl Announcing {
    pub(crate) fn announce(&self, news: &News) {
        // Nobody may be there to hear of it.
        drop(self.0.send(news.clone()));
    }

    pub(crate) fn reader(&self) -> NewsReader {
        NewsReader(self.0.subscribe())
    }
}

/// Hears of changes that this process or another made.
pub struct NewsReader(broadcast::Receiver<News>);

impl NewsReader {
    /// What changed next; none once the journal is closed. The same may be told twice.
    pub async fn next(&mut self) -> Option<News> {
        match self.0.recv().await {
            Ok(news) => Some(news),
            Err(RecvError::Lagged(_)) => Some(News::Anything),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_heard() {
        for news in [
            News::Definitions,
            News::Tokens,
            News::SealKeys,
            News::Session("0a".into()),
            News::Letter("0a 7".into()),
            News::Word { session: "0a".into(), text: "cancel \"x y\"".into() },
            News::Anything,
        ] {
            assert_eq!(News::from_text(&news.to_text()), news);
        }
        for text in ["tokens ", "word x", "else", "session"] {
            assert_eq!(News::from_text(text), News::Anything, "{text}");
        }
    }
}
