//! What must be true of the events of any run.

use std::collections::{BTreeSet, HashMap};

use mcpgraph_engine::{Event, StepId};

/// Says what is wrong with the events of a run that has ended.
pub(crate) fn check(events: &[Event]) -> Result<(), String> {
    let [Event::Started { .. }, steps @ .., Event::Finished { .. }] = events else {
        return Err(format!("not from Started to Finished: {events:#?}"));
    };
    let mut open: HashMap<StepId, Vec<u32>> = HashMap::new();
    let mut seen = BTreeSet::new();
    for event in steps {
        match event {
            Event::StepStarted { step, path, .. } => {
                if !seen.insert(*step) {
                    return Err(format!("step {step} started twice"));
                }
                let path = path.positions().to_vec();
                if open.values().any(|other| *other == path) {
                    return Err(format!("two steps at {path:?}"));
                }
                // The last two positions are the body and the place in it.
                let around = path.len().saturating_sub(2);
                if around > 0 && !open.values().any(|other| *other == path[..around]) {
                    return Err(format!("step {step} is inside of nothing"));
                }
                open.insert(*step, path);
            }
            Event::StepFinished { step, .. } | Event::StepFailed { step, .. } => {
                let path =
                    open.remove(step).ok_or(format!("step {step} ended, but is not open"))?;
                let inside =
                    |other: &Vec<u32>| other.len() > path.len() && other.starts_with(&path);
                if open.values().any(inside) {
                    return Err(format!("step {step} ended before what is inside it"));
                }
            }
            Event::Retrying { step, .. } => {
                if !open.contains_key(step) {
                    return Err(format!("step {step} is retried, but is not open"));
                }
            }
            other => return Err(format!("in the middle of a run: {other:?}")),
        }
    }
    if !open.is_empty() {
        return Err(format!("steps without an end: {open:?}"));
    }
    let count = u64::try_from(seen.len()).unwrap();
    if seen.iter().copied().ne(0..count) {
        return Err(format!("steps are not dense: {seen:?}"));
    }
    Ok(())
}
