//! A walk that is put down in one process and taken up in another.

use std::collections::VecDeque;
use std::sync::Arc;

use mcpgraph_value::{Map, Value};

use super::tools::{Given, Kept, ToolUse};
use super::{Mode, Status, Step, Todo, Walk};
use crate::Procedure;

impl Walk {
    /// Everything about it but its procedure and its mode. Nodes are named, so that whoever reads
    /// the procedure anew finds them.
    pub fn to_value(&self) -> Value {
        let name = |node| Value::String(Arc::clone(&self.node(node).id));
        let steps = self.steps.iter().map(|step| {
            let uses = step.uses.iter().map(|done| {
                let result = done.result.as_deref().map_or(Value::Null, Value::from);
                let (tool, arguments) = (Value::from(&*done.tool), Value::from(&*done.arguments));
                Value::array(vec![tool, arguments, result, done.failed.into()])
            });
            Value::array(vec![name(step.node), step.entered.into(), Value::array(uses.collect())])
        });
        let todos = self.todos.iter().map(|todo| {
            let note = todo.note.clone().map_or(Value::Null, Value::String);
            let completion = todo.completion.map_or(Value::Null, name);
            let content = Value::String(Arc::clone(&todo.content));
            Value::array(vec![content, todo.status.name().into(), note, completion])
        });
        let kept = self.kept.results().map(|given| {
            let tool = Value::String(Arc::clone(&given.tool));
            Value::array(vec![name(given.node), tool, given.value.clone(), given.is_here.into()])
        });
        Map::from_iter([
            ("steps", Value::array(steps.collect())),
            ("paths", self.paths.into()),
            ("todos", Value::array(todos.collect())),
            ("calls", (self.calls as u64).into()),
            ("kept", Value::array(kept.collect())),
        ])
        .into()
    }

    /// A walk that [`Walk::to_value`] was asked for; none if it is of another procedure.
    pub fn from_value(procedure: Arc<Procedure>, mode: Mode, saved: &Value) -> Option<Self> {
        let node = |name: &Value| procedure.chart.find(name.as_str()?);
        let text = |value: &Value| Some(Arc::<str>::from(value.as_str()?));
        let number = |value: &Value| u64::try_from(value.as_i64()?).ok();
        let list = |value: &Value| -> Option<Vec<Value>> {
            match value {
                Value::Array(items) => Some(items.iter().cloned().collect()),
                _ => None,
            }
        };
        let used = |value: Value| {
            let [tool, arguments, result, failed] = &list(&value)?[..] else { return None };
            let result = match result {
                Value::Null => None,
                digest => Some(digest.as_str()?.to_owned()),
            };
            Some(ToolUse {
                tool: text(tool)?,
                arguments: arguments.as_str()?.to_owned(),
                result,
                failed: failed.as_bool()?,
            })
        };
        let step = |value: Value| {
            let [at, entered, uses] = &list(&value)?[..] else { return None };
            let uses = list(uses)?.into_iter().map(used).collect::<Option<_>>()?;
            Some(Step { node: node(at)?, entered: number(entered)?, uses })
        };
        let todo = |value: Value| {
            let [content, status, note, completion] = &list(&value)?[..] else { return None };
            let completion = match completion {
                Value::Null => None,
                name => Some(node(name)?),
            };
            let status = Status::from_name(status.as_str()?)?;
            Some(Todo { content: text(content)?, status, note: text(note), completion })
        };
        let given = |value: Value| {
            let [at, tool, value, is_here] = &list(&value)?[..] else { return None };
            let (node, id) = (node(at)?, text(at)?);
            let is_here = is_here.as_bool()?;
            Some(Given { node, id, tool: text(tool)?, value: value.clone(), is_here })
        };
        let all = |key: &str| list(saved.get(key)?);
        let steps = all("steps")?.into_iter().map(step).collect::<Option<Vec<Step>>>()?;
        let todos = all("todos")?.into_iter().map(todo).collect::<Option<_>>()?;
        let kept = all("kept")?.into_iter().map(given).collect::<Option<VecDeque<_>>>()?;
        let (paths, calls) = (number(saved.get("paths")?)?, number(saved.get("calls")?)?);
        let has_hub = procedure.hub.is_some_and(|hub| steps.iter().any(|step| step.node == hub));
        Some(Self {
            mode,
            steps,
            paths,
            has_hub,
            todos,
            calls: usize::try_from(calls).ok()?,
            kept: Kept::of(kept),
            procedure,
        })
    }
}
