//! Edits of an object's own members that leave their values as they were written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::message::{Raw, raw};

/// An object whose values are raw, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Cow<'a, RawValue>)>);

/// The object with one member set: replaced where it is there, added at the end where it is not.
/// None if this is not an object.
pub(crate) fn with_member(object: &RawValue, key: &str, value: &RawValue) -> Option<Raw> {
    let mut members = Members::of(object)?;
    members.set(key, Cow::Borrowed(value));
    Some(members.to_raw())
}

impl<'a> Members<'a> {
    /// The members of a text; none if it is not an object.
    pub(crate) fn of(object: &'a RawValue) -> Option<Self> {
        serde_json::from_str(object.get()).ok()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// Sets a member, once even if it was there several times.
    pub(crate) fn set(&mut self, key: &'a str, value: Cow<'a, RawValue>) {
        let mut new = Some(value);
        self.0.retain_mut(|(name, value)| {
            if name != key {
                return true;
            }
            new.take().map(|new| *value = new).is_some()
        });
        if let Some(value) = new {
            self.0.push((Cow::Borrowed(key), value));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any of the keys was there.
    pub(crate) fn remove(&mut self, keys: &[&str]) -> bool {
        let before = self.0.len();
        self.0.retain(|(name, _)| !keys.contains(&name.as_ref()));
        self.0.len() != before
    }

    pub(crate) fn to_raw(&self) -> Raw {
        raw(self)
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(Cow<'de, str>, Cow<'de, RawValue>)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((key, Cow::Borrowed(value)));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Object).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Raw {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn values_and_order_are_kept() {
        let object = text("{\"z\": 1.0e+2, \"a\" :{\"k\":  [1, 2]}, \"\\u0061b\":\"\\u00e9\"}");
        assert_eq!(
            with_member(&object, "new", &text("true")).unwrap().get(),
            "{\"z\":1.0e+2,\"a\":{\"k\":  [1, 2]},\"ab\":\"\\u00e9\",\"new\":true}"
        );
        assert_eq!(
            with_member(&object, "z", &text("123456789012345678901234567890")).unwrap().get(),
            "{\"z\":123456789012345678901234567890,\"a\":{\"k\":  [1, 2]},\"ab\":\"\\u00e9\"}"
        );
    }

    #[test]
    fn members_can_be_taken_out() {
        let object = text(r#"{"a":1,"b":2,"a":3}"#);
        let mut members = Members::of(&object).unwrap();
        assert_eq!(members.get("a").map(RawValue::get), Some("1"));
        let nine = text("9");
        assert_eq!(with_member(&object, "a", &nine).unwrap().get(), r#"{"a":9,"b":2}"#);
        assert!(members.remove(&["a", "x"]));
        assert!(!members.remove(&["a"]));
        assert_eq!(members.to_raw().get(), r#"{"b":2}"#);
    }

    #[test]
    fn only_objects_have_members() {
        for json in ["[]", "1", "null", "\"{}\""] {
            assert!(Members::of(&text(json)).is_none(), "{json}");
        }
        assert_eq!(with_member(&text("{}"), "a", &text("1")).unwrap().get(), r#"{"a":1}"#);
    }
}
