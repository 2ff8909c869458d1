//! Puts entries into the `_meta` of raw parameters without touching the rest.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::ClientError;
use crate::edit::Members;
use crate::message::{Raw, raw};
use crate::meta_key;

/// The parameters of a request with these entries of `_meta` set, and with the progress token of
/// this connection in place of any other.
pub(super) fn compose<'a>(
    params: Option<Raw>,
    entries: impl Iterator<Item = &'a (String, Raw)>,
    progress: Option<u64>,
) -> Result<Option<Raw>, ClientError> {
    let mut entries = entries.peekable();
    let token = progress.map(|id| raw(&id));
    let has_token =
        params.as_ref().is_some_and(|params| params.get().contains(meta_key::PROGRESS_TOKEN));
    if entries.peek().is_none() && token.is_none() && !has_token {
        return Ok(params);
    }
    let mut members = match &params {
        Some(params) => object(params, "the parameters of a request")?,
        None => Members::default(),
    };
    // The members are changed while their old `_meta` is read.
    let old = members.get("_meta").map(ToOwned::to_owned);
    let mut meta = match &old {
        Some(meta) => object(meta, "`_meta`")?,
        None => Members::default(),
    };
    meta.remove(&[meta_key::PROGRESS_TOKEN]);
    for (key, value) in entries {
        meta.set(key, Cow::Borrowed(value));
    }
    if let Some(token) = &token {
        meta.set(meta_key::PROGRESS_TOKEN, Cow::Borrowed(token));
    }
    if old.is_some() || !meta.is_empty() {
        members.set("_meta", Cow::Owned(meta.to_raw()));
    }
    Ok(Some(members.to_raw()))
}

fn object<'a>(text: &'a RawValue, what: &str) -> Result<Members<'a>, ClientError> {
    Members::of(text).ok_or_else(|| ClientError::Config(format!("{what} must be a JSON object")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(params: &str, entries: &[(&str, &str)], progress: Option<u64>) -> String {
        let parse = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let params = (!params.is_empty()).then(|| parse(params));
        let entries: Vec<_> =
            entries.iter().map(|(key, value)| ((*key).to_owned(), parse(value))).collect();
        compose(params, entries.iter(), progress)
            .unwrap()
            .map_or_else(String::new, |p| p.get().to_owned())
    }

    #[test]
    fn only_meta_is_touched() {
        let text = r#"{"z": 1.0, "a":123456789012345678901234567890,"arguments":{ "b":1 }}"#;
        assert_eq!(composed(text, &[], None), text);
        assert_eq!(composed("", &[], None), "");
        assert_eq!(
            composed(text, &[("k", "[1, 2]")], Some(7)),
            r#"{"z":1.0,"a":123456789012345678901234567890,"arguments":{ "b":1 },"_meta":{"k":[1, 2],"progressToken":7}}"#
        );
        assert_eq!(composed("", &[], Some(1)), r#"{"_meta":{"progressToken":1}}"#);
    }

    #[test]
    fn a_foreign_progress_token_is_replaced_or_taken_out() {
        let text = r#"{"_meta":{"x":1,"progressToken":"theirs"},"a":1}"#;
        assert_eq!(composed(text, &[], Some(9)), r#"{"_meta":{"x":1,"progressToken":9},"a":1}"#);
        assert_eq!(composed(text, &[], None), r#"{"_meta":{"x":1},"a":1}"#);
        // Nor does a second `_meta` bring it back.
        let twice = r#"{"_meta":{},"a":1,"_meta":{"progressToken":"theirs"}}"#;
        assert_eq!(composed(twice, &[], Some(9)), r#"{"_meta":{"progressToken":9},"a":1}"#);
    }

    #[test]
    fn parameters_that_are_no_object_are_refused() {
        let params = RawValue::from_string("[1]".to_owned()).unwrap();
        assert!(compose(Some(params), [].iter(), Some(1)).is_err());
    }
}
