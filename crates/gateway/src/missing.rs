//! Names under `expose` that a server does not have. Whoever hides a tool and mistypes its name
//! believes that nobody can call it.

use std::fmt;

use mcpgraph_config::model::{ExposedTool, ServerDef};
use mcpgraph_diagnostics::codes;
use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_upstream::ToolInfo;
use mcpgraph_value::Value;

/// A tool, or an argument of one, that the file names and the server does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Missing {
    server: String,
    tool: String,
    argument: Option<String>,
    /// Which name may be meant.
    hint: Option<String>,
}

impl Missing {
    /// What a server does not have of what a file says about its tools.
    pub fn of(server: &ServerDef, tools: &[ToolInfo]) -> Vec<Self> {
        let wanted = server.expose.iter().flat_map(|expose| &expose.tools);
        Self::among(&server.name, wanted, tools)
    }

    pub(crate) fn among<'w>(
        server: &str,
        wanted: impl IntoIterator<Item = &'w ExposedTool>,
        tools: &[ToolInfo],
    ) -> Vec<Self> {
        let mut all = Vec::new();
        for wanted in wanted {
            let missing = |argument: Option<&str>, hint| Self {
                server: server.to_owned(),
                tool: wanted.name.to_string(),
                argument: argument.map(str::to_owned),
                hint,
            };
            let Some(tool) = tools.iter().find(|tool| *tool.name == *wanted.name) else {
                let names = tools.iter().map(|tool| &*tool.name);
                all.push(missing(None, did_you_mean(&wanted.name, names)));
                continue;
            };
            let schema = tool.value.get("inputSchema");
            let properties = schema.and_then(|schema| schema.get("properties"));
            // A schema that names none lets every argument pass.
            let Some(known) = properties.and_then(Value::as_object) else { continue };
            for argument in &wanted.arguments {
                let name = argument.name.as_str();
                if !known.contains_key(name) {
                    let names = known.keys().map(|key| &**key);
                    all.push(missing(Some(name), did_you_mean(name, names)));
                }
            }
        }
        all
    }

    /// Logs it.
    pub(crate) fn tell(&self) {
        tracing::warn!(code = codes::EXPOSED_UNKNOWN.id(), "{self}");
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, tool, argument, hint } = self;
        match argument {
            Some(argument) => write!(
                f,
                "`expose.tools.{tool}` of server `{server}` names the argument `{argument}`, which \
                 the tool does not have"
            )?,
            None => write!(
                f,
                "`expose.tools` of server `{server}` names `{tool}`, which the server does not have"
            )?,
        }
        match hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tool(json: &str) -> ToolInfo {
        let value = Value::from_json(json).unwrap();
        let name = Arc::from(value.get("name").unwrap().as_str().unwrap());
        let raw = serde_json::value::RawValue::from_string(json.to_owned()).unwrap();
        ToolInfo { name, raw, value }
    }

    fn missing(expose: &str) -> Vec<String> {
        let text = format!("mcpServers: {{ s: {{ command: c, expose: {expose} }} }}");
        let source = mcpgraph_diagnostics::Source::new("test", text);
        let (servers, found) = mcpgraph_config::read_mcp_json(&source, &|_| None);
        assert!(found.is_empty(), "{found:?}");
        let tools = [
            tool(r#"{"name": "list", "inputSchema": {"properties": {"path": {}, "deep": {}}}}"#),
            tool(r#"{"name": "open", "inputSchema": {"type": "object"}}"#),
        ];
        Missing::of(&servers[0], &tools).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_that_are_there_are_not_told_of() {
        assert!(missing("true").is_empty());
        let right = "{ tools: { list: { hide: true, arguments: { path: { hide: true } } }, \
                     open: { arguments: { anything: { default: 1 } } } } }";
        assert_eq!(missing(right), [""; 0]);
    }

    #[test]
    fn names_that_are_not_are_told_of_with_what_may_be_meant() {
        assert_eq!(
            missing("{ tools: { lst: { hide: true }, elsewhere: { rename: x } } }"),
            [
                "`expose.tools` of server `s` names `lst`, which the server does not have; did you \
                 mean `list`?",
                "`expose.tools` of server `s` names `elsewhere`, which the server does not have",
            ]
        );
        assert_eq!(
            missing("{ tools: { list: { arguments: { pth: { hide: true } } } } }"),
            [
                "`expose.tools.list` of server `s` names the argument `pth`, which the tool does not \
              have; did you mean `path`?"
            ]
        );
    }
}
