//! A strict reader of the text format of Prometheus.

use std::collections::{BTreeMap, HashSet};

/// A family with all its samples.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) help: String,
    /// Name and labels, and the number.
    pub(crate) samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// Reads a text, or panics at the first thing that a scraper could trip over.
pub(crate) fn read(text: &str) -> BTreeMap<String, Family> {
    assert!(text.ends_with('\n'), "the last line is not ended");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    let mut seen = HashSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            check_name(name);
            name.clone_into(&mut current);
            let family = Family { help: help.to_owned(), ..Family::default() };
            assert!(families.insert(current.clone(), family).is_none(), "twice: {line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, current, "TYPE follows its HELP");
            assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
            kind.clone_into(&mut families.get_mut(name).unwrap().kind);
        } else {
            let (name, labels, number) = sample(line);
            let family = families.get_mut(&current).unwrap();
            let is_own = match family.kind.as_str() {
                "histogram" => ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|end| name.strip_suffix(end) == Some(&*current)),
                _ => name == current,
            };
            assert!(is_own, "{name} is not of {current}");
            assert!(family.kind != "counter" || current.ends_with("_total"), "{line}");
            assert!(family.kind != "counter" || number >= 0.0, "{line}");
            assert!(seen.insert((name.clone(), labels.clone())), "twice: {line}");
            family.samples.push((name, labels, number));
        }
    }
    for (name, family) in &families {
        assert!(!family.kind.is_empty(), "{name} has no type");
        if family.kind == "histogram" {
            check_histogram(name, family);
        }
    }
    families
}

fn check_name(name: &str) {
    let mut characters = name.chars();
    let is_first = |it: char| it.is_ascii_alphabetic() || it == '_' || it == ':';
    assert!(characters.next().is_some_and(is_first), "{name:?}");
    assert!(characters.all(|it| is_first(it) || it.is_ascii_digit()), "{name:?}");
}

fn sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    check_name(name);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap();
            check_name(label);
            assert!(!label.contains(':') && !label.starts_with("__"), "{line}");
            let mut value = String::new();
            let mut characters = after.chars();
            loop {
                match characters.next().unwrap_or_else(|| panic!("not closed: {line}")) {
                    '"' => break,
                    '\\' => value.push(match characters.next() {
                        Some('n') => '\n',
                        Some(other @ ('\\' | '"')) => other,
                        other => panic!("escaped {other:?}: {line}"),
                    }),
                    other => value.push(other),
                }
            }
            assert!(labels.insert(label.to_owned(), value).is_none(), "twice: {line}");
            rest = characters.as_str();
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => break,
            }
        }
        rest = rest.strip_prefix('}').unwrap_or_else(|| panic!("not closed: {line}"));
    }
    let number = rest.strip_prefix(' ').unwrap_or_else(|| panic!("no space: {line}"));
    let number = match number {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        number => number.parse().unwrap_or_else(|_| panic!("no number: {line}")),
    };
    (name.to_owned(), labels, number)
}

/// Buckets rise to `+Inf`, which is the count.
fn check_histogram(name: &str, family: &Family) {
    let mut series: BTreeMap<BTreeMap<String, String>, Vec<(f64, f64)>> = BTreeMap::new();
    for (sample, labels, number) in &family.samples {
        if sample.ends_with("_bucket") {
            let mut labels = labels.clone();
            let end = labels.remove("le").unwrap();
            let end = if end == "+Inf" { f64::INFINITY } else { end.parse().unwrap() };
            series.entry(labels).or_default().push((end, *number));
        }
    }
    for (labels, buckets) in series {
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name} {buckets:?}");
        let last = buckets.last().unwrap();
        assert_eq!(last.0, f64::INFINITY);
        let only = |end: &str| {
            let name = format!("{name}{end}");
            let found = family.samples.iter().find(|it| it.0 == name && it.1 == labels);
            found.unwrap_or_else(|| panic!("no {name}")).2
        };
        assert_eq!(only("_count"), last.1);
        assert!(only("_sum") >= 0.0);
    }
}
