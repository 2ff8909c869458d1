//! What a server offers, kept until it changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcpgraph_mcp::client::List;
use mcpgraph_mcp::message::Raw;
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde::Deserialize;

/// A tool, a resource, a resource template or a prompt of a server.
#[derive(Clone, Debug)]
pub struct ItemInfo {
    /// Its name; its URI or URI template if it is a resource or a template.
    pub name: Arc<str>,
    /// All of it, as the server wrote it.
    pub raw: Raw,
    /// All of it, read.
    pub value: Value,
}

/// A tool of a server.
pub type ToolInfo = ItemInfo;

/// The lists of one server.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    tools: Listing,
    resources: Listing,
    templates: Listing,
    prompts: Listing,
}

/// One list.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    kept: Mutex<Option<Kept>>,
    /// Counts the changes, so that a list read while it changed is not kept.
    changes: AtomicU64,
    /// Held while the list is read, so that it is read once.
    pub(crate) reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Kept {
    items: Arc<Vec<ItemInfo>>,
    until: Option<Instant>,
}

/// The kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// One page of a list.
pub(crate) struct Page {
    pub(crate) items: Vec<ItemInfo>,
    /// How many entries are left out, because they are nothing that could be named.
    pub(crate) left_out: usize,
    pub(crate) next: Option<String>,
    pub(crate) ttl: Option<Duration>,
}

impl Kind {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The capability that says whether the server tells of changes.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// The key of the items in an answer, and the key that names an item.
    fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools", "name"),
            Self::Resources => ("resources", "uri"),
            Self::Templates => ("resourceTemplates", "uriTemplate"),
            Self::Prompts => ("prompts", "name"),
        }
    }

    /// The key that names an item.
    pub(crate) fn name_key(self) -> &'static str {
        self.keys().1
    }

    /// Reads one page. An entry that cannot be read, is no object or has no name is left out.
    pub(crate) fn page(self, result: &Raw) -> Result<Page, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Rest {
            next_cursor: Option<String>,
            ttl_ms: Option<u64>,
        }
        let (list, name) = self.keys();
        let unreadable = |error| format!("its answer to `{}` is not one: {error}", self.method());
        let mut members: indexmap::IndexMap<String, Raw> =
            serde_json::from_str(result.get()).map_err(unreadable)?;
        let rest: Rest = serde_json::from_str(result.get()).map_err(unreadable)?;
        let items = members
            .shift_remove(list)
            .ok_or_else(|| format!("its answer to `{}` has no `{list}`", self.method()))?;
        let entries: Vec<Raw> = serde_json::from_str(items.get()).map_err(unreadable)?;
        let count = entries.len();
        let items: Vec<ItemInfo> =
            entries.into_iter().filter_map(|raw| ItemInfo::read(raw, name)).collect();
        let left_out = count - items.len();
        let ttl = rest.ttl_ms.map(Duration::from_millis);
        Ok(Page { items, left_out, next: rest.next_cursor, ttl })
    }
}

impl ItemInfo {
    fn read(raw: Raw, name: &str) -> Option<Self> {
        let value = Value::from_json(raw.get()).ok()?;
        let name = value.get(name)?.as_str()?.into();
        Some(Self { name, raw, value })
    }

    /// A hint of its annotations, such as `readOnlyHint`.
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.value.get("annotations")?.get(name)?.as_bool()
    }
}

impl Catalogue {
    pub(crate) fn listing(&self, kind: Kind) -> &Listing {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
            Kind::Prompts => &self.prompts,
        }
    }

    /// Forgets what changed.
    pub(crate) fn forget(&self, list: List) {
        match list {
            List::Tools => self.tools.forget(),
            List::Prompts => self.prompts.forget(),
            List::Resources => {
                self.resources.forget();
                self.templates.forget();
            }
        }
    }

    /// Forgets everything.
    pub(crate) fn forget_all(&self) {
        for list in [List::Tools, List::Resources, List::Prompts] {
            self.forget(list);
        }
    }
}

impl Listing {
    /// The list, if it is known and fresh.
    pub(crate) fn fresh(&self) -> Option<Arc<Vec<ItemInfo>>> {
        let kept = self.kept.lock();
        let kept = kept.as_ref()?;
        let is_fresh = kept.until.is_none_or(|until| until > Instant::now());
        is_fresh.then(|| kept.items.clone())
    }

    /// The number of changes so far; to be asked before the list is read.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Keeps a list that was read since `changes` was asked, unless it changed meanwhile.
    pub(crate) fn keep(&self, items: Arc<Vec<ItemInfo>>, ttl: Option<Duration>, changes: u64) {
        let until = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        let mut kept = self.kept.lock();
        if self.changes() == changes {
            *kept = Some(Kept { items, until });
        }
    }

    pub(crate) fn forget(&self) {
        let mut kept = self.kept.lock();
        self.changes.fetch_add(1, Ordering::AcqRel);
        *kept = None;
    }
}
