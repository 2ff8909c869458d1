use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::Value;

/// Up to so many members the keys are looked at one by one, which takes less time and memory than
/// a table. Most objects are small.
const SMALL: usize = 8;

/// The members of an object, in the order they were written.
#[derive(Clone, Default)]
pub struct Map {
    entries: Vec<(Arc<str>, Value)>,
    /// Where each key is, if there are more than [`SMALL`].
    #[expect(clippy::box_collection, reason = "most maps have none, and are smaller for it")]
    index: Option<Box<HashMap<Arc<str>, usize, RandomState>>>,
}

impl Map {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty map with room for `capacity` members.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), index: None }
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The member `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.find(key).map(|place| &self.entries[place].1)
    }

    /// The member `key`, for changing.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.find(key).map(|place| &mut self.entries[place].1)
    }

    /// Whether there is a member `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Sets a member and returns what it was; a new one goes to the end, an old one keeps its place.
    pub fn insert(&mut self, key: impl Into<Arc<str>>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        if let Some(place) = self.find(&key) {
            return Some(std::mem::replace(&mut self.entries[place].1, value));
        }
        if let Some(index) = &mut self.index {
            index.insert(Arc::clone(&key), self.entries.len());
        }
        self.entries.push((key, value));
        if self.index.is_none() && self.entries.len() > SMALL {
            let keys = self.entries.iter().enumerate();
            let index = keys.map(|(place, (key, _))| (Arc::clone(key), place)).collect();
            self.index = Some(Box::new(index));
        }
        None
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let place = self.find(key)?;
        let (_, value) = self.entries.remove(place);
        if let Some(index) = &mut self.index {
            index.remove(key);
            index.values_mut().filter(|other| **other > place).for_each(|other| *other -= 1);
        }
        Some(value)
    }

    /// The members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> + DoubleEndedIterator {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Arc<str>> + DoubleEndedIterator {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn drain_values(&mut self) -> impl Iterator<Item = Value> {
        std::mem::take(self).into_iter().map(|(_, value)| value)
    }

    #[inline]
    fn find(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => self.entries.iter().position(|(own, _)| **own == *key),
        }
    }
}

/// Objects are equal when their members are, whatever the order.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, value)| other.get(key).is_some_and(|other| other == value))
    }
}

impl<K: Into<Arc<str>>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let members = members.into_iter();
        let mut map = Self::with_capacity(members.size_hint().0);
        for (key, value) in members {
            map.insert(key, value);
        }
        map
    }
}

impl IntoIterator for Map {
    type Item = (Arc<str>, Value);
    type IntoIter = std::vec::IntoIter<(Arc<str>, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
