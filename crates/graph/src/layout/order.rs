//! The order within the layers: that of the file, unless another has fewer crossings.

use super::layered::Vertex;

/// How often the layers are gone through in search of fewer crossings.
const SWEEPS: usize = 8;

/// The vertices of each layer, from the left to the right.
pub(super) fn order(vertices: &[Vertex], start: usize) -> Vec<Vec<usize>> {
    let mut layers = as_walked(vertices, start);
    let mut best = layers.clone();
    let mut fewest = crossings(vertices, &layers);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let downwards = sweep % 2 == 0;
        let mut place = positions(vertices.len(), &layers);
        let count = layers.len();
        for step in 1..count {
            let layer = if downwards { step } else { count - 1 - step };
            let wanted = |vertex: usize| {
                let vertex = &vertices[vertex];
                mean(if downwards { &vertex.above } else { &vertex.below }, &place)
            };
            let mut keyed: Vec<(f64, usize)> = layers[layer]
                .iter()
                .map(|vertex| (wanted(*vertex).unwrap_or(place[*vertex] as f64), *vertex))
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (position, (_, vertex)) in keyed.iter().enumerate() {
                place[*vertex] = position;
                layers[layer][position] = *vertex;
            }
        }
        let found = crossings(vertices, &layers);
        if found < fewest {
            fewest = found;
            best.clone_from(&layers);
        }
    }
    best
}

/// The order in which a walk from the start comes by, branches in the order of the file.
fn as_walked(vertices: &[Vertex], start: usize) -> Vec<Vec<usize>> {
    let depth = vertices.iter().map(|vertex| vertex.layer + 1).max().unwrap_or(0);
    let mut layers = vec![Vec::new(); depth];
    let mut seen = vec![false; vertices.len()];
    for root in std::iter::once(start).chain(0..vertices.len()) {
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            let Some(vertex) = vertices.get(at).filter(|_| !seen[at]) else { continue };
            seen[at] = true;
            layers[vertex.layer].push(at);
            open.extend(vertex.below.iter().rev());
        }
    }
    layers
}

fn positions(count: usize, layers: &[Vec<usize>]) -> Vec<usize> {
    let mut place = vec![0; count];
    for layer in layers {
        for (position, vertex) in layer.iter().enumerate() {
            place[*vertex] = position;
        }
    }
    place
}

fn mean(neighbours: &[usize], place: &[usize]) -> Option<f64> {
    let sum: usize = neighbours.iter().map(|neighbour| place[*neighbour]).sum();
    (!neighbours.is_empty()).then(|| sum as f64 / neighbours.len() as f64)
}

/// How often arrows cross between neighbouring layers.
fn crossings(vertices: &[Vertex], layers: &[Vec<usize>]) -> usize {
    let place = positions(vertices.len(), layers);
    let mut crossings = 0;
    for (index, layer) in layers.iter().enumerate() {
        let below = layers.get(index + 1).map_or(0, Vec::len);
        // How many arrows so far end left of or at a place, as a Fenwick tree.
        let mut counts = vec![0usize; below + 1];
        let mut total = 0;
        for vertex in layer {
            let mut ends: Vec<usize> =
                vertices[*vertex].below.iter().map(|lower| place[*lower]).collect();
            ends.sort_unstable();
            for end in &ends {
                let mut at = end + 1;
                let mut left = 0;
                while at > 0 {
                    left += counts[at];
                    at &= at - 1;
                }
                crossings += total - left;
            }
            for end in ends {
                total += 1;
                let mut at = end + 1;
                while at <= below {
                    counts[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    crossings
}
