use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use granit_parser::{Event, ScalarStyle, Tag};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes, shortened};

use super::scalar::{self, Odd, Plain};
use super::syntax::too_deep;
use super::{MAX_DEPTH, MAX_VALUES};
use crate::{Kind, Member, Style, Text, Tree};

/// Builds the tree from the parser's events, without recursion.
pub(super) struct Composer<'a> {
    source: &'a Arc<Source>,
    /// Where the text that is parsed begins in the source.
    start: usize,
    pub(super) root: Option<Arc<Tree>>,
    pub(super) diagnostics: Diagnostics,
    open: Vec<Open>,
    anchors: HashMap<usize, Arc<Tree>>,
    /// How many values there are so far, with aliases and merge keys counted in full.
    values: usize,
    documents: usize,
}

/// A mapping or list whose end is still to come.
struct Open {
    start: usize,
    anchor: usize,
    children: Children,
}

enum Children {
    Seq(Vec<Arc<Tree>>),
    Map { entries: Vec<(Key, Arc<Tree>)>, key: Option<Key> },
}

enum Key {
    Text(Text),
    /// A plain `<<`.
    Merge(Span),
    /// Reported already; its value is left out.
    Invalid,
}

/// What makes it pointless to read on.
pub(super) type Fatal = Box<Diagnostic>;

impl<'a> Composer<'a> {
    pub(super) fn new(source: &'a Arc<Source>, start: usize) -> Self {
        Self {
            source,
            start,
            root: None,
            diagnostics: Diagnostics::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            values: 0,
            documents: 0,
        }
    }

    pub(super) fn event(
        &mut self,
        event: Event<'_>,
        span: &granit_parser::Span,
    ) -> Result<(), Fatal> {
        let tag_span = span.tag_span().map(|tag| self.placed(&tag));
        let span = self.placed(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.second_document(span).into());
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().map(|tag| (tag, tag_span.unwrap_or(span)));
                let tree = self.scalar(&text, style, tag, span);
                self.add(Arc::new(tree), anchor, 1)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "seq", tag_span.unwrap_or(span));
                self.start(span, anchor, Children::Seq(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "map", tag_span.unwrap_or(span));
                self.start(span, anchor, Children::Map { entries: Vec::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(id) => match self.anchors.get(&id).cloned() {
                Some(tree) => {
                    let values = tree.size;
                    self.add(tree, 0, values)?;
                }
                None => self.invalid_alias(span, "stands inside what it names", None)?,
            },
            Event::UnresolvedAlias(_) => {
                let hint = "put text that starts with `*` in quotes";
                self.invalid_alias(span, "has no anchor before it", Some(hint))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The place in the source of something the parser saw.
    fn placed(&self, span: &granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or_default();
        Span::new(self.start + range.start, self.start + range.end)
    }

    fn start(&mut self, span: Span, anchor: usize, children: Children) -> Result<(), Fatal> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(self.source, span).into());
        }
        self.open.push(Open { start: span.start, anchor, children });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Fatal> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        // In block style the end is seen only at the next token.
        let written = self.source.slice(Span::new(open.start, span.end));
        let last = match &open.children {
            Children::Seq(items) => items.last().map(|item| item.span.end),
            Children::Map { entries, .. } => entries.last().map(|(_, value)| value.span.end),
        };
        let flow = written.starts_with(['[', '{']) && span.end > span.start;
        let end = match last {
            Some(last) if !flow && last > open.start && last <= span.end => last,
            _ => open.start + written.trim_end().len(),
        };
        let kind = match open.children {
            Children::Seq(items) => Kind::Seq(items),
            Children::Map { entries, .. } => Kind::Map(self.members(entries)?),
        };
        self.add(Arc::new(Tree::new(Span::new(open.start, end), kind)), open.anchor, 1)
    }

    /// Puts a finished value where it belongs; `values` is what it adds to the count.
    fn add(&mut self, tree: Arc<Tree>, anchor: usize, values: usize) -> Result<(), Fatal> {
        self.count(values, tree.span)?;
        if self.open.len() + tree.depth > MAX_DEPTH {
            return Err(too_deep(self.source, tree.span).into());
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Arc::clone(&tree));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(tree);
            return Ok(());
        };
        match &mut open.children {
            Children::Seq(items) => items.push(tree),
            Children::Map { entries, key } => match key.take() {
                Some(key) => entries.push((key, tree)),
                None => {
                    let read = self.key(&tree);
                    if let Some(Open { children: Children::Map { key, .. }, .. }) =
                        self.open.last_mut()
                    {
                        *key = Some(read);
                    }
                }
            },
        }
        Ok(())
    }

    fn count(&mut self, values: usize, span: Span) -> Result<(), Fatal> {
        self.values = self.values.saturating_add(values);
        if self.values <= MAX_VALUES {
            return Ok(());
        }
        let message = format!(
            "the file holds more than the limit of {MAX_VALUES} values, with aliases counted in full"
        );
        let fatal = Diagnostic::error(codes::TOO_MANY_VALUES, message)
            .at(self.source, span, "counted up to here")
            .hint("use fewer aliases of large values, or keep data out of the file");
        Err(fatal.into())
    }

    /// Keys are text; a number or boolean stands for the text it is written as.
    fn key(&mut self, tree: &Tree) -> Key {
        match &tree.kind {
            Kind::String(text) if *text == "<<" && text.style() == Style::Plain => {
                Key::Merge(tree.span)
            }
            Kind::String(text) => Key::Text(text.clone()),
            Kind::Seq(_) | Kind::Map(_) => self.invalid_key(tree),
            _ if self.source.slice(tree.span).is_empty() => self.invalid_key(tree),
            _ => Key::Text(Text::new(self.source.slice(tree.span), tree.span, Style::Plain)),
        }
    }

    fn invalid_key(&mut self, tree: &Tree) -> Key {
        let message = format!("a key needs to be text, not {}", tree.kind_name());
        self.diagnostics.push(Diagnostic::error(codes::KEY_INVALID, message).at(
            self.source,
            tree.span,
            "",
        ));
        Key::Invalid
    }

    /// Applies merge keys and reports duplicates, of which the first counts.
    fn members(&mut self, entries: Vec<(Key, Arc<Tree>)>) -> Result<Vec<Member>, Fatal> {
        let mut first: HashMap<Arc<str>, Span> = HashMap::with_capacity(entries.len());
        let mut explicit = Vec::with_capacity(entries.len());
        let mut merge: Option<Span> = None;
        for (key, value) in entries {
            if let Key::Merge(span) = key
                && let Some(first) = merge.replace(span)
            {
                let key = Text::new("<<", span, Style::Plain);
                let hint = "write one with a list: `<<: [*first, *second]`";
                self.diagnostics.push(duplicate(self.source, &key, first).hint(hint));
                merge = Some(first);
                continue;
            }
            let Key::Text(key) = key else {
                explicit.push((key, value));
                continue;
            };
            if let Some(span) = first.get(&*key) {
                self.diagnostics.push(duplicate(self.source, &key, *span));
                continue;
            }
            first.insert(key.to_arc(), key.span());
            explicit.push((Key::Text(key), value));
        }
        let mut merged: HashSet<Arc<str>> = first.into_keys().collect();
        let mut members = Vec::with_capacity(explicit.len());
        for (key, value) in explicit {
            match key {
                Key::Text(key) => members.push(Member { key, value }),
                Key::Invalid => {}
                Key::Merge(span) => {
                    for member in
                        self.merge_sources(span, &value).iter().flat_map(|map| map.members())
                    {
                        if merged.insert(member.key.to_arc()) {
                            self.count(member.value.size, span)?;
                            members.push(member.clone());
                        }
                    }
                }
            }
        }
        Ok(members)
    }

    /// The mappings a merge key names, the strongest first.
    fn merge_sources(&mut self, key: Span, value: &Arc<Tree>) -> Vec<Arc<Tree>> {
        let candidates = match &value.kind {
            Kind::Seq(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let (maps, others): (Vec<_>, Vec<_>) =
            candidates.iter().cloned().partition(|tree| matches!(tree.kind, Kind::Map(_)));
        for other in others {
            let message =
                format!("`<<` needs a mapping or a list of them, not {}", other.kind_name());
            self.diagnostics.push(
                Diagnostic::error(codes::MERGE_INVALID, message)
                    .at(self.source, key, "")
                    .also(self.source, other.span, "this is not a mapping")
                    .hint("write `<<: *anchor`, where `&anchor` stands before a mapping"),
            );
        }
        maps
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<(&Tag, Span)>,
        span: Span,
    ) -> Tree {
        let (style, span) = match style {
            ScalarStyle::SingleQuoted => (Style::Single, span),
            ScalarStyle::DoubleQuoted => (Style::Double, span),
            ScalarStyle::Literal => (Style::Literal, self.trimmed(span)),
            ScalarStyle::Folded => (Style::Folded, self.trimmed(span)),
            ScalarStyle::Plain => (Style::Plain, span),
        };
        // The parser writes `~` for a value that is not there.
        let text = if span.is_empty() && style == Style::Plain { "" } else { text };
        let string = || Kind::String(Text::new(text, span, style));
        let kind = match tag.map(|(tag, place)| (tag, tag.core_suffix(), place)) {
            None if style == Style::Plain => self.plain(text, span, string),
            None | Some((_, Some("str"), _)) => string(),
            Some((_, Some(name @ ("int" | "float" | "bool" | "null")), _)) => {
                self.tagged(name, scalar::resolve(text), span, string)
            }
            Some((tag, _, place)) => {
                self.invalid_tag(&tag.original(), place);
                string()
            }
        };
        Tree::new(span, kind)
    }

    fn plain(&mut self, text: &str, span: Span, string: impl Fn() -> Kind) -> Kind {
        match scalar::resolve(text) {
            Plain::Null => Kind::Null,
            Plain::Bool(flag) => Kind::Bool(flag),
            Plain::Number(number) => Kind::Number(number),
            Plain::String => string(),
            Plain::Odd(odd) => {
                let shown = shortened(text, 40);
                let message = match odd {
                    Odd::NotFinite => format!("`{shown}` is a number that JSON cannot hold"),
                    Odd::LeadingZero => format!(
                        "`{shown}` starts with a zero, which readers of YAML understand differently"
                    ),
                };
                self.diagnostics.push(
                    Diagnostic::error(codes::SCALAR_INVALID, message)
                        .at(self.source, span, "")
                        .hint("put it in quotes if it is text; else write it as JSON does"),
                );
                string()
            }
        }
    }

    fn tagged(&mut self, name: &str, plain: Plain, span: Span, string: impl Fn() -> Kind) -> Kind {
        match (name, plain) {
            ("int" | "float", Plain::Number(number)) => Kind::Number(number),
            ("bool", Plain::Bool(flag)) => Kind::Bool(flag),
            ("null", Plain::Null) => Kind::Null,
            _ => {
                let message = format!("the value does not fit its tag `!!{name}`");
                self.diagnostics.push(Diagnostic::error(codes::SCALAR_INVALID, message).at(
                    self.source,
                    span,
                    "",
                ));
                string()
            }
        }
    }

    fn check_collection_tag(&mut self, tag: Option<&Tag>, expected: &str, span: Span) {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(expected)
        {
            self.invalid_tag(&tag.original(), span);
        }
    }

    fn invalid_tag(&mut self, tag: &str, span: Span) {
        let message = format!("the tag `{}` has no meaning here", shortened(tag, 40));
        self.diagnostics.push(
            Diagnostic::error(codes::SCALAR_INVALID, message)
                .at(self.source, span, "")
                .hint("remove the tag; put text that starts with `!` in quotes"),
        );
    }

    fn invalid_alias(&mut self, span: Span, why: &str, hint: Option<&str>) -> Result<(), Fatal> {
        let name = shortened(self.source.slice(span), 40);
        self.diagnostics.push(
            Diagnostic::error(codes::ALIAS_INVALID, format!("the alias `{name}` {why}"))
                .at(self.source, span, "")
                .maybe_hint(hint.map(str::to_owned)),
        );
        self.add(Arc::new(Tree::new(span, Kind::Null)), 0, 1)
    }

    fn second_document(&self, span: Span) -> Diagnostic {
        Diagnostic::error(codes::SEVERAL_DOCUMENTS, "the file holds more than one document")
            .at(self.source, span, "a second one starts here")
            .hint("remove the `---`, or put the second document in a file of its own")
    }

    /// A block's span reaches to the next token; its text does not.
    fn trimmed(&self, span: Span) -> Span {
        Span::new(span.start, span.start + self.source.slice(span).trim_end().len())
    }
}

fn duplicate(source: &Arc<Source>, key: &Text, first: Span) -> Diagnostic {
    let message = format!("the key `{}` is written twice", shortened(key, 60));
    Diagnostic::error(codes::DUPLICATE_KEY, message)
        .at(source, key.span(), "written again here")
        .also(source, first, "first written here")
        .hint("keep one of them; only the first is used")
}
