//! What nodes call and wait for: it is there, and may be waited for.

use mcpgraph_config::Text;
use mcpgraph_config::model::{ArgValue, Wait};
use mcpgraph_diagnostics::{Diagnostic, codes, suggest};
use mcpgraph_value::Value;

use super::body::Compiler;
use crate::{read_duration, read_time};

impl Compiler<'_, '_> {
    pub(super) fn check_server(&mut self, name: &Text) {
        let file = self.file;
        match file.server(name) {
            Some(server) if server.disabled => self.report.push(
                Diagnostic::warning(codes::SERVER_DISABLED, format!("server `{name}` is disabled"))
                    .at(self.report.source(), name.span(), "calls of this node will fail")
                    .also(&server.source, server.name.span(), "it is disabled here")
                    .hint("take `disabled` out of its definition, or call another server"),
            ),
            Some(_) => {}
            None => {
                let known = file.servers.iter().map(|server| server.name.as_str());
                let hint = suggest::did_you_mean(name, known).unwrap_or_else(|| {
                    String::from("define it under `mcpServers`, or in the file given with -m")
                });
                self.report.push(
                    Diagnostic::error(
                        codes::SERVER_UNKNOWN,
                        format!("there is no server `{name}`"),
                    )
                    .at(self.report.source(), name.span(), "")
                    .hint(hint),
                );
            }
        }
    }

    /// What the file itself says about a time can be read, and may be waited for.
    pub(super) fn check_wait(&mut self, wait: &Wait, longest: u64) {
        let ArgValue::Literal(value) = &wait.time.value else { return };
        let millis = match value {
            Value::String(text) if wait.is_until => read_time(text).map(u128::from),
            Value::String(text) => read_duration(text).map(|time| time.as_millis()),
            Value::Number(number) => {
                let number = number.as_f64();
                (number >= 0.0).then_some(number as u128)
            }
            _ => None,
        };
        let (message, hint) = match millis {
            None if wait.is_until => {
                let hint = "write a time with its zone, such as `2030-01-31T12:00:00Z`";
                ("this is no time".to_owned(), hint)
            }
            None => {
                let hint = "write `500ms`, `90s`, `5m`, `2h`, `3d` or milliseconds";
                ("this is no length of time".to_owned(), hint)
            }
            // How far away a time is, is known when the run comes to it.
            Some(millis) if !wait.is_until && millis > u128::from(longest) => (
                format!("this is longer than maxWaitMs ({longest} ms)"),
                "wait for less, or raise the limit in executionLimits",
            ),
            Some(_) => return,
        };
        self.report.push(
            Diagnostic::error(codes::WAIT_UNCLEAR, message)
                .at(self.report.source(), wait.time.span, "")
                .hint(hint),
        );
    }

    pub(super) fn check_tool(&mut self, name: &Text) {
        if self.file.tool(name).is_some() {
            return;
        }
        let known = self.file.tools.iter().map(|tool| tool.name.as_str());
        let hint = suggest::did_you_mean(name, known)
            .unwrap_or_else(|| String::from("a graph node calls a tool of the same file"));
        self.report.push(
            Diagnostic::error(
                codes::TOOL_UNKNOWN,
                format!("there is no tool `{name}` in this file"),
            )
            .at(self.report.source(), name.span(), "")
            .hint(hint),
        );
    }
}
