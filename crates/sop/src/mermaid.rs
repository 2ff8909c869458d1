//! From Mermaid text to nodes and edges, by Mermaid's own grammar in `merman-core`.
//!
//! That parser reads charts to draw them. What belongs to drawing only, and what takes it more
//! than linear time, is kept from it ([`prepare`]); places stay what they are.

mod labels;
mod locate;
mod prepare;
mod shapes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes};
use merman_core::{
    DiagramParseOutcome, EditorSemanticFacts, EditorSemanticRole, Engine, Error,
    ManagedSemanticJson, ParsedEditorFacts,
};
use serde_json::Value as Json;

pub use self::prepare::{MAX_EDGES, MAX_SUBGRAPHS};
pub use self::shapes::shape;
use crate::{Chart, Edge, Node, NodeId};

/// How the parser calls flowcharts.
const FAMILY: &str = "flowchart-v2";

/// How it calls the places at which nodes are written.
const NODE_PLACE: &str = "flowchart node";

/// Reads the flowchart at `span` of a file; none, with a diagnostic, if it is not one.
pub(crate) fn read(
    source: &Arc<Source>,
    span: Span,
    diagnostics: &mut Diagnostics,
) -> Option<Chart> {
    let text = source.slice(span);
    let prepared = match prepare::prepare(text) {
        Ok(prepared) => prepared,
        Err(beyond) => {
            let place = Span::new(span.start + beyond.at.start, span.start + beyond.at.end);
            diagnostics.push(
                Diagnostic::error(codes::FLOWCHART_LIMIT, beyond.message)
                    .at(source, place, "")
                    .hint("split the procedure over several files"),
            );
            return None;
        }
    };
    let (model, facts) = match parse(&prepared) {
        Ok(parsed) => parsed,
        Err(Trouble::Invalid(error)) => {
            let wrong = locate::place(&prepared, &error);
            let place = Span::new(span.start + wrong.start, (span.start + wrong.end).min(span.end));
            diagnostics.push(invalid(source, place, &error));
            return None;
        }
        Err(Trouble::Fault) => {
            diagnostics.push(unreadable(source, span));
            return None;
        }
    };
    let places = match &facts {
        ParsedEditorFacts::Available(facts) => Some(places(facts)),
        ParsedEditorFacts::Unavailable => None,
    };
    let builder = Builder { source, span, places, chart: Chart { span, ..Chart::default() } };
    Some(builder.build(&model, diagnostics))
}

/// Why a text cannot be read.
enum Trouble {
    /// The parser says why.
    Invalid(Error),
    /// The parser has a fault of its own.
    Fault,
}

fn parse(text: &str) -> Result<(ManagedSemanticJson, ParsedEditorFacts), Trouble> {
    // The parser is not ours: a fault in it must not take the process along.
    let parsed = std::panic::catch_unwind(|| {
        Engine::new().parse_diagram_snapshot_with_type_sync(FAMILY, text)
    });
    let snapshot = match parsed {
        Ok(Ok(Some(snapshot))) => snapshot,
        Ok(Err(error)) => return Err(Trouble::Invalid(error)),
        Ok(Ok(None)) | Err(_) => return Err(Trouble::Fault),
    };
    let (_, outcome, facts) = snapshot.into_parts();
    match outcome {
        DiagramParseOutcome::Parsed { model, .. } => Ok((model, facts)),
        DiagramParseOutcome::Failed(error) => Err(Trouble::Invalid(error)),
        DiagramParseOutcome::Panicked(_) => Err(Trouble::Fault),
    }
}

/// Where each node is first written, in the text that was parsed.
fn places(facts: &EditorSemanticFacts) -> HashMap<&str, Span> {
    let mut places = HashMap::new();
    for symbol in &facts.symbols {
        let is_node = symbol.detail.as_deref() == Some(NODE_PLACE)
            && matches!(symbol.role, EditorSemanticRole::Entity | EditorSemanticRole::Reference);
        if is_node {
            let place = Span::new(symbol.selection.start, symbol.selection.end);
            places.entry(symbol.name.as_str()).or_insert(place);
        }
    }
    places
}

/// Puts the chart together from what the parser says.
struct Builder<'a> {
    source: &'a Arc<Source>,
    span: Span,
    /// Where nodes are written; none if the parser does not say.
    places: Option<HashMap<&'a str, Span>>,
    chart: Chart,
}

impl Builder<'_> {
    fn build(mut self, model: &Json, diagnostics: &mut Diagnostics) -> Chart {
        let list = |key: &str| model[key].as_array().map(Vec::as_slice).unwrap_or_default();
        let subgraphs: HashSet<&str> =
            list("subgraphs").iter().filter_map(|subgraph| subgraph["id"].as_str()).collect();
        for node in list("nodes") {
            self.add_node(node, &subgraphs);
        }
        let mut seen = HashSet::new();
        for edge in list("edges") {
            self.add_edge(edge, &subgraphs, &mut seen, diagnostics);
        }
        self.chart
    }

    fn add_node(&mut self, node: &Json, subgraphs: &HashSet<&str>) {
        let Some(id) = node["id"].as_str().filter(|id| !subgraphs.contains(id)) else { return };
        // For drawing, a line `style X …` makes a node of an X that is written nowhere else.
        if self.places.as_ref().is_some_and(|places| !places.contains_key(id)) {
            return;
        }
        let id: Arc<str> = labels::restored(id).into();
        let label = node["label"].as_str().map_or_else(|| id.to_string(), labels::restored);
        let shape = node["shape"].as_str();
        self.chart.by_id.insert(Arc::clone(&id), self.chart.nodes.len());
        self.chart.nodes.push(Node {
            span: self.place(&id),
            id,
            shape: shapes::shape(shape.unwrap_or("rectangle")),
            description: label.into(),
            edges: Vec::new(),
            has_prompt: false,
            prompt: None,
            tools: Vec::new(),
            examples: None,
        });
    }

    fn add_edge(
        &mut self,
        edge: &Json,
        subgraphs: &HashSet<&str>,
        seen: &mut HashSet<(NodeId, NodeId, Option<Arc<str>>)>,
        diagnostics: &mut Diagnostics,
    ) {
        // An edge that is not drawn only moves nodes about.
        if edge["stroke"].as_str() == Some("invisible") {
            return;
        }
        let (Some(from), Some(to)) = (edge["from"].as_str(), edge["to"].as_str()) else { return };
        let end = [from, to].into_iter().find(|end| subgraphs.contains(end));
        if let Some(subgraph) = end {
            let message =
                format!("the edge from `{from}` to `{to}` is left out: `{subgraph}` is a subgraph");
            diagnostics.push(
                Diagnostic::warning(codes::EDGE_OF_SUBGRAPH, message)
                    .at(self.source, self.place(subgraph), "")
                    .hint("let the edge begin and end at nodes; a walk knows no subgraphs"),
            );
            return;
        }
        let (Some(from), Some(to)) = (self.chart.find(from), self.chart.find(to)) else { return };
        let condition = edge["label"].as_str().map(labels::restored);
        let condition: Option<Arc<str>> =
            condition.filter(|label| !label.trim().is_empty()).map(Arc::from);
        let is_double = edge["type"].as_str().is_some_and(|kind| kind.starts_with("double_"));
        let ways = [Some((from, to)), is_double.then_some((to, from))];
        for (from, to) in ways.into_iter().flatten() {
            if seen.insert((from, to, condition.clone())) {
                let edge = Edge { to, condition: condition.clone(), guard: None };
                self.chart.nodes[from].edges.push(edge);
            }
        }
    }

    /// Where a node is first written in the file.
    fn place(&self, id: &str) -> Span {
        match self.places.as_ref().and_then(|places| places.get(id)) {
            Some(place) => Span::new(self.span.start + place.start, self.span.start + place.end),
            None => Span::empty(self.span.start),
        }
    }
}

/// The parser has a fault of its own.
fn unreadable(source: &Arc<Source>, span: Span) -> Diagnostic {
    Diagnostic::error(codes::MERMAID_SYNTAX, "the flowchart cannot be read").at(
        source,
        Span::empty(span.start),
        "",
    )
}

/// The parser's words about what it could not read.
fn words(error: &Error) -> String {
    match error {
        Error::DiagramParse { diagnostic, .. } => diagnostic.message().to_owned(),
        other => other.to_string(),
    }
}

/// What is wrong at a place.
fn invalid(source: &Arc<Source>, place: Span, error: &Error) -> Diagnostic {
    // What is not closed reaches to the end of the text; where it begins is what matters.
    let first_line = source.slice(place).find('\n').map_or(place.end, |end| place.start + end);
    let message = labels::restored(words(error).trim_end_matches('.'));
    let hint = message
        .contains("expected \"graph\"")
        .then(|| String::from("begin the flowchart with a line such as `flowchart TD`"));
    Diagnostic::error(codes::MERMAID_SYNTAX, format!("invalid Mermaid: {}", lowered(&message)))
        .at(source, Span::new(place.start, first_line), "")
        .maybe_hint(hint)
}

fn lowered(message: &str) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
