use std::collections::BTreeSet;
use std::path::Path;

use crate::{Code, codes};

#[test]
fn codes_are_unique_and_well_formed() {
    let mut seen = BTreeSet::new();
    for code in codes::ALL {
        assert!(seen.insert(code.id()), "{code} stands twice in the table");
        let digits = code.id().strip_prefix("MG").expect("codes start with MG");
        assert!(digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
        assert!(!code.title().ends_with('.'), "{code}: titles have no full stop");
        assert_eq!(Code::find(&code.id().to_lowercase()), Some(*code));
    }
    assert_eq!(Code::find("MG9999"), None);
}

/// Each code has a page that starts with its title, and each page has a code.
#[test]
fn every_code_has_a_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut problems = Vec::new();
    for code in codes::ALL {
        let path = folder.join(format!("{code}.md"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let title = format!("# {code}: {}", code.title());
        if text.lines().next() != Some(title.as_str()) {
            problems.push(format!("docs/errors/{code}.md does not start with `{title}`"));
        }
    }
    for entry in std::fs::read_dir(&folder).expect("the folder of pages") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        if let Some(id) = name.strip_suffix(".md").filter(|id| id.starts_with("MG"))
            && Code::find(id).is_none()
        {
            problems.push(format!("docs/errors/{name} is the page of no code"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
