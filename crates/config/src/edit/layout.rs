//! How a text is written: every value with the bytes it takes, aliases and merge keys as they
//! stand. The [`Tree`](crate::Tree) says what it means.

use std::collections::VecDeque;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};
use mcpgraph_diagnostics::Span;

use super::lines::{line_end, significant};
use crate::{Style, yaml};

/// The whole text.
pub(super) struct Layout<'t> {
    pub(super) text: &'t str,
    pub(super) root: Node,
    pub(super) anchors: Vec<Anchor>,
    pub(super) aliases: Vec<Alias>,
}

/// Where a name is given to a value.
pub(super) struct Anchor {
    pub(super) id: usize,
    /// The name, with its `&`.
    pub(super) span: Span,
    /// Behind the last byte of the value.
    pub(super) end: usize,
}

/// Where a named value is used.
pub(super) struct Alias {
    pub(super) id: usize,
    pub(super) span: Span,
}

/// A value as it is written.
pub(super) struct Node {
    /// The first byte: that of the anchor or tag, if there is one.
    pub(super) start: usize,
    /// Behind the anchor and tag; where they would end if there is none.
    pub(super) head: usize,
    /// Behind the last byte of the value, without comments.
    pub(super) end: usize,
    pub(super) form: Form,
}

pub(super) enum Form {
    Scalar(Style),
    /// A `|` or `>` block, with the end of its header.
    Block {
        header_end: usize,
    },
    /// An alias, or a mapping without braces inside a flow list: replaced as a whole or not at all.
    Whole,
    Seq(Collection),
    Map(Collection),
}

pub(super) struct Collection {
    pub(super) flow: bool,
    pub(super) children: Vec<Child>,
}

/// An item of a list or a member of a mapping.
pub(super) struct Child {
    /// The dash, the key, or in a flow list the value.
    pub(super) start: usize,
    /// Behind the dash or colon; a value that is not there would be written here.
    pub(super) indicator_end: usize,
    pub(super) key: Option<Key>,
    pub(super) value: Node,
    /// The comma behind it, in flow style.
    pub(super) comma: Option<usize>,
}

pub(super) struct Key {
    pub(super) text: String,
    pub(super) style: Style,
    /// Whether there is a colon behind it.
    pub(super) has_colon: bool,
}

impl Node {
    pub(super) fn collection(&self) -> Option<&Collection> {
        match &self.form {
            Form::Seq(collection) | Form::Map(collection) => Some(collection),
            _ => None,
        }
    }

    /// Whether it is a list or mapping that is written by indentation.
    pub(super) fn is_block_collection(&self) -> bool {
        self.collection().is_some_and(|collection| !collection.flow)
    }
}

impl Collection {
    /// The member of this name.
    pub(super) fn member(&self, key: &str) -> Option<&Child> {
        self.children.iter().find(|child| child.key.as_ref().is_some_and(|own| own.text == key))
    }
}

impl<'t> Layout<'t> {
    /// Reads the layout of a text that has been read as a [`Tree`](crate::Tree) already; none if
    /// it is written in a way that is not understood.
    pub(super) fn new(text: &'t str) -> Option<Self> {
        let mut events = VecDeque::new();
        for event in Parser::new_from_str_with_options(text, yaml::options(true)) {
            let (event, span) = event.ok()?;
            let tag = span.tag_span().and_then(|tag| tag.byte_range()).map(Span::from);
            let span = Span::from(span.byte_range()?);
            events.push_back(Read { event, span, tag });
        }
        let mut builder =
            Builder { text, events, cursor: 0, anchors: Vec::new(), aliases: Vec::new() };
        let root = builder.document()?;
        Some(Self { text, root, anchors: builder.anchors, aliases: builder.aliases })
    }
}

struct Read<'t> {
    event: Event<'t>,
    span: Span,
    tag: Option<Span>,
}

/// Goes through events and text side by side: events tell the values, the text between them the
/// dashes, colons and commas. The depth is bounded by the parser's limit.
struct Builder<'t> {
    text: &'t str,
    events: VecDeque<Read<'t>>,
    /// Behind everything that was understood so far.
    cursor: usize,
    anchors: Vec<Anchor>,
    aliases: Vec<Alias>,
}

impl<'t> Builder<'t> {
    fn document(&mut self) -> Option<Node> {
        while let Some(read) = self.events.front() {
            match read.event {
                Event::StreamStart => {}
                Event::DocumentStart(explicit, _) => {
                    if explicit {
                        self.cursor = read.span.end;
                    }
                }
                _ => break,
            }
            self.events.pop_front();
        }
        self.node()
    }

    /// Reads the next value, which stands behind the cursor.
    fn node(&mut self) -> Option<Node> {
        let read = self.events.pop_front()?;
        let anchor = match self.events.front() {
            Some(Read { event: Event::Anchor(id, _), span, .. }) => Some((*id, *span)),
            _ => None,
        };
        if anchor.is_some() {
            self.events.pop_front();
        }
        let properties = [anchor.map(|(_, span)| span), read.tag];
        let properties = properties.into_iter().flatten();
        let (start, head) = properties.fold((usize::MAX, self.cursor), |(start, head), span| {
            (start.min(span.start), head.max(span.end))
        });
        self.cursor = head;
        let mut node = self.content(read)?;
        node.head = head;
        // The parser places a list that is not indented behind its first dash.
        let block = node.collection().filter(|own| !own.flow);
        if let Some(first) = block.and_then(|block| block.children.first()) {
            node.start = first.start;
        }
        node.start = node.start.min(start);
        self.cursor = node.end;
        if let Some((id, span)) = anchor {
            self.anchors.push(Anchor { id, span, end: node.end });
        }
        Some(node)
    }

    fn content(&mut self, read: Read<'t>) -> Option<Node> {
        let Read { event, span, .. } = read;
        let node = |form| Node { start: span.start, head: span.start, end: span.end, form };
        Some(match event {
            Event::Alias(id) => {
                self.aliases.push(Alias { id, span });
                node(Form::Whole)
            }
            Event::UnresolvedAlias(_) => node(Form::Whole),
            Event::Scalar(_, style, ..) => match style {
                ScalarStyle::Plain if span.is_empty() => {
                    let at = self.cursor;
                    Node { start: at, head: at, end: at, form: Form::Scalar(Style::Plain) }
                }
                ScalarStyle::Plain => node(Form::Scalar(Style::Plain)),
                ScalarStyle::SingleQuoted => node(Form::Scalar(Style::Single)),
                ScalarStyle::DoubleQuoted => node(Form::Scalar(Style::Double)),
                ScalarStyle::Literal | ScalarStyle::Folded => self.block(span)?,
            },
            Event::SequenceStart(style, ..) => {
                let flow = style == StructureStyle::Flow;
                if flow {
                    self.cursor = span.end;
                }
                let (children, end) = self.children(flow, false)?;
                Node { end, ..node(Form::Seq(Collection { flow, children })) }
            }
            Event::MappingStart(style, ..) => {
                let flow = style == StructureStyle::Flow;
                if flow {
                    self.cursor = span.end;
                }
                let braces = self.text[span.start..].starts_with('{');
                let (children, end) = self.children(flow, true)?;
                if flow && !braces {
                    Node { end: children.last()?.value.end, ..node(Form::Whole) }
                } else {
                    Node { end, ..node(Form::Map(Collection { flow, children })) }
                }
            }
            _ => return None,
        })
    }

    /// A `|` or `>` block: the parser gives its lines without the header, and more or less of what
    /// follows.
    fn block(&self, span: Span) -> Option<Node> {
        let start = significant(self.text, self.cursor);
        let header = self.text[start..].split([' ', '\t', '\n', '\r', '#']).next()?;
        let header_end = start + header.len();
        if !header.starts_with(['|', '>']) {
            return None;
        }
        let body = line_end(self.text, header_end);
        let written = self.text.get(body..span.end.max(body))?;
        let end = if header.contains('+') {
            // Empty lines at the end belong to the text, its last line break does too.
            let kept = written.trim_end_matches([' ', '\t']);
            let kept = kept.strip_suffix('\n').unwrap_or(kept);
            body + kept.strip_suffix('\r').unwrap_or(kept).len()
        } else {
            line_end(self.text, body + written.trim_end_matches([' ', '\t', '\n', '\r']).len())
        };
        let end = if end > body { end } else { header_end };
        Some(Node { start, head: start, end, form: Form::Block { header_end } })
    }

    /// Reads the children of a list or mapping, and gives its end.
    fn children(&mut self, flow: bool, is_map: bool) -> Option<(Vec<Child>, usize)> {
        let mut children = Vec::new();
        let mut end = self.cursor;
        loop {
            match self.events.front()? {
                Read { event: Event::SequenceEnd | Event::MappingEnd, span, .. } => {
                    end = if flow { span.end } else { end };
                    self.events.pop_front();
                    return Some((children, end));
                }
                _ => {
                    let mut child = if is_map { self.member()? } else { self.item(flow)? };
                    end = self.cursor;
                    if flow && self.next_is(',') {
                        let comma = significant(self.text, self.cursor);
                        child.comma = Some(comma);
                        self.cursor = comma + 1;
                    }
                    children.push(child);
                }
            }
        }
    }

    fn item(&mut self, flow: bool) -> Option<Child> {
        let mut start = significant(self.text, self.cursor);
        if !flow {
            self.text[start..].starts_with('-').then_some(())?;
            self.cursor = start + 1;
        }
        let indicator_end = self.cursor;
        let value = self.node()?;
        if flow {
            start = value.start;
        }
        Some(Child { start, indicator_end, key: None, value, comma: None })
    }

    fn member(&mut self) -> Option<Child> {
        let start = significant(self.text, self.cursor);
        if self.text[start..].starts_with('?')
            && self.text[start + 1..].starts_with([' ', '\t', '\n', '\r'])
        {
            self.cursor = start + 1;
        }
        let (text, style) = match &self.events.front()?.event {
            Event::Scalar(text, style, ..) => (text.to_string(), *style),
            _ => (String::new(), ScalarStyle::Plain),
        };
        let style = match style {
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            _ => Style::Plain,
        };
        self.node()?;
        let has_colon = self.next_is(':');
        if has_colon {
            self.cursor = significant(self.text, self.cursor) + 1;
        }
        let indicator_end = self.cursor;
        let value = self.node()?;
        let key = Some(Key { text, style, has_colon });
        Some(Child { start, indicator_end, key, value, comma: None })
    }

    fn next_is(&self, wanted: char) -> bool {
        self.text[significant(self.text, self.cursor)..].starts_with(wanted)
    }
}
