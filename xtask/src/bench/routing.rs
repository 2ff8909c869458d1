//! Calls through the router against direct calls to the same upstream.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::report::{Report, median};
use super::{CALLS, Contender, LOAD};

/// Measures both in turns, so that a busy machine disturbs both alike.
pub(super) fn measure(ours: &Contender, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("routing");
    let path = folder.join("routing.json");
    let servers = json!({ "demo": { "command": ours.program, "args": ["demo-server"] } });
    fs::write(&path, json!({ "mcpServers": servers }).to_string())?;
    let serve = ["serve", "-m", &path.display().to_string(), "--no-history"].map(String::from);
    let direct = Contender { arguments: vec!["demo-server".into()], ..ours.clone() };
    let routed = Contender { arguments: serve.to_vec(), ..ours.clone() };
    let recorded = Contender { arguments: serve[..3].to_vec(), ..ours.clone() };
    for (name, bytes) in [("a call", 16), ("a call with 64 KiB", 64 * 1024)] {
        let calls = if bytes > 1000 { CALLS / 4 } else { CALLS };
        let value = json!({ "value": "x".repeat(bytes) });
        let [through, logged, alone] = latency([&routed, &recorded, &direct], &value, calls)?;
        report.two(name, "µs", through, alone);
        report.two(&format!("{name}, its request logged"), "µs", logged, alone);
    }
    let value = |_: usize| json!({ "value": "x" });
    let mut rates = Vec::new();
    for (contender, tool) in [(&routed, "demo__echo"), (&direct, "echo")] {
        let mut client = contender.start()?;
        client.load(tool, &value, LOAD / 4, 64)?;
        rates.push(client.load(tool, &value, LOAD * 2, 64)?.per_second);
    }
    report.two("calls per second, 64 at once", "", rates[0], rates[1]);
    Ok(())
}

/// The median of a call for each; the last is asked for its tool directly.
fn latency(
    contenders: [&Contender; 3],
    arguments: &Value,
    calls: usize,
) -> anyhow::Result<[f64; 3]> {
    let mut clients = Vec::new();
    for (contender, tool) in contenders.into_iter().zip(["demo__echo", "demo__echo", "echo"]) {
        clients.push((contender.start()?, tool));
    }
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..calls {
        for ((client, tool), times) in clients.iter_mut().zip(&mut times) {
            let began = Instant::now();
            client.call(tool, arguments.clone())?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(times.map(median))
}
