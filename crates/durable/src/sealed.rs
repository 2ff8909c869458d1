//! What is kept of a run is sealed: records mask what nobody may read, and what a run needs to go on
//! has it.

use std::fmt;

use mcpgraph_journal::{Journal, JournalError, RunId};
use mcpgraph_value::Value;

use crate::{Place, Stopped};

/// Something that is kept of a run. It opens only as what it is, so that nothing can be put in the
/// place of something else.
#[derive(Clone)]
pub(crate) struct About {
    run: RunId,
    what: What,
}

#[derive(Clone)]
enum What {
    Input,
    Outcome,
    Step(Place),
    Message(String),
}

impl About {
    /// What a run was started with.
    pub(crate) fn input(run: RunId) -> Self {
        Self { run, what: What::Input }
    }

    /// What a run came to.
    pub(crate) fn outcome(run: RunId) -> Self {
        Self { run, what: What::Outcome }
    }

    /// What a step kept.
    pub(crate) fn step(run: RunId, place: &Place) -> Self {
        Self { run, what: What::Step(place.clone()) }
    }

    /// A message of a topic, or that there is none.
    pub(crate) fn message(run: RunId, topic: &str) -> Self {
        Self { run, what: What::Message(topic.to_owned()) }
    }

    /// Seals a value. Blocks as files do.
    pub(crate) fn seal(&self, journal: &Journal, value: &Value) -> Result<String, JournalError> {
        journal.seal(&value.to_json(), &self.to_string())
    }

    /// The value that was sealed; none if it was not this, or cannot be opened any more.
    pub(crate) fn unseal(
        &self,
        journal: &Journal,
        sealed: &str,
    ) -> Result<Option<Value>, JournalError> {
        let json = journal.unseal(sealed, &self.to_string())?;
        Ok(json.and_then(|json| Value::from_json(&json).ok()))
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, what } = self;
        match what {
            What::Input => write!(f, "{run} input"),
            What::Outcome => write!(f, "{run} outcome"),
            What::Step(place) => write!(f, "{run} step {} {}", place.number, place.name),
            What::Message(topic) => write!(f, "{run} message {topic}"),
        }
    }
}

/// What was kept cannot be opened: somebody changed it, or its key is gone.
pub(crate) fn unreadable() -> Stopped {
    Stopped::Unusable("what a step kept cannot be read".to_owned())
}
