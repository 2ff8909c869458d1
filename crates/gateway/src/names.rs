//! The names under which an exposed server's things appear, and the way back.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mcpgraph_config::model::{Expose, ExposedTool, Prefix, ServerDef};

use crate::listing::Kind;

/// A server whose own tools, resources and prompts are offered to clients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exposed {
    pub(crate) server: String,
    prefix: Prefix,
    /// The tools that are offered in another way, by the server's names for them.
    tools: HashMap<String, ExposedTool>,
    /// The server's names for renamed tools, by the names clients see.
    renamed: HashMap<String, String>,
}

impl Exposed {
    /// The exposed ones among the servers of a file.
    pub(crate) fn among(servers: &[ServerDef]) -> Vec<Self> {
        servers
            .iter()
            .filter(|server| !server.disabled)
            .filter_map(|server| Some(Self::new(&server.name, server.expose.as_ref()?)))
            .collect()
    }

    fn new(server: &str, expose: &Expose) -> Self {
        let tools = expose.tools.iter().map(|tool| (tool.name.to_string(), tool.clone())).collect();
        let renamed = expose
            .tools
            .iter()
            .filter_map(|tool| Some((tool.rename.as_ref()?.to_string(), tool.name.to_string())))
            .collect();
        Self { server: server.to_owned(), prefix: expose.prefix, tools, renamed }
    }

    /// The tools that are offered in another way.
    pub(crate) fn adapted(&self) -> impl Iterator<Item = &ExposedTool> {
        self.tools.values()
    }

    /// What is different about a tool, by the server's name for it.
    pub(crate) fn tool(&self, name: &str) -> Option<&ExposedTool> {
        self.tools.get(name)
    }

    /// The name clients see for something of this server.
    pub(crate) fn outer<'a>(&'a self, kind: Kind, name: &'a str) -> Cow<'a, str> {
        let renamed = match kind {
            Kind::Tools => self.tool(name).and_then(|tool| tool.rename.as_ref()),
            _ => None,
        };
        match (renamed, self.prefix) {
            (Some(renamed), _) => renamed.as_str().into(),
            (None, Prefix::Server) if kind.is_named() => {
                format!("{}{}{name}", self.server, Prefix::SEPARATOR).into()
            }
            (None, _) => name.into(),
        }
    }

    /// The server's own name for what clients call `name`, if it can be one of its.
    pub(crate) fn inner<'a>(&'a self, kind: Kind, name: &'a str) -> Option<&'a str> {
        if kind == Kind::Tools
            && let Some(inner) = self.renamed.get(name)
        {
            return Some(inner).filter(|inner| !self.is_hidden(inner)).map(String::as_str);
        }
        let inner = match self.prefix {
            Prefix::None => name,
            Prefix::Server => name.strip_prefix(&self.server)?.strip_prefix(Prefix::SEPARATOR)?,
        };
        // A tool that was renamed is not known by its old name any more.
        let is_offered = kind != Kind::Tools
            || self.tool(inner).is_none_or(|tool| tool.rename.is_none() && !tool.is_hidden);
        is_offered.then_some(inner)
    }

    /// Whether clients neither see nor can call a tool.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_hidden)
    }
}

/// Two things that clients would know by one name or URI; only the first is offered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Collision {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// Who has it first: a server, or the graph.
    pub(crate) first: Option<String>,
    /// Who has it too.
    pub(crate) second: String,
}

/// Takes out what has a name that something before it has, and tells of it.
pub(crate) fn without_collisions<T>(
    kind: Kind,
    own: HashSet<&str>,
    items: Vec<T>,
    named: impl Fn(&T) -> (&str, &str),
) -> (Vec<T>, Vec<Collision>) {
    let mut seen: HashMap<String, Option<String>> =
        own.into_iter().map(|name| (name.to_owned(), None)).collect();
    let (mut kept, mut collisions) = (Vec::with_capacity(items.len()), Vec::new());
    for item in items {
        let (name, server) = named(&item);
        match seen.get(name) {
            Some(first) => collisions.push(Collision {
                kind,
                name: name.to_owned(),
                first: first.clone(),
                second: server.to_owned(),
            }),
            None => {
                seen.insert(name.to_owned(), Some(server.to_owned()));
                kept.push(item);
            }
        }
    }
    (kept, collisions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exposed(expose: &str) -> Exposed {
        let text = format!("mcpServers: {{ s: {{ command: c, expose: {expose} }} }}");
        let source = mcpgraph_diagnostics::Source::new("test", text);
        let (servers, found) = mcpgraph_config::read_mcp_json(&source, &|_| None);
        assert!(found.is_empty(), "{found:?}");
        Exposed::among(&servers).remove(0)
    }

    #[test]
    fn every_name_leads_back() {
        let tools = "tools: { a: { rename: x }, b: { hide: true }, c: { rename: y, hide: true } }";
        for (prefix, other) in [("none", "z"), ("server", "s__z")] {
            let exposed = exposed(&format!("{{ prefix: {prefix}, {tools} }}"));
            assert_eq!(exposed.outer(Kind::Tools, "z"), other);
            assert_eq!(exposed.inner(Kind::Tools, other), Some("z"));
            assert_eq!(exposed.outer(Kind::Tools, "a"), "x");
            assert_eq!(exposed.inner(Kind::Tools, "x"), Some("a"));
            for gone in ["a", "s__a", "b", "s__b", "y", "c", "s__c"] {
                let found = exposed.inner(Kind::Tools, gone);
                // Without a prefix, a name with one may be a tool of that name.
                assert!(found.is_none() || prefix == "none" && found == Some(gone), "{gone}");
                assert!(!["a", "b", "c"].contains(&found.unwrap_or_default()));
            }
            // Prompts have names of their own.
            let prompt = exposed.outer(Kind::Prompts, "a");
            assert_eq!(exposed.inner(Kind::Prompts, &prompt), Some("a"));
            assert_eq!(exposed.outer(Kind::Resources, "file:///a"), "file:///a");
        }
    }

    #[test]
    fn the_first_of_a_name_is_kept_and_the_others_are_told_of() {
        let items = vec![("a", "one"), ("b", "one"), ("b", "two"), ("c", "two")];
        let (kept, collisions) =
            without_collisions(Kind::Tools, HashSet::from(["a"]), items, |item| *item);
        assert_eq!(kept, [("b", "one"), ("c", "two")]);
        let told: Vec<_> = collisions.iter().map(|c| (&*c.name, c.first.as_deref())).collect();
        assert_eq!(told, [("a", None), ("b", Some("one"))]);
    }
}
