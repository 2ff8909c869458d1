//! Graphs as pictures in text: Mermaid and Graphviz DOT.

use std::fmt::Write as _;

use crate::{Body, Kind, Node, Tool};

/// The tool as a Mermaid flowchart.
pub fn mermaid(tool: &Tool) -> String {
    let mut out = String::from("flowchart TD\n");
    let drawing = Drawing::of(tool);
    drawing.draw(&mut out, &mut MermaidPen { indent: 1 });
    for edge in &drawing.edges {
        let arrow = if edge.is_error { "-.->" } else { "-->" };
        let label = if edge.label.is_empty() {
            String::new()
        } else {
            format!("|\"{}\"|", mermaid_text(&edge.label))
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "    {} {arrow}{label} {}", edge.from, edge.to);
    }
    out
}

/// The tool as a Graphviz digraph.
pub fn dot(tool: &Tool) -> String {
    let mut out = format!("digraph \"{}\" {{\n    rankdir=TB;\n", dot_text(&tool.name));
    let drawing = Drawing::of(tool);
    drawing.draw(&mut out, &mut DotPen { indent: 1 });
    for edge in &drawing.edges {
        let style = if edge.is_error { ", style=dashed" } else { "" };
        let _ = writeln!(
            out,
            "    {} -> {} [label=\"{}\"{style}];",
            edge.from,
            edge.to,
            dot_text(&edge.label)
        );
    }
    out.push_str("}\n");
    out
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

trait Pen {
    fn draw_box(&mut self, out: &mut String, name: &str, shape: Shape, label: &str);
    fn open(&mut self, out: &mut String, name: &str, label: &str);
    fn close(&mut self, out: &mut String);
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
        if let Some(handler) = node.on_error {
            edge(handler, "error".to_owned(), true);
        }
    }

    fn draw(&self, out: &mut String, pen: &mut dyn Pen) {
        draw_items(&self.root, out, pen);
    }
}

fn draw_items(items: &[Item], out: &mut String, pen: &mut dyn Pen) {
    for item in items {
        match item {
            Item::Box { name, shape, label } => pen.draw_box(out, name, *shape, label),
            Item::Cluster { name, label, items } => {
                pen.open(out, name, label);
                draw_items(items, out, pen);
                pen.close(out);
            }
        }
    }
}

fn describe(node: &Node) -> (Shape, String) {
    let id = &node.id;
    match &node.kind {
        Kind::Entry | Kind::Exit => (Shape::Terminal, id.to_string()),
        Kind::Switch { .. } => (Shape::Decision, id.to_string()),
        Kind::Mcp { server, tool, .. } => (Shape::Call, format!("{id}\n{server}.{tool}")),
        Kind::Graph { tool, .. } => (Shape::Call, format!("{id}\ngraph {tool}")),
        Kind::Transform(_) | Kind::Foreach { .. } | Kind::Parallel { .. } => {
            (Shape::Step, format!("{id}\n{}", node.kind.name()))
        }
    }
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
                let _ = write!(out, "#{};", u32::from(c));
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

struct MermaidPen {
    indent: usize,
}

impl Pen for MermaidPen {
    fn draw_box(&mut self, out: &mut String, name: &str, shape: Shape, label: &str) {
        let (open, close) = match shape {
            Shape::Terminal => ("([", "])"),
            Shape::Decision => ("{", "}"),
            Shape::Step => ("[", "]"),
            Shape::Call => ("[[", "]]"),
        };
        let pad = "    ".repeat(self.indent);
        let _ = writeln!(out, "{pad}{name}{open}\"{}\"{close}", mermaid_text(label));
    }

    fn open(&mut self, out: &mut String, name: &str, label: &str) {
        let pad = "    ".repeat(self.indent);
        let _ = writeln!(out, "{pad}subgraph {name} [\"{}\"]", mermaid_text(label));
        self.indent += 1;
    }

    fn close(&mut self, out: &mut String) {
        self.indent -= 1;
        let _ = writeln!(out, "{}end", "    ".repeat(self.indent));
    }
}

struct DotPen {
    indent: usize,
}

impl Pen for DotPen {
    fn draw_box(&mut self, out: &mut String, name: &str, shape: Shape, label: &str) {
        let shape = match shape {
            Shape::Terminal => "oval",
            Shape::Decision => "diamond",
            Shape::Step => "box",
            Shape::Call => "component",
        };
        let pad = "    ".repeat(self.indent);
        let _ = writeln!(out, "{pad}{name} [shape={shape}, label=\"{}\"];", dot_text(label));
    }

    fn open(&mut self, out: &mut String, name: &str, label: &str) {
        let pad = "    ".repeat(self.indent);
        let _ = writeln!(out, "{pad}subgraph cluster_{name} {{");
        self.indent += 1;
        let pad = "    ".repeat(self.indent);
        let _ = writeln!(out, "{pad}label=\"{}\";", dot_text(label));
    }

    fn close(&mut self, out: &mut String) {
        self.indent -= 1;
        let _ = writeln!(out, "{}}}", "    ".repeat(self.indent));
    }
}
