//! Where nodes stand when a graph is drawn: cards in layers, from the top to the bottom.
//!
//! It works on what a file says, not on the compiled form, so that a graph with errors can be drawn
//! while it is edited. The same file always gives the same picture. Branches of a switch stand in
//! the order of its rules as far as that costs no crossing; an edge that leads back to where a run
//! has been is marked, so that it can be drawn around the cards. A node with a `position` stands
//! there, unless it is inside another.

mod layered;
mod links;
mod order;
mod pins;
mod place;

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_config::model::{NodeDef, NodeKind, ToolDef, WorkflowDef, WorkflowNodeKind};

use self::layered::{Laid, Size, layered};
pub use self::links::LinkKind;
use self::links::{links_of, links_of_workflow};
use self::pins::Pin;

/// The size of a card.
const CARD: Size = Size { width: 240, height: 76 };

/// The space between the border of a node and the nodes inside it.
const PADDING: i32 = 24;

/// The height of the name of a branch.
const LANE_TITLE: i32 = 28;

/// A graph as it is drawn.
#[derive(Debug, Default)]
pub struct Layout {
    /// Every card and every border, those around others before them.
    pub nodes: Vec<Placed>,
    /// The edges, those of a node in the order of the file.
    pub links: Vec<Link>,
}

/// Something with a place: a node, or a branch of a `parallel` node.
#[derive(Debug)]
pub struct Placed {
    /// Its name in this picture: the node's id, with a number behind it where another has it too.
    pub key: Arc<str>,
    /// The node's id, or the name of the branch.
    pub id: Arc<str>,
    /// The kind of the node; `branch` for a branch.
    pub kind: &'static str,
    /// What it is inside of.
    pub inside: Option<Arc<str>>,
    /// The left edge, from that of what it is inside of.
    pub x: i32,
    /// The upper edge, from that of what it is inside of.
    pub y: i32,
    /// Its width.
    pub width: i32,
    /// Its height; more than a card's if there are nodes inside.
    pub height: i32,
    /// Whether somebody put it there.
    pub is_pinned: bool,
}

/// An edge from one node to another.
#[derive(Debug)]
pub struct Link {
    /// The key of the node it leaves.
    pub from: Arc<str>,
    /// The key of the node it enters.
    pub to: Arc<str>,
    /// Why it is there.
    pub kind: LinkKind,
    /// Whether it leads back.
    pub is_back: bool,
    /// Where it goes around cards in between, from the top; in the same space as its nodes.
    pub bends: Vec<(i32, i32)>,
}

/// Finds a place for every node of a tool.
pub fn layout(tool: &ToolDef) -> Layout {
    let mut drawing = Drawing::default();
    let mut body = drawing.body(&tool.nodes);
    let pins = tool.nodes.iter().map(|node| pins::pin_of(node.position.as_ref()));
    body.pin(&pins.collect::<Vec<_>>());
    drawing.put(body, None, (0, 0));
    drawing.layout
}

/// Finds a place for every node of a workflow.
pub fn layout_workflow(workflow: &WorkflowDef) -> Layout {
    let nodes = workflow.nodes.iter().map(|node| (node.id.to_arc(), node.kind.name())).collect();
    let is_start = |kind: &WorkflowNodeKind| matches!(kind, WorkflowNodeKind::Start);
    let start = workflow.nodes.iter().position(|node| is_start(&node.kind)).unwrap_or(0);
    let pins = workflow.nodes.iter().map(|node| pins::pin_of(node.position.as_ref()));
    let mut pins: Vec<Option<Pin>> = pins.collect();
    if !pins::are_apart(&pins, CARD) {
        pins.fill(None);
    }
    flat(nodes, links_of_workflow(workflow), start, &pins)
}

/// Finds a place for nodes that have no others inside them, each with its id and its kind, from
/// the node `start` downwards. A link names nodes by their positions; one to nowhere is left out.
pub fn layout_flat(
    nodes: Vec<(Arc<str>, &'static str)>,
    links: Vec<(usize, usize, LinkKind)>,
    start: usize,
) -> Layout {
    let pins = vec![None; nodes.len()];
    flat(nodes, links, start, &pins)
}

fn flat(
    nodes: Vec<(Arc<str>, &'static str)>,
    links: Vec<(usize, usize, LinkKind)>,
    start: usize,
    pins: &[Option<Pin>],
) -> Layout {
    let mut drawing = Drawing::default();
    let count = nodes.len();
    let cards = nodes.into_iter().map(|(id, kind)| {
        let key = drawing.key(Arc::clone(&id));
        Card { id, kind, key, size: CARD, inner: Vec::new(), is_pinned: false }
    });
    let cards: Vec<Card> = cards.collect();
    let links = links.into_iter().filter(|(from, to, _)| *from < count && *to < count).collect();
    let mut body = Body::new(cards, links, start);
    body.pin(pins);
    drawing.put(body, None, (0, 0));
    drawing.layout
}

#[derive(Default)]
struct Drawing {
    layout: Layout,
    /// How often an id was seen.
    seen: HashMap<Arc<str>, usize>,
}

/// Nodes that belong together, with places among themselves.
struct Body {
    cards: Vec<Card>,
    laid: Laid,
    links: Vec<(usize, usize, LinkKind)>,
}

struct Card {
    id: Arc<str>,
    kind: &'static str,
    key: Arc<str>,
    size: Size,
    inner: Vec<(Option<Arc<str>>, Body)>,
    is_pinned: bool,
}

impl Body {
    fn new(cards: Vec<Card>, links: Vec<(usize, usize, LinkKind)>, start: usize) -> Self {
        let sizes: Vec<Size> = cards.iter().map(|card| card.size).collect();
        let arrows: Vec<(usize, usize)> = links.iter().map(|(from, to, _)| (*from, *to)).collect();
        let laid = layered(&sizes, &arrows, start);
        Self { cards, laid, links }
    }

    /// Moves the cards that somebody has placed to where they belong.
    fn pin(&mut self, pins: &[Option<Pin>]) {
        let sizes: Vec<Size> = self.cards.iter().map(|card| card.size).collect();
        let arrows: Vec<(usize, usize)> =
            self.links.iter().map(|(from, to, _)| (*from, *to)).collect();
        pins::follow(&mut self.laid, &sizes, &arrows, pins);
        for (card, pin) in self.cards.iter_mut().zip(pins) {
            card.is_pinned = pin.is_some();
        }
    }
}

impl Drawing {
    fn body(&mut self, nodes: &[NodeDef]) -> Body {
        let cards: Vec<Card> = nodes.iter().map(|node| self.card(node)).collect();
        let mut positions = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            positions.entry(node.id.as_str()).or_insert(index);
        }
        let links: Vec<(usize, usize, LinkKind)> = nodes
            .iter()
            .enumerate()
            .flat_map(|(from, node)| links_of(node).into_iter().map(move |link| (from, link)))
            .filter_map(|(from, (target, kind))| {
                Some((from, *positions.get(target.as_str())?, kind))
            })
            .collect();
        let start = nodes.iter().position(|node| matches!(node.kind, NodeKind::Entry));
        Body::new(cards, links, start.unwrap_or(0))
    }

    fn card(&mut self, node: &NodeDef) -> Card {
        let key = self.key(node.id.to_arc());
        let inner: Vec<(Option<Arc<str>>, Body)> = match &node.kind {
            NodeKind::Foreach(foreach) => vec![(None, self.body(&foreach.body))],
            NodeKind::Parallel(parallel) => parallel
                .branches
                .iter()
                .map(|branch| (Some(branch.name.to_arc()), self.body(&branch.nodes)))
                .collect(),
            _ => Vec::new(),
        };
        let inner: Vec<_> = inner.into_iter().filter(|(_, body)| !body.cards.is_empty()).collect();
        let size = size_around(&inner);
        let (id, kind) = (node.id.to_arc(), node.kind.name());
        Card { id, kind, key, size, inner, is_pinned: false }
    }

    /// A name that nothing else in the picture has.
    fn key(&mut self, id: Arc<str>) -> Arc<str> {
        let count = self.seen.entry(Arc::clone(&id)).or_default();
        *count += 1;
        if *count == 1 { id } else { format!("{id} ({count})").into() }
    }

    /// Puts nodes into the picture, at a place in what is around them.
    fn put(&mut self, body: Body, inside: Option<&Arc<str>>, at: (i32, i32)) {
        let keys: Vec<Arc<str>> = body.cards.iter().map(|card| Arc::clone(&card.key)).collect();
        for (card, (x, y)) in body.cards.into_iter().zip(&body.laid.places) {
            self.layout.nodes.push(Placed {
                key: Arc::clone(&card.key),
                id: card.id,
                kind: card.kind,
                inside: inside.cloned(),
                x: at.0 + x,
                y: at.1 + y,
                width: card.size.width,
                height: card.size.height,
                is_pinned: card.is_pinned,
            });
            self.put_inner(&card.key, card.size, card.inner);
        }
        let routes = body.laid.routes.into_iter();
        for ((from, to, kind), route) in body.links.into_iter().zip(routes) {
            self.layout.links.push(Link {
                from: Arc::clone(&keys[from]),
                to: Arc::clone(&keys[to]),
                kind,
                is_back: route.is_back,
                bends: route.bends.iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect(),
            });
        }
    }

    fn put_inner(&mut self, owner: &Arc<str>, size: Size, inner: Vec<(Option<Arc<str>>, Body)>) {
        let mut left = PADDING;
        for (lane, body) in inner {
            let Some(lane) = lane else {
                // The nodes of a loop stand in the middle of it.
                let left = (size.width - body.laid.size.width) / 2;
                self.put(body, Some(owner), (left, CARD.height));
                continue;
            };
            let width = body.laid.size.width + 2 * PADDING;
            let key = self.key(format!("{owner}/{lane}").into());
            self.layout.nodes.push(Placed {
                key: Arc::clone(&key),
                id: lane,
                kind: "branch",
                inside: Some(Arc::clone(owner)),
                x: left,
                y: CARD.height,
                width,
                height: body.laid.size.height + LANE_TITLE + PADDING,
                is_pinned: false,
            });
            self.put(body, Some(&key), (PADDING, LANE_TITLE));
            left += width + PADDING;
        }
    }
}

/// The size of a card with these nodes inside it.
fn size_around(inner: &[(Option<Arc<str>>, Body)]) -> Size {
    if inner.is_empty() {
        return CARD;
    }
    let (mut width, mut height) = (PADDING, 0);
    for (lane, body) in inner {
        let size = body.laid.size;
        let (around, above) =
            if lane.is_some() { (2 * PADDING, LANE_TITLE + PADDING) } else { (0, 0) };
        width += size.width + around + PADDING;
        height = height.max(size.height + above);
    }
    Size { width: width.max(CARD.width), height: CARD.height + height + PADDING }
}
