use serde::{Deserialize, Serialize};

use crate::glob::fits;

/// The name under which a grant means the tools of the graph, which belong to no server.
pub const GRAPH: &str = "graph";

/// What somebody may see and call. Nothing said is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Only these servers; [`GRAPH`] is the graph itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Only tools whose names fit one of these patterns. Resources and prompts are not seen then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

impl Grant {
    /// Nothing at all: no server has no name.
    pub fn nothing() -> Self {
        Self { servers: vec![String::new()], tools: Vec::new() }
    }

    /// Whether everything is granted.
    pub fn is_everything(&self) -> bool {
        self.servers.is_empty() && self.tools.is_empty()
    }

    /// Whether a tool may be seen and called: `server` is whose it is, `name` what clients call it.
    pub fn sees_tool(&self, server: &str, name: &str) -> bool {
        self.sees_some_of(server)
            && (self.tools.is_empty() || self.tools.iter().any(|pattern| fits(pattern, name)))
    }

    /// Whether the resources and prompts of a server may be seen and read.
    pub fn sees_rest_of(&self, server: &str) -> bool {
        self.tools.is_empty() && self.sees_some_of(server)
    }

    /// Whether anything of a server may be seen.
    pub fn sees_some_of(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|known| known == server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grants() -> impl Strategy<Value = Grant> {
        let servers = prop::sample::subsequence(vec!["a", "b", GRAPH], 0..=3);
        let tools = prop::sample::subsequence(vec!["a__*", "*__read", "own", "b__w?ite"], 0..=4);
        let texts = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
        (servers, tools).prop_map(move |(servers, tools)| Grant {
            servers: texts(servers),
            tools: texts(tools),
        })
    }

    fn tools() -> Vec<(&'static str, &'static str)> {
        let mut tools = vec![(GRAPH, "own"), (GRAPH, "a__read")];
        for (server, names) in [("a", ["a__read", "a__write"]), ("b", ["b__read", "b__write"])] {
            tools.extend(names.map(|name| (server, name)));
        }
        tools
    }

    proptest! {
        /// What two grants see is what each says, whatever the other is.
        #[test]
        fn a_grant_sees_what_it_names_and_nothing_else(grant in grants()) {
            for (server, name) in tools() {
                let of_server =
                    grant.servers.is_empty() || grant.servers.iter().any(|s| s == server);
                let of_name = grant.tools.is_empty()
                    || grant.tools.iter().any(|pattern| match pattern.as_str() {
                        "a__*" => name.starts_with("a__"),
                        "*__read" => name.ends_with("__read"),
                        "b__w?ite" => name == "b__write",
                        plain => plain == name,
                    });
                prop_assert_eq!(grant.sees_tool(server, name), of_server && of_name);
                prop_assert!(!grant.sees_rest_of(server) || grant.tools.is_empty() && of_server);
            }
            prop_assert_eq!(
                grant.is_everything(),
                grant == Grant::default()
            );
        }
    }
}
