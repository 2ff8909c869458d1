//! The steps of a layered drawing: layers, then the order within them, then places.

use super::{order, place};

/// How large something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: i32,
    pub(super) height: i32,
}

/// Boxes and arrows with places.
pub(super) struct Laid {
    pub(super) size: Size,
    /// The upper left corner of each box.
    pub(super) places: Vec<(i32, i32)>,
    /// How each arrow goes.
    pub(super) routes: Vec<Route>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    pub(super) is_back: bool,
    pub(super) bends: Vec<(i32, i32)>,
}

/// What stands in a layer: a box, or the place where a long arrow passes.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    pub(super) layer: usize,
    pub(super) width: i32,
    /// The vertices in the layer above, and below.
    pub(super) above: Vec<usize>,
    pub(super) below: Vec<usize>,
}

/// The width that a passing arrow needs.
const PASSAGE: i32 = 24;

/// How many places where arrows pass are kept free; a graph with more of them has its long arrows
/// drawn straight.
const MAX_PASSAGES: usize = 20_000;

/// The space between two layers, where arrows and what is written at them are drawn.
const LAYER_GAP: i32 = 64;

/// Finds places for boxes that arrows connect, from `start` downwards.
pub(super) fn layered(boxes: &[Size], arrows: &[(usize, usize)], start: usize) -> Laid {
    let walk = Walk::over(boxes.len(), arrows, start);
    let layers = walk.layers(arrows);
    let (vertices, passages) = vertices(boxes, arrows, &walk.is_back, &layers);
    let order = order::order(&vertices, start);
    let centres = place::centres(&vertices, &order);
    let mut tops = vec![0; order.len() + 1];
    let mut heights = vec![0; order.len()];
    for (index, layer) in layers.iter().enumerate() {
        heights[*layer] = heights[*layer].max(boxes[index].height);
    }
    for layer in 0..order.len() {
        tops[layer + 1] = tops[layer] + heights[layer] + LAYER_GAP;
    }
    let places: Vec<(i32, i32)> = (boxes.iter().enumerate())
        .map(|(index, size)| {
            let layer = layers[index];
            // What is lower than its layer stands in the middle of it.
            let y = tops[layer] + (heights[layer] - size.height) / 2;
            (centres[index] - size.width / 2, y)
        })
        .collect();
    let routes = passages.into_iter().zip(&walk.is_back).map(|(passed, is_back)| {
        let bend = |vertex: usize| {
            let layer = vertices[vertex].layer;
            (centres[vertex], tops[layer] + heights[layer] / 2)
        };
        Route { is_back: *is_back, bends: passed.into_iter().map(bend).collect() }
    });
    let routes = routes.collect();
    let right = |(index, size): (usize, &Size)| centres[index] + size.width - size.width / 2;
    let width = boxes.iter().enumerate().map(right).max().unwrap_or(0);
    let height = tops.last().map_or(0, |bottom| (bottom - LAYER_GAP).max(0));
    Laid { size: Size { width, height }, places, routes }
}

/// A walk along all arrows, in the order of the file.
struct Walk {
    /// Which arrows lead to a box that the walk was inside of.
    is_back: Vec<bool>,
    /// The boxes in the order in which the walk left them for good.
    left: Vec<usize>,
}

impl Walk {
    fn over(count: usize, arrows: &[(usize, usize)], start: usize) -> Self {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (arrow, (from, _)) in arrows.iter().enumerate() {
            leaving[*from].push(arrow);
        }
        let mut state = vec![State::New; count];
        let mut walk = Self { is_back: vec![false; arrows.len()], left: Vec::new() };
        // What cannot be reached is walked from where it stands in the file.
        for root in std::iter::once(start).chain(0..count).filter(|root| *root < count) {
            if state[root] != State::New {
                continue;
            }
            state[root] = State::Open;
            let mut open = vec![(root, 0)];
            while let Some((at, next)) = open.last_mut() {
                let Some(arrow) = leaving[*at].get(*next) else {
                    state[*at] = State::Done;
                    walk.left.push(*at);
                    open.pop();
                    continue;
                };
                *next += 1;
                let to = arrows[*arrow].1;
                match state[to] {
                    State::New => {
                        state[to] = State::Open;
                        open.push((to, 0));
                    }
                    State::Open => walk.is_back[*arrow] = true,
                    State::Done => {}
                }
            }
        }
        walk
    }

    /// The layer of each box: one below the lowest that leads to it.
    fn layers(&self, arrows: &[(usize, usize)]) -> Vec<usize> {
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.left.len()];
        for ((from, to), is_back) in arrows.iter().zip(&self.is_back) {
            if !is_back {
                leaving[*from].push(*to);
            }
        }
        let mut layers = vec![0; self.left.len()];
        for from in self.left.iter().rev() {
            for to in &leaving[*from] {
                layers[*to] = layers[*to].max(layers[*from] + 1);
            }
        }
        layers
    }
}

/// The boxes and the places where arrows pass, and for each arrow the latter.
fn vertices(
    boxes: &[Size],
    arrows: &[(usize, usize)],
    is_back: &[bool],
    layers: &[usize],
) -> (Vec<Vertex>, Vec<Vec<usize>>) {
    let vertex = |layer, width| Vertex { layer, width, above: Vec::new(), below: Vec::new() };
    let mut all: Vec<Vertex> =
        boxes.iter().zip(layers).map(|(size, layer)| vertex(*layer, size.width)).collect();
    let mut passages = vec![Vec::new(); arrows.len()];
    let forward = |arrow: usize| !is_back[arrow];
    let between = |arrow: usize| {
        let (from, to) = arrows[arrow];
        layers[from] + 1..layers[to]
    };
    let needed: usize =
        (0..arrows.len()).filter(|it| forward(*it)).map(|it| between(it).len()).sum();
    for arrow in (0..arrows.len()).filter(|arrow| forward(*arrow)) {
        let (from, to) = arrows[arrow];
        let mut last = from;
        if needed <= MAX_PASSAGES {
            for layer in between(arrow) {
                all.push(vertex(layer, PASSAGE));
                let passage = all.len() - 1;
                connect(&mut all, last, passage);
                passages[arrow].push(passage);
                last = passage;
            }
        }
        if all[last].layer + 1 == all[to].layer {
            connect(&mut all, last, to);
        }
    }
    (all, passages)
}

fn connect(all: &mut [Vertex], upper: usize, lower: usize) {
    all[upper].below.push(lower);
    all[lower].above.push(upper);
}
