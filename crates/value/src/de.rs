use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::{Map, Number, Value};

/// The key under which `serde_json` hands a number over as text when it keeps all digits.
///
/// The name is `serde_json`'s own and not documented; a test holds it in place.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// How many keys are remembered while a text is read.
const REMEMBERED: usize = 64;

/// How long a key is remembered for, in bytes: longer ones are seldom met twice.
const LONGEST_REMEMBERED: usize = 64;

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueReader(&mut Keys::default()))
    }
}

/// The keys met so far. The objects of a list have the same keys, which they share then.
#[derive(Default)]
struct Keys(Vec<Option<Arc<str>>>);

impl Keys {
    fn share(&mut self, key: &str) -> Arc<str> {
        let &[first, .., last] = key.as_bytes() else { return key.into() };
        if key.len() > LONGEST_REMEMBERED {
            return key.into();
        }
        if self.0.is_empty() {
            self.0.resize(REMEMBERED, None);
        }
        // Two keys at one place take turns; no harm is done by that.
        let mixed = key.len().wrapping_mul(31) ^ usize::from(first) ^ usize::from(last) << 2;
        let place = &mut self.0[mixed % REMEMBERED];
        match place {
            Some(known) if **known == *key => Arc::clone(known),
            _ => Arc::clone(place.insert(key.into())),
        }
    }
}

/// Reads a value.
struct ValueReader<'k>(&'k mut Keys);

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, int: i64) -> Result<Value, E> {
        Ok(Value::Number(int.into()))
    }

    fn visit_u64<E>(self, int: u64) -> Result<Value, E> {
        Ok(Value::from(int))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Value, E> {
        Ok(Value::from(float))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::string(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::string(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0).min(1024));
        while let Some(item) = items.next_element_seed(ValueReader(self.0))? {
            list.push(item);
        }
        Ok(Value::array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key_seed(KeyReader(self.0))? {
            let Some(key) = key else {
                let text = members.next_value::<String>()?;
                return Number::from_json(&text)
                    .map(Value::Number)
                    .ok_or_else(|| A::Error::custom(format_args!("`{text}` is not a number")));
            };
            map.insert(key, members.next_value_seed(ValueReader(self.0))?);
        }
        Ok(Value::object(map))
    }
}

/// Reads a key; none for the one that a number stands under.
struct KeyReader<'k>(&'k mut Keys);

impl<'de> DeserializeSeed<'de> for KeyReader<'_> {
    type Value = Option<Arc<str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyReader<'_> {
    type Value = Option<Arc<str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok((key != NUMBER_TOKEN).then(|| self.0.share(key)))
    }
}
