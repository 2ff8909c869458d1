//! Functions that read and compute, and nothing else.

/// What a built SELECT may call without being allowed to: aggregates, and functions of one row
/// that all dialects have or that are theirs to read with. None of them touches a file, a setting,
/// another session or the clock of the run.
const COMMON: &[&str] = &[
    // Aggregates.
    "avg", "count", "group_concat", "max", "min", "stddev", "stddev_pop", "stddev_samp",
    "string_agg", "sum", "total", "var_pop", "var_samp", "variance", "array_agg", "bool_and",
    "bool_or", "every", "json_agg", "jsonb_agg", "json_group_array", "json_group_object",
    "percentile_cont", "percentile_disc", "mode",
    // Windows.
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead",
    "first_value", "last_value", "nth_value",
    // Numbers.
    "abs", "ceil", "ceiling", "exp", "floor", "greatest", "least", "ln", "log", "log10", "mod",
    "power", "round", "sign", "sqrt", "trunc", "width_bucket",
    // Texts.
    "btrim", "char_length", "concat", "concat_ws", "format", "initcap", "instr", "left", "length",
    "lower", "lpad", "ltrim", "octet_length", "position", "replace", "reverse", "right", "rpad",
    "rtrim", "split_part", "starts_with", "strpos", "substr", "substring", "translate", "trim",
    "unicode", "upper",
    // Dates.
    "age", "current_date", "current_time", "current_timestamp", "date", "date_part", "date_trunc",
    "datetime", "extract", "julianday", "localtime", "localtimestamp", "make_date", "now",
    "strftime", "time", "timestamp", "to_char", "to_date", "to_number", "to_timestamp", "unixepoch",
    // Choices and types.
    "cast", "coalesce", "ifnull", "iif", "nullif", "typeof",
    // JSON.
    "json_array_length", "json_extract", "json_extract_path", "json_extract_path_text",
    "json_type", "json_typeof", "jsonb_array_length", "jsonb_extract_path",
    "jsonb_extract_path_text", "jsonb_typeof",
    // EdgeLake's own.
    "increments", "period",
];

/// Whether a function may be called.
pub(super) fn is_common(name: &str) -> bool {
    COMMON.iter().any(|common| common.eq_ignore_ascii_case(name))
}
