//! Pages of lists: a service gives its lists whole, so that no cursor is one of ours.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::{Raw, Request, RpcError};

/// Refuses a request for a further page of a list. Answering it with the whole list would let a
/// client that goes on where another server stopped take everything for new.
pub(crate) fn refuse_cursor(request: &Request) -> Result<(), RpcError> {
    #[derive(Deserialize)]
    struct Params {
        cursor: Option<Raw>,
    }
    let is_list = matches!(
        request.method.as_str(),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list"
    );
    if !is_list {
        return Ok(());
    }
    let params = request.params.as_deref().map_or("{}", RawValue::get);
    // Whatever else the parameters are is not for here to judge.
    match serde_json::from_str::<Params>(params) {
        Ok(Params { cursor: Some(cursor) }) if cursor.get() != "null" => {
            Err(RpcError::invalid_params(format!(
                "`cursor` names no page: `{}` gives the whole list at once; ask without it",
                request.method
            )))
        }
        _ => Ok(()),
    }
}
