use std::time::{Duration, UNIX_EPOCH};

use mcpgraph_access::{Grant, NewToken, StoreError, Token, Tokens};
use mcpgraph_diagnostics::printable;
use mcpgraph_journal::rfc3339;
use serde_json::{Value, json};

use super::args::HistoryArgs;
use super::args::tokens::{AddArgs, TokensArgs, TokensCommand};
use super::runs::text::{Side, table};
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
    if tokens.is_empty() {
        output::say("there are no tokens; `mcpgraph tokens add` makes one\n");
        return Ok(Exit::Success);
    }
    let heading = [
        ("TOKEN", Side::Left),
        ("NAME", Side::Left),
        ("SERVERS", Side::Left),
        ("TOOLS", Side::Left),
        ("RATE", Side::Left),
        ("TOOL RATES", Side::Left),
        ("ENDS", Side::Left),
    ];
    output::data(&table(heading, &tokens.iter().map(row).collect::<Vec<_>>()))?;
    Ok(Exit::Success)
}

fn row(token: &Token) -> [String; 7] {
    let list = |names: &[String]| match names {
        [] => "all".to_owned(),
        names => names.join(","),
    };
    let rates = token.tool_rates.iter().map(|(tools, rate)| format!("{tools}={rate}"));
    let rates = rates.collect::<Vec<_>>().join(",");
    [
        token.id.clone(),
        token.name.clone(),
        list(&token.grant.servers),
        list(&token.grant.tools),
        token.rate.map_or_else(|| "any".to_owned(), |rate| rate.to_string()),
        if rates.is_empty() { "-".to_owned() } else { rates },
        token.expires.map_or_else(|| "never".to_owned(), time),
    ]
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
