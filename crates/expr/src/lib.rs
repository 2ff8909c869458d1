//! Expressions: JSONata, JSON Logic and JSONPath behind one face
