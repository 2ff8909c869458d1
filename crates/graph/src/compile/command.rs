//! Commands: which backend they are for, and what their placeholders may name.

use mcpgraph_command::Command;
use mcpgraph_config::model::{ArgValue, BackendDef, BackendKind, BackendRef, CommandCall};
use mcpgraph_diagnostics::{Diagnostic, codes, suggest};
use mcpgraph_value::Value;

use super::body::Compiler;

impl<'a> Compiler<'a, '_> {
    /// Compiles a command; none if something about it is wrong.
    pub(super) fn command(&mut self, call: &CommandCall) -> Option<Command> {
        let backend = self.backend(call)?;
        let arguments = self.arguments(&call.args.value);
        let arguments: Option<Vec<&str>> =
            arguments.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let mut found = Vec::new();
        let command = mcpgraph_command::compile(
            &call.command,
            backend,
            arguments.as_deref(),
            self.report.source(),
            &mut found,
        );
        for diagnostic in found {
            self.report.push(diagnostic);
        }
        command
    }

    /// The backend of a command: the one it names, or the only one.
    fn backend(&mut self, call: &CommandCall) -> Option<&'a BackendDef> {
        let backends = self.file.backends.as_slice();
        let is_edgelake =
            |backend: &&BackendDef| matches!(backend.kind, BackendKind::EdgeLake { .. });
        let reference = call.command.backend.as_ref();
        let (span, message, hint) = match reference.map(|reference| &reference.value) {
            Some(BackendRef::Name(name)) => {
                if let Some(backend) = backends.iter().find(|backend| backend.name == *name) {
                    return Some(backend);
                }
                let known = backends.iter().map(|backend| backend.name.as_str());
                let hint = suggest::did_you_mean(name, known)
                    .unwrap_or_else(|| "define it under `backends`".to_owned());
                (name.span(), format!("there is no backend `{name}`"), hint)
            }
            Some(BackendRef::EdgeLake) => {
                if let Some(backend) = backends.iter().find(is_edgelake) {
                    return Some(backend);
                }
                // One that could not be read has been reported.
                if backends.iter().any(|backend| matches!(backend.kind, BackendKind::Invalid)) {
                    return None;
                }
                let hint = "add `backend: {edgelake: {url: …}}` to the file, or say --edgelake URL";
                let message = "there is no EdgeLake node to send this to".to_owned();
                (call.command.span, message, hint.to_owned())
            }
            None => match backends {
                [only] => return Some(only),
                [] => {
                    let message = "there is no backend to send this to".to_owned();
                    (call.command.span, message, "define one under `backend`".to_owned())
                }
                several => {
                    let names: Vec<String> =
                        several.iter().map(|backend| format!("`{}`", backend.name)).collect();
                    let message = "the file has several backends, and the command names none";
                    let hint = format!("add `backend` with one of {}", names.join(", "));
                    (call.command.span, message.to_owned(), hint)
                }
            },
        };
        self.report.push(
            Diagnostic::error(codes::BACKEND_UNKNOWN, message)
                .at(self.report.source(), span, "")
                .hint(hint),
        );
        None
    }

    /// The names of the arguments of a command, where the file says all of them.
    fn arguments(&self, args: &ArgValue) -> Option<Vec<String>> {
        match args {
            ArgValue::Object(members) => {
                Some(members.iter().map(|(key, _)| key.to_string()).collect())
            }
            ArgValue::Literal(value) => names_of(value),
            // All arguments of a tool that is one command.
            ArgValue::Expr(text) if **text == *"entry" => {
                let schema = self.tool?.input_schema.value();
                let is_open = ["additionalProperties", "patternProperties", "$ref", "allOf"]
                    .iter()
                    .any(|key| schema.get(key).is_some_and(|value| *value != Value::Bool(false)));
                if is_open { None } else { schema.get("properties").and_then(names_of) }
            }
            ArgValue::Expr(_) | ArgValue::Array(_) => None,
        }
    }
}

fn names_of(value: &Value) -> Option<Vec<String>> {
    value.as_object().map(|members| members.keys().map(ToString::to_string).collect())
}
