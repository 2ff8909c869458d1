//! URI templates of resources, as far as it takes to say whose a URI is.

/// How well a URI fits a template: the length of the template's fixed beginning, if it fits at all.
///
/// The fixed parts of the template have to stand in the URI in their order; what is between them
/// may be anything, also nothing, as with optional parameters.
pub(crate) fn fit(template: &str, uri: &str) -> Option<usize> {
    let mut parts = template.split('{');
    let beginning = parts.next().unwrap_or_default();
    let mut rest = uri.strip_prefix(beginning)?;
    let Some(last) = parts.next_back() else {
        return rest.is_empty().then_some(beginning.len());
    };
    for part in parts {
        let fixed = after_expression(part);
        rest = &rest[rest.find(fixed)? + fixed.len()..];
    }
    rest.ends_with(after_expression(last)).then_some(beginning.len())
}

/// The fixed text behind an expression, of a part that begins inside of it.
fn after_expression(part: &str) -> &str {
    part.split_once('}').map_or("", |(_, fixed)| fixed)
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn fixed_parts_are_there_in_order() {
        for (template, uri, expected) in [
            ("a://x", "a://x", Some(5)),
            ("a://x", "a://xy", None),
            ("a://{id}", "a://7", Some(4)),
            ("a://{id}", "b://7", None),
            ("a://{id}/data", "a://7/data", Some(4)),
            ("a://{id}/data", "a://7/date", None),
            ("a://{id}/data", "a://data", None),
            ("a://{x}/{y}/z{?q}", "a://1/2/z?q=1", Some(4)),
            ("a://{x}/{y}/z{?q}", "a://1/2/z", Some(4)),
            ("a://{x}/{y}/z", "a://1/z", None),
            ("{+any}", "a://1", Some(0)),
            ("a://{open", "a://é", Some(4)),
            ("", "", Some(0)),
        ] {
            assert_eq!(fit(template, uri), expected, "{template} {uri}");
        }
    }
}
