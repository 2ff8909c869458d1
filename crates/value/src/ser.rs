use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::{Number, Value};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, member) in members.iter() {
                    map.serialize_entry(&**key, member)?;
                }
                map.end()
            }
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(int) = self.as_plain_int() {
            return serializer.serialize_i64(int);
        }
        if let Some(text) = self.as_text() {
            return serde_json::Number::from_string_unchecked(text.to_owned())
                .serialize(serializer);
        }
        serializer.serialize_f64(self.as_f64())
    }
}
