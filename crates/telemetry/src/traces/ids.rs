//! The ids of spans. Those of a durable run follow from the run, so that whoever executes it, in
//! whatever process, tells of the same spans; all others are drawn by lot.

use std::cell::Cell;

use mcpgraph_engine::StepPath;
use mcpgraph_journal::RunId;
use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};

thread_local! {
    /// The ids of the span that is being built; none where they are drawn.
    static GIVEN: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// Gives spans their ids. The builder of a span takes none.
#[derive(Debug, Default)]
pub(super) struct Ids(RandomIdGenerator);

impl IdGenerator for Ids {
    /// It is asked only for a span without a parent.
    fn new_trace_id(&self) -> TraceId {
        GIVEN.get().map_or_else(|| self.0.new_trace_id(), |(trace, _)| trace)
    }

    fn new_span_id(&self) -> SpanId {
        GIVEN.get().map_or_else(|| self.0.new_span_id(), |(_, span)| span)
    }
}

/// Lets ids be drawn again when it is dropped, also by a panic: the thread serves other runs.
struct TakenBack;

impl Drop for TakenBack {
    fn drop(&mut self) {
        GIVEN.set(None);
    }
}

/// The ids of the spans of a durable run.
#[derive(Clone, Copy)]
pub(super) struct OfRun {
    trace: TraceId,
    seed: u64,
}

impl OfRun {
    /// Those of this run. Its trace, should it begin one, begins as the run's id does, which is the
    /// time. What follows is mixed: samplers take it for a random number, and in the id of a run
    /// some of its bits are always the same.
    pub(super) fn new(run: RunId) -> Self {
        let id = u128::from_be_bytes(*run.as_bytes());
        let (time, rest) = ((id >> 64) as u64, id as u64);
        let seed = mix(rest ^ mix(time)).max(1);
        Self { trace: TraceId::from((u128::from(time) << 64) | u128::from(seed)), seed }
    }

    /// Builds the span of a step, or of the run itself if none is named.
    pub(super) fn give<T>(self, step: Option<&StepPath>, build: impl FnOnce() -> T) -> T {
        GIVEN.set(Some((self.trace, self.span(step))));
        let _taken_back = TakenBack;
        build()
    }

    /// The place of a step is the same in every execution.
    fn span(self, step: Option<&StepPath>) -> SpanId {
        let positions = step.map_or(&[][..], StepPath::positions);
        let id = positions.iter().fold(mix(!self.seed), |id, position| {
            mix(id.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(*position)))
        });
        SpanId::from(id.max(1))
    }
}

/// Spreads what differs between two numbers over all bits: the last steps of the generator
/// SplitMix64. It must never change, since processes of two versions may execute the same run.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_follow_from_the_run_and_the_place() {
        let run = RunId::from_bytes(0x0190_1234_5678_7abc_8def_0123_4567_89ab_u128.to_be_bytes());
        let ids = OfRun::new(run);
        assert_eq!(ids.trace.to_string(), "0190123456787abcf28a69c35820b93e");
        assert_eq!(ids.span(None).to_string(), "9a3fbfe219e813ac");
        assert_eq!(ids.span(Some(&StepPath::new(&[3, 2, 0]))).to_string(), "0988caab5a8958b9");
    }

    /// A share of the runs is sampled by the last eight bytes, and most that look at fewer take the
    /// last seven: these must not be the same in what runs have in common.
    #[test]
    fn ids_of_runs_are_spread_evenly() {
        let ids: Vec<_> = (0..10_000).map(|_| OfRun::new(RunId::new())).collect();
        for byte in 8..16 {
            let all: u64 = ids.iter().map(|ids| u64::from(ids.trace.to_bytes()[byte])).sum();
            let mean = all / 10_000;
            assert!((120..=135).contains(&mean), "byte {byte}: {mean}");
        }
        let traces: HashSet<_> = ids.iter().map(|ids| ids.trace).collect();
        assert_eq!(traces.len(), ids.len());
    }

    #[test]
    fn every_place_has_an_id_of_its_own() {
        let ids = OfRun::new(RunId::new());
        let mut seen = HashSet::from([ids.span(None)]);
        for a in 0..100 {
            assert!(seen.insert(ids.span(Some(&StepPath::new(&[a])))));
            for b in 0..100 {
                assert!(seen.insert(ids.span(Some(&StepPath::new(&[a, b, 0])))));
            }
        }
    }
}
