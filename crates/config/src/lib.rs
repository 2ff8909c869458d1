//! Files users write: read with positions, decoded, checked for shape
