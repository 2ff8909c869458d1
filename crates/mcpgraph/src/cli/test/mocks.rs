//! Upstream tools that answer what a test says.

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_config::model;
use mcpgraph_engine::{ErrorKind, RunError, StepPath};
use mcpgraph_graph::Target;
use mcpgraph_runtime::{EffectCall, Effects};
use mcpgraph_upstream::{NodeOutput, output_of};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The answers of a test, by node or by what is called.
pub(super) type Answers = HashMap<Arc<str>, Vec<Answer>>;

/// One answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The arguments of the calls it is for; any if there are none.
    pub(super) args: Option<Value>,
    /// The place of the step that was answered so, which is the same in every execution; none of
    /// what a file says.
    pub(super) at: Option<StepPath>,
    pub(super) reply: Reply,
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    Given(Result<Value, RunError>),
    /// Nothing, until somebody stops the call.
    Pending,
}

/// A call that was made.
#[derive(Clone, Debug)]
pub(super) struct MadeCall {
    pub(super) node: Arc<str>,
    /// What was called, such as `server.tool`.
    pub(super) target: String,
    pub(super) args: Value,
    pub(super) at: StepPath,
}

/// A call that nothing answers.
#[derive(Clone, Debug)]
pub(super) struct Unanswered {
    pub(super) call: MadeCall,
    /// The arguments that there are answers for.
    pub(super) answered: Vec<Value>,
    /// Whether something outside of the test could answer it: nobody is there to be asked.
    pub(super) can_be_live: bool,
}

/// The tools of one run.
pub(super) struct Mocks {
    /// What the test says, then what a recorded run says.
    layers: Mutex<[HashMap<Arc<str>, Queue>; 2]>,
    /// Where other calls go; nowhere if there is nothing.
    live: Option<Arc<dyn Effects>>,
    /// Ends the run: whatever comes of it after a call that nothing answers means nothing.
    stop: CancellationToken,
    seen: Mutex<Seen>,
}

/// What the run asked for.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) calls: Vec<MadeCall>,
    pub(super) unanswered: Option<Unanswered>,
}

/// Answers in order.
struct Queue {
    answers: Vec<Answer>,
    used: Vec<bool>,
    /// All before this one are used.
    first: usize,
}

impl Mocks {
    /// `stop` ends the run when a call is made that nothing answers.
    pub(super) fn new(
        given: &Answers,
        recorded: &Answers,
        live: Option<Arc<dyn Effects>>,
        stop: CancellationToken,
    ) -> Self {
        let layer = |answers: &Answers| {
            answers.iter().map(|(of, answers)| (Arc::clone(of), Queue::new(answers))).collect()
        };
        let layers = Mutex::new([layer(given), layer(recorded)]);
        Self { layers, live, stop, seen: Mutex::default() }
    }

    /// What was asked for so far.
    pub(super) fn take_seen(&self) -> Seen {
        std::mem::take(&mut self.seen.lock())
    }

    fn next(&self, call: &MadeCall) -> Option<Reply> {
        let mut layers = self.layers.lock();
        layers.iter_mut().find_map(|layer| {
            [&*call.node, &call.target].into_iter().find_map(|of| layer.get_mut(of)?.next(call))
        })
    }

    fn unanswered(&self, call: MadeCall, target: &Target) -> Unanswered {
        let layers = self.layers.lock();
        let queues = layers.iter().flat_map(|layer| {
            [&*call.node, &call.target].into_iter().filter_map(|of| layer.get(of))
        });
        let answers = queues.flat_map(|queue| &queue.answers);
        let answered = answers.filter_map(|answer| answer.args.clone()).collect();
        let can_be_live = !matches!(target, Target::Ask(_));
        Unanswered { call, answered, can_be_live }
    }
}

#[async_trait::async_trait]
impl Effects for Mocks {
    async fn call(&self, call: EffectCall) -> Result<Value, RunError> {
        if matches!(call.call.target, Target::Time { .. }) {
            // A test does not wait for the time of day.
            return mcpgraph_runtime::after_waiting(&call.call);
        }
        let made = MadeCall {
            node: Arc::clone(&call.call.node),
            target: call.call.target.to_string(),
            args: call.call.args.clone(),
            at: call.call.path.clone(),
        };
        self.seen.lock().calls.push(made.clone());
        match (self.next(&made), &self.live) {
            (Some(Reply::Given(outcome)), _) => outcome,
            (Some(Reply::Pending), _) => std::future::pending().await,
            (None, Some(live)) => live.call(call).await,
            (None, None) => {
                let unanswered = self.unanswered(made, &call.call.target);
                self.seen.lock().unanswered.get_or_insert(unanswered);
                self.stop.cancel();
                std::future::pending().await
            }
        }
    }
}

impl Queue {
    fn new(answers: &[Answer]) -> Self {
        Self { answers: answers.to_vec(), used: vec![false; answers.len()], first: 0 }
    }

    /// The first answer for these arguments that was not given yet, before others one at this place:
    /// items of a body may make the same call and be answered otherwise. If all were given, the last.
    fn next(&mut self, call: &MadeCall) -> Option<Reply> {
        let fits = |answer: &Answer| answer.args.as_ref().is_none_or(|wanted| *wanted == call.args);
        let is_here = |answer: &Answer| answer.at.as_ref() == Some(&call.at);
        let mut unused = (self.first..self.answers.len())
            .filter(|index| !self.used[*index] && fits(&self.answers[*index]));
        let here = unused.clone().find(|index| is_here(&self.answers[*index]));
        let index = match here.or_else(|| unused.next()) {
            Some(index) => index,
            None => self.answers.iter().rposition(fits)?,
        };
        self.used[index] = true;
        while self.used.get(self.first) == Some(&true) {
            self.first += 1;
        }
        Some(self.answers[index].reply.clone())
    }
}

/// What the mocks of a test answer.
pub(super) fn answers(mocks: &[model::Mock]) -> Answers {
    let all = mocks.iter().map(|mock| {
        let answers = mock.answers.iter().map(|answer| Answer {
            args: answer.args.as_ref().map(|args| args.value().clone()),
            at: None,
            reply: reply(&answer.reply),
        });
        (mock.of.to_arc(), answers.collect())
    });
    all.collect()
}

fn reply(reply: &model::Reply) -> Reply {
    match reply {
        model::Reply::Output(output) => Reply::Given(Ok(output.value().clone())),
        model::Reply::Error(error) => Reply::Given(Err(failure(error))),
        model::Reply::Result(result) => Reply::Given(match output_of(result.value()) {
            NodeOutput::Value(output) => Ok(output),
            NodeOutput::Error { text, result } => {
                Err(RunError::new(ErrorKind::ToolError, text).with_data(result))
            }
        }),
        model::Reply::Pending => Reply::Pending,
    }
}

fn failure(error: &model::MockError) -> RunError {
    // The file has only names of kinds, so one is always found.
    let kind =
        ErrorKind::from_name(error.kind.value, error.protocol_code).unwrap_or(ErrorKind::Internal);
    let message = match &error.message {
        Some(message) => message.to_string(),
        None => format!("the mock says `{}`", error.kind.value),
    };
    let data = error.data.as_ref().map(|data| data.value().clone());
    RunError { data, ..RunError::new(kind, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of a `foreach` call at once, and in any order.
    #[test]
    fn each_step_gets_the_answer_it_got_in_the_record() {
        let at = |item: u32| StepPath::new(&[1, item, 0]);
        let answer = |item: u32| Answer {
            args: None,
            at: Some(at(item)),
            reply: Reply::Given(Ok(item.to_string().as_str().into())),
        };
        let mut queue = Queue::new(&[answer(0), answer(1), answer(2)]);
        let mut next = |item: u32| {
            let (node, target) = ("n".into(), "s.t".to_owned());
            match queue.next(&MadeCall { node, target, args: Value::Null, at: at(item) }) {
                Some(Reply::Given(Ok(value))) => value,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([next(2), next(0)], ["2".into(), "0".into()]);
        // A step that the record does not know gets what is left, and then the last.
        assert_eq!([next(7), next(8)], ["1".into(), "2".into()]);
    }
}
