//! The log of requests.

use mcpgraph_journal::{KeptRequest, RequestFilter, rfc3339};

use super::args::HistoryArgs;
use super::args::requests::RequestsArgs;
use super::args::runs::When;
use super::runs::text::{Side, duration, table};
use super::runs::{Runs, print};
use super::{Exit, output};

/// Lists requests, the newest first.
pub(super) fn requests(args: RequestsArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let store = Runs::open_for("requests", history)?;
    let listing = store.journal.requests(&RequestFilter {
        token: args.token,
        method: args.method,
        name: args.tool,
        server: args.server,
        status: args.status,
        since: args.since.map(When::moment),
        slower_than: args.slower_than,
        limit: args.limit,
        ..RequestFilter::default()
    })?;
    if args.json {
        print(&listing.to_value())?;
        return Ok(Exit::Success);
    }
    if listing.requests.is_empty() {
        output::say(&format!("no such requests in {}\n", store.journal.place()));
        return Ok(Exit::Success);
    }
    let heading = [
        ("TIME", Side::Left),
        ("TOKEN", Side::Left),
        ("METHOD", Side::Left),
        ("NAME", Side::Left),
        ("SERVER", Side::Left),
        ("STATUS", Side::Left),
        ("TOOK", Side::Right),
        ("RUN", Side::Left),
    ];
    output::data(&table(heading, &listing.requests.iter().map(row).collect::<Vec<_>>()))?;
    if listing.next.is_some() {
        output::say(&format!("the latest {}; --limit shows more\n", listing.requests.len()));
    }
    Ok(Exit::Success)
}

fn row(kept: &KeptRequest) -> [String; 8] {
    let request = &kept.request;
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let token = request.token.as_ref().map(|token| token.name.as_ref().unwrap_or(&token.id));
    let status = match request.code {
        Some(code) => format!("{} {code}", request.status.name()),
        None => request.status.name().to_owned(),
    };
    [
        rfc3339(request.at),
        text(token.map(|token| &**token)),
        request.method.to_string(),
        text(request.name.as_deref()),
        text(request.server.as_deref()),
        status,
        duration(request.duration),
        request.run.map(|run| run.to_string()).unwrap_or_default(),
    ]
}
