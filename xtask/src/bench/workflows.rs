//! What the way through the gateway costs: alone, in a workflow without hooks, and with one.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::report::{Report, median};
use super::{CALLS, Contender, LOAD};

/// Measures calls of one upstream tool in turns, so that a busy machine disturbs all alike.
pub(super) fn measure(ours: &Contender, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("workflows");
    let served = |name: &str, nodes: Option<Value>| -> anyhow::Result<Contender> {
        let path = folder.join(format!("workflows-{name}.json"));
        fs::write(&path, graph(&ours.program, nodes).to_string())?;
        let arguments = ["-g", &path.display().to_string(), "--no-history"].map(String::from);
        Ok(Contender { arguments: arguments.to_vec(), ..ours.clone() })
    };
    let direct = Contender { arguments: vec!["demo-server".into()], ..ours.clone() };
    let mut clients = [
        (direct.start()?, "echo"),
        (served("none", None)?.start()?, "demo__echo"),
        (served("empty", Some(nodes(false)))?.start()?, "demo__echo"),
        (served("hook", Some(nodes(true)))?.start()?, "demo__echo"),
    ];
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..CALLS {
        for ((client, tool), times) in clients.iter_mut().zip(&mut times) {
            let began = Instant::now();
            client.call(tool, json!({ "value": "x" }))?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [direct, through, empty, hook] = times.map(median);
    report.ours("added by passing a call on", "µs", through - direct);
    report.ours("added by a workflow without hooks", "µs", empty - through);
    report.below("added by a hook", "µs", hook - empty, 1000.0);
    report.above("calls with a hook per second, one core", on_one_core(&served, ours)?, 1000.0);
    Ok(())
}

/// How many calls with a small hook a second go through a process that has one core. The tool is the
/// graph's own, so that nobody else needs that core.
fn on_one_core(
    served: &dyn Fn(&str, Option<Value>) -> anyhow::Result<Contender>,
    ours: &Contender,
) -> anyhow::Result<f64> {
    let Contender { arguments, .. } = served("one-core", Some(nodes(true)))?;
    let pinned = ["-c".into(), "0".into(), ours.program.display().to_string()];
    let arguments = pinned.into_iter().chain(arguments).collect();
    let mut client = Contender { program: "taskset".into(), arguments, ..ours.clone() }.start()?;
    let none = |_: usize| json!({});
    client.load("own", &none, LOAD / 8, 16)?;
    Ok(client.load("own", &none, LOAD, 16)?.per_second)
}

fn graph(product: &Path, nodes: Option<Value>) -> Value {
    let workflows: Vec<Value> = nodes
        .into_iter()
        .map(|nodes| json!({ "name": "measured", "workflowType": "tools/call", "nodes": nodes }))
        .collect();
    json!({
        "version": "2",
        "server": { "name": "workflows", "version": "1" },
        "mcpServers": {
            "demo": { "command": product, "args": ["demo-server"], "expose": true }
        },
        "tools": [{
            "name": "own",
            "inputSchema": { "type": "object" },
            "nodes": [
                { "id": "entry", "type": "entry", "next": "exit" },
                { "id": "exit", "type": "exit" }
            ]
        }],
        "workflows": workflows
    })
}

fn nodes(has_hook: bool) -> Value {
    let script = "if (context.request.params.name.startsWith('delete_')) { \
                  return { continue: false, error: { message: 'not allowed' } } }";
    let mut nodes = vec![
        json!({ "id": "start", "type": "start", "next": if has_hook { "hook" } else { "call" } }),
        json!({ "id": "call", "type": "mcp-call", "next": "end" }),
        json!({ "id": "end", "type": "end" }),
    ];
    if has_hook {
        nodes.push(
            json!({ "id": "hook", "type": "hook", "hook": { "script": script }, "next": "call" }),
        );
    }
    nodes.into()
}
