//! JSONata: parser, syntax tree with spans, evaluator
