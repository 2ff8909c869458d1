use std::sync::Arc;

use crate::{Diagnostic, Source};

/// The problems found so far, in the order in which they should be shown once sorted.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
    left_out: usize,
}

/// How many problems of one check are kept; a hostile file must not fill the memory with them.
pub const MAX_DIAGNOSTICS: usize = 1000;

impl Diagnostics {
    /// No problems yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem; beyond [`MAX_DIAGNOSTICS`] it is only counted, but an error always shows in
    /// [`Diagnostics::has_errors`].
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.items.len() < MAX_DIAGNOSTICS {
            self.items.push(diagnostic);
            return;
        }
        self.left_out += 1;
        if diagnostic.is_error() && !self.has_errors() {
            // A warning gives way, so that the outcome stays right.
            self.items.pop();
            self.items.push(diagnostic);
        }
    }

    /// Takes over all problems of another collection.
    pub fn extend(&mut self, other: Self) {
        self.left_out += other.left_out;
        for diagnostic in other.items {
            self.push(diagnostic);
        }
    }

    /// Sorts by file (in the order in which the files were first named) and position; problems
    /// without a place come first, and those at one place keep the order in which they were found.
    pub fn sort(&mut self) {
        let mut files: Vec<Arc<Source>> = Vec::new();
        for label in self.items.iter().filter_map(|item| item.primary.as_ref()) {
            if !files.iter().any(|file| Arc::ptr_eq(file, &label.source)) {
                files.push(Arc::clone(&label.source));
            }
        }
        self.items.sort_by_key(|item| {
            item.primary.as_ref().map(|label| {
                let file = files.iter().position(|file| Arc::ptr_eq(file, &label.source));
                (file, label.span.start)
            })
        });
    }

    /// The problems.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// The problems, for completing them.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.items.iter_mut()
    }

    /// How many problems are kept.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many more there were than [`MAX_DIAGNOSTICS`].
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(Diagnostic::is_error)
    }

    /// How many of those kept are errors.
    pub fn error_count(&self) -> usize {
        self.items.iter().filter(|item| item.is_error()).count()
    }

    /// How many of those kept are warnings.
    pub fn warning_count(&self) -> usize {
        self.len() - self.error_count()
    }

    /// The counts in words: `2 errors, 1 warning`, or `no problems`.
    pub fn summary(&self) -> String {
        let counted = |count: usize, word: &str| match count {
            0 => None,
            1 => Some(format!("1 {word}")),
            _ => Some(format!("{count} {word}s")),
        };
        let parts = [
            counted(self.error_count(), "error"),
            counted(self.warning_count(), "warning"),
            (self.left_out > 0).then(|| format!("{} more", self.left_out)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "no problems".to_owned() } else { parts.join(", ") }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { items: vec![diagnostic], left_out: 0 }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Diagnostics {
    type Item = &'a mut Diagnostic;
    type IntoIter = std::slice::IterMut<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        let mut all = Self::new();
        for diagnostic in diagnostics {
            all.push(diagnostic);
        }
        all
    }
}
