use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_config::model::{FrontMatter, PromptDef};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes, shortened};
use pulldown_cmark::HeadingLevel;

use crate::document::{Document, Fence, Heading, MAX_FILE_BYTES};
use crate::{Chart, Procedure, check, mermaid, walk};

/// Reads a procedure: none if it has errors, and everything that is wrong with it.
pub fn read(source: &Arc<Source>) -> (Option<Procedure>, Diagnostics) {
    if source.text().len() > MAX_FILE_BYTES {
        return (None, too_large(source).into());
    }
    let mut diagnostics = Diagnostics::new();
    let document = Document::read(source, &mut diagnostics);
    let front = document.front.and_then(|part| {
        let (front, found) = mcpgraph_config::read_front_matter(source, part);
        diagnostics.extend(found);
        front
    });
    let mut chart = flowchart(source, &document, &mut diagnostics);
    let mut reader = Reader { source, document: &document, diagnostics, left_out: Vec::new() };
    // Without nodes nothing can be said about prompts.
    let known = chart.as_mut().map(|chart| reader.prompts(chart));
    let Reader { mut diagnostics, left_out, .. } = reader;
    let ends = chart.as_mut().zip(front.as_ref()).and_then(|(chart, front)| {
        check::check(source, front, chart, known.unwrap_or_default(), &mut diagnostics)
    });
    diagnostics.sort();
    let procedure = front.zip(chart).zip(ends).map(|((front, chart), (entry, hub))| Procedure {
        source: Arc::clone(source),
        digest: walk::digest(source.text()).into(),
        front,
        chart,
        entry,
        hub,
        system_prompt: system_prompt(source, document.body, &left_out).into(),
        sections: sections(&document, &left_out),
    });
    (procedure.filter(|_| !diagnostics.has_errors()), diagnostics)
}

/// What a prompt says, with the place of the name it is written under.
pub(crate) struct Written {
    pub(crate) name: Span,
    pub(crate) tools: Vec<Text>,
}

/// The tools each prompt names, by its node.
pub(crate) type Prompts = HashMap<usize, Written>;

struct Reader<'a> {
    source: &'a Arc<Source>,
    document: &'a Document,
    diagnostics: Diagnostics,
    /// What does not belong to the system prompt, in order.
    left_out: Vec<Span>,
}

impl Reader<'_> {
    /// Reads the prompts, in both shapes, into the nodes they belong to.
    fn prompts(&mut self, chart: &mut Chart) -> Prompts {
        let mut known = Prompts::new();
        let document = self.document;
        for fence in &document.fences {
            if !self.holds_prompts(fence) {
                continue;
            }
            let (prompts, found) = mcpgraph_config::read_prompts(self.source, fence.text);
            self.diagnostics.extend(found);
            self.left_out.push(fence.span);
            for (id, prompt) in prompts {
                self.add(chart, &mut known, &id, id.span(), prompt);
            }
        }
        for (number, heading) in document.headings.iter().enumerate() {
            if is_prompts(heading) {
                self.section(number, chart, &mut known);
            }
        }
        self.left_out.sort();
        self.left_out.dedup_by(|gap, before| {
            let joins = gap.start < before.end;
            if joins {
                before.end = before.end.max(gap.end);
            }
            joins
        });
        known
    }

    /// Whether a block has the prompts of all nodes.
    fn holds_prompts(&self, fence: &Fence) -> bool {
        let lines = self.source.slice(fence.text).lines();
        let mut written = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        is_yaml(fence) && written.next().is_some_and(|line| line.starts_with("node_prompts:"))
    }

    /// Reads a section of prompts that stand under the names of their nodes.
    fn section(&mut self, number: usize, chart: &mut Chart, known: &mut Prompts) {
        let headings = &self.document.headings;
        // The next section of prompts ends this one; another section does if no node follows it.
        let rest = &headings[number + 1..];
        let reach = rest.iter().position(is_prompts).unwrap_or(rest.len());
        let nodes: Vec<usize> = (0..reach).filter(|at| names_node(&rest[*at], chart)).collect();
        let ends_section = |heading: &Heading| heading.level <= HeadingLevel::H2;
        let after_last = nodes.last().map_or(0, |last| last + 1);
        let end = (after_last..rest.len())
            .find(|at| ends_section(&rest[*at]))
            .map_or(self.document.body.end, |at| rest[at].span.start);
        self.left_out.push(Span::new(headings[number].span.start, end));
        for (position, at) in nodes.iter().enumerate() {
            let heading = &rest[*at];
            let until = nodes.get(position + 1).map_or(end, |next| rest[*next].span.start);
            self.node_section(heading, Span::new(heading.span.end, until), chart, known);
        }
    }

    /// Reads what stands under the name of one node: a block of YAML, perhaps, and prose.
    fn node_section(
        &mut self,
        heading: &Heading,
        span: Span,
        chart: &mut Chart,
        known: &mut Prompts,
    ) {
        let fences = &self.document.fences;
        let first = fences.partition_point(|fence| fence.span.start < span.start);
        let block = fences.get(first).filter(|fence| {
            let before = Span::new(span.start, fence.span.start);
            fence.span.end <= span.end
                && is_yaml(fence)
                && self.source.slice(before).trim().is_empty()
        });
        let mut prompt = PromptDef::default();
        let mut prose = span;
        if let Some(block) = block {
            prose.start = block.span.end;
            // A block of all prompts has been read.
            if !self.holds_prompts(block) {
                let (read, found) = mcpgraph_config::read_prompt(self.source, block.text);
                self.diagnostics.extend(found);
                prompt = read.unwrap_or_default();
            }
        }
        let prose = self.source.slice(prose).trim();
        let id = heading.title.clone();
        if let Some(node) = self.add(chart, known, &id, heading.span, prompt)
            && !prose.is_empty()
        {
            let node = &mut chart.nodes[node];
            node.prompt = Some(match &node.prompt {
                Some(first) => format!("{}\n\n{prose}", first.trim_end()).into(),
                None => prose.into(),
            });
        }
    }

    /// Gives a node its prompt.
    fn add(
        &mut self,
        chart: &mut Chart,
        known: &mut Prompts,
        id: &str,
        name: Span,
        prompt: PromptDef,
    ) -> Option<usize> {
        // The underline covers the heading's words, not the line break behind them.
        let name = Span::new(name.start, name.start + self.source.slice(name).trim_end().len());
        let Some(number) = chart.find(id) else {
            let hint = check::meant(&self.diagnostics, id, chart.ids());
            let shown = shortened(id, 60);
            let message = format!("the prompt is for `{shown}`, which is not in the flowchart");
            self.diagnostics.push(
                Diagnostic::error(codes::PROMPT_WITHOUT_NODE, message)
                    .at(self.source, name, "")
                    .maybe_hint(hint),
            );
            return None;
        };
        if let Some(first) = known.get(&number) {
            let message = format!("`{id}` has a second prompt");
            self.diagnostics.push(
                Diagnostic::error(codes::SECOND_PROMPT, message)
                    .at(self.source, name, "written again here")
                    .also(self.source, first.name, "first written here")
                    .hint("keep one of them; only the first is used"),
            );
            return None;
        }
        let node = &mut chart.nodes[number];
        node.has_prompt = true;
        node.prompt = prompt.prompt.map(|text| text.trim_end().into());
        node.tools = prompt.tools.iter().map(Text::to_arc).collect();
        node.examples = prompt.examples.map(|examples| examples.value().clone());
        known.insert(number, Written { name, tools: prompt.tools });
        Some(number)
    }
}

/// `## Node Prompts`, with any suffix.
fn is_prompts(heading: &Heading) -> bool {
    heading.level == HeadingLevel::H2 && {
        let title = heading.title.to_ascii_lowercase();
        title
            .strip_prefix("node prompts")
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    }
}

/// Whether a heading is the name of a node, or meant to be: prompts have headings of their own.
fn names_node(heading: &Heading, chart: &Chart) -> bool {
    let title = heading.title.as_str();
    let is_word = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    heading.level == HeadingLevel::H3
        && !title.is_empty()
        && (chart.find(title).is_some() || title.bytes().all(is_word))
}

fn is_yaml(fence: &Fence) -> bool {
    matches!(fence.language.as_str(), "yaml" | "yml")
}

/// The flowchart: the first block of Mermaid that is one.
fn flowchart(
    source: &Arc<Source>,
    document: &Document,
    diagnostics: &mut Diagnostics,
) -> Option<Chart> {
    let mut blocks = document.fences.iter().filter(|fence| fence.language == "mermaid");
    let Some(first) = blocks.next() else {
        let problem = Diagnostic::error(codes::NO_FLOWCHART, "the file has no flowchart");
        diagnostics.push(
            problem
                .at(source, Span::empty(document.body.start), "")
                .hint("add a fenced block ```mermaid that begins with `flowchart TD`"),
        );
        return None;
    };
    if let Some(second) = blocks.next() {
        let line = Span::new(second.span.start, second.text.start.min(second.span.end));
        let line = Span::new(line.start, line.start + source.slice(line).trim_end().len());
        let message = "the file has a second block of Mermaid; only the first is walked";
        diagnostics.push(
            Diagnostic::warning(codes::SECOND_FLOWCHART, message)
                .at(source, line, "")
                .also(source, Span::empty(first.span.start), "the first one")
                .hint("put both charts into one block, or the second into a file of its own"),
        );
    }
    let chart = mermaid::read(source, first.text, diagnostics)?;
    if chart.nodes.is_empty() {
        let problem = Diagnostic::error(codes::NO_FLOWCHART, "the flowchart has no nodes");
        diagnostics.push(problem.at(source, Span::empty(first.text.start), ""));
        return None;
    }
    Some(chart)
}

/// The text behind the front matter, without the prompts.
fn system_prompt(source: &Source, body: Span, left_out: &[Span]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut at = body.start;
    for gap in left_out {
        kept.push(source.slice(Span::new(at, gap.start)).trim());
        at = at.max(gap.end);
    }
    kept.push(source.slice(Span::new(at, body.end)).trim());
    kept.retain(|part| !part.is_empty());
    kept.join("\n\n")
}

/// The titles of the sections that are left.
fn sections(document: &Document, left_out: &[Span]) -> Vec<Arc<str>> {
    let is_kept = |heading: &&Heading| {
        let after = left_out.partition_point(|gap| gap.start <= heading.span.start);
        heading.level == HeadingLevel::H2
            && !left_out[..after].iter().rev().take(1).any(|gap| heading.span.start < gap.end)
    };
    document.headings.iter().filter(is_kept).map(|heading| heading.title.as_str().into()).collect()
}

fn too_large(source: &Arc<Source>) -> Diagnostic {
    let message = format!(
        "the procedure has {} bytes; the limit is {MAX_FILE_BYTES} bytes (1 MiB)",
        source.text().len()
    );
    Diagnostic::error(codes::FILE_TOO_LARGE, message)
        .at(source, Span::empty(0), "")
        .hint("keep data out of the procedure, or split it over several files")
}

/// What of the front matter is needed to check a chart.
pub(crate) fn named_tools(front: &FrontMatter) -> Option<Vec<&str>> {
    let listed = front.tools.as_ref()?;
    Some(listed.iter().chain(&front.always_tools).map(Text::as_str).collect())
}
