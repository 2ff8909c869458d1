//! The outline of a markdown file: front matter, headings and fenced blocks, with their places.

use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The largest procedure that is read: 1 MiB.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// What a file is made of, in its order.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The YAML between the two lines that enclose the front matter.
    pub(crate) front: Option<Span>,
    /// Everything behind it.
    pub(crate) body: Span,
    pub(crate) headings: Vec<Heading>,
    pub(crate) fences: Vec<Fence>,
}

/// A heading that belongs to the file itself, not to a list or quotation.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) level: HeadingLevel,
    /// The words, without marks.
    pub(crate) title: String,
    /// The whole heading.
    pub(crate) span: Span,
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Fence {
    /// The first word behind the opening fence, in small letters.
    pub(crate) language: String,
    /// The block with its fences.
    pub(crate) span: Span,
    /// What is between them.
    pub(crate) text: Span,
}

impl Document {
    /// Finds the outline.
    pub(crate) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Self {
        let text = source.text();
        let (front, body) = match front_matter(text) {
            Front::None => {
                diagnostics.push(no_front_matter(source, Span::empty(0)));
                (None, 0)
            }
            Front::Unclosed(first) => {
                let problem =
                    Diagnostic::error(codes::NO_FRONT_MATTER, "the front matter is not closed");
                diagnostics.push(
                    problem
                        .at(source, first, "it begins here")
                        .hint("write a line `---` behind it"),
                );
                (None, first.end)
            }
            Front::Found { yaml, body } => (Some(yaml), body),
        };
        let body = Span::new(body, text.len());
        let mut document = Self { front, body, ..Self::default() };
        document.outline(source.slice(body));
        document
    }

    fn outline(&mut self, markdown: &str) {
        let start = self.body.start;
        let mut open = 0_usize;
        let mut title: Option<String> = None;
        let mut inside = false;
        for (event, range) in Parser::new_ext(markdown, Options::empty()).into_offset_iter() {
            let place = Span::new(start + range.start, start + range.end);
            match event {
                Event::Start(tag) => {
                    open += 1;
                    match tag {
                        Tag::Heading { .. } if open == 1 => title = Some(String::new()),
                        Tag::CodeBlock(CodeBlockKind::Fenced(info)) if open == 1 => {
                            let first = info.split([' ', '\t', ',', '{']).next();
                            let language = first.unwrap_or_default().to_ascii_lowercase();
                            let text = Span::empty(place.end);
                            self.fences.push(Fence { language, span: place, text });
                            inside = true;
                        }
                        _ => {}
                    }
                }
                Event::End(tag) => {
                    open = open.saturating_sub(1);
                    if let (TagEnd::Heading(level), 0) = (tag, open) {
                        let title = title.take().unwrap_or_default().trim().to_owned();
                        self.headings.push(Heading { level, title, span: place });
                    }
                    if open == 0 {
                        inside = false;
                    }
                }
                Event::Text(_) if inside => {
                    if let Some(fence) = self.fences.last_mut() {
                        let first = if fence.text.is_empty() { place } else { fence.text };
                        fence.text = Span::new(first.start, place.end);
                    }
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(title) = &mut title {
                        title.push_str(&text);
                    }
                }
                _ => {}
            }
        }
    }
}

enum Front {
    None,
    /// The line that opens it.
    Unclosed(Span),
    Found {
        yaml: Span,
        body: usize,
    },
}

/// The front matter: the lines between a first line `---` and the next one.
fn front_matter(text: &str) -> Front {
    // Some editors begin a file with a mark of its encoding.
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut at = start;
    for (number, line) in text.get(start..).unwrap_or_default().split_inclusive('\n').enumerate() {
        let marks = line.trim_end();
        match number {
            0 if marks != "---" => return Front::None,
            0 => {}
            _ if marks == "---" || marks == "..." => {
                let yaml = start + text[start..].find('\n').map_or(0, |end| end + 1);
                return Front::Found { yaml: Span::new(yaml, at), body: at + line.len() };
            }
            _ => {}
        }
        at += line.len();
    }
    if at == start { Front::None } else { Front::Unclosed(Span::new(start, start + 3)) }
}

fn no_front_matter(source: &Arc<Source>, place: Span) -> Diagnostic {
    Diagnostic::error(codes::NO_FRONT_MATTER, "the file has no front matter")
        .at(source, place, "")
        .hint("begin the file with the lines `---`, `agent: NAME` and `---`")
}
