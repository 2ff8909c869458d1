//! Graphs in compiled form: ids, edges, expressions, references
