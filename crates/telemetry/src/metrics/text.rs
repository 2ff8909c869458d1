//! The text format of Prometheus.

use std::fmt::Write as _;

/// A text that grows by families and samples.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family.
    pub(super) fn family(&mut self, name: &str, help: &str, kind: &str) {
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    /// Adds one number.
    pub(super) fn sample(&mut self, name: &str, labels: &[&str], values: &[&str], number: f64) {
        self.0.push_str(name);
        for (index, (label, value)) in labels.iter().zip(values).enumerate() {
            self.0.push(if index == 0 { '{' } else { ',' });
            self.0.push_str(label);
            self.0.push_str("=\"");
            self.escaped(value);
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        match number {
            number if number == f64::INFINITY => self.line(format_args!(" +Inf")),
            number if number == f64::NEG_INFINITY => self.line(format_args!(" -Inf")),
            number => self.line(format_args!(" {number}")),
        }
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        self.0.write_fmt(line).unwrap_or_default();
        self.0.push('\n');
    }

    fn escaped(&mut self, value: &str) {
        for character in value.chars() {
            match character {
                '\\' => self.0.push_str(r"\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str(r"\n"),
                other => self.0.push(other),
            }
        }
    }
}

/// Whether Prometheus reads this as the name of a metric.
pub(super) fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b':';
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|first| is_first(*first))
        && bytes.iter().all(|byte| is_first(*byte) || byte.is_ascii_digit())
}
