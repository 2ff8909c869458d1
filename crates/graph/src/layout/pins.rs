//! Nodes that somebody put at a place by hand.

use mcpgraph_config::Json;
use mcpgraph_value::Value;

use super::layered::{Laid, Size};

/// The place of the upper left corner of a card.
pub(super) type Pin = (i32, i32);

/// The space between two cards of which one made room for the other.
const GAP: i32 = 24;

/// How far from the origin a place may be. One that is further is not followed: nobody finds it.
const FAR: f64 = 100_000.0;

/// The place that a `position` names: `{x, y}`.
pub(super) fn pin_of(position: Option<&Json>) -> Option<Pin> {
    let position = position?.value();
    let coordinate = |key: &str| {
        let number = position.get(key).and_then(Value::as_f64)?;
        // What is within the limit fits.
        (number.abs() <= FAR).then_some(number.round() as i32)
    };
    Some((coordinate("x")?, coordinate("y")?))
}

/// A box with its place.
#[derive(Clone, Copy)]
struct Area {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Area {
    fn new((x, y): Pin, size: Size) -> Self {
        Self { left: x, top: y, right: x + size.width, bottom: y + size.height }
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.top < other.bottom && other.top < self.bottom
    }

    fn is_on(&self, other: &Self) -> bool {
        self.is_beside(other) && self.left < other.right && other.left < self.right
    }
}

/// Whether boxes of this size can stand at these places without lying on each other. If not, the
/// places were found for other boxes, by an editor with smaller ones.
pub(super) fn are_apart(pins: &[Option<Pin>], size: Size) -> bool {
    let areas: Vec<Area> = pins.iter().flatten().map(|pin| Area::new(*pin, size)).collect();
    let is_alone =
        |(index, area): (usize, &Area)| !areas[index + 1..].iter().any(|other| area.is_on(other));
    areas.iter().enumerate().all(is_alone)
}

/// Moves boxes to where they are pinned. A box that would lie on one that came before it goes to
/// the first free place on its right; pinned ones come before all others.
pub(super) fn follow(
    laid: &mut Laid,
    boxes: &[Size],
    arrows: &[(usize, usize)],
    pins: &[Option<Pin>],
) {
    let count = pins.iter().flatten().count();
    if count == 0 {
        return;
    }
    let before = laid.places.clone();
    // In a picture that is somebody's, the others stand where they did beside what leads to them.
    let follows_others = count * 2 > boxes.len();
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by_key(|&index| match pins[index] {
        Some(_) => (false, 0, index),
        None => (true, before[index].1, index),
    });
    let mut taken: Vec<Area> = Vec::with_capacity(boxes.len());
    for index in order {
        let wanted = pins[index].unwrap_or_else(|| {
            let leads = arrows
                .iter()
                .zip(&laid.routes)
                .find(|((from, to), route)| *to == index && *from != index && !route.is_back);
            let (x, y) = before[index];
            match leads.filter(|_| follows_others) {
                Some(((from, _), _)) => {
                    let (now, then) = (laid.places[*from], before[*from]);
                    (x + now.0 - then.0, y + now.1 - then.1)
                }
                None => (x, y),
            }
        });
        let area = first_free(wanted, boxes[index], &taken);
        laid.places[index] = (area.left, area.top);
        taken.push(area);
    }
    // A way around cards is one only as long as what it connects stands where it stood.
    for ((from, to), route) in arrows.iter().zip(&mut laid.routes) {
        if [from, to].into_iter().any(|end| laid.places[*end] != before[*end]) {
            route.bends.clear();
        }
    }
}

/// The place itself, or the first on its right where the box lies on no other.
fn first_free(wanted: Pin, size: Size, taken: &[Area]) -> Area {
    let mut area = Area::new(wanted, size);
    let mut beside: Vec<&Area> = taken.iter().filter(|other| area.is_beside(other)).collect();
    beside.sort_by_key(|other| other.left);
    for other in beside {
        if area.is_on(other) {
            area = Area::new((other.right + GAP, area.top), size);
        }
    }
    area
}
