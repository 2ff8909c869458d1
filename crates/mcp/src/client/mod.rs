//! A client of the protocol.
