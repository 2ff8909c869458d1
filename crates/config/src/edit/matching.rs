//! Which items of a list are which items of another.

use std::collections::HashSet;

use mcpgraph_value::Value;

/// Lists whose lengths multiplied are more than this are written anew.
const MAX_COMPARISONS: usize = 4_000_000;

/// One step from an old list to a new one, in the order of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The old item becomes the new one.
    Keep { old: usize, new: usize },
    /// The old item goes.
    Remove { old: usize },
    /// The new item comes behind what was kept before.
    Insert { new: usize },
}

/// The way from one list to the other; none if no item is kept or the lists are too long.
pub(super) fn steps(old: &[Value], new: &[Value]) -> Option<Vec<Step>> {
    if old.len().saturating_mul(new.len()) > MAX_COMPARISONS {
        return None;
    }
    let names = |items: &[Value]| -> Vec<String> { items.iter().map(name).collect() };
    let (old, new) = (names(old), names(new));
    let mut steps = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    let mut common = common(&old, &new);
    common.push((old.len(), new.len()));
    for (to_old, to_new) in common {
        between(&old, &new, from_old..to_old, from_new..to_new, &mut steps);
        if to_old < old.len() {
            steps.push(Step::Keep { old: to_old, new: to_new });
        }
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
    let keeps = steps.iter().any(|step| matches!(step, Step::Keep { .. }));
    keeps.then_some(steps)
}

/// What tells an item from its neighbours: its id or name, else all of it.
fn name(item: &Value) -> String {
    let named = ["id", "name"].into_iter().find_map(|key| {
        let text = item.as_object()?.get(key)?.as_str()?;
        Some(format!("{key} {text}"))
    });
    named.unwrap_or_else(|| item.to_json())
}

/// Items between two that are the same: one takes the other's place, unless it has only moved.
fn between(
    old: &[String],
    new: &[String],
    old_range: std::ops::Range<usize>,
    new_range: std::ops::Range<usize>,
    steps: &mut Vec<Step>,
) {
    let all_old: HashSet<&String> = old.iter().collect();
    let all_new: HashSet<&String> = new.iter().collect();
    let mut leaving = old_range.clone().filter(|index| !all_new.contains(&old[*index]));
    let mut paired: Vec<(usize, usize)> = Vec::new();
    for index in new_range.clone().filter(|index| !all_old.contains(&new[*index])) {
        match leaving.next() {
            Some(old) => paired.push((old, index)),
            None => break,
        }
    }
    let mut pairs = paired.into_iter().peekable();
    let mut at_new = new_range.start;
    for index in old_range {
        match pairs.next_if(|(old, _)| *old == index) {
            Some((old, new)) => {
                steps.extend((at_new..new).map(|new| Step::Insert { new }));
                steps.push(Step::Keep { old, new });
                at_new = new + 1;
            }
            None => steps.push(Step::Remove { old: index }),
        }
    }
    steps.extend((at_new..new_range.end).map(|new| Step::Insert { new }));
}

/// The longest common subsequence, as pairs of indices.
fn common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &str) -> Vec<Value> {
        let node = |id: char| mcpgraph_value::Map::from_iter([("id", id.to_string())]);
        ids.chars().map(|id| Value::from(node(id))).collect()
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let shown = steps(&nodes(old), &nodes(new)).map(|steps| {
            let step = |step: &Step| match *step {
                Step::Keep { old, new } => format!("{old}={new}"),
                Step::Remove { old } => format!("-{old}"),
                Step::Insert { new } => format!("+{new}"),
            };
            steps.iter().map(step).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown.as_deref().unwrap_or("anew"), expected);
    }

    #[test]
    fn items_are_found_by_their_ids() {
        check("abc", "abc", "0=0 1=1 2=2");
        check("abc", "ac", "0=0 -1 2=1");
        check("ac", "abc", "0=0 +1 1=2");
        check("abc", "axc", "0=0 1=1 2=2");
        check("abc", "acb", "0=0 -1 2=1 +2");
        check("ab", "xyab", "+0 +1 0=2 1=3");
        check("a", "x", "0=0");
        check("", "x", "anew");
        check("x", "", "anew");
    }
}
