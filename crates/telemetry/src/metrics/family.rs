//! Numbers of one name, told apart by labels.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use parking_lot::RwLock;

use super::instrument::Instrument;
use super::text::Text;
use crate::outline::bounded_name;

/// How many combinations of labels a family tells apart; all others are counted together, under
/// labels that say [`OTHER`]. Names come from files and are few; this is for files that are not.
pub(super) const MAX_SERIES: usize = 2000;

/// The label of what is beyond [`MAX_SERIES`].
pub(super) const OTHER: &str = "other";

/// Numbers of one name with `N` labels.
pub(super) struct Family<const N: usize, I> {
    name: &'static str,
    help: &'static str,
    labels: [&'static str; N],
    series: RwLock<HashMap<[Label; N], Arc<I>>>,
}

/// The value of a label, which costs nothing to make unless it is too long to be shown as it is.
#[derive(Clone, Debug)]
pub(super) enum Label {
    Shared(Arc<str>),
    Fixed(&'static str),
}

impl<const N: usize, I: Instrument> Family<N, I> {
    pub(super) fn new(name: &'static str, help: &'static str, labels: [&'static str; N]) -> Self {
        Self { name, help, labels, series: RwLock::default() }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// The number with these labels.
    pub(super) fn with(&self, labels: [Label; N]) -> Arc<I> {
        self.with_among(MAX_SERIES, labels)
    }

    /// The number with these labels, unless there are `most` others already.
    pub(super) fn with_among(&self, most: usize, labels: [Label; N]) -> Arc<I> {
        if let Some(found) = self.series.read().get(&labels) {
            return Arc::clone(found);
        }
        let mut series = self.series.write();
        let is_full = series.len() >= most && !series.contains_key(&labels);
        let labels = if is_full { [const { Label::Fixed(OTHER) }; N] } else { labels };
        Arc::clone(series.entry(labels).or_default())
    }

    pub(super) fn render(&self, text: &mut Text) {
        text.family(self.name, self.help, I::TYPE);
        let mut series: Vec<_> = {
            let series = self.series.read();
            series.iter().map(|(labels, one)| (labels.clone(), Arc::clone(one))).collect()
        };
        // The same order every time, so that two texts can be compared.
        series.sort_by(|(one, _), (other, _)| {
            one.iter().map(Label::as_str).cmp(other.iter().map(Label::as_str))
        });
        for (values, instrument) in series {
            let values = values.each_ref().map(Label::as_str);
            instrument.render(text, self.name, &self.labels, &values);
        }
    }
}

impl Label {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Shared(text) => text,
            Self::Fixed(text) => text,
        }
    }
}

impl From<&Arc<str>> for Label {
    fn from(text: &Arc<str>) -> Self {
        match bounded_name(text) {
            Cow::Borrowed(_) => Self::Shared(Arc::clone(text)),
            Cow::Owned(cut) => Self::Shared(cut.into()),
        }
    }
}

impl From<&'static str> for Label {
    fn from(text: &'static str) -> Self {
        Self::Fixed(text)
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Label {}

impl Hash for Label {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}
