//! The product as a library.
