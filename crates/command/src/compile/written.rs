//! What the author wrote of a command, without its place in the file: what tells two versions apart.

use mcpgraph_config::Text;
use mcpgraph_config::model::{Allow, CommandDef, FilterValue, ResponseDef};
use mcpgraph_value::{Map, Value};

/// Everything that decides what is sent and what is made of the answer. Not the backend, which may
/// be named by the file alone, nor how long and how large the answer may be.
pub(super) fn written(def: &CommandDef) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(key, value);
        }
    };
    put("type", def.kind.map(|kind| kind.value.into()));
    for (key, part) in [
        ("method", &def.method),
        ("template", &def.template),
        ("url", &def.url),
        ("stdin", &def.stdin),
    ] {
        put(key, part.as_ref().map(text));
    }
    put("argv", def.argv.as_ref().map(|argv| argv.iter().map(text).collect::<Vec<_>>().into()));
    for (key, members) in
        [("templates", &def.conditional), ("headers", &def.headers), ("form", &def.form)]
    {
        put(key, (!members.is_empty()).then(|| pairs(members)));
    }
    put("json", def.json.as_ref().map(|json| json.value().clone()));
    put("build_sql", def.build_sql.then(|| allowed(&def.allow)));
    let codes = || def.success_codes.iter().map(|code| (*code).into()).collect::<Vec<_>>().into();
    put("success_codes", (!def.success_codes.is_empty()).then(codes));
    put("output", def.output.map(|output| output.value.into()));
    put("response", def.response.as_ref().map(response));
    map.into()
}

fn text(text: &Text) -> Value {
    text.to_arc().into()
}

fn pairs(members: &[(Text, Text)]) -> Value {
    members.iter().map(|(key, value)| (key.to_arc(), text(value))).collect::<Map>().into()
}

fn allowed(allow: &Allow) -> Value {
    let mut map = Map::from_iter([("union", allow.union), ("subqueries", allow.subqueries)]);
    map.insert("functions", allow.functions.iter().map(text).collect::<Vec<_>>());
    map.into()
}

fn response(response: &ResponseDef) -> Value {
    let mut map = Map::from_iter([("path", text(&response.path))]);
    if let Some(filter) = &response.filter {
        let (key, equals) = match &filter.equals {
            FilterValue::Argument(name) => ("argument", text(name)),
            FilterValue::Literal(json) => ("equals", json.value().clone()),
        };
        map.insert("filter", Map::from_iter([("field", text(&filter.field)), (key, equals)]));
    }
    if let Some(member) = &response.map {
        map.insert("map", text(member));
    }
    map.insert("unique", response.unique);
    map.insert("sort", response.sort);
    map.into()
}
