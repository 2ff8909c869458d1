use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use mcpgraph_access::{Grant, NewToken, StoreError, Token, Tokens};
use mcpgraph_diagnostics::printable;
use mcpgraph_journal::rfc3339;
use serde_json::{Value, json};

use super::args::HistoryArgs;
use super::args::tokens::{AddArgs, TokensArgs, TokensCommand};
use super::{Exit, output};

/// Dispatches `mcpgraph tokens`.
pub(super) fn tokens(args: TokensArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let tokens = history.tokens()?;
    let done = match args.command {
        TokensCommand::Add(new) => add(&tokens, new, args.json),
        TokensCommand::Ls => list(&tokens, args.json),
        TokensCommand::Rm { token } => remove(&tokens, &token, args.json),
    };
    done.or_else(|error| match error.downcast_ref::<StoreError>() {
        Some(StoreError::NameTaken(_) | StoreError::Unknown(_)) => {
            output::error(&error.to_string());
            Ok(Exit::Failure)
        }
        _ => Err(error),
    })
}

fn add(tokens: &Tokens, new: AddArgs, json: bool) -> anyhow::Result<Exit> {
    let (token, secret) = tokens.add(NewToken {
        name: new.name,
        grant: Grant { servers: new.servers, tools: new.tools },
        lifetime: new.expires,
        rate: new.rate,
        tool_rates: new.tool_rate,
    })?;
    if json {
        let mut document = described(&token);
        document["token"] = secret.into();
        output::data(&format!("{document:#}\n"))?;
    } else {
        output::say(&format!(
            "token {} `{}`; it is shown this once\n",
            token.id,
            printable(&token.name)
        ));
        output::data(&format!("{secret}\n"))?;
    }
    Ok(Exit::Success)
}

fn list(tokens: &Tokens, json: bool) -> anyhow::Result<Exit> {
    let tokens = tokens.list()?;
    if json {
        let all: Vec<Value> = tokens.iter().map(described).collect();
        output::data(&format!("{:#}\n", json!({ "tokens": all })))?;
        return Ok(Exit::Success);
    }
    let mut text = String::new();
    for token in tokens.iter() {
        let list = |names: &[String]| match names {
            [] => "all".to_owned(),
            names => printable(&names.join(",")).to_string(),
        };
        let rate = token.rate.map_or_else(|| "any".to_owned(), |rate| rate.to_string());
        let end = token.expires.map_or_else(|| "never".to_owned(), time);
        let Grant { servers, tools } = &token.grant;
        // Writing to a text does not fail.
        writeln!(
            text,
            "{}  {}  servers {}  tools {}  rate {rate}{}  ends {end}",
            token.id,
            printable(&token.name),
            list(servers),
            list(tools),
            tool_rates(token),
        )
        .unwrap_or_default();
    }
    output::data(&text)?;
    Ok(Exit::Success)
}

/// What is said of the rates of single tools, where there are any.
fn tool_rates(token: &Token) -> String {
    if token.tool_rates.is_empty() {
        return String::new();
    }
    let rates = token.tool_rates.iter().map(|(tools, rate)| format!("{tools}={rate}"));
    format!("  tool rates {}", printable(&rates.collect::<Vec<_>>().join(",")))
}

fn remove(tokens: &Tokens, name: &str, json: bool) -> anyhow::Result<Exit> {
    let token = tokens.remove(name)?;
    if json {
        output::data(&format!("{:#}\n", described(&token)))?;
    } else {
        output::say(&format!("revoked {} `{}`\n", token.id, printable(&token.name)));
    }
    Ok(Exit::Success)
}

/// A token without itself and without its hash.
fn described(token: &Token) -> Value {
    let rates =
        token.tool_rates.iter().map(|(tools, rate)| json!({ "tools": tools, "rate": rate }));
    json!({
        "id": token.id,
        "name": token.name,
        "servers": token.grant.servers,
        "tools": token.grant.tools,
        "created": time(token.created),
        "expires": token.expires.map(time),
        "rate": token.rate,
        "toolRates": rates.collect::<Vec<_>>(),
    })
}

fn time(seconds: u64) -> String {
    rfc3339(UNIX_EPOCH + Duration::from_secs(seconds))
}
