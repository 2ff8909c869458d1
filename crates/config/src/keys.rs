//! Every key a file may have, in tables.
//!
//! The decoder looks its keys up here, reports those that are missing or not known from here, and
//! the JSON Schema is written from here, so that the three cannot drift apart.

mod command;
mod graph;
mod node;
mod procedure;
mod server;
mod test;
mod workflow;

pub(crate) use command::{BACKEND, COMMAND_TOOL};
#[cfg(test)]
use command::{COMMAND, EDGELAKE_COMMAND, FILTER, RESPONSE};
pub(crate) use graph::{FILE, TOOL};
pub use node::NODE_TYPES;
pub(crate) use node::{ANY_NODE, CONDITION, EXPRESSION, RETRY, kind_table, node_kinds};
pub(crate) use procedure::{FRONT_MATTER, PROMPT, PROMPTS};
pub(crate) use server::{EXPOSE, EXPOSED_ARGUMENT, EXPOSED_TOOL, MCP_JSON, SERVER};
pub(crate) use test::{ANSWER, TEST, TEST_FILE};
#[cfg(test)]
use test::{EXPECT, EXPECTED_ERROR, MOCK_ERROR};
pub(crate) use workflow::{HOOK, WORKFLOW, WORKFLOW_EDGE, WORKFLOW_NODE, WORKFLOW_NODE_DATA};

/// The keys of one kind of mapping.
pub(crate) struct Table {
    /// The name of its definition in the JSON Schema.
    pub(crate) name: &'static str,
    /// What messages call it, with its article.
    pub(crate) noun: &'static str,
    /// What it is, for the JSON Schema.
    pub(crate) doc: &'static str,
    /// The keys, in groups that tables share.
    pub(crate) groups: &'static [&'static [Key]],
}

/// One key.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    pub(crate) shape: Shape,
    /// What it is for, shown by editors.
    pub(crate) doc: &'static str,
}

/// Whether a key has to be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// From older files: recognised by the decoder, which says what to do, and not offered.
    Retired,
}

/// What may stand behind a key.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// Text.
    Text,
    /// Text that is not empty: a name or a reference.
    Name,
    /// Text, or a number or boolean that stands for the text it is written as.
    Scalar,
    /// `true` or `false`.
    Flag,
    /// A whole number within bounds, with the default the schema shows.
    Count { min: u64, max: u64, default: Option<u64> },
    /// One of these words.
    Words(&'static [&'static str]),
    /// Any JSON value.
    Any,
    /// Any JSON object.
    AnyObject,
    /// Any JSON array.
    AnyArray,
    /// A mapping with the keys of a table.
    Record(&'static Table),
    /// A node: the keys depend on its `type`.
    Node,
    /// A list.
    List(&'static Shape),
    /// A mapping with names of the user's choice.
    MapOf(&'static Shape),
    /// Either of two.
    Either(&'static Shape, &'static Shape),
}

impl Table {
    /// Every key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The key of this name.
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

impl Key {
    const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, need: Need::Required, shape, doc }
    }

    const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, need: Need::Optional, shape, doc }
    }
}

/// The largest whole number that every JSON reader holds exactly.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// The longest time a file can ask for: a day.
const MAX_MS: u64 = 24 * 60 * 60 * 1000;

/// How many things a file can ask to be done at once.
const MAX_PARALLEL: u64 = 1000;

#[cfg(test)]
mod tests;
