//! What is measured: expressions as graphs have them, small and over ten thousand items.

use std::fmt::Write as _;

/// An expression, a name for it, and which input it is for.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) expression: &'static str,
    pub(crate) input: Input,
}

/// The two inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// What a run of a few nodes has.
    Small,
    /// Ten thousand items, 1.3 MB.
    Large,
}

const fn small(name: &'static str, expression: &'static str) -> Case {
    Case { name, expression, input: Input::Small }
}

const fn large(name: &'static str, expression: &'static str) -> Case {
    Case { name, expression, input: Input::Large }
}

pub(crate) const CASES: [Case; 14] = [
    small("a path", "$.entry.directory"),
    small("count of lines", r#"{"count": $count($split(list.content, "\n"))}"#),
    small("text put together", r#""Files in " & entry.directory & ": " & $string(entry.number)"#),
    small(
        "sum of file sizes",
        r#"$sum($map($filter($split(list.content, "\n"), function($line) { $contains($line, /^\[FILE\]/) }), function($line) { $number($match($line, /(\d+) bytes$/)[0].groups[0]) }))"#,
    ),
    small("replace by pattern", r#"$replace(entry.text, /(\w+)@(\w+)\.com/, "$2 at $1")"#),
    large("$map", "$map(items, function($item) { $item.price * $item.quantity })"),
    large("filter", "items[price > 50].name"),
    large("sort", "items^(price).id"),
    large("$reduce", "$reduce(items.price, function($sum, $price) { $sum + $price }, 0)"),
    large("group", "items{category: $sum(price)}"),
    large("filter, map, sum", "$sum(items[quantity > 3].(price * quantity))"),
    large(
        "objects",
        r#"items.{"id": id, "label": name & " (" & category & ")", "total": price * quantity}"#,
    ),
    large("descendants", "$count(**.name)"),
    large("filter by pattern", r"items[$contains(name, /^item \d*7$/)].id"),
];

impl Input {
    /// The input as JSON.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Small => small_input(),
            Self::Large => large_input(),
        }
    }
}

// Writing to a string does not fail.

fn small_input() -> String {
    let mut lines = String::new();
    for index in 0..100 {
        let kind = if index % 5 == 0 { "[DIR]" } else { "[FILE]" };
        write!(lines, "{kind} name_{index}.txt {} bytes\\n", index * 37).unwrap_or_default();
    }
    let text = "write to anna@example.com or bert@example.com, not to carl@example.org";
    format!(
        r#"{{"entry": {{"directory": "/srv/data", "number": 42, "text": "{text}"}}, "list": {{"content": "{lines}"}}}}"#
    )
}

fn large_input() -> String {
    const ITEMS: usize = 10_000;
    let mut text = String::from(r#"{"items": ["#);
    for index in 0..ITEMS {
        let separator = if index == 0 { "" } else { "," };
        // Prices in no order, and many of them the same.
        let price = (index * 7_919) % 10_007;
        write!(
            text,
            r#"{separator}{{"id": {index}, "name": "item {index}", "price": {}.{:02}, "quantity": {}, "category": "category {}", "tags": ["a{}", "b"], "in": {{"stock": {}}}}}"#,
            price / 100,
            price % 100,
            index % 9,
            index % 20,
            index % 7,
            index % 2 == 0,
        )
        .unwrap_or_default();
    }
    text.push_str("]}");
    text
}
