//! Graphs as pictures in text: Mermaid and Graphviz DOT.

use std::fmt;

use mcpgraph_value::Value;

use crate::{Body, Kind, Node, Target, Template, Tool};

/// The tool as a Mermaid flowchart.
pub fn mermaid(tool: &Tool) -> String {
    Mermaid(Drawing::of(tool)).to_string()
}

/// The tool as a Graphviz digraph.
pub fn dot(tool: &Tool) -> String {
    Dot { name: &tool.name, drawing: Drawing::of(tool) }.to_string()
}

struct Mermaid(Drawing);

struct Dot<'a> {
    name: &'a str,
    drawing: Drawing,
}

/// How long a label may be before it is cut; a rule can be pages long.
const MAX_LABEL: usize = 60;

/// A tool taken apart into boxes, clusters and edges.
struct Drawing {
    root: Vec<Item>,
    edges: Vec<Edge>,
    count: usize,
}

enum Item {
    Box { name: String, shape: Shape, label: String },
    Cluster { name: String, label: String, items: Vec<Item> },
}

#[derive(Clone, Copy)]
enum Shape {
    Terminal,
    Decision,
    Step,
    Call,
}

struct Edge {
    from: String,
    to: String,
    label: String,
    is_error: bool,
}

/// How one of the languages writes boxes and clusters, each in an indented line.
trait Pen {
    fn draw_box(&self, name: &str, shape: Shape, label: &str) -> String;
    fn open(&self, name: &str, label: &str) -> String;
    fn close(&self) -> &'static str;
}

impl Drawing {
    fn of(tool: &Tool) -> Self {
        let mut drawing = Self { root: Vec::new(), edges: Vec::new(), count: 0 };
        drawing.root = drawing.body(&tool.body);
        drawing
    }

    fn body(&mut self, body: &Body) -> Vec<Item> {
        let first = self.count;
        self.count += body.nodes.len();
        let name = |index: usize| format!("n{}", first + index);
        let mut items = Vec::with_capacity(body.nodes.len());
        for (index, node) in body.nodes.iter().enumerate() {
            let (shape, label) = describe(node);
            items.push(Item::Box { name: name(index), shape, label });
            match &node.kind {
                Kind::Foreach { body: inner, .. } => {
                    self.cluster(&mut items, &name(index), "each item", inner);
                }
                Kind::Parallel { branches, .. } => {
                    for (branch, inner) in branches {
                        self.cluster(&mut items, &name(index), branch, inner);
                    }
                }
                _ => {}
            }
            self.edges_of(node, &name, index);
        }
        items
    }

    fn cluster(&mut self, items: &mut Vec<Item>, owner: &str, label: &str, body: &Body) {
        let start = self.count + body.start;
        let name = format!("c{}", self.count);
        let inner = self.body(body);
        items.push(Item::Cluster { name, label: label.to_owned(), items: inner });
        self.edges.push(Edge {
            from: owner.to_owned(),
            to: format!("n{start}"),
            label: label.to_owned(),
            is_error: false,
        });
    }

    fn edges_of(&mut self, node: &Node, name: &dyn Fn(usize) -> String, index: usize) {
        let mut edge = |to: usize, label: String, is_error: bool| {
            self.edges.push(Edge { from: name(index), to: name(to), label, is_error });
        };
        if let Kind::Switch { cases, default } = &node.kind {
            for case in cases {
                edge(case.target, case.source.to_json(), false);
            }
            if let Some(default) = default {
                edge(*default, "otherwise".to_owned(), false);
            }
        } else if let Some(next) = node.next {
            edge(next, String::new(), false);
        }
        for (why, handler) in node.exits() {
            edge(handler, why.to_owned(), true);
        }
    }
}

fn draw_items(
    items: &[Item],
    indent: usize,
    pen: &dyn Pen,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let pad = "    ".repeat(indent);
    for item in items {
        match item {
            Item::Box { name, shape, label } => {
                writeln!(f, "{pad}{}", pen.draw_box(name, *shape, label))?;
            }
            Item::Cluster { name, label, items } => {
                writeln!(f, "{pad}{}", pen.open(name, label))?;
                draw_items(items, indent + 1, pen, f)?;
                writeln!(f, "{pad}{}", pen.close())?;
            }
        }
    }
    Ok(())
}

fn describe(node: &Node) -> (Shape, String) {
    let id = &node.id;
    match &node.kind {
        Kind::Entry | Kind::Exit | Kind::Start | Kind::End => (Shape::Terminal, id.to_string()),
        Kind::Switch { .. } => (Shape::Decision, id.to_string()),
        Kind::Call { target: Target::Time { .. }, args } => {
            (Shape::Step, format!("{id}\n{}", waits(args)))
        }
        Kind::Call { target, .. } => (Shape::Call, format!("{id}\n{target}")),
        Kind::Graph { tool, .. } => (Shape::Call, format!("{id}\ngraph {tool}")),
        Kind::Wrapped => (Shape::Call, format!("{id}\n{}", node.kind.name())),
        Kind::Transform(_) | Kind::Foreach { .. } | Kind::Parallel { .. } | Kind::Hook(_) => {
            (Shape::Step, format!("{id}\n{}", node.kind.name()))
        }
    }
}

/// How long a node waits, as far as the file says it.
fn waits(args: &Template) -> String {
    let Template::Object(members) = args else { return "waits".to_owned() };
    let said = members.first().map(|(key, time)| (&**key, time));
    match said {
        Some(("until", Template::Literal(time))) => format!("waits until {}", plain(time)),
        Some((_, Template::Literal(Value::Number(millis)))) => format!("waits for {millis} ms"),
        Some((_, Template::Literal(time))) => format!("waits for {}", plain(time)),
        _ => "waits".to_owned(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_LABEL {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_LABEL - 1).collect();
    short.push('…');
    short
}

fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for c in shortened(text).chars() {
        match c {
            '\n' => out.push_str("<br/>"),
            // Mermaid reads `#code;` as a character; everything with a meaning goes that way.
            '"' | '#' | '<' | '>' | '`' | '&' | '|' | '\\' => {
                out.extend(["#", &u32::from(c).to_string(), ";"]);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn dot_text(text: &str) -> String {
    let mut out = String::new();
    for c in shortened(text).chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

// === impl Mermaid ===

impl fmt::Display for Mermaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD\n")?;
        draw_items(&self.0.root, 1, self, f)?;
        for edge in &self.0.edges {
            let arrow = if edge.is_error { "-.->" } else { "-->" };
            write!(f, "    {} {arrow}", edge.from)?;
            if !edge.label.is_empty() {
                write!(f, "|\"{}\"|", mermaid_text(&edge.label))?;
            }
            writeln!(f, " {}", edge.to)?;
        }
        Ok(())
    }
}

impl Pen for Mermaid {
    fn draw_box(&self, name: &str, shape: Shape, label: &str) -> String {
        let (open, close) = match shape {
            Shape::Terminal => ("([", "])"),
            Shape::Decision => ("{", "}"),
            Shape::Step => ("[", "]"),
            Shape::Call => ("[[", "]]"),
        };
        format!("{name}{open}\"{}\"{close}", mermaid_text(label))
    }

    fn open(&self, name: &str, label: &str) -> String {
        format!("subgraph {name} [\"{}\"]", mermaid_text(label))
    }

    fn close(&self) -> &'static str {
        "end"
    }
}

// === impl Dot ===

impl fmt::Display for Dot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "digraph \"{}\" {{\n    rankdir=TB;", dot_text(self.name))?;
        draw_items(&self.drawing.root, 1, self, f)?;
        for edge in &self.drawing.edges {
            let style = if edge.is_error { ", style=dashed" } else { "" };
            let label = dot_text(&edge.label);
            writeln!(f, "    {} -> {} [label=\"{label}\"{style}];", edge.from, edge.to)?;
        }
        f.write_str("}\n")
    }
}

impl Pen for Dot<'_> {
    fn draw_box(&self, name: &str, shape: Shape, label: &str) -> String {
        let shape = match shape {
            Shape::Terminal => "oval",
            Shape::Decision => "diamond",
            Shape::Step => "box",
            Shape::Call => "component",
        };
        format!("{name} [shape={shape}, label=\"{}\"];", dot_text(label))
    }

    fn open(&self, name: &str, label: &str) -> String {
        format!("subgraph cluster_{name} {{ label=\"{}\";", dot_text(label))
    }

    fn close(&self) -> &'static str {
        "}"
    }
}
