//! Reads case files.

/// One call and what is expected of it.
pub(crate) struct Case<'a> {
    /// The heading it stands under.
    pub(crate) title: &'a str,
    /// The line its call stands at.
    pub(crate) line: usize,
    pub(crate) graph: &'a str,
    pub(crate) answers: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) input: &'a str,
    pub(crate) expected: Vec<Block<'a>>,
}

pub(crate) enum Block<'a> {
    Trace(&'a str),
    Result(&'a str),
    Error(&'a str),
}

/// All calls of a file, in order.
pub(crate) fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    let (mut title, mut graph, mut answers) = ("", "", "{}");
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((number, line)) = lines.next() {
        offset += line.len();
        if let Some(heading) = line.strip_prefix('#') {
            title = heading.trim_start_matches('#').trim();
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let start = offset;
        let mut end = offset;
        for (_, line) in lines.by_ref() {
            offset += line.len();
            if line.starts_with("```") {
                break;
            }
            end = offset;
        }
        let body = &text[start..end];
        match info.split_whitespace().collect::<Vec<_>>()[..] {
            ["yaml", "graph"] => (graph, answers) = (body, "{}"),
            ["json", "answers"] => answers = body,
            ["json", "call", tool] => cases.push(Case {
                title,
                line: number + 1,
                graph,
                answers,
                tool,
                input: body,
                expected: Vec::new(),
            }),
            ["text", "trace"] => expect(&mut cases, Block::Trace(body)),
            ["json", "result"] => expect(&mut cases, Block::Result(body)),
            ["json", "error"] => expect(&mut cases, Block::Error(body)),
            ref other => panic!("line {}: what is `{other:?}`?", number + 1),
        }
    }
    assert!(cases.iter().all(|case| !case.expected.is_empty()), "a call without expectation");
    cases
}

fn expect<'a>(cases: &mut [Case<'a>], block: Block<'a>) {
    cases.last_mut().expect("an expectation before any call").expected.push(block);
}
