//! What an agent plans to do.

use std::sync::Arc;

use mcpgraph_diagnostics::shortened;

use super::Walk;
use crate::NodeId;

/// How many todos a conversation may have.
pub const MAX_TODOS: usize = 1_000;

/// How large one of them may be, with its note: 4 KiB.
pub const MAX_TODO_BYTES: usize = 4 << 10;

/// Something that is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// What.
    pub content: Arc<str>,
    /// Whether it is done.
    pub status: Status,
    /// What else is known about it.
    pub note: Option<Arc<str>>,
    /// The node at which it is done.
    pub completion: Option<NodeId>,
}

/// How far a todo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

/// A todo as an agent writes it.
#[derive(Clone, Debug, Default)]
pub struct TodoDraft {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: String,
    /// What else is known about it.
    pub note: Option<String>,
    /// The name of the node at which it is done.
    pub completion_node: Option<String>,
}

/// Why a list was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAccepted {
    /// It is longer than [`MAX_TODOS`].
    TooMany(usize),
    /// One of them, counted from 1, is wrong.
    Item {
        /// Which.
        position: usize,
        /// Why.
        why: String,
    },
}

/// How many todos there are of each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Not begun.
    pub pending: usize,
    /// Begun.
    pub in_progress: usize,
    /// Done.
    pub completed: usize,
}

impl Walk {
    /// Replaces the list; it stays as it was if the new one is not accepted.
    pub fn plan(&mut self, drafts: Vec<TodoDraft>) -> Result<(), NotAccepted> {
        if drafts.len() > MAX_TODOS {
            return Err(NotAccepted::TooMany(drafts.len()));
        }
        let todos = drafts.into_iter().enumerate().map(|(index, draft)| {
            self.todo(draft).map_err(|why| NotAccepted::Item { position: index + 1, why })
        });
        self.todos = todos.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// The list.
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// How many there are of each status.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for todo in &self.todos {
            match todo.status {
                Status::Pending => summary.pending += 1,
                Status::InProgress => summary.in_progress += 1,
                Status::Completed => summary.completed += 1,
            }
        }
        summary
    }

    /// Whether something planned is done at a node.
    pub fn completes(&self, node: NodeId) -> bool {
        self.todos.iter().any(|todo| todo.completion == Some(node))
    }

    fn todo(&self, draft: TodoDraft) -> Result<Todo, String> {
        if draft.content.trim().is_empty() {
            return Err(String::from("`content` is empty"));
        }
        let bytes = draft.content.len() + draft.note.as_ref().map_or(0, String::len);
        if bytes > MAX_TODO_BYTES {
            return Err(format!("it has {bytes} bytes; the limit is {MAX_TODO_BYTES} (4 KiB)"));
        }
        let status = Status::from_name(&draft.status).ok_or_else(|| {
            format!(
                "`status` is `{}`; it must be `pending`, `in_progress` or `completed`",
                shortened(&draft.status, 60)
            )
        })?;
        let completion = draft.completion_node.map(|id| {
            self.procedure.chart.find(&id).ok_or_else(|| {
                format!(
                    "`completion_node` is `{}`, which is not in the flowchart",
                    shortened(&id, 60)
                )
            })
        });
        Ok(Todo {
            content: draft.content.into(),
            status,
            note: draft.note.map(Arc::from),
            completion: completion.transpose()?,
        })
    }
}

impl Status {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::InProgress, Self::Completed]
            .into_iter()
            .find(|status| status.name() == name)
    }
}
