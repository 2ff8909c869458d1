use super::*;
use proptest::prelude::*;

fn grants() -> impl Strategy<Value = Grant> {
    let servers = prop::sample::subsequence(vec!["a", "b", GRAPH], 0..=3);
    let tools = prop::sample::subsequence(vec!["a__*", "*__read", "own", "b__w?ite"], 0..=4);
    let texts = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
    (servers, tools)
        .prop_map(move |(servers, tools)| Grant { servers: texts(servers), tools: texts(tools) })
}

fn tools() -> Vec<(&'static str, &'static str)> {
    let mut tools = vec![(GRAPH, "own"), (GRAPH, "a__read")];
    for (server, names) in [("a", ["a__read", "a__write"]), ("b", ["b__read", "b__write"])] {
        tools.extend(names.map(|name| (server, name)));
    }
    tools
}

proptest! {
    /// What two grants see is what each says, whatever the other is.
    #[test]
    fn a_grant_sees_what_it_names_and_nothing_else(grant in grants()) {
        for (server, name) in tools() {
            let of_server =
                grant.servers.is_empty() || grant.servers.iter().any(|s| s == server);
            let of_name = grant.tools.is_empty()
                || grant.tools.iter().any(|pattern| match pattern.as_str() {
                    "a__*" => name.starts_with("a__"),
                    "*__read" => name.ends_with("__read"),
                    "b__w?ite" => name == "b__write",
                    plain => plain == name,
                });
            prop_assert_eq!(grant.sees_tool(server, name), of_server && of_name);
            prop_assert!(!grant.sees_rest_of(server) || grant.tools.is_empty() && of_server);
        }
        prop_assert_eq!(
            grant.is_everything(),
            grant == Grant::default()
        );
    }
}
