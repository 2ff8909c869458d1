//! The `graph` nodes that a run went through, by where their steps stand.

use std::collections::HashMap;

use mcpgraph_engine::StepPath;

/// The steps that call another tool of the graph, and what is known of each.
pub(crate) struct Callers<T>(HashMap<Box<[u32]>, T>);

impl<T> Callers<T> {
    pub(crate) fn new() -> Self {
        Self(HashMap::new())
    }

    /// A step began; `called` is what is known of the tool it calls, if it calls one. A part that is
    /// tried again has the same places again, perhaps with other nodes.
    pub(crate) fn began(&mut self, path: &StepPath, called: Option<T>) {
        match called {
            Some(called) => drop(self.0.insert(path.positions().into(), called)),
            None if self.0.is_empty() => {}
            None => drop(self.0.remove(path.positions())),
        }
    }

    /// The innermost call that a step is inside of; none if it belongs to the run's own tool. Loops
    /// and branches may be around it.
    pub(crate) fn around(&self, path: &StepPath) -> Option<&T> {
        if self.0.is_empty() {
            return None;
        }
        let positions = path.positions();
        (1..positions.len()).rev().find_map(|length| self.0.get(&positions[..length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_is_found_and_forgotten_when_its_place_is_taken() {
        let path = StepPath::new;
        let mut callers = Callers::new();
        assert_eq!(callers.around(&path(&[1, 0, 0])), None);
        callers.began(&path(&[1]), Some("outer"));
        callers.began(&path(&[1, 0, 2, 5, 0]), Some("inner"));
        assert_eq!(callers.around(&path(&[1])), None, "a step is not inside itself");
        assert_eq!(callers.around(&path(&[1, 0, 0])), Some(&"outer"));
        assert_eq!(callers.around(&path(&[1, 0, 2, 5, 0, 0, 3])), Some(&"inner"));
        callers.began(&path(&[1]), None);
        assert_eq!(callers.around(&path(&[1, 0, 0])), None, "tried again, it is another node");
    }
}
