use std::sync::Arc;

use imbl::Vector;

/// How many entries a list has before it is kept as a tree.
///
/// A tree allocates in large pieces, which costs a short run more than everything else it does.
const SHORT: usize = 16;

/// A list that grows at its end. A copy shares everything, and the next entry costs the same
/// whatever the length.
#[derive(Clone)]
pub(super) enum Log<T> {
    /// Copied when it is shared and changes, which is bounded by [`SHORT`].
    Short(Arc<Vec<T>>),
    Long(Vector<T>),
}

impl<T: Clone> Log<T> {
    pub(super) fn unit(entry: T) -> Self {
        Self::Short(Arc::new(vec![entry]))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Short(entries) => entries.len(),
            Self::Long(entries) => entries.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        match self {
            Self::Short(entries) => entries.get(index),
            Self::Long(entries) => entries.get(index),
        }
    }

    pub(super) fn push(&mut self, entry: T) {
        match self {
            Self::Short(entries) if entries.len() < SHORT => Arc::make_mut(entries).push(entry),
            Self::Short(entries) => {
                let mut long: Vector<T> = entries.iter().cloned().collect();
                long.push_back(entry);
                *self = Self::Long(long);
            }
            Self::Long(entries) => entries.push_back(entry),
        }
    }

    /// Puts another entry in the place of one that is there.
    pub(super) fn set(&mut self, index: usize, entry: T) {
        match self {
            Self::Short(entries) => {
                if let Some(place) = Arc::make_mut(entries).get_mut(index) {
                    *place = entry;
                }
            }
            Self::Long(entries) => {
                if index < entries.len() {
                    entries.set(index, entry);
                }
            }
        }
    }

    /// Where the last entry stands that is like this.
    pub(super) fn rposition(&self, mut is_it: impl FnMut(&T) -> bool) -> Option<usize> {
        (0..self.len()).rev().find(|index| self.get(*index).is_some_and(&mut is_it))
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self::Short(Arc::default())
    }
}
