//! The two ends of a message that is too long to be read, and what they tell of it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use crate::message::Id;

/// How much of each end is kept. Some write `id` and `method` before the payload, some after it.
const KEPT_BYTES: usize = 1024;

/// The beginning and the end of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    beginning: Vec<u8>,
    end: Vec<u8>,
}

/// What the ends of a message say about it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Its id, if it is at one of the ends.
    pub(crate) id: Option<Id>,
    /// Whether it names a method: it is a request or a notification, not an answer.
    pub(crate) has_method: bool,
}

impl Excerpt {
    /// The ends of what there is of a message.
    pub(crate) fn of(text: &[u8]) -> Self {
        Self::default().and(text)
    }

    /// The same message, which goes on.
    pub(crate) fn and(mut self, more: &[u8]) -> Self {
        let room = KEPT_BYTES - self.beginning.len();
        self.beginning.extend_from_slice(&more[..more.len().min(room)]);
        self.end.extend_from_slice(&more[more.len().saturating_sub(KEPT_BYTES)..]);
        self.end.drain(..self.end.len().saturating_sub(KEPT_BYTES));
        self
    }

    /// What can be known of the message.
    pub(crate) fn traits(&self) -> Traits {
        let mut found = Traits::default();
        // It ends in the middle of something, which is no news.
        drop(
            serde_json::Deserializer::from_slice(&self.beginning)
                .deserialize_map(Beginning(&mut found)),
        );
        let last = self.last_members();
        Traits { id: found.id.or(last.id), has_method: found.has_method || last.has_method }
    }

    /// What the members after the payload say. Only a text that begins after a comma of the
    /// outermost object is an object once it is opened again: any other has a bracket too many.
    fn last_members(&self) -> Traits {
        #[derive(Deserialize)]
        struct Members {
            id: Option<Id>,
            method: Option<IgnoredAny>,
        }
        let mut found = Traits::default();
        for comma in memchr::memrchr_iter(b',', &self.end) {
            let text = [b"{", &self.end[comma + 1..]].concat();
            if let Ok(Members { id, method }) = serde_json::from_slice(&text) {
                found = Traits { id, has_method: method.is_some() };
            }
        }
        found
    }
}

/// Reads the members of an object for as long as they are whole.
struct Beginning<'a>(&'a mut Traits);

impl<'de> Visitor<'de> for Beginning<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut id = None;
        while let Some(key) = members.next_key::<String>()? {
            // Only here is it certain that nothing of the id was cut off.
            self.0.id = id.take().or(self.0.id.take());
            match key.as_str() {
                "id" => id = members.next_value::<Option<Id>>()?,
                key => {
                    self.0.has_method |= key == "method";
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        self.0.id = id.or(self.0.id.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known of a message with a long payload where `#` is, however it came.
    fn known(message: &str) -> (Option<String>, bool) {
        let payload = r#"{"a":[{"id":9,"method":"no"},"{\"id\":8,","},"],"id":7}"#;
        let many = format!("[{payload}{}]", format!(",{payload}").repeat(200));
        let text = message.replace('#', &many);
        let whole = Excerpt::of(text.as_bytes()).traits();
        for piece in [1, 700, 5000] {
            let pieces = text.as_bytes().chunks(piece);
            let excerpt = pieces.fold(Excerpt::default(), Excerpt::and);
            assert_eq!(excerpt.traits(), whole, "{message}");
        }
        (whole.id.map(|id| id.to_string()), whole.has_method)
    }

    #[test]
    fn ends_tell_what_a_message_is() {
        for (message, id, has_method) in [
            (r#"{"jsonrpc":"2.0","id":5,"method":"m","params":#}"#, Some("5"), true),
            (r#"{"method":"m","params":#,"jsonrpc":"2.0","id":"a,b"}"#, Some(r#""a,b""#), true),
            (r#"{"params":#,"method":"m","id":5}"#, Some("5"), true),
            (r#"{"jsonrpc":"2.0","id":5,"result":#}"#, Some("5"), false),
            (r#"{"result":#,"jsonrpc":"2.0","id":5}"#, Some("5"), false),
            (r#"{ "result" : # , "id" : 5 , "jsonrpc" : "2.0" } "#, Some("5"), false),
            (r#"{"method":"notifications/message","params":#}"#, None, true),
            (r#"{"id":null,"error":#}"#, None, false),
            (r#"{"result":#}"#, None, false),
            ("#", None, false),
            (r#"{"a":#,"id":5,"b":#}"#, None, false),
        ] {
            assert_eq!(known(message), (id.map(str::to_owned), has_method), "{message}");
        }
    }

    #[test]
    fn an_id_that_is_cut_off_is_none() {
        let excerpt = Excerpt::of(br#"{"jsonrpc":"2.0","id":12"#);
        assert_eq!(excerpt.traits(), Traits::default());
    }
}
