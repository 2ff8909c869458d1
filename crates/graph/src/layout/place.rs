//! Where the vertices of ordered layers stand from the left to the right.

use super::layered::Vertex;

/// The space between two neighbours.
const GAP: i32 = 40;

/// How often the layers are gone through to bring vertices near to those they are connected with.
const SWEEPS: usize = 16;

/// The centre of each vertex; the left edge of the leftmost is 0.
pub(super) fn centres(vertices: &[Vertex], layers: &[Vec<usize>]) -> Vec<i32> {
    let mut centres = vec![0.0; vertices.len()];
    for layer in layers {
        let wanted = vec![0.0; layer.len()];
        settle(vertices, layer, &wanted, &mut centres);
    }
    for sweep in 0..SWEEPS {
        let downwards = sweep % 2 == 0;
        for step in 0..layers.len() {
            let layer = &layers[if downwards { step } else { layers.len() - 1 - step }];
            // The last sweeps look both ways, so that neither side wins.
            let both = sweep + 2 >= SWEEPS;
            let wanted: Vec<f64> = layer
                .iter()
                .map(|at| {
                    let vertex = &vertices[*at];
                    let above: &[usize] = if both || downwards { &vertex.above } else { &[] };
                    let below: &[usize] = if both || !downwards { &vertex.below } else { &[] };
                    let count = above.len() + below.len();
                    let sum: f64 = above.iter().chain(below).map(|other| centres[*other]).sum();
                    if count == 0 { centres[*at] } else { sum / count as f64 }
                })
                .collect();
            settle(vertices, layer, &wanted, &mut centres);
        }
    }
    let left = |at: usize| centres[at] - f64::from(vertices[at].width) / 2.0;
    let leftmost = (0..vertices.len()).map(left).fold(f64::INFINITY, f64::min);
    centres.iter().map(|centre| (centre - leftmost).round() as i32).collect()
}

/// Puts the vertices of a layer as near to where they want to be as their order and widths allow:
/// the sum of the squares of what is missing is the smallest there is.
fn settle(vertices: &[Vertex], layer: &[usize], wanted: &[f64], centres: &mut [f64]) {
    // Without the widths, keeping the order means not to decrease.
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    for (index, at) in layer.iter().enumerate() {
        if index > 0 {
            let widths = vertices[layer[index - 1]].width + vertices[*at].width;
            offset += f64::from(widths) / 2.0 + f64::from(GAP);
        }
        offsets.push(offset);
    }
    // Neighbours that want to be in each other's place share the mean of what they want.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut group = (wanted - offset, 1);
        while let Some((mean, count)) = groups.last().copied().filter(|last| last.0 > group.0) {
            groups.pop();
            let sum = mean * count as f64 + group.0 * group.1 as f64;
            group = (sum / (count + group.1) as f64, count + group.1);
        }
        groups.push(group);
    }
    let means = groups.iter().flat_map(|(mean, count)| std::iter::repeat_n(*mean, *count));
    for ((at, mean), offset) in layer.iter().zip(means).zip(&offsets) {
        centres[*at] = mean + offset;
    }
}
