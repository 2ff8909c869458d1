//! The functions every expression can call.

/// Whether a call of the built-in `name` with `given` arguments reads the context in which it
/// stands.
pub(crate) fn reads_context(name: &str, given: usize) -> bool {
    match name {
        "eval" => true,
        "string" | "lowercase" | "uppercase" | "length" | "trim" | "number" | "floor" | "ceil"
        | "round" | "abs" | "sqrt" | "boolean" | "not" | "keys" | "spread" | "base64encode"
        | "base64decode" | "encodeUrlComponent" | "encodeUrl" | "decodeUrlComponent"
        | "decodeUrl" | "toMillis" | "fromMillis" | "clone" | "formatBase" => given < 1,
        "substring" | "substringBefore" | "substringAfter" | "pad" | "match" | "contains"
        | "split" | "formatNumber" | "formatInteger" | "parseInteger" | "power" | "lookup"
        | "each" | "sift" => given < 2,
        "replace" => given < 3,
        _ => false,
    }
}
